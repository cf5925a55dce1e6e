// tracer_adapter/fake/float_ratio.h - floats that are ratios of integers in the
// program's own doubles.
//
// Each step of n/2 and of n*0.375 + 1 is exact, so that what asks for their
// whole or remaining parts asks integers:
//
//   arange(n/2)   has (n + 1)//2 elements
//   (n/2) % 1     is (n % 2)/2
//   (n/4) // 1.5  is float(n // 6)
//
// Not the fraction of sym/fractions.h, which is that of the exact number: n/10
// is one there, and its double is not.
#pragma once

#include <cstdint>
#include <optional>

#include "sym/expr.h"

namespace proviso::inline v0_2 {

// numerator / divisor, a whole number in [1, kMostParts].
struct FloatRatio {
  Expr numerator;  // an integer
  int64_t divisor;
};

// Sums and products of so many parts are exact.
inline constexpr int64_t kMostParts = 1 << 20;

constexpr bool is_power_of_two(int64_t number) {
  return (number & (number - 1)) == 0;
}

// The ratio that the double e is the rounding of, which rounds nothing where
// the divisor is a power of two: n/2, n/3, 3*n/8 of n*0.375, n of float(n), and
// of an integer itself.
std::optional<FloatRatio> ratio_of(Expr e);

// a = a.numerator/divisor and b = b.numerator/divisor, so that a // b is that
// of the numerators and a % b is theirs divided: nothing rounds.  Of b a
// constant > 0; nullopt where a divisor is no power of two.
struct FloatParts {
  Expr a, b;  // the numerators
  int64_t divisor;
};
std::optional<FloatParts> in_parts(Expr a, Expr b);

}  // namespace proviso::inline v0_2
