// Whether the facts near a question contradict each other.
//
// What follows from contradictory facts is no answer.  Facts whose
// contradiction ranges and equalities show have ended the context's answers
// already; the rest is looked for where a proof was needed, for there the facts
// act together.
#include <algorithm>

#include "solver/engine.h"
#include "solver/limits.h"

namespace proviso {

// The facts that contradict each other: on their own, because none of few
// points meets them, or because they prove the opposite of `value` as well.
// Nothing where a model of them is known.
std::optional<Reason> Engine::contradiction_near(Expr question, bool value,
                                                 Tier tier, Reason why) {
  if (why == 0) return std::nullopt;
  const FormulaId goal = lower.condition(question);
  const FormulaId defined = lower.defined(question);
  if (candidates.consistent(goal) && candidates.consistent(defined)) {
    return std::nullopt;
  }
  const uint64_t units = options.budget / 4;
  Atoms near = forms.atoms_of_formula(goal);
  near.append(forms.atoms_of_formula(defined));
  if (auto proof = prover.refute_facts(near, units)) return proof->why;
  Search counted(question, goal);
  enumerate(counted, limits().consistency_points);
  if (counted.is_contradiction) return counted.why;
  if (counted.is_finished || tier < Tier::kLinear) return std::nullopt;
  const FormulaId proved = value ? goal : FormPool::negate(goal);
  Prover::Tried tried;
  for (Effort effort : {Effort::kLinear, Effort::kCases, Effort::kValues}) {
    if ((effort == Effort::kLinear) != (tier == Tier::kLinear)) continue;
    auto proof = prover.refute(proved, effort, units, tried);
    if (proof) return reasons.join(why, proof->why);
  }
  return std::nullopt;
}

// Groups of facts that have a model need no proof; more facts keep a
// contradiction.
const std::vector<FactId>& Engine::contradiction_anywhere() {
  Consistency& known = consistency;
  const bool is_part =
      known.facts < versions.size() && versions[known.facts] == known.version;
  const bool is_same = is_part && known.facts + 1 == versions.size();
  if (is_same || (is_part && !known.contradiction.empty())) {
    return known.contradiction;
  }
  const size_t from = is_part ? known.formulas : 0;
  known = {versions.back(),
           static_cast<uint32_t>(versions.size() - 1),
           candidates.mark(),
           {}};
  within(options.work_limit / 8, [&] {
    std::vector<FormulaId> groups = candidates.groups_without_model(from);
    if (groups.size() > limits().consistency_groups)
      groups.resize(limits().consistency_groups);
    for (FormulaId fact : groups) {
      const Atoms near = forms.atoms_of_formula(fact);
      auto proof = prover.refute_facts(near, options.budget / 4);
      if (!proof) continue;
      known.contradiction = used_facts(proof->why);
      break;
    }
    return true;
  });
  return known.contradiction;
}

}  // namespace proviso
