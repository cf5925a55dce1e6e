// Whole answers: which facts, in words, and points where there is no answer.
#include <algorithm>

#include "solver/engine.h"
#include "solver/limits.h"

namespace proviso {
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

}  // namespace

// At one version a question has one answer.  What a caller's own budget or
// another thread ended is not it.
Answer Engine::ask(Expr question) {
  ++statistics.questions;
  if (answered.empty()) answered.resize(kAnswered);
  Answered& last = answered[question.id() % kAnswered];
  if (last.question == question && last.version == versions.back()) {
    ++statistics.memo_hits;
    return last.answer;
  }
  Answer found = answer(question);
  if (!interrupted && Budget::units_left() != 0) {
    last = {question, versions.back(), found};
  }
  return found;
}

// Shares of the call's limit: what is proved takes at most a half.
Answer Engine::answer(Expr question) {
  if (domain.conflict()) return contradictory(used_facts(*domain.conflict()));
  const Memo* known = remembered(question);
  const bool reuse = known != nullptr && known->epoch == epoch;
  const Memo m = reuse ? *known : native_answer(question);
  if (auto which = contradiction_of(question, m)) return contradictory(*which);
  const std::vector<FactId>& elsewhere = contradiction_anywhere();
  if (!elsewhere.empty()) return contradictory(elsewhere);
  Answer answer;
  if (m.verdict != Verdict::kUnknown) {
    answer.verdict = m.verdict;
    answer.tier = m.tier;
    answer.strategy = strategy(m.strategy).name;
    answer.facts = fewest_facts(question, m);
  } else {
    const Budget counted(Budget::kUnlimited);
    Search points(question, kTrue);
    points.answer = &answer;
    run(Stage::kPoints, points);
    if (points.value) answer.strategy = strategy(points.strategy).name;
    ++statistics.decided[static_cast<size_t>(answer.tier)];
  }
  if (answer.verdict != Verdict::kUnknown) {
    answer.reason = in_one_sentence(answer, in_words(answer.facts));
  } else if (answer.reason.empty()) {
    answer.reason = interrupted ? "the call was interrupted"
                    : m.gave_up
                        ? "it takes more work than SolverOptions::work_limit"
                        : "the facts do not decide it, as far as was found";
  }
  return answer;
}

// The facts near the question that contradict each other.  Proofs are looked at
// when they are found, unless facts have come since.
std::optional<std::vector<FactId>> Engine::contradiction_of(Expr question,
                                                            const Memo& m) {
  if (m.is_contradiction) return used_facts(m.why);
  const bool was_looked_at =
      m.tier >= Tier::kLinear && m.facts + 1 == versions.size();
  if (m.verdict == Verdict::kUnknown || was_looked_at) return std::nullopt;
  const auto why = within(options.work_limit / 8, [&] {
    return contradiction_near(question, m.verdict == Verdict::kYes, m.tier,
                              m.why);
  });
  if (!why || !*why) return std::nullopt;
  return used_facts(**why);
}

// The facts connected to the question through symbols, and all their symbols.
std::vector<uint32_t> Engine::relevant_facts(Expr question,
                                             std::vector<Expr>& symbols) {
  for (auto id = static_cast<FactId>(symbols_of_fact.size()); id < facts.size();
       ++id) {
    const bool says_nothing = lower.condition(facts[id].condition) == kTrue &&
                              lower.defined(facts[id].condition) == kTrue;
    symbols_of_fact.push_back(says_nothing ? std::vector<Expr>{}
                                           : free_symbols(facts[id].condition));
    for (Expr s : symbols_of_fact.back()) {
      size_t index = s.symbol().index;
      if (index >= facts_of_symbol.size()) facts_of_symbol.resize(index + 1);
      facts_of_symbol[index].push_back(id);
    }
  }
  std::vector<uint32_t> found;
  std::vector<bool> seen_fact(facts.size()), seen_symbol;
  auto visit = [&](Expr s) {
    size_t index = s.symbol().index;
    if (index >= seen_symbol.size()) seen_symbol.resize(index + 1);
    if (!seen_symbol[index]) {
      seen_symbol[index] = true;
      symbols.push_back(s);
    }
  };
  for (Expr s : free_symbols(question)) visit(s);
  for (size_t i = 0; i < symbols.size(); ++i) {
    size_t index = symbols[i].symbol().index;
    if (index >= facts_of_symbol.size()) continue;
    for (uint32_t id : facts_of_symbol[index]) {
      if (seen_fact[id] || found.size() >= limits().relevant_facts) continue;
      seen_fact[id] = true;
      found.push_back(id);
      for (Expr s : symbols_of_fact[id]) visit(s);
    }
  }
  return found;
}

// --- models

