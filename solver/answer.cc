// Whole answers: which facts, in words, and points where there is no answer.
#include <algorithm>
#include <numeric>

#include "solver/engine.h"

namespace proviso {
namespace {

constexpr size_t kMaxMinimizedFacts = 8;
constexpr size_t kMaxRelevantFacts = 400;

}  // namespace

// Shares of the call's limit: what is proved takes at most a half.
Answer Engine::ask(Expr question) {
  ++statistics.questions;
  if (domain.conflict()) return contradictory(used_facts(*domain.conflict()));
  const Memo* known = remembered(question);
  bool reuse = known != nullptr && known->epoch == epoch;
  const Memo m = reuse ? *known : native_answer(question);
  Native n{m.verdict, m.tier, m.why};
  // Of what took a proof that was looked at, unless facts have come since.
  const bool looked_at =
      n.tier >= Tier::kLinear && m.facts + 1 == versions.size();
  Reason clash = m.why;
  auto is_contradiction = [&] { return clashes(n, question, &clash); };
  Answer answer;
  if (m.clash ||
      (n.verdict != Verdict::kUnknown && !looked_at &&
       within(options.work_limit / 8, is_contradiction).value_or(false))) {
    return contradictory(used_facts(clash));
  }
  if (n.verdict != Verdict::kUnknown) {
    answer.verdict = n.verdict;
    answer.tier = n.tier;
    answer.facts = named_facts(n, question);
  } else {
    if (options.search_models) {
      within(options.work_limit / 4, [&] {
        find_models(question, options.budget, answer);
        return true;
      });
    }
    bool settled = answer.tier == Tier::kModels;
    if (!settled && !interrupted && options.use_z3 && Z3Backend::is_built()) {
      within(options.work_limit / 4, [&] {
        ask_z3(question, answer);
        return true;
      });
    }
    ++statistics.decided[static_cast<size_t>(answer.tier)];
  }
  if (answer.verdict != Verdict::kUnknown) {
    answer.reason = answer.facts.empty()
                        ? "it holds for every value"
                        : "it follows from " + in_words(answer.facts);
    if (answer.verdict == Verdict::kNo) {
      answer.reason = answer.facts.empty()
                          ? "it is false for every value"
                          : "its opposite follows from " +
                                in_words(answer.facts);
    }
  } else if (answer.reason.empty()) {
    answer.reason = interrupted ? "the call was interrupted"
                    : m.gave_up
                        ? "it takes more work than SolverOptions::work_limit"
                        : "the facts do not decide it, as far as was found";
  }
  return answer;
}

// --- the facts that an answer names

bool Engine::implies(const std::vector<FactId>& subset, Expr question,
                     Verdict verdict) const {
  SolverOptions plain = options;
  plain.use_z3 = plain.search_models = false;
  Engine fresh(pool, plain);
  for (FactId id : subset) fresh.tell(facts[id].condition, {});
  return fresh.ask_quick(question) == verdict;
}

// A proof may lean on what the named facts alone do not repeat: then every fact
// that could matter is named.
void Engine::complete(std::vector<FactId>& used, Expr question,
                      Verdict verdict) {
  if (used.size() == facts.size() || implies(used, question, verdict)) return;
  std::vector<Expr> symbols;
  used = relevant_facts(question, symbols);
  std::sort(used.begin(), used.end());
  if (used.size() == facts.size() || implies(used, question, verdict)) return;
  used.resize(facts.size());
  std::iota(used.begin(), used.end(), 0u);
}

// Leaves out what is not needed, one by one, while the rest still gives the
// same verdict.
void Engine::minimize(std::vector<FactId>& used, Expr question,
                      Verdict verdict) {
  for (size_t i = used.size(); i-- > 0 && used.size() > 1;) {
    std::vector<FactId> fewer = used;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (implies(fewer, question, verdict)) used = fewer;
  }
}

// Those that a proof used, or fewer; all of them where the limit ends before it
// is known that these suffice.
std::vector<FactId> Engine::named_facts(const Native& n, Expr question) {
  std::vector<FactId> used = used_facts(n.why);
  if (used.size() == facts.size() && used.size() < 2) return used;
  if (used.size() > kMaxMinimizedFacts) return used;
  const bool is_complete = within(options.work_limit / 8, [&] {
                             complete(used, question, n.verdict);
                             return true;
                           }).has_value();
  if (!is_complete) {
    used.resize(facts.size());
    std::iota(used.begin(), used.end(), 0u);
  } else if (used.size() <= kMaxMinimizedFacts) {
    within(options.work_limit / 4, [&] {
      minimize(used, question, n.verdict);
      return true;
    });
  }
  return used;
}

// The facts connected to the question through symbols, and all their symbols.
std::vector<uint32_t> Engine::relevant_facts(
    Expr question, std::vector<Expr>& symbols) {
  for (auto id = static_cast<FactId>(symbols_of_fact.size());
       id < facts.size(); ++id) {
    const bool says_nothing =
        lower.condition(facts[id].condition) == kTrue &&
        lower.defined(facts[id].condition) == kTrue;
    symbols_of_fact.push_back(
        says_nothing ? std::vector<Expr>{}
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
      if (seen_fact[id] || found.size() >= kMaxRelevantFacts) continue;
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

// A point that `accept` accepts: by a search, else from the worlds.
std::optional<Assignment> Engine::find_point(
    FormulaId goal, const std::vector<Expr>& symbols,
    const ModelSearch::Accept& accept, uint64_t units) {
  ModelSearch search(domain, lower);
  if (auto found = search.find(goal, symbols, accept, units)) return found;
  std::vector<AtomId> atoms;
  for (Expr s : symbols) {
    if (!s.is_int()) return std::nullopt;
    atoms.push_back(forms.symbol(s));
  }
  const std::vector<int64_t> values = worlds.find(goal, atoms);
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
    answer.verdict = r.verdict == Z3Backend::Result::kYes ? Verdict::kYes
                                                          : Verdict::kNo;
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
