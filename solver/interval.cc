// Products are those of the ends, on the line with both infinities; quotients
// and remainders those by the positive and by the negative part of the divisor;
// bits stay below the next power of two.
#include "solver/interval.h"

#include <algorithm>
#include <array>
#include <limits>

namespace proviso::inline v0_2 {
namespace {

using End = OptionalInt;  // nullopt: the infinity on its side

// Whether b says more than a about the side it is on.
bool is_above(const End& b, const End& a) { return b && (!a || *b > *a); }
bool is_below(const End& b, const End& a) { return b && (!a || *b < *a); }

// A value of the extended line.
struct Corner {
  int infinity = 0;  // -1, 0 (finite) or 1
  Int value;

  int sign() const { return infinity != 0 ? infinity : value.sign(); }
};

bool less(const Corner& a, const Corner& b) {
  if (a.infinity != b.infinity) return a.infinity < b.infinity;
  return a.infinity == 0 && a.value < b.value;
}

Corner lower_corner(const Interval& a) {
  return a.lower() ? Corner{0, *a.lower()} : Corner{-1, 0};
}

Corner upper_corner(const Interval& a) {
  return a.upper() ? Corner{0, *a.upper()} : Corner{1, 0};
}

// 0 * infinity is 0: the infinite factor stands for arbitrarily large finite
// ones.
Corner times(const Corner& a, const Corner& b) {
  if (a.infinity == 0 && b.infinity == 0) return {0, a.value * b.value};
  return {a.sign() * b.sign(), 0};
}

End finite(const Corner& c) {
  if (c.infinity != 0) return std::nullopt;
  return c.value;
}

// floor(x / y) with y > 0; an infinite y leaves 0 or -1.
End divide(const Int& x, const End& y) {
  if (!y) return Int(x.sign() < 0 ? -1 : 0);
  return floor_div(x, *y);
}

// Requires b within [1, inf].
Interval divide_by_positive(const Interval& a, const Interval& b) {
  End low, high;
  if (a.lower()) {
    low = divide(*a.lower(), a.lower()->sign() >= 0 ? b.upper() : b.lower());
  }
  if (a.upper()) {
    high = divide(*a.upper(), a.upper()->sign() >= 0 ? b.lower() : b.upper());
  }
  return Interval::of(std::move(low), std::move(high));
}

bool is_nonnegative(const Interval& a) {
  return a.lower() && a.lower()->sign() >= 0;
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
  bool shrinks = is_nonnegative(a) && a.upper();
  return shrinks ? intersect(remainder, Interval(0, *a.upper())) : remainder;
}

bool is_negative(const Interval& a) {
  return a.upper() && a.upper()->sign() < 0;
}

// The least 2**k with the finite interval within [-2**k, 2**k - 1].
Int power_around(const Interval& a) {
  const size_t below = a.lower()->sign() < 0
                           ? (*a.lower() + Int(1)).bit_length()
                           : 0,
               above = a.upper()->sign() > 0 ? a.upper()->bit_length() : 0;
  return *pow(Int(2), std::max(below, above),
              std::numeric_limits<size_t>::max());
}

// -1 - x, each bit flipped.
Interval flipped(const Interval& a) { return (-a).shifted(-1); }

End pow_end(const End& base, unsigned exponent) {
  if (!base) return std::nullopt;
  return pow(*base, exponent);
}

}  // namespace

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
  return Interval::of(is_above(b.lower(), a.lower()) ? b.lower() : a.lower(),
                      is_below(b.upper(), a.upper()) ? b.upper() : a.upper());
}

Interval hull(const Interval& a, const Interval& b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return Interval::of(is_above(a.lower(), b.lower()) ? b.lower() : a.lower(),
                      is_below(a.upper(), b.upper()) ? b.upper() : a.upper());
}

Interval operator+(const Interval& a, const Interval& b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  End low, high;
  if (a.lower() && b.lower()) low = *a.lower() + *b.lower();
  if (a.upper() && b.upper()) high = *a.upper() + *b.upper();
  return Interval::of(std::move(low), std::move(high));
}

Interval operator-(const Interval& a) {
  if (a.is_empty()) return a;
  End low, high;
  if (a.upper()) low = -*a.upper();
  if (a.lower()) high = -*a.lower();
  return Interval::of(std::move(low), std::move(high));
}

