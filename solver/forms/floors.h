// solver/forms/floors.h - floors by numbers, and what sums of remainders are.
//
//   (8*x + y + 13) // 4           2*x + 3 + (y + 1)//4: multiples come out
//   ((x//2) + 3) // 5             (x + 6)//10: floors of floors merge
//   (x%8 + 8) // 16               0, since x%8 + 8 is in [8, 15]
//   2*(x%4) - (y%3) + 1           in [-1, 7], by structure alone
//
// The rules hold at every point.  They are rows of a table
// (sym/rewrite_rule.h), most of them those of any polynomials (sym/division.h),
// each tried once in its order; a merge starts again, with a numerator of fewer
// nested floors.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "solver/forms/term_pool.h"
#include "sym/rewrite_rule.h"

namespace proviso::inline v0_2::internal {

// floor(p / k).  Requires k other than 0.
Poly floor_by_number(TermPool& terms, Poly p, const Int& k);

// The ends of a sum of remainders a - d*floor(a/d) and a constant, which are in
// [0, d-1] wherever the parts are.  Nullopt of what is no such sum.
std::optional<std::pair<Int, Int>> remainder_range(const TermPool& terms,
                                                   const Poly& p);

// The rules, with how often each was used.
std::vector<RewriteRuleCount> number_division_rule_counts();

}  // namespace proviso::inline v0_2::internal
