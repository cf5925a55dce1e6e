// guards/env/questions.h - how a question that the program asks gets its
// answer.
//
//   Questions questions(symbols, decider, hints, recorder, open_questions);
//   questions.guard_bool(le(s0, 512), where, "guard_bool");   // true; a guard
//   questions.guard_bool(le(s0, 600), where, "guard_bool");   // true; known
//   questions.guard_or(eq(u0, 4), false, where, "guard_or_false");   // false
//
// The first of these tiers that has an answer gives it:
//   1. what is known (decider.h): an unguarded answer;
//   2. the example (hints.h): the answer becomes a guard (recorder.h);
//   3. of data, what AssumedAnswers say: it becomes an assertion; the caller's
//      default; or a DataDependentError (open_questions.h).
//
// Protocol: arguments are expressions of the session's pool and of the type
// that is asked for; the public class has checked it.  `call` is the public
// call's name, for errors.  While questions are suppressed, examples answer and
// nothing is recorded.
#pragma once

#include <optional>
#include <string>

#include "guards/env/open_questions.h"
#include "guards/env/recorder.h"

namespace proviso::inline v0_2::internal {

class Questions {
 public:
  // All outlive it.
  Questions(Symbols& symbols, Decider& decider, Hints& hints,
            Recorder& recorder, OpenQuestions& open_questions)
      : symbols_(symbols),
        decider_(decider),
        hints_(hints),
        recorder_(recorder),
        open_questions_(open_questions) {}
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  // --- the side that holds, or the value; a guard where it is not known
  bool guard_bool(Expr condition, const SourceLocation& where,
                  const char* call);
  Value guard_value(Expr e, const SourceLocation& where, const char* call);
  // `otherwise` where the question is open and depends on data.
  bool guard_or(Expr condition, bool otherwise, const SourceLocation& where,
                const char* call);
  // PyTorch's definition: undecided data sizes are taken to be >= 2.
  bool guard_size_oblivious(Expr condition, const SourceLocation& where);

  // --- checks: a guard or an assertion; false where it is known not to hold
  bool expect_true(Expr condition, const SourceLocation& where,
                   const std::string& message, const char* call);
  // Both throw GuardError in that case.
  void constrain_range(Expr e, std::optional<Int> min, std::optional<Int> max,
                       const SourceLocation& where);
  void runtime_assert(Expr condition, const SourceLocation& where,
                      const std::string& message);

  // --- what is known alone
  bool is_known(Expr condition, bool side);
  bool has_static_value(Expr e);
  // The value at the examples; DataDependentError where there is none.
  Int guarding_hint(Expr e);

  // They nest; one end too many is none.
  void begin_suppression() { ++suppressed_; }
  void end_suppression() { suppressed_ -= suppressed_ > 0 ? 1 : 0; }

 private:
  void fix(Expr e, Expr asked, const SourceLocation& where, const char* call);
  bool answer_open(Expr condition, const SourceLocation& where);
  Value open_value(Expr e, const SourceLocation& where);

  Symbols& symbols_;
  Decider& decider_;
  Hints& hints_;
  Recorder& recorder_;
  OpenQuestions& open_questions_;
  int suppressed_ = 0;
};

}  // namespace proviso::inline v0_2::internal
