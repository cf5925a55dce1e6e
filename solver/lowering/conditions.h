// solver/lowering/conditions.h - relations and logic as conditions on
// polynomials.
//
//   x < y               y - x - 1 >= 0
//   Eq(Mod(x, 4), 0)    x - 4*floor(x/4) == 0
//   a if c else b       (c and a) or (not c and b)
//   cos(x) < y          a condition of its own, of which nothing is known
#pragma once

#include "solver/lower.h"

namespace proviso::inline v0_2::internal {

// The form of a boolean expression.
FormulaId lowered_condition(Lowering& lower, Expr e);

// a OP b, given b - a.
FormulaId integer_relation(FormPool& forms, Op op, Poly difference);
// c ? a : b
FormulaId choice(FormPool& forms, FormulaId c, FormulaId a, FormulaId b);

}  // namespace proviso::inline v0_2::internal
