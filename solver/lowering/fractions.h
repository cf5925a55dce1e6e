// solver/lowering/fractions.h - exact rationals as pairs of polynomials.
//
//   x/2 + 1/3           (3*x + 2) / 6
//   CeilToInt(x/y)      -floor(-x/y)
//   x/y <= 1/2          y >= 1 and 2*x <= y, or y <= -1 and 2*x >= y
//
// Complete for sums, products and quotients of integers.  What is a power, a
// root or a choice has no fraction: whoever asks makes an atom or a condition
// of it, of which nothing is known.
#pragma once

#include <optional>

#include "solver/lower.h"

namespace proviso::inline v0_2::internal {

struct Fraction {
  Poly num, den;  // den is not 0 where the number is defined
};

// A number's; nullopt where it has none.
std::optional<Fraction> fraction(Lowering& lower, Expr number);

// x rounded by TruncToInt, CeilToInt, FloorToInt or RoundToInt (ties to even).
Poly rounded(FormPool& forms, Op op, const Fraction& x);

// a OP b, given the difference b - a.
FormulaId sign_relation(FormPool& forms, Op op, const Fraction& difference);

}  // namespace proviso::inline v0_2::internal
