// solver/solve.h - a relation solved for one of its symbols.
//
//   solve(context, eq(4*x + 3, n), x)   // x == (n - 3)//4, if (n - 3) % 4 == 0
//   solve(context, x * k <= n, x)       // x <= n//k; k >= 1 is known
//   solve(context, x // 8 >= n, x)      // x >= 8*n
//   solve(context, 8*x >= n, x)         // x >= ceil_div(n, 8)
//   common_divisor(context, 6*n*k, 4*n) // 2*n
//
// The idea is isolation, as in PRESS (Sterling, Bundy and others, Solving
// symbolic equations with PRESS, 1982): each round takes the outermost operator
// off the side with the symbol and applies its inverse to the other side.
//
//   (4*x + 3)//8 >= n    4*x + 3 >= 8*n    4*x >= 8*n - 3
//                                          x >= ceil_div(8*n - 3, 4)
//
// A round costs a few ask_quick() of signs, and there are as many as operators
// around the symbol.  Complete for a symbol within one atom of each sum on the
// way, where signs of factors and of divisors are known: quotients in <= and
// >=, Max in <=, Min in >=; a symbol in two places, x*x + x, is not solved for.
#pragma once

#include <optional>
#include <string>

#include "solver/solver.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

struct [[nodiscard]] Solution {
  enum class Side { kEqual, kAtMost, kAtLeast };
  Side side;
  Expr value;      // without the symbol
  Expr condition;  // without the symbol; True where nothing more is needed
};
std::string_view name_of(Solution::Side side);  // "==", "<=", ">="

// Wherever the facts hold and the relation is defined, it is true exactly where
// the symbol is == (<=, >=) value and the condition holds.  relation: Eq, Lt or
// Le of integers, or the negation of an Lt or Le.  nullopt when the symbol does
// not stand in it once, with a factor whose sign is known; an equality is not
// solved through a division that rounds.  Throws Error for another relation,
// and where `symbol` is no integer symbol of the context's pool.
[[nodiscard]] std::optional<Solution> solve(Context& context, Expr relation,
                                            Expr symbol);

// A product of a number and of factors that divides both integer expressions
// wherever the facts hold and it is not 0: all that their terms share, and the
// gcd of what divides what is left.
[[nodiscard]] Expr common_divisor(Context& context, Expr a, Expr b);

}  // namespace proviso::inline v0_2
PROVISO_API_END
