// An answer is put together in this order: contradictory facts answer nothing;
// then the native verdict, with the fewest facts found for a yes or a no; then,
// of what is open, points and Z3.
#include "solver/engine/answers.h"

#include <numeric>

#include "solver/engine/explanation.h"
#include "solver/limits_in_force.h"
#include "solver/strategies/witnesses.h"

namespace proviso::inline v0_2::internal {
namespace {

std::string in_one_sentence(const Answer& answer, const std::string& facts) {
  if (answer.facts.empty()) {
    return answer.verdict == Verdict::kYes ? "it holds for every value"
                                           : "it is false for every value";
  }
  return (answer.verdict == Verdict::kYes ? "it follows from "
                                          : "its opposite follows from ") +
         facts;
}

std::string why_unknown(const Remembered& m, bool is_interrupted) {
  if (is_interrupted) return "the call was interrupted";
  return m.gave_up ? "it takes more work than SolverOptions::work_limit"
                   : "the facts do not decide it, as far as was found";
}

}  // namespace

// A question has one answer in one state, which is remembered, unless a budget
// of the caller or another thread ended the search for it.
Answer Answers::ask(Expr question) {
  Reasoner& reasoner = facts_.reasoner();
  ++facts_.statistics().questions;
  if (last_.empty()) last_.resize(kLast);
  Last& last = last_[question.id() % kLast];
  if (last.question == question && last.state == facts_.states().present()) {
    ++facts_.statistics().memo_hits;
    return last.answer;
  }
  Answer found = find(question);
  facts_.count(found.tier);
  if (reasoner.work().is_undisturbed()) {
    last = {question, facts_.states().present(), found};
  }
  return found;
}

Answer Answers::find(Expr question) {
  Reasoner& reasoner = facts_.reasoner();
  const AssumedFacts& facts = reasoner.facts();
  if (auto which = facts_.conflict())
    return internal::contradiction(facts, *std::move(which));
  const Remembered m = native_.with_reason(question);
  if (auto which = consistency_.relevant_to(question, m))
    return internal::contradiction(facts, *std::move(which));
  const std::vector<FactId>& elsewhere = consistency_.elsewhere();
  if (!elsewhere.empty()) return internal::contradiction(facts, elsewhere);
  Answer answer;
  if (m.verdict == Verdict::kUnknown) {
    answer = show_points(reasoner, question);
  } else {
    answer.verdict = m.verdict;
    answer.tier = m.tier;
    answer.strategy = m.strategy;
    answer.facts = fewest_facts(reasoner, question, m);
  }
  if (answer.verdict != Verdict::kUnknown) {
    answer.reason =
        in_one_sentence(answer, reasoner.facts().in_words(answer.facts));
  } else if (answer.reason.empty()) {
    answer.reason = why_unknown(m, reasoner.work().is_interrupted());
  }
  return answer;
}

// --- facts

std::vector<FactId> Answers::contradiction() {
  if (auto which = facts_.conflict()) return *std::move(which);
  return consistency_.elsewhere();
}

std::vector<FactId> Answers::facts_used(Expr question) {
  const Remembered* m = native_.remembered(question);
  Reasoner& reasoner = facts_.reasoner();
  if (m == nullptr || m->epoch != reasoner.epoch()) return {};
  return complete_facts(reasoner, question, *m);
}

std::vector<FactId> Answers::facts_behind(Expr claim) {
  if (const auto which = facts_.conflict()) return *which;
  const Remembered m = native_.with_reason(claim);
  if (m.verdict == Verdict::kUnknown) return connected_facts(claim);
  return fewest_facts(facts_.reasoner(), claim, m);
}

// The facts connected to e by symbols; all facts where there are more of these
// than limits().relevant_facts, since which are missing is not known.
std::vector<FactId> Answers::connected_facts(Expr e) {
  std::vector<FactId> found = facts_.reasoner().facts().connected_to(e).facts;
  if (found.size() < limits().relevant_facts) return found;
  found.resize(facts_.size());
  std::iota(found.begin(), found.end(), 0u);
  return found;
}

}  // namespace proviso::inline v0_2::internal
