// solver/lowering/definedness.h - the condition under which an expression has a
// value.
//
//   4//u0 > 1                 u0 != 0
//   x << y                    y >= 0
//   x//y if y > 0 else 0      y != 0 or y <= 0: only the arm that is taken
//
// That of the arguments, and the operator's own.  What it is for powers of
// floats and opaque functions is a condition of which nothing is known.
#pragma once

#include "solver/lower.h"

namespace proviso::inline v0_2::internal {

FormulaId lowered_definedness(Lowering& lower, Expr e);

}  // namespace proviso::inline v0_2::internal
