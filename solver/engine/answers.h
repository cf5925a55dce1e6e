// solver/engine/answers.h - whole answers: with the facts that imply them, in
// words, and with points where there is no yes or no.
//
//   Answers answers(facts, native);
//   answers.ask(question)
//
//   asked in this state before?      that answer
//   the facts contradict each other  unknown, and which (consistency.h)
//   yes or no, natively              the fewest facts found that imply it
//                                    (explanation.h)
//   unknown                          a witness and a counterexample, else Z3
//                                    (Stage::kPoints)
#pragma once

#include <vector>

#include "solver/engine/consistency.h"
#include "solver/engine/native_answers.h"

namespace proviso::inline v0_2::internal {

class Answers {
 public:
  Answers(FactStack& facts, NativeAnswers& native)
      : facts_(facts), native_(native), consistency_(facts) {}

  // Facts are given by their numbers on the stack, here and below.
  Answer ask(Expr question);
  // Facts that contradict each other; empty where that is not known.
  std::vector<FactId> contradiction();
  // Facts that imply the answer that still holds; none where there is none.
  std::vector<FactId> facts_used(Expr question);
  // Facts that imply the claim alone: few, where it is a yes or a no natively;
  // else all that are connected to it.
  std::vector<FactId> facts_behind(Expr claim);
  std::vector<FactId> connected_facts(Expr e);

 private:
  // Most programs ask the same few questions over and over.
  struct Last {
    Expr question;
    uint64_t state = 0;
    Answer answer;
  };
  static constexpr size_t kLast = 16;  // of the table below

  Answer find(Expr question);

  FactStack& facts_;
  NativeAnswers& native_;
  Consistency consistency_;
  std::vector<Last> last_;  // by question id modulo their number
};

}  // namespace proviso::inline v0_2::internal
