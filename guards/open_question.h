// guards/open_question.h - questions about data that a ShapeEnv refuses.
//
//   env.guard_bool(u0 > 20);            // DataDependentError
//   last_refused(env)->condition;       // u0 > 20
//
//   AssumedAnswers example({{"u0 > 20", 1}});
//   env.guard_bool(u0 > 20);            // true, and asserted at run time
#pragma once

#include <map>
#include <optional>
#include <string>

#include "guards/shape_env.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// A question that was refused with DataDependentError.
struct OpenQuestion {
  Expr condition;    // or, for a value, the expression that was asked for
  std::string text;  // what() of the error
};

// The answer of a question at a point: 1 or 0 of a condition, or the value;
// nullopt where it has none there, or none that is an integer.
[[nodiscard]] std::optional<Int> answer_at(Expr question,
                                           const Assignment& point);

// The condition that says that the answer is this one: Eq(e, value), or the
// side that holds.
[[nodiscard]] Expr side_with_answer(Expr question, Int answer);

// The last question that this environment refused, where none of this thread
// has refused one since; else null.
[[nodiscard]] const OpenQuestion* last_refused(ShapeEnv& env);

// While it lives, what the environments of this thread assume where a question
// about data stays open, by its text: 1 or 0 of a condition ("u0 > 20"), or the
// value of an integer.  What is assumed is asserted at run time.
class AssumedAnswers {
 public:
  explicit AssumedAnswers(std::map<std::string, Int> answers);
  ~AssumedAnswers();
  AssumedAnswers(const AssumedAnswers&) = delete;
  AssumedAnswers& operator=(const AssumedAnswers&) = delete;

  // Null where nothing is assumed.
  static const Int* of(Expr question);

 private:
  std::map<std::string, Int> answers_;
  const AssumedAnswers* outer_;
};

}  // namespace proviso::inline v0_2
PROVISO_API_END
