// guards/conjuncts.h - a condition in parts.
#pragma once

#include <vector>

#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

// (a & b) & ~(c | d) is {a, b, ~c, ~d}; {e} of what is no conjunction.
std::vector<Expr> conjuncts(Expr condition);
// The canonical opposite.
Expr negate(Expr condition);
// Where it is not among them.
void add_once(std::vector<Expr>& all, Expr e);
// All of them: true of none, and of one that one.
Expr conjunction(ExprPool& pool, const std::vector<Expr>& parts);

}  // namespace proviso::inline v0_2::internal
