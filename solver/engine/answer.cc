// Whole answers: which facts, in words, and points where there is no answer.
//
//   known?  else decided natively (reasoner.h)
//   the facts contradict each other, near the question or elsewhere: unknown
//   yes or no: the fewest facts found that imply it (explanation.h)
//   unknown: a witness and a counterexample, else Z3 (Stage::kPoints)
#include <algorithm>

#include "solver/engine/engine.h"
#include "solver/engine/explanation.h"
#include "solver/limits_in_force.h"

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

// In one state a question has one answer.  What a caller's own budget or
// another thread ended is not it.
Answer Engine::ask(Expr question) {
  ++statistics_->questions;
  std::vector<Answered>& answered = reasoning().answered;
  if (answered.empty()) answered.resize(kAnswered);
  Answered& last = answered[question.id() % kAnswered];
  if (last.question == question && last.state == states_.present()) {
    ++statistics_->memo_hits;
    return last.answer;
  }
  Answer found = answer(question);
  if (reasoner().is_undisturbed()) {
    last = {question, states_.present(), found};
  }
  return found;
}

Answer Engine::answer(Expr question) {
  if (const auto which = contradiction()) return contradictory(*which);
  Reasoner& reasoner = this->reasoner();
  const Remembered m = native_answer(question);
  if (auto which = contradiction_of(question, m)) return contradictory(*which);
  const std::vector<FactId>& elsewhere = contradiction_anywhere();
  if (!elsewhere.empty()) return contradictory(elsewhere);
  Answer answer;
  if (m.verdict != Verdict::kUnknown) {
    answer.verdict = m.verdict;
    answer.tier = m.tier;
    answer.strategy = strategy(m.strategy).name;
    answer.facts =
        fewest_facts(reasoner, question, m.verdict, reasoner.facts_in(m.why));
  } else {
    const Budget counted(Budget::kUnlimited);
    Search points(question, kTrue);
    points.answer = &answer;
    run(reasoner, Stage::kPoints, points);
    if (points.value) answer.strategy = strategy(points.strategy).name;
    ++statistics_->decided[static_cast<size_t>(answer.tier)];
  }
  if (answer.verdict != Verdict::kUnknown) {
    answer.reason =
        in_one_sentence(answer, reasoner.facts().in_words(answer.facts));
  } else if (answer.reason.empty()) {
    answer.reason = why_unknown(m, reasoner.is_interrupted());
  }
  return answer;
}

Answer Engine::contradictory(const std::vector<FactId>& which) {
  Answer answer;
  answer.facts = which;
  answer.reason = "contradictory facts: " + reasoner().facts().in_words(which);
  return answer;
}

// --- contradictions

// The facts near the question that contradict each other.  Proofs are looked at
// when they are found, unless facts have come since.
std::optional<std::vector<FactId>> Engine::contradiction_of(
    Expr question, const Remembered& m) {
  Reasoner& reasoner = this->reasoner();
  if (m.is_contradiction) return reasoner.facts_in(m.why);
  const bool was_looked_at =
      m.tier >= Tier::kLinear && m.facts == states_.facts();
  if (m.verdict == Verdict::kUnknown || was_looked_at) return std::nullopt;
  const auto why = reasoner.within(options().work_limit / 8, [&] {
    return reasoner.contradiction_near(question, m.verdict == Verdict::kYes,
                                       m.tier, m.why);
  });
  if (!why || !*why) return std::nullopt;
  return reasoner.facts_in(**why);
}

// Groups of facts that have a model need no proof; more facts keep a
// contradiction.
const std::vector<FactId>& Engine::contradiction_anywhere() {
  Reasoner& reasoner = this->reasoner();
  Consistency& known = reasoning().consistency;
  const bool is_part = states_.is_part(known.state, known.facts);
  if (states_.is_present(known.state, known.facts) ||
      (is_part && !known.contradiction.empty())) {
    return known.contradiction;
  }
  CandidateModels& candidates = reasoner.candidates();
  const size_t from = is_part ? known.formulas : 0;
  known = {states_.present(), states_.facts(), candidates.mark(), {}};
  reasoner.within(options().work_limit / 8, [&] {
    std::vector<FormulaId> groups = candidates.groups_without_model(from);
    if (groups.size() > limits().consistency_groups) {
      groups.resize(limits().consistency_groups);
    }
    for (FormulaId fact : groups) {
      const Atoms near = reasoner.forms().occurrences.of_formula(fact);
      auto proof =
          reasoner.proofs().refutation.refute_facts(near, options().budget / 4);
      if (!proof) continue;
      known.contradiction = reasoner.facts_in(proof->why);
      break;
    }
    return true;
  });
  return known.contradiction;
}

}  // namespace proviso::inline v0_2::internal
