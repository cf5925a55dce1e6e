#include "solver/strategies/case_analysis.h"

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {

// A disjunction among the facts about the condition's atoms.
std::optional<Split> CaseAnalysis::asserted_clause(FormulaId f) {
  for (AtomId a : forms_.occurrences.of_formula(f)) {
    size_t looked_at = 0;
    for (uint32_t i : domain_.constraints_of(a)) {
      if (++looked_at > limits().clauses_looked_at) break;
      const Constraint& constraint = domain_.constraints()[i];
      const Formula& clause = forms_.formulas[constraint.formula];
      if (!constraint.is_active || clause.kind != FormulaKind::kOr) continue;
      if (clause.kids.size() <= limits().clause_cases)
        return Split{clause.kids, constraint.why};
    }
  }
  return std::nullopt;
}

std::optional<Split> CaseAnalysis::choose(FormulaId f) {
  if (auto split = asserted_clause(f)) return split;
  for (AtomId a : forms_.occurrences.of_formula(f)) {
    if (auto split = split_condition(domain_, a)) return split;
  }
  for (AtomId a : forms_.occurrences.of_formula(f)) {
    if (auto split = split_divisor(domain_, a)) return split;
  }
  return std::nullopt;
}

Decision CaseAnalysis::decide(FormulaId f, int depth) {
  std::optional<Split> split = choose(f);
  if (!split) return {};
  auto further = [&](std::optional<bool>) -> std::optional<Decision> {
    if (depth == 1) return std::nullopt;
    Decision d = decide(f, depth - 1);
    return d.value ? std::optional(d) : std::nullopt;
  };
  return decide_branches(domain_, f, *split, {}, further).value_or(Decision{});
}

Decision CaseAnalysis::decide(FormulaId f, uint64_t units) {
  return domain_.within(units, [&] { return decide(f, limits().clause_depth); })
      .value_or(Decision{});
}

}  // namespace proviso::inline v0_2::internal
