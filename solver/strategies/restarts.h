// solver/strategies/restarts.h - the proof strategies again, facts and symbols
// in canonical orders.
//
//   facts of the caller, in any order -> sorted by structure, renamed, asked
//
//   u0 % 4 == 1, u0 % (u1*u2) == 1       u0 % u2 < 5, for u0 >= -2, u1, u2 >= 2
//     undecided in this order; in a canonical one, by equalities
//
// Heuristics depend on the order in which facts came: the last one is derived
// from most, and what was made first comes first where choices are alike.  So
// what one order does not decide, or decides with much work, is decided by
// canonical orders (solver/canonical_order.h) or not at all, and the order of
// the caller does not matter.
//
//   1  the facts are assumed in two orders, of which one may decide at once
//   2  all proof strategies on both, first on that with fewer constraints
//   3  all proof strategies with the facts assumed in three other ways, less
//      those whose first consequences are like those of a way before, as far
//      as numbers tell: their proofs would be the same
//   4  more work on the first of them, where work ended it or no way was
//      another
//
// Most questions that come here are decided by the first or the second order.
// solver/limits.def has the budget and the work of a try and of the last.
// The idea is that of restarts in satisfiability (Gomes, Selman and Kautz,
// Boosting combinatorial search through randomization, 1998), with a few fixed
// orders in place of random ones.  Complete for nothing that the strategies
// are not complete for.
#pragma once

#include <optional>
#include <vector>

#include "solver/engine/search.h"

namespace proviso::inline v0_2::internal {

class Reasoner;

// On a reasoner of its own for each order, with the facts relevant to the
// question.
Decision restart(Reasoner& reasoner, Search& search);

// Why these facts contradict each other, where that shows when they are assumed
// in some canonical order, or by a linear refutation then.  `units` for each of
// these.
std::optional<Reason> contradiction_in_other_orders(Reasoner& reasoner,
                                                    std::vector<FactId> facts,
                                                    uint64_t units);

}  // namespace proviso::inline v0_2::internal
