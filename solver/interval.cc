#include "solver/interval.h"

#include <algorithm>
#include <array>

namespace proviso {
namespace {

// An end of an interval on the extended line: a value or an infinity.
struct End {
  int infinity = 0;  // -1, 0 (finite) or 1
  Int value;

  int sign() const { return infinity != 0 ? infinity : value.sign(); }
};

bool less(const End& a, const End& b) {
  if (a.infinity != b.infinity) return a.infinity < b.infinity;
  return a.infinity == 0 && a.value < b.value;
}

End lower_end(const Interval& a) {
  return a.lower() ? End{0, *a.lower()} : End{-1, 0};
}

End upper_end(const Interval& a) {
  return a.upper() ? End{0, *a.upper()} : End{1, 0};
}

// 0 * infinity is 0: the infinite factor stands for arbitrarily large finite
// ones.
End times(const End& a, const End& b) {
  if (a.infinity == 0 && b.infinity == 0) return {0, a.value * b.value};
  return {a.sign() * b.sign(), 0};
}

std::optional<Int> finite(const End& e) {
  if (e.infinity != 0) return std::nullopt;
  return e.value;
}

Interval between(const End& lower, const End& upper) {
  return Interval::of(finite(lower), finite(upper));
}

// floor(x / y) with y > 0; an infinite y leaves 0 or -1.
End divide(const End& x, const End& y) {
  if (x.infinity != 0) return x;
  if (y.infinity != 0) return {0, x.sign() < 0 ? -1 : 0};
  return {0, floor_div(x.value, y.value)};
}

// Requires b within [1, inf].
Interval divide_by_positive(const Interval& a, const Interval& b) {
  End low = lower_end(a), high = upper_end(a);
  End small = lower_end(b), large = upper_end(b);
  return between(divide(low, low.sign() >= 0 ? large : small),
                 divide(high, high.sign() >= 0 ? small : large));
}

// Requires b within [1, inf].
Interval mod_by_positive(const Interval& a, const Interval& b) {
  Interval quotient = divide_by_positive(a, b);
  if (quotient == Interval::point(0)) return a;
  if (quotient.is_point() && b.is_point()) return a - quotient * b;
  Interval remainder(0, 0);
  if (b.upper()) {
    remainder = Interval(0, *b.upper() - 1);
  } else {
    remainder = Interval::at_least(0);
  }
  bool shrinks = a.lower() && a.lower()->sign() >= 0 && a.upper();
  return shrinks ? intersect(remainder, Interval(0, *a.upper())) : remainder;
}

std::optional<Int> pow_end(const std::optional<Int>& base, unsigned exponent) {
  if (!base) return std::nullopt;
  return pow(*base, exponent);
}

}  // namespace

Interval::Interval(Int lower, Int upper) {
  if (lower > upper) {
    empty_ = true;
    return;
  }
  lo_ = std::move(lower);
  hi_ = std::move(upper);
}

Interval Interval::empty() { return {1, 0}; }

Interval Interval::at_least(const Int& lower) {
  return of(lower, std::nullopt);
}

Interval Interval::at_most(const Int& upper) { return of(std::nullopt, upper); }

Interval Interval::of(std::optional<Int> lower, std::optional<Int> upper) {
  if (lower && upper && *lower > *upper) return empty();
  Interval result;
  result.lo_ = std::move(lower);
  result.hi_ = std::move(upper);
  return result;
}

bool Interval::is_point() const { return lo_ && hi_ && *lo_ == *hi_; }

bool Interval::contains(const Int& value) const {
  if (empty_) return false;
  return (!lo_ || *lo_ <= value) && (!hi_ || value <= *hi_);
}

bool Interval::contains(const Interval& other) const {
  if (other.empty_) return true;
  if (empty_) return false;
  bool below = !lo_ || (other.lo_ && *lo_ <= *other.lo_);
  bool above = !hi_ || (other.hi_ && *other.hi_ <= *hi_);
  return below && above;
}

std::string Interval::to_string() const {
  if (empty_) return "[]";
  return "[" + (lo_ ? lo_->to_string() : std::string("-int_oo")) + ", " +
         (hi_ ? hi_->to_string() : std::string("int_oo")) + "]";
}

Interval intersect(const Interval& a, const Interval& b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  End low = less(lower_end(a), lower_end(b)) ? lower_end(b) : lower_end(a);
  End high = less(upper_end(a), upper_end(b)) ? upper_end(a) : upper_end(b);
  return between(low, high);
}

Interval hull(const Interval& a, const Interval& b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  End low = less(lower_end(a), lower_end(b)) ? lower_end(a) : lower_end(b);
  End high = less(upper_end(a), upper_end(b)) ? upper_end(b) : upper_end(a);
  return between(low, high);
}

Interval operator+(const Interval& a, const Interval& b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  std::optional<Int> low, high;
  if (a.lower() && b.lower()) low = *a.lower() + *b.lower();
  if (a.upper() && b.upper()) high = *a.upper() + *b.upper();
  return Interval::of(std::move(low), std::move(high));
}

Interval operator-(const Interval& a) {
  if (a.is_empty()) return a;
  std::optional<Int> low, high;
  if (a.upper()) low = -*a.upper();
  if (a.lower()) high = -*a.lower();
  return Interval::of(std::move(low), std::move(high));
}

Interval operator-(const Interval& a, const Interval& b) { return a + -b; }

Interval operator*(const Interval& a, const Interval& b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  const End x[] = {lower_end(a), upper_end(a)};
  const End y[] = {lower_end(b), upper_end(b)};
  const std::array corners = {times(x[0], y[0]), times(x[0], y[1]),
                              times(x[1], y[0]), times(x[1], y[1])};
  auto [low, high] = std::minmax_element(corners.begin(), corners.end(), less);
  return between(*low, *high);
}

Interval floor_div(const Interval& a, const Interval& b) {
  Interval positive = intersect(b, Interval::at_least(1));
  Interval negative = intersect(b, Interval::at_most(-1));
  Interval result = Interval::empty();
  if (a.is_empty()) return result;
  if (!positive.is_empty()) result = divide_by_positive(a, positive);
  if (!negative.is_empty()) {
    result = hull(result, divide_by_positive(-a, -negative));
  }
  return result;
}

Interval mod(const Interval& a, const Interval& b) {
  Interval positive = intersect(b, Interval::at_least(1));
  Interval negative = intersect(b, Interval::at_most(-1));
  Interval result = Interval::empty();
  if (a.is_empty()) return result;
  if (!positive.is_empty()) result = mod_by_positive(a, positive);
  if (!negative.is_empty()) {
    // x mod -y is -(-x mod y) under Python's sign.
    result = hull(result, -mod_by_positive(-a, -negative));
  }
  return result;
}

Interval min(const Interval& a, const Interval& b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  return between(std::min(lower_end(a), lower_end(b), less),
                 std::min(upper_end(a), upper_end(b), less));
}

Interval max(const Interval& a, const Interval& b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  return between(std::max(lower_end(a), lower_end(b), less),
                 std::max(upper_end(a), upper_end(b), less));
}

Interval abs(const Interval& a) {
  if (a.is_empty()) return a;
  if (a.lower() && a.lower()->sign() >= 0) return a;
  if (a.upper() && a.upper()->sign() <= 0) return -a;
  return between({0, 0}, std::max(upper_end(a), upper_end(-a), less));
}

Interval pow(const Interval& a, unsigned exponent) {
  if (a.is_empty()) return a;
  if (exponent == 0) return Interval::point(1);
  Interval base = exponent % 2 == 0 ? abs(a) : a;
  return Interval::of(pow_end(base.lower(), exponent),
                      pow_end(base.upper(), exponent));
}

}  // namespace proviso