Interval operator-(const Interval& a, const Interval& b) { return a + -b; }

Interval operator*(const Interval& a, const Interval& b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  if (is_nonnegative(a) && is_nonnegative(b)) {
    auto is_zero = [](const End& end) { return end && end->is_zero(); };
    End high;
    if (a.upper() && b.upper()) {
      high = *a.upper() * *b.upper();
    } else if (is_zero(a.upper()) || is_zero(b.upper())) {
      high = Int(0);
    }
    return Interval::of(*a.lower() * *b.lower(), std::move(high));
  }
  const Corner x[] = {lower_corner(a), upper_corner(a)};
  const Corner y[] = {lower_corner(b), upper_corner(b)};
  const std::array corners = {times(x[0], y[0]), times(x[0], y[1]),
                              times(x[1], y[0]), times(x[1], y[1])};
  auto [low, high] = std::minmax_element(corners.begin(), corners.end(), less);
  return Interval::of(finite(*low), finite(*high));
}

Interval floor_div(const Interval& a, const Interval& b) {
  if (a.is_empty()) return a;
  if (b.lower() && b.lower()->sign() > 0) return divide_by_positive(a, b);
  Interval positive = intersect(b, Interval::at_least(1));
  Interval negative = intersect(b, Interval::at_most(-1));
  Interval result = Interval::empty();
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
  End low;
  if (a.lower() && b.lower()) low = std::min(*a.lower(), *b.lower());
  return Interval::of(std::move(low),
                      is_below(b.upper(), a.upper()) ? b.upper() : a.upper());
}

Interval max(const Interval& a, const Interval& b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  End high;
  if (a.upper() && b.upper()) high = std::max(*a.upper(), *b.upper());
  return Interval::of(is_above(b.lower(), a.lower()) ? b.lower() : a.lower(),
                      std::move(high));
}

Interval abs(const Interval& a) {
  if (a.is_empty() || is_nonnegative(a)) return a;
  if (a.upper() && a.upper()->sign() <= 0) return -a;
  End high;
  if (a.lower() && a.upper()) high = std::max(*a.upper(), -*a.lower());
  return Interval::of(Int(0), std::move(high));
}

Interval pow(const Interval& a, unsigned exponent) {
  if (a.is_empty()) return a;
  if (exponent == 0) return Interval::point(1);
  Interval base = exponent % 2 == 0 ? abs(a) : a;
  return Interval::of(pow_end(base.lower(), exponent),
                      pow_end(base.upper(), exponent));
}

// x & y clears bits: it is at most the larger one, at most y where x is
// negative, and within [0, y] where y is not.
Interval bit_and(const Interval& a, const Interval& b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  End low, high;
  auto at_most = [&](const End& end) {
    if (is_below(end, high)) high = end;
  };
  if (is_nonnegative(a) || is_nonnegative(b)) {
    low = Int(0);
  } else if (a.lower() && b.lower()) {
    low = -power_around(Interval(std::min(*a.lower(), *b.lower()), Int(-1)));
  }
  if (a.upper() && b.upper()) at_most(std::max(*a.upper(), *b.upper()));
  if (is_nonnegative(a) || is_negative(b)) at_most(a.upper());
  if (is_nonnegative(b) || is_negative(a)) at_most(b.upper());
  return Interval::of(std::move(low), std::move(high));
}

Interval bit_or(const Interval& a, const Interval& b) {
  return flipped(bit_and(flipped(a), flipped(b)));
}

Interval bit_xor(const Interval& a, const Interval& b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  const bool known = (is_nonnegative(a) || is_negative(a)) &&
                     (is_nonnegative(b) || is_negative(b));
  const bool alike = is_nonnegative(a) == is_nonnegative(b);
  End low, high;
  if (a.lower() && a.upper() && b.lower() && b.upper()) {
    const Int power = power_around(hull(a, b));
    low = -power;
    high = power - Int(1);
  }
  if (known && alike) low = Int(0);
  if (known && !alike) high = Int(-1);
  return Interval::of(std::move(low), std::move(high));
}

}  // namespace proviso::inline v0_2
