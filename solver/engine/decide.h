// solver/engine/decide.h - how a question is decided natively.
//
//   const Search s = decide(reasoner, question);
//   s.value(), reasoner.facts_in(s.why())         // true, {2, 5}
//
//   1  a proof from the facts in the order in which they came: that the
//      question is defined, and then that it holds or fails (Stage::kProof)
//   2  the question with all facts around it, where 1 left it open, or worked
//      so hard that another order of the facts might not find it
//      (Stage::kFallback)
//   3  where that took a proof and no point is known at which the facts hold:
//      whether they contradict each other (consistency.h)
//
// Each has a share of the call's work of its own, so that what one of them
// costs in some order of the facts changes no other's outcome.
#pragma once

#include "solver/engine/reasoner.h"

namespace proviso::inline v0_2::internal {

// All three.  Unknown, with the facts that contradict each other in `why`,
// where those relevant to the question do.
Search decide(Reasoner& reasoner, Expr question);

// The first alone.  Where models rule out an answer, `s` says so.  Works within
// the caller's budget.
void decide_by_proof(Reasoner& reasoner, Search& s);

}  // namespace proviso::inline v0_2::internal
