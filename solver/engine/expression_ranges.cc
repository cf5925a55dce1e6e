// A range is read from normal forms first, then its ends are moved in by asking
// whether anything lies beyond.
#include "solver/engine/expression_ranges.h"

#include "solver/limits_in_force.h"
#include "solver/strategies/witnesses.h"

namespace proviso::inline v0_2::internal {
namespace {

// What asking in a call's stead does not count.
class Uncounted {
 public:
  explicit Uncounted(Statistics& statistics)
      : statistics_(statistics), before_(statistics) {}
  ~Uncounted() { statistics_ = before_; }

 private:
  Statistics& statistics_;
  const Statistics before_;
};

// Lowers `end` to the least k found that holds; what holds at k holds beyond.
template <typename Holds, typename Keep>
void tighten_end(OptionalInt end, const Holds& holds, const Keep& keep) {
  static const Int kFar = *pow(Int(2), 40);
  auto is_end = [&](const Int& k) {
    if (!holds(k)) return false;
    end = k;
    keep(k);
    return true;
  };
  if (!end) {  // its size first
    if (!is_end(kFar)) return;
    for (int64_t k : {65536, 64, 0}) {
      if (!is_end(Int(k))) break;
    }
  }
  Int step = 1;
  while (step < kFar && is_end(*end - step)) step = step * Int(2);
  Int below = *end - step;  // does not hold
  while (below + Int(1) < *end) {
    const Int middle = floor_div(below + *end, Int(2));
    if (!is_end(middle)) below = middle;
  }
}

}  // namespace

// --- calls

Interval ExpressionRanges::bounds_quick(Expr e) {
  return reasoner_.within_call(Interval::empty(), Interval(),
                               [&] { return reading_.range_of(e); });
}

Interval ExpressionRanges::bounds(Expr e) {
  Interval range;
  const bool has_points = reasoner_.within_call(false, true, [&] {
    range = reading_.range_of(e);
    tighten(e, range);
    return true;
  });
  return has_points ? range : Interval::empty();
}

Strided ExpressionRanges::strided(Expr e) {
  const Strided span(bounds(e));
  const Strided read =
      reasoner_.within_call(Strided(Interval::empty()), Strided(),
                            [&] { return reading_.strided_of(e); });
  return intersect(span, read);
}

Int ExpressionRanges::multiple_of(Expr e) {
  return reasoner_.within_call(
      Int(0), Int(1), [&] { return reading_.strided_of(e).divisor(); });
}

std::optional<std::vector<Int>> ExpressionRanges::values(Expr e, size_t limit) {
  using Values = std::optional<std::vector<Int>>;
  return reasoner_.within_call(Values(std::in_place), Values(),
                               [&] { return list_values(e, limit); });
}

// --- by proofs

// Each end moves in by steps that double, then by halves (exponential search).
void ExpressionRanges::tighten(Expr e, Interval& range) {
  if (range.is_empty() || range.is_point() || is_leaf(e.op())) return;
  const Uncounted uncounted(reasoner_.statistics());
  tighten_end(
      range.upper(),
      [&](const Int& k) { return proves(le(e, reasoner_.pool().integer(k))); },
      [&](const Int& k) { range.set_upper(k); });
  OptionalInt down;
  if (range.lower()) down = -*range.lower();
  tighten_end(
      down,
      [&](const Int& k) { return proves(ge(e, reasoner_.pool().integer(-k))); },
      [&](const Int& k) { range.set_lower(-k); });
}

// The value that e has wherever the facts hold, when it has only one.
std::optional<Int> ExpressionRanges::constant_of(Expr e) {
  const Interval range = reading_.range_of(e);
  if (range.is_empty()) return std::nullopt;
  if (range.is_point()) return *range.lower();
  if (is_leaf(e.op()) && reasoner_.facts().size() == 0) return std::nullopt;
  const Uncounted uncounted(reasoner_.statistics());
  const Expr is_zero = eq(e, reasoner_.pool().integer(0));
  Answer points;
  find_witnesses(
      reasoner_, is_zero,
      thousandths(limits().constant_budget, reasoner_.options().budget),
      points);
  if (points.witness && points.counterexample) return std::nullopt;
  Int value = 0;
  if (points.counterexample) {
    const Evaluation at = evaluate(e, *points.counterexample);
    if (!at.defined()) return std::nullopt;
    value = std::get<Int>(*at.value);
  }
  if (native_.ask(eq(e, reasoner_.pool().integer(value))) != Verdict::kYes) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::vector<Int>> ExpressionRanges::list_values(Expr e,
                                                              size_t limit) {
  std::vector<Int> found;
  const Strided range = reading_.strided_of(e);
  if (range.is_empty()) return found;
  const OptionalInt &first = range.span().lower(), &last = range.span().upper();
  if (!first || !last) return std::nullopt;
  const Int step = range.is_point() ? Int(1) : range.stride();
  if (floor_div(*last - *first, step) >= Int(limits().listed_values)) {
    return std::nullopt;
  }
  for (Int v = *first; v <= *last; v += step) {
    Budget::check();
    if (native_.ask(eq(e, reasoner_.pool().integer(v))) == Verdict::kNo) {
      continue;
    }
    if (found.size() == limit) return std::nullopt;
    found.push_back(v);
  }
  return found;
}

}  // namespace proviso::inline v0_2::internal
