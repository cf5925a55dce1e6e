// solver/strategies/restarts.h - the proof strategies again, facts and symbols
// in canonical orders.
//
//   facts of the caller, in any order -> sorted by structure, renamed, asked
//
// Heuristics depend on the order in which facts came: the last one is derived
// from most, and what was made first comes first where choices are alike.  So
// what one order does not decide, or decides with much work, is decided by
// canonical orders (solver/canonical_order.h) or not at all, and the order of
// the caller does not matter.
//
//   1  the facts are assumed in two orders, of which one may decide at once
//   2  all proof strategies on both, first on that with fewer constraints
//   3  the same with the facts assumed in other ways, one after another, but
//      for those whose first consequences are like those of a way before, as
//      far as numbers tell: their proofs are, too
//   4  more work on the first of them, where work ended it or no way was
//      another
//
// Most questions that come here are decided by the first or the second order.
#pragma once

#include "solver/engine/search.h"

namespace proviso::inline v0_2::internal {

class Reasoner;

// On a reasoner of its own for each order, with the facts relevant to the
// question.
Decision restart(Reasoner& reasoner, Search& search);

}  // namespace proviso::inline v0_2::internal
