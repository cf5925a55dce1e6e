#include "solver/state/range.h"

#include <utility>

namespace proviso::inline v0_2::internal {
namespace {

Reason all_of(ReasonArena& reasons, const Range& a, const Range& b) {
  return reasons.join(reasons.join(a.lower, a.upper),
                      reasons.join(b.lower, b.upper));
}

}  // namespace

Range scaled(const Range& a, const Int& k) {
  if (k.is_one() || a.span.is_empty()) return a;
  if (k.is_zero()) return point(0);
  OptionalInt low, high;
  if (a.span.lower()) low = *a.span.lower() * k;
  if (a.span.upper()) high = *a.span.upper() * k;
  const bool up = k.sign() > 0;
  if (!up) std::swap(low, high);
  return {Interval::of(std::move(low), std::move(high)), up ? a.lower : a.upper,
          up ? a.upper : a.lower};
}

Range product(ReasonArena& reasons, const Range& a, const Range& b) {
  const Interval span = a.span * b.span;
  if (at_least(a, 0) && at_least(b, 0)) {
    const Reason low = reasons.join(a.lower, b.lower);
    return {span, low, reasons.join(low, reasons.join(a.upper, b.upper))};
  }
  const Reason all = all_of(reasons, a, b);
  return {span, all, all};
}

Range power(ReasonArena& reasons, const Range& a, unsigned n) {
  if (n == 1) return a;
  const Reason all = reasons.join(a.lower, a.upper);
  Range result{pow(a.span, n), at_least(a, 0) ? a.lower : all, all};
  // An even power is nonnegative without knowing anything.
  if (n % 2 == 0 && result.span.lower() && result.span.lower()->is_zero()) {
    result.lower = 0;
  }
  return result;
}

Range quotient(ReasonArena& reasons, const Range& a, const Range& b) {
  // A constant divisor, or one that is known positive with a nonnegative
  // numerator, needs only some of the four ends.
  const Interval span = floor_div(a.span, b.span);
  if (span.is_empty()) return {};  // x//0: any value
  if (b.span.is_point()) {
    const Reason is_point = reasons.join(b.lower, b.upper);
    Reason low = reasons.join(a.lower, is_point);
    Reason high = reasons.join(a.upper, is_point);
    if (b.span.lower()->sign() < 0) std::swap(low, high);
    return {span, low, high};
  }
  if (at_least(a, 0) && at_least(b, 1)) {
    const Reason low = reasons.join(a.lower, b.lower);
    return {span, reasons.join(low, b.upper), reasons.join(low, a.upper)};
  }
  const Reason all = all_of(reasons, a, b);
  return {span, all, all};
}

Range nonnegative_part(const Range& a) {
  const bool is_positive = a.span.lower() && a.span.lower()->sign() > 0;
  return {max(a.span, Interval::point(0)), is_positive ? a.lower : 0, a.upper};
}

Range hull(ReasonArena& reasons, const Range& a, const Range& b) {
  return {hull(a.span, b.span), reasons.join(a.lower, b.lower),
          reasons.join(a.upper, b.upper)};
}

bool narrow_by(ReasonArena& reasons, Range& a, const Range& b) {
  if (a.span.is_empty()) return false;
  if (b.span.is_empty()) {
    a = b;
    return true;
  }
  const OptionalInt &low = b.span.lower(), &high = b.span.upper();
  const bool above = low && (!a.span.lower() || *low > *a.span.lower());
  const bool below = high && (!a.span.upper() || *high < *a.span.upper());
  if (!above && !below) return false;
  if (above) a.lower = b.lower;
  if (below) a.upper = b.upper;
  if (above && below) {
    a.span = b.span;
  } else if (above) {
    a.span.set_lower(low);
  } else {
    a.span.set_upper(high);
  }
  if (a.span.is_empty()) a.lower = a.upper = reasons.join(a.lower, a.upper);
  return true;
}

}  // namespace proviso::inline v0_2::internal
