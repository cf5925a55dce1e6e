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
//   1  the facts are assumed in each order; some decide the question at once
//   2  of those with the same first consequences one is kept, for their proofs
//      are the same, too: with few facts there is only one
//   3  all proof strategies on each that is left
//   4  where work ended one of them, more work on the first
//
// Most questions that come here are decided by the first order, which takes as
// much as a first try; the look at the other orders takes a fifth of that.
#pragma once

#include "solver/engine/search.h"

namespace proviso::inline v0_2::internal {

class Reasoner;

// On a reasoner of its own for each order, with the facts relevant to the
// question.
Decision restart(Reasoner& reasoner, Search& search);

}  // namespace proviso::inline v0_2::internal
