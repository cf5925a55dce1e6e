// solver/engine/explanation.h - the facts that an answer names: those that its
// proof used, or fewer.
//
//   used by the proof        s0 >= 2, s1 == 2*s0, Mod(s0, 4) == 0
//   without the last         still "yes": it goes
//   without s1 == 2*s0       unknown: it stays
//
// What a proof used is known without a search: each fact is an assumption, and
// the answer's reason is a set of them, as the failed assumptions of a SAT
// solver are (Een and Sorensson, An extensible SAT-solver, 2003).  Facts are
// left out one by one, from the last to the first, and the question is asked
// again.
//
// That needs a second stack of facts.  On the first one stands what follows
// from all facts together, in the order in which they came: to ask without one,
// all that came after the first fact in use would have to be taken back and be
// assumed again.  The second stack holds the facts in use alone, each in a
// scope; facts that two subsets in a row begin with stay assumed.  So k facts
// cost k + 1 questions and k*k/2 assumptions at most, for a k of at most
// limits().minimized_facts, however many facts there are: 0.1 ms for six of 10
// facts, 0.15 ms for six of 100 (Explain in bench/solver_bench.cc).  To assume
// 10, 100 and 1,000 facts again takes 0.02, 0.2 and 1 to 18 ms, for each fact
// that is left out.  The question is asked natively, without points, and in
// other orders (restarts.h) only where the answer came from there.
//
// The result implies the answer, as it was asked.  It need not be the smallest
// set: which facts are left depends on their order.
#pragma once

#include <vector>

#include "solver/engine/memo.h"
#include "solver/engine/reasoner.h"

namespace proviso::inline v0_2::internal {

// The facts behind `answer`, where these imply it alone; else every fact that
// could matter; all of them where the limit ends before that is known. Requires
// that its reason is there (Remembered::epoch).
std::vector<FactId> complete_facts(Reasoner& reasoner, Expr question,
                                   const Remembered& answer);
// complete_facts() less those that it does without, dropped one by one.
std::vector<FactId> fewest_facts(Reasoner& reasoner, Expr question,
                                 const Remembered& answer);

}  // namespace proviso::inline v0_2::internal
