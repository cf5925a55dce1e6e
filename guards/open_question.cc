#include "guards/open_question.h"

#include <utility>

#include "guards/conjuncts.h"
#include "guards/env/open_questions.h"
#include "sym/canonical.h"
#include "sym/evaluate.h"
#include "sym/print.h"

namespace proviso::inline v0_2 {
using namespace internal;

namespace {
thread_local const AssumedAnswers* assumed = nullptr;
}  // namespace

const OpenQuestion* last_refused(ShapeEnv& env) {
  return OpenQuestions::last_of(env.pool());
}

std::optional<Int> answer_at(Expr question, const Assignment& point) {
  const Evaluation at = evaluate(question, point);
  if (!at.defined()) return std::nullopt;
  if (question.is_bool()) return Int(at.is_true() ? 1 : 0);
  const Int* value = std::get_if<Int>(&*at.value);
  return value ? std::optional(*value) : std::nullopt;
}

Expr side_with_answer(Expr question, Int answer) {
  if (question.is_int()) {
    return canonical(eq(question, question.pool().integer(answer)));
  }
  return answer != Int(0) ? question : negate(question);
}

AssumedAnswers::AssumedAnswers(std::map<std::string, Int> answers)
    : answers_(std::move(answers)), outer_(std::exchange(assumed, this)) {}

AssumedAnswers::~AssumedAnswers() { assumed = outer_; }

const Int* AssumedAnswers::of(Expr question) {
  if (assumed == nullptr) return nullptr;
  const auto known = assumed->answers_.find(to_string(question));
  return known == assumed->answers_.end() ? nullptr : &known->second;
}

}  // namespace proviso::inline v0_2
