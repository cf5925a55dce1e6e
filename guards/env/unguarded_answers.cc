#include "guards/env/unguarded_answers.h"

#include <algorithm>
#include <utility>

#include "guards/fixed_limits.h"

namespace proviso::inline v0_2::internal {

void UnguardedAnswers::add_decision(Expr question, Verdict verdict,
                                    AskMode mode) {
  if (facts_.assumed().empty()) return;
  if (!decision_ids_.insert(question.id()).second) return;
  if (decisions_.size() >= fixed::unguarded_answers) {
    is_full_ = true;
    return;
  }
  decisions_.push_back({question, verdict, mode});
}

void UnguardedAnswers::add_layout_decision(Expr question, Verdict verdict,
                                           AskMode mode) {
  if (facts_.assumed().empty()) return;
  // One more than can be kept, so that keeping them says that it is full.
  if (layout_decisions_.size() > fixed::unguarded_answers) return;
  if (!layout_ids_.insert(question.id()).second) return;
  layout_decisions_.push_back({question, verdict, mode});
}

void UnguardedAnswers::add_layout_condition(Expr condition, bool side) {
  if (layout_ids_.insert(condition.id()).second)
    layout_conditions_.emplace_back(condition, side);
}

std::vector<Expr> UnguardedAnswers::keep_layout_answers() {
  for (const Decision& d : layout_decisions_)
    add_decision(d.question, d.verdict, d.mode);
  layout_decisions_.clear();
  std::vector<Expr> conditions;
  for (const auto& [condition, side] : std::exchange(layout_conditions_, {}))
    conditions.push_back(side ? condition : negate(condition));
  return conditions;
}

void UnguardedAnswers::add_branch(Expr question, Verdict verdict,
                                  const SourceLocation& where) {
  if (facts_.assumed().empty() || is_layout() || question.is_constant()) return;
  const std::vector<Expr>& symbols = symbols_.in(question);
  if (std::any_of(symbols.begin(), symbols.end(), [](Expr s) {
        return !s.is_int() || is_unbacked(s.symbol().kind);
      })) {
    return;
  }
  if (!branch_ids_.insert(question.id()).second) return;
  if (branches_.size() >= fixed::unguarded_answers) {
    is_full_ = true;
    return;
  }
  branches_.push_back({side_that_holds(question, verdict), where});
}

void UnguardedAnswers::add_place(Expr question, const SourceLocation& where) {
  if (places_.size() >= fixed::unguarded_answers || is_layout() ||
      question.is_constant()) {
    return;
  }
  if (place_ids_.emplace(question.id(), where.line, where.file).second) {
    places_.push_back({question, where});
  }
}

Expr side_that_holds(Expr question, Verdict verdict) {
  return verdict == Verdict::kYes ? question : negate(question);
}

}  // namespace proviso::inline v0_2::internal
