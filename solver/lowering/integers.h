// solver/lowering/integers.h - integer operators as polynomials over atoms.
//
//   Mod(x, 4)       x - 4*floor(x/4)
//   Min(x, y)       x - pos(x - y)              pos(d) = max(0, d)
//   x | y           x + y - (x & y)
//   x << 3          8*x
//
// One operator at a time, whatever its arguments: their forms come from
// Lowering.  An operator of which nothing is said here is its definition
// (sym/definition.h), or else an atom of which nothing is known.
#pragma once

#include "solver/lower.h"

namespace proviso::inline v0_2::internal {

// The form of an integer expression that is no number.
Poly lowered_integer(Lowering& lower, Expr e);

}  // namespace proviso::inline v0_2::internal
