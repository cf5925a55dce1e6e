#include "guards/open_question.h"

#include <utility>

#include "guards/shape_env_impl.h"
#include "sym/print.h"

namespace proviso {

namespace {
thread_local ShapeEnv::Impl* refused_last = nullptr;
thread_local const AssumedAnswers* assumed = nullptr;
}  // namespace

void ShapeEnv::Impl::refuse(Expr question, const std::string& text) {
  open_question = OpenQuestion{question, text};
  refused_last = this;
}

ShapeEnv::Impl::~Impl() {
  if (refused_last == this) refused_last = nullptr;
}

const OpenQuestion* last_refused(ShapeEnv& env) {
  if (refused_last == nullptr || &refused_last->pool != &env.pool())
    return nullptr;
  return &*refused_last->open_question;
}

AssumedAnswers::AssumedAnswers(std::map<std::string, Int> answers)
    : answers_(std::move(answers)), outer_(std::exchange(assumed, this)) {}

AssumedAnswers::~AssumedAnswers() { assumed = outer_; }

const Int* AssumedAnswers::of(Expr question) {
  if (assumed == nullptr) return nullptr;
  const auto known = assumed->answers_.find(to_string(question));
  return known == assumed->answers_.end() ? nullptr : &known->second;
}

}  // namespace proviso
