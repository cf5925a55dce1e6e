// solver/engine/consistency.h - which facts contradict each other: they imply
// everything, so that nothing that follows from them is an answer.
//
//   u0 >= 2, u0 <= 1             ranges and equalities show it when the second
//                                is asserted: FactStack::conflict()
//   u0 + u1 > 2*u2, u0 <= u2,    linear constraints together: relevant_to()
//   u0 + 3*u1 <= 4*u2            a question about u0, elsewhere() for others
//
// The latter needs a proof.  It is looked for where no point is known at which
// the facts hold, with a share of the call's work; where that ends, the answer
// stays.
#pragma once

#include <optional>
#include <vector>

#include "solver/engine/fact_stack.h"
#include "solver/engine/pipeline.h"

namespace proviso::inline v0_2::internal {

// Why the facts relevant to an answer contradict each other (pipeline.h);
// nothing either where the search's share of the work ends.
std::optional<Reason> relevant_contradiction(Reasoner& reasoner,
                                             const ProvedAnswer& proved);

class Consistency {
 public:
  explicit Consistency(FactStack& facts) : facts_(facts) {}

  // Facts relevant to the question that contradict each other, by its answer.
  std::optional<std::vector<FactId>> relevant_to(Expr question,
                                                 const Remembered& m);
  // Facts that contradict each other, whatever they are about; empty where none
  // are found.  The search is made once in each state; the reference holds
  // until the next call.
  const std::vector<FactId>& elsewhere();

 private:
  FactStack& facts_;
  // The state in which they were looked for, and what was found there.
  uint64_t state_ = 0;
  uint32_t fact_count_ = 0;
  size_t formulas_ = 0;  // as many of the candidate models' facts
  std::vector<FactId> found_;
};

}  // namespace proviso::inline v0_2::internal
