// solver/symbolic_bounds.h - bounds of an expression in chosen symbols.
//
//   // 1 <= n <= tile * tiles, 0 <= pad < tile
//   upper_bound(context, n + pad, {{tile, tiles}})   // tile*tiles + tile - 1
//   lower_bound(context, n + pad, {})                // 1
//
// A planner wants to know how much to reserve in what the caller passes; the
// bound of numbers alone, Context::bounds(), may be infinite or far off.
//
// The idea is elimination.  What the facts and the operators say is a set of
// constraints r >= 0 (tile*tiles - n >= 0; tile - 1 - pad >= 0; of q = x//8: x
// - 8*q >= 0).  To bound e from above, a multiple of a constraint is added that
// makes a term vanish which is not in the chosen symbols; e is at most what
// comes out.  Several ways lead to several bounds: those that others imply are
// dropped, and the bound is the Min of what is left.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "solver/solver.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// An expression over the symbols `over` alone that is never less (never more)
// than `e`, an integer expression, wherever the facts hold and e is defined;
// nullopt when none is found.  `facts`, where given, is set to facts that imply
// it.  Throws Error for what Context::bounds() does not take, and where a
// member of `over` is not a symbol of the context's pool.
[[nodiscard]] std::optional<Expr> upper_bound(
    Context& context, Expr e, std::span<const Expr> over,
    std::vector<FactId>* facts = nullptr);
[[nodiscard]] std::optional<Expr> lower_bound(
    Context& context, Expr e, std::span<const Expr> over,
    std::vector<FactId>* facts = nullptr);

[[nodiscard]] inline std::optional<Expr> upper_bound(
    Context& context, Expr e, std::initializer_list<Expr> over) {
  return upper_bound(context, e, std::span(over.begin(), over.size()));
}
[[nodiscard]] inline std::optional<Expr> lower_bound(
    Context& context, Expr e, std::initializer_list<Expr> over) {
  return lower_bound(context, e, std::span(over.begin(), over.size()));
}

}  // namespace proviso::inline v0_2
PROVISO_API_END
