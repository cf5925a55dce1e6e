// guards/weakest_checks.h - the least that must be promised for a condition.
//
//   // u6 >= 0 is known
//   weakest_checks(context, parse(pool, "Ne(u6, 1) & Ne(96*u6, 0)"));
//   // {u6 >= 2}
//   weakest_checks(context, parse(pool, "Ne(8*u0*u1, 0)"));
//   // {u0 >= 1, u1 >= 1}, where both are known to be >= 0
//
// Together the checks say under the facts just what the condition says: no
// value is excluded without need.  Each is a line that a person would write,
// and none follows from the others.
#pragma once

#include <vector>

#include "solver/solver.h"

namespace proviso::inline v0_2::internal {

std::vector<Expr> weakest_checks(Context& context, Expr condition);

// The checks may speak of `terms` alone where that suffices: values that the
// program has a word for.  {u0 + 1 >= 8} for u0 > 6 over u0 + 1.
std::vector<Expr> weakest_checks(Context& context, Expr condition,
                                 const std::vector<Expr>& terms);

// What speaks of the same symbols said together where that is fewer checks:
// {u0 != 1, u0 >= 1} are {u0 >= 2}.
std::vector<Expr> said_together(Context& context,
                                const std::vector<Expr>& conditions,
                                const std::vector<Expr>& terms);

// The condition with x % k <= 0 written as x % k == 0, and 1 <= x % k as
// x % k != 0, wherever k is a positive number.
Expr as_divisibility(Expr condition);

}  // namespace proviso::inline v0_2::internal
