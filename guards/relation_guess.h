// guards/relation_guess.h - a condition as a few relations over given terms.
//
//   // u0 >= 0 and u1 >= 0 are known
//   relations_over(context, parse(pool, "Ne(8*u0*u1, 0)"), {u0, u1});
//   // {u0 >= 1, u1 >= 1}
#pragma once

#include <optional>
#include <vector>

#include "solver/solver.h"

namespace proviso::inline v0_2::internal {

// Relations, remainders and ends of the terms that together say, under the
// facts, just what the condition says; nullopt where no guess does.
std::optional<std::vector<Expr>> relations_over(Context& context,
                                                Expr condition,
                                                const std::vector<Expr>& terms);

}  // namespace proviso::inline v0_2::internal
