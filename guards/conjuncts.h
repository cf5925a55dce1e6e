// guards/conjuncts.h - a condition in parts, and its negation.
//
//   conjuncts((a & b) & ~(c | d));    // {a, b, ~c, ~d}
//   conjunction(pool, {a, b});        // a & b
//   negate(s0 < 4);                   // s0 >= 4
#pragma once

#include <vector>

#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

// The parts of a conjunction, each once; anything else is its own only part.
std::vector<Expr> conjuncts(Expr condition);
// Canonical; as it is where the call under way is interrupted.
Expr simplified(Expr e);
Expr negate(Expr condition);
// Whether the condition is about this symbol alone, and false of the value.
bool leaves_out(Expr condition, Expr symbol, const Int& value);
// Where it is not among them.
void add_once(std::vector<Expr>& all, Expr e);
// All of them: true of none, and of one that one.
Expr conjunction(ExprPool& pool, const std::vector<Expr>& parts);
Expr canonical_conjunction(ExprPool& pool, const std::vector<Expr>& parts);

}  // namespace proviso::inline v0_2::internal
