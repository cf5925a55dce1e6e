// solver/lowering/fractions.h - exact real numbers as fractions of the solver's
// polynomials (sym/fractions.h), and what becomes an integer or a condition of
// them.
//
//   x/2 + 1/3           (3*x + 2) / 6
//   CeilToInt(x/y)      -floor(-x/y)
//   x/y <= 1/2          y >= 1 and 2*x <= y, or y <= -1 and 2*x >= y
//
// Of what has no fraction, whoever asks makes an atom or a condition of which
// nothing is known.
#pragma once

#include <optional>

#include "solver/lower.h"
#include "sym/fractions.h"

namespace proviso::inline v0_2::internal {

using Fraction = FractionOf<Poly>;

// A number's; nullopt where it has none.
std::optional<Fraction> fraction(Lowering& lower, Expr number);

// x rounded by TruncToInt, CeilToInt, FloorToInt or RoundToInt (ties to even).
Poly rounded(FormPool& forms, Op op, const Fraction& x);

// a OP b, given the difference b - a.
FormulaId sign_relation(FormPool& forms, Op op, const Fraction& difference);

}  // namespace proviso::inline v0_2::internal