bool Engine::facts_hold(const std::vector<uint32_t>& ids,
                        const Assignment& point) const {
  return std::all_of(ids.begin(), ids.end(), [&](uint32_t id) {
    return evaluate(facts[id].condition, point).is_true();
  });
}

// In words, where the points leave no answer.
void Engine::explain_models(Answer& answer, const std::string& undefined) {
  if (!undefined.empty()) {
    answer.tier = Tier::kModels;
    answer.reason = "it can be undefined: " + undefined;
  } else if (answer.counterexample && answer.witness) {
    answer.tier = Tier::kModels;
    answer.reason = "the facts allow both: true at " +
                    answer.witness->to_string() + ", false at " +
                    answer.counterexample->to_string();
  }
}

// A point that `accept` accepts: by a search, else from the candidate models.
std::optional<Assignment> Engine::find_point(FormulaId goal,
                                             const std::vector<Expr>& symbols,
                                             const ModelSearch::Accept& accept,
                                             uint64_t units) {
  ModelSearch search(domain, lower);
  if (auto found = search.find(goal, symbols, accept, units)) return found;
  std::vector<AtomId> atoms;
  for (Expr s : symbols) {
    if (!s.is_int()) return std::nullopt;
    atoms.push_back(forms.symbol(s));
  }
  const std::vector<int64_t> values = candidates.find(goal, atoms);
  if (values.empty()) return std::nullopt;
  Assignment point;
  for (size_t i = 0; i < symbols.size(); ++i) {
    point.set(symbols[i], Value(Int(values[i])));
  }
  return accept(point) ? std::optional(point) : std::nullopt;
}

// Spends `units` on each of the points, and half as much on missing one.
void Engine::find_models(Expr question, uint64_t units, Answer& answer) {
  std::vector<Expr> symbols;
  std::vector<uint32_t> relevant = relevant_facts(question, symbols);
  FormulaId f = lower.condition(question);
  FormulaId defined = lower.defined(question);
  std::string undefined;
  if (defined != kTrue && domain.decide(defined).value != true) {
    answer.counterexample = find_point(
        forms.negate(defined), symbols,
        [&](const Assignment& point) {
          Evaluation e = evaluate(question, point);
          if (e.defined() || e.gave_up) return false;
          if (!facts_hold(relevant, point)) return false;
          undefined = e.why;
          return true;
        },
        units);
  }
  if (!answer.counterexample) {
    answer.counterexample = find_point(
        forms.negate(f), symbols,
        [&](const Assignment& point) {
          return evaluate(question, point).is_false() &&
                 facts_hold(relevant, point);
        },
        units);
  }
  answer.witness = find_point(
      f, symbols,
      [&](const Assignment& point) {
        return evaluate(question, point).is_true() &&
               facts_hold(relevant, point);
      },
      units);
  explain_models(answer, undefined);
}

void Engine::ask_z3(Expr question, Answer& answer) {
  std::vector<Expr> symbols;
  std::vector<uint32_t> relevant = relevant_facts(question, symbols);
  std::vector<Expr> conditions;
  for (uint32_t id : relevant) conditions.push_back(facts[id].condition);
  ++statistics.z3_calls;
  Z3Backend::Result r = z3.implied(conditions, question, options.machine_int64,
                                   options.z3_budget);
  std::vector<FactId> used;
  for (size_t i : r.used) used.push_back(relevant[i]);
  std::sort(used.begin(), used.end());
  if (r.verdict == Z3Backend::Result::kContradiction) {
    answer = contradictory(used);
  } else if (r.verdict == Z3Backend::Result::kYes ||
             r.verdict == Z3Backend::Result::kNo) {
    answer = Answer();
    answer.verdict =
        r.verdict == Z3Backend::Result::kYes ? Verdict::kYes : Verdict::kNo;
    answer.tier = Tier::kZ3;
    answer.facts = used;
  } else {
    keep_models(question, relevant, r, answer);
  }
}

// Z3's points, where evaluate() confirms them.
void Engine::keep_models(Expr question, const std::vector<uint32_t>& relevant,
                         const Z3Backend::Result& r, Answer& answer) {
  std::string undefined;
  if (!answer.counterexample && r.counterexample &&
      facts_hold(relevant, *r.counterexample)) {
    Evaluation e = evaluate(question, *r.counterexample);
    if (!e.is_true() && !e.gave_up) answer.counterexample = r.counterexample;
    if (!e.defined() && !e.gave_up) undefined = e.why;
  }
  if (!answer.witness && r.witness && facts_hold(relevant, *r.witness) &&
      evaluate(question, *r.witness).is_true()) {
    answer.witness = r.witness;
  }
  explain_models(answer, undefined);
}

}  // namespace proviso
