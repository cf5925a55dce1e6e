// A model of the facts ends each search for a contradiction; where none is
// known, linear refutation, enumeration, a proof of the opposite and other
// orders of the facts look for one.
#include "solver/engine/consistency.h"

#include "solver/engine/counted_try.h"
#include "solver/limits_in_force.h"
#include "solver/strategies/enumeration.h"
#include "solver/strategies/restarts.h"
#include "solver/strategies/witnesses.h"

namespace proviso::inline v0_2::internal {
namespace {

// Of one search.  Where it does not end, the answer stays.
uint64_t work_of_search(const SolverOptions& options) {
  return thousandths(limits().consistency_work, options.work_limit);
}

std::optional<Reason> contradiction_near(Reasoner& reasoner, Expr question,
                                         bool value, Tier tier, Reason why) {
  const FormulaId goal = reasoner.lower().condition(question);
  const FormulaId defined = reasoner.lower().defined(question);
  CandidateModels& candidates = reasoner.candidates();
  if (candidates.knows_model_of_facts(goal) &&
      candidates.knows_model_of_facts(defined)) {
    return std::nullopt;
  }
  const uint64_t budget = reasoner.options().budget;
  if (value_at_model(reasoner, question,
                     thousandths(limits().consistency_model_budget, budget))) {
    return std::nullopt;
  }
  const uint64_t units = thousandths(limits().consistency_budget, budget);
  Occurrences& occurrences = reasoner.forms().occurrences;
  Atoms atoms = occurrences.of_formula(goal);
  atoms.append(occurrences.of_formula(defined));
  Refutation& refutation = reasoner.proofs().refutation;
  if (auto proof =
          refutation.refute_facts({atoms.begin(), atoms.size()}, units)) {
    return proof->why;
  }
  Search counted(question, goal);
  enumerate(reasoner, counted, {limits().consistency_points});
  if (counted.is_contradiction()) return counted.why();
  if (counted.is_finished() || tier < Tier::kLinear) return std::nullopt;
  const FormulaId proved = value ? goal : negate(goal);
  const bool by_cases = tier != Tier::kLinear;
  Refutation::Tried tried;
  const auto proof = refutation.refute(
      proved, by_cases ? Tier::kCases : Tier::kLinear, units, tried);
  if (!proof) return std::nullopt;
  return reasoner.reasons().join(why, proof->why);
}

}  // namespace

// Facts whose contradiction ranges and equalities show have ended the context's
// answers already; the rest is looked for where a proof was needed, for there
// the facts act together.
std::optional<Reason> relevant_contradiction(Reasoner& reasoner, Expr question,
                                             bool value, Tier tier,
                                             Reason why) {
  if (why == 0) return std::nullopt;
  const auto found = reasoner.within(work_of_search(reasoner.options()), [&] {
    CountedTry a_try(reasoner.statistics().consistency);
    const auto proof = contradiction_near(reasoner, question, value, tier, why);
    if (proof) a_try.decided();
    return proof;
  });
  return found.value_or(std::nullopt);
}

// Proofs are looked at when they are found, unless facts have come since.
std::optional<std::vector<FactId>> Consistency::relevant_to(
    Expr question, const Remembered& m) {
  Reasoner& reasoner = facts_.reasoner();
  if (m.is_contradiction) return reasoner.facts_in(m.why);
  const bool was_looked_at =
      m.tier >= Tier::kLinear && m.facts == facts_.states().facts();
  if (m.verdict == Verdict::kUnknown || was_looked_at) return std::nullopt;
  const auto why = relevant_contradiction(
      reasoner, question, m.verdict == Verdict::kYes, m.tier, m.why);
  if (!why) return std::nullopt;
  return reasoner.facts_in(*why);
}

// What the given order of the facts does not show, canonical ones may, as with
// answers.
std::optional<Reason> Consistency::contradiction_of_group(FormulaId fact) {
  Reasoner& reasoner = facts_.reasoner();
  const uint64_t units =
      thousandths(limits().consistency_budget, facts_.options().budget);
  const Atoms atoms = reasoner.forms().occurrences.of_formula(fact);
  if (const auto proof =
          reasoner.proofs().refutation.refute_facts(atoms, units)) {
    return proof->why;
  }
  if (!facts_.options().restart) return std::nullopt;
  std::vector<Expr> symbols;
  for (AtomId a : atoms) {
    const Atom& atom = reasoner.forms().atoms[a];
    if (atom.kind == AtomKind::kSymbol) symbols.push_back(atom.expr);
  }
  return contradiction_in_other_orders(reasoner, symbols, units);
}

// Groups of facts that have a model need no proof; more facts keep a
// contradiction.
const std::vector<FactId>& Consistency::elsewhere() {
  Reasoner& reasoner = facts_.reasoner();
  const StateNames& states = facts_.states();
  const bool is_part = states.is_part(state_, fact_count_);
  if (states.is_present(state_, fact_count_) || (is_part && !found_.empty())) {
    return found_;
  }
  CandidateModels& candidates = reasoner.candidates();
  const size_t from = is_part ? formulas_ : 0;
  state_ = states.present();
  fact_count_ = states.facts();
  formulas_ = candidates.mark();
  found_.clear();
  reasoner.within(work_of_search(facts_.options()), [&] {
    CountedTry a_try(facts_.statistics().consistency);
    std::vector<FormulaId> groups = candidates.groups_without_model(from);
    if (groups.size() > limits().consistency_groups) {
      groups.resize(limits().consistency_groups);
    }
    for (FormulaId fact : groups) {
      if (const auto why = contradiction_of_group(fact)) {
        found_ = reasoner.facts_in(*why);
        a_try.decided();
        break;
      }
    }
    return true;
  });
  // A search that was interrupted, or that the caller's budget ended, has not
  // seen every group: the next call searches again.
  if (!reasoner.work().is_undisturbed()) state_ = 0;
  return found_;
}

}  // namespace proviso::inline v0_2::internal
