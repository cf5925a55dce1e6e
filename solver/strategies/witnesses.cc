// As a counterexample undefined comes first, then false; a search looks for
// each by itself, and evaluate() confirms every point before it is shown.
#include "solver/strategies/witnesses.h"

#include <algorithm>

#include "solver/engine/reasoner.h"
#include "solver/limits_in_force.h"
#include "solver/models.h"

namespace proviso::inline v0_2::internal {
namespace {

// Says in words why the points leave no answer.
void explain_points(Answer& answer, const std::string& undefined) {
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
std::optional<Assignment> find_point(Reasoner& reasoner, FormulaId goal,
                                     const std::vector<Expr>& symbols,
                                     const ModelSearch::Accept& accept,
                                     uint64_t units, uint64_t probe_units) {
  ModelSearch search(reasoner.domain(), reasoner.lower());
  if (auto found = search.find(goal, symbols, accept, units, probe_units)) {
    return found;
  }
  std::vector<AtomId> atoms;
  for (Expr s : symbols) {
    if (!s.is_int()) return std::nullopt;
    atoms.push_back(reasoner.forms().atoms.symbol(s));
  }
  const std::vector<int64_t> values = reasoner.candidates().find(goal, atoms);
  if (values.empty()) return std::nullopt;
  Assignment point;
  for (size_t i = 0; i < symbols.size(); ++i) {
    point.set(symbols[i], Value(Int(values[i])));
  }
  return accept(point) ? std::optional(point) : std::nullopt;
}

// Z3's points, where evaluate() confirms them.
void keep_points(const AssumedFacts& facts, Expr question,
                 const std::vector<FactId>& relevant,
                 const Z3Backend::Result& r, Answer& answer) {
  std::string undefined;
  if (!answer.counterexample && r.counterexample &&
      facts.hold_at(relevant, *r.counterexample)) {
    const Evaluation e = evaluate(question, *r.counterexample);
    if (!e.is_true() && !e.gave_up) answer.counterexample = r.counterexample;
    if (!e.defined() && !e.gave_up) undefined = e.why;
  }
  if (!answer.witness && r.witness && facts.hold_at(relevant, *r.witness) &&
      evaluate(question, *r.witness).is_true()) {
    answer.witness = r.witness;
  }
  explain_points(answer, undefined);
}

uint64_t probe_units(uint64_t units) {
  return thousandths(limits().probe_budget, units);
}

}  // namespace

Answer contradiction(const AssumedFacts& facts, std::vector<FactId> which) {
  Answer answer;
  answer.is_contradiction = true;
  answer.reason = "contradictory facts: " + facts.in_words(which);
  answer.facts = std::move(which);
  return answer;
}

void find_witnesses(Reasoner& reasoner, Expr question, uint64_t units,
                    Answer& answer) {
  AssumedFacts& facts = reasoner.facts();
  const auto [relevant, symbols] = facts.connected_to(question);
  const FormulaId f = reasoner.lower().condition(question);
  const FormulaId defined = reasoner.lower().defined(question);
  auto holds = [&, &relevant = relevant](const Assignment& point) {
    return facts.hold_at(relevant, point);
  };
  std::string undefined;
  if (defined != kTrue && reasoner.domain().decide(defined).value != true) {
    answer.counterexample = find_point(
        reasoner, negate(defined), symbols,
        [&](const Assignment& point) {
          const Evaluation e = evaluate(question, point);
          if (e.defined() || e.gave_up || !holds(point)) return false;
          undefined = e.why;
          return true;
        },
        units, probe_units(units));
  }
  if (!answer.counterexample) {
    answer.counterexample = find_point(
        reasoner, negate(f), symbols,
        [&](const Assignment& point) {
          return evaluate(question, point).is_false() && holds(point);
        },
        units, probe_units(units));
  }
  answer.witness = find_point(
      reasoner, f, symbols,
      [&](const Assignment& point) {
        return evaluate(question, point).is_true() && holds(point);
      },
      units, probe_units(units));
  explain_points(answer, undefined);
}

void rule_out_answers(Reasoner& reasoner, Search& s, uint64_t units) {
  const auto [relevant, symbols] = reasoner.facts().connected_to(s.question());
  auto find = [&, &relevant = relevant, &symbols = symbols](FormulaId goal,
                                                            auto is_wanted) {
    const auto accept = [&](const Assignment& point) {
      return is_wanted(evaluate(s.question(), point)) &&
             reasoner.facts().hold_at(relevant, point);
    };
    const auto point = find_point(reasoner, goal, symbols, accept, units, 0);
    if (point) s.note_model();
    return point.has_value();
  };
  const FormulaId defined = reasoner.lower().defined(s.question());
  if (defined != kTrue && reasoner.domain().decide(defined).value != true &&
      find(negate(defined),
           [](const Evaluation& e) { return !e.defined() && !e.gave_up; })) {
    s.leave_open();
    return;
  }
  for (bool value : {true, false}) {
    const auto is_opposite = [value](const Evaluation& e) {
      return value ? e.is_false() : e.is_true();
    };
    if (s.may_be(value) && find(s.opposite_of(value), is_opposite)) {
      s.rule_out(value);
    }
  }
}

std::optional<bool> value_at_model(Reasoner& reasoner, Expr question,
                                   uint64_t units) {
  const auto [relevant, symbols] = reasoner.facts().connected_to(question);
  std::optional<bool> value;
  const auto accept = [&, &relevant = relevant](const Assignment& point) {
    if (!reasoner.facts().hold_at(relevant, point)) return false;
    const Evaluation e = evaluate(question, point);
    if (e.is_true() || e.is_false()) value = e.is_true();
    return value.has_value();
  };
  ModelSearch(reasoner.domain(), reasoner.lower())
      .find(kTrue, symbols, accept, units, probe_units(units));
  return value;
}

void ask_z3(Reasoner& reasoner, Expr question, Answer& answer) {
  AssumedFacts& facts = reasoner.facts();
  const std::vector<FactId> relevant = facts.connected_to(question).facts;
  std::vector<Expr> conditions;
  for (FactId id : relevant) conditions.push_back(facts.condition(id));
  ++reasoner.statistics().z3_calls;
  using Result = Z3Backend::Result;
  const SolverOptions& options = reasoner.options();
  const Result r = reasoner.z3().implied(
      conditions, question, options.machine_int64, options.z3_budget);
  std::vector<FactId> used;
  for (size_t i : r.used) used.push_back(relevant[i]);
  std::sort(used.begin(), used.end());
  switch (r.verdict) {
    case Result::kContradiction:
      answer = contradiction(facts, std::move(used));
      return;
    case Result::kYes:
    case Result::kNo:
      answer = Answer();
      answer.verdict = r.verdict == Result::kYes ? Verdict::kYes : Verdict::kNo;
      answer.tier = Tier::kZ3;
      answer.facts = used;
      return;
    case Result::kUnknown:
    case Result::kUnsupported:
      return keep_points(facts, question, relevant, r, answer);
  }
}

}  // namespace proviso::inline v0_2::internal
