// solver/engine/explanation.h - the facts that an answer names: those that its
// proof used, or fewer.
//
//   used by the proof        s0 >= 2, s1 == 2*s0, Mod(s0, 4) == 0
//   without the last         still "yes": it goes
//   without s1 == 2*s0       unknown: it stays
//
// A stack of its own, without Z3, tries subset after subset; facts that two
// subsets in a row begin with stay assumed, so that leaving out one fact after
// another from the last to the first assumes each prefix once.
#pragma once

#include <vector>

#include "solver/engine/reasoner.h"

namespace proviso::inline v0_2::internal {

// `used`, where these imply the verdict alone; else every fact that could
// matter; all of them where the limit ends before that is known.
std::vector<FactId> complete_facts(Reasoner& reasoner, Expr question,
                                   Verdict verdict, std::vector<FactId> used);
// complete_facts() less those that it does without, dropped one by one.
std::vector<FactId> fewest_facts(Reasoner& reasoner, Expr question,
                                 Verdict verdict, std::vector<FactId> used);

}  // namespace proviso::inline v0_2::internal
