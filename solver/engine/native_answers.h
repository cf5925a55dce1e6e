// solver/engine/native_answers.h - yes, no or unknown without Z3, remembered
// for as long as it holds.
//
//   NativeAnswers native(facts);
//   native.ask(question);              // kYes, from the box or the reasoner
//   native.ask(question);              // the same, from the memo
//   native.with_reason(question).why   // the facts that it follows from
//
// Which facts an answer follows from is kept as a Reason of the reasoner's
// arena.  It is gone when the arena is cut, and never was where the box
// decided: then the question is decided again by the first who wants to know.
#pragma once

#include "solver/engine/fact_stack.h"
#include "solver/engine/memo.h"

namespace proviso::inline v0_2::internal {

class NativeAnswers {
 public:
  explicit NativeAnswers(FactStack& facts) : facts_(facts) {}

  Verdict ask(Expr question);
  // The answer to `question` with its reason, wherever there is one.  The
  // reference holds until the next question.
  const Remembered& with_reason(Expr question);
  // The last answer, where it still holds; else nullptr.
  const Remembered* remembered(Expr question);

 private:
  const Remembered& decide(Expr question);
  Verdict keep_of_box(Expr question, bool value);

  FactStack& facts_;
  Memo memo_{facts_.states()};
};

}  // namespace proviso::inline v0_2::internal
