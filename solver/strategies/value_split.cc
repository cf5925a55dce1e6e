#include "solver/strategies/value_split.h"

#include <algorithm>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
// Breadth first, through facts and definitions.
ValueSplit::Choices ValueSplit::variables_near(FormulaId f) {
  Choices found;
  std::vector<AtomId> queue;
  IdSet seen_atoms, seen_constraints;
  auto visit_all = [&](std::span<const AtomId> atoms) {
    for (AtomId a : atoms) {
      if (seen_atoms.insert(a)) queue.push_back(a);
    }
  };
  std::vector<int64_t> weight(forms_.atoms.size());
  auto weigh = [&](const Poly& p, int64_t times) {
    for (const Term& t : p.terms) {
      const Factors& factors = forms_.monomials.factors(t.mono);
      for (AtomId a : factors) {
        if (factors.size() > 1) weight[a] += times;
        if (forms_.atoms.is_variable(a)) continue;
        for (AtomId inside : forms_.occurrences.of_atom(a))
          weight[inside] += times;
      }
    }
  };
  auto visit_formula = [&](FormulaId g, bool assumed) {
    const Formula& formula = forms_.formulas[g];
    // An equality that is assumed refutes most values.
    const bool rules_out = assumed && formula.kind == FormulaKind::kEq;
    if (formula.poly != kNoId) {
      weigh(forms_.polys[formula.poly], rules_out ? 4 : 1);
    }
    visit_all(forms_.occurrences.of_formula(g));
  };
  visit_formula(f, false);
  for (size_t i = 0; i < queue.size() && i < limits().value_atoms; ++i) {
    const AtomId a = queue[i];
    domain_.spend(1);
    if (forms_.atoms.is_variable(a)) found.push_back({a});
    if (domain_.is_solved(a)) {
      visit_all(forms_.occurrences.of_poly(domain_.solved_form(a)));
    }
    for (uint32_t k : domain_.constraints_of(a)) {
      const Constraint& constraint = domain_.constraints()[k];
      if (!constraint.is_active || !seen_constraints.insert(k)) continue;
      visit_formula(constraint.formula, true);
    }
    visit_all(domain_.dependents_of(a));
  }
  for (Choice& c : found) c.weight += weight[c.atom];
  return found;
}

// Few values and many products first.
std::optional<Split> ValueSplit::choose(const Choices& choices) {
  const Choice* best = nullptr;
  int64_t fewest = 0;
  Range range;
  for (const Choice& c : choices) {
    Normal n = domain_.normal(variable(forms_, c.atom));
    if (n.poly.is_constant()) continue;
    Range r = domain_.atom_range(c.atom);
    if (n.changed) {
      Range solved = domain_.range(n.poly);
      solved.lower = reasons_.join(solved.lower, n.why);
      solved.upper = reasons_.join(solved.upper, n.why);
      narrow(reasons_, r, solved);
    }
    const Interval& span = r.span;
    if (span.is_empty() || !span.lower() || !span.upper()) continue;
    std::optional<int64_t> width = (*span.upper() - *span.lower()).to_int64();
    if (!width || *width >= limits().values) continue;
    if (best && (*width + 1) * best->weight >= fewest * c.weight) continue;
    best = &c;
    fewest = *width + 1;
    range = r;
  }
  if (!best) return std::nullopt;
  return split_values(domain_, best->atom, range);
}

// With the condition to refute assumed, which may bound further variables.
std::optional<Proof> ValueSplit::refute_values(std::span<const AtomId> seeds,
                                               const Choices& choices,
                                               int depth) {
  if (domain_.conflict()) return Proof{*domain_.conflict(), true};
  std::optional<Split> split;
  if (depth > 0) split = choose(choices);
  if (!split) {  // rows have the last word, where they are new
    if (depth == kMaxDepth) return std::nullopt;
    return refutation_.contradiction(seeds, Tier::kLinear, 0);
  }
  return refute_branches(domain_, *split, [&](FormulaId) {
    return refute_values(seeds, choices, depth - 1);
  });
}

std::optional<Proof> ValueSplit::refute_condition(FormulaId f) {
  return refutation_.refute_parts(f, [&](FormulaId part) {
    return refutation_.assuming(part, [&] {
      return refute_values(forms_.occurrences.of_formula(part),
                           variables_near(part), kMaxDepth);
    });
  });
}

std::optional<Proof> ValueSplit::refute(FormulaId f, uint64_t units) {
  return refutation_.within(units, [&] { return refute_condition(f); })
      .value_or(std::nullopt);
}

std::optional<Decision> ValueSplit::decide_values(FormulaId f,
                                                  const Choices& choices,
                                                  bool wanted, int depth) {
  std::optional<Split> split;
  if (depth > 0) split = choose(choices);
  if (!split && depth == kMaxDepth) return std::nullopt;
  if (!split) {
    const FormulaId opposite = wanted ? negate(f) : f;
    auto proof = refute_condition(opposite);
    if (!proof) {
      Refutation::Tried tried;
      proof = refutation_.refute_condition(opposite, Tier::kLinear, tried);
    }
    if (!proof) return std::nullopt;
    Decision d{wanted, proof->why};
    if (!reasons_.uses(proof->why, kQuestionLeaf)) d.value.reset();
    return d;
  }
  return decide_branches(domain_, f, *split, wanted, [&](std::optional<bool>) {
    return decide_values(f, choices, wanted, depth - 1);
  });
}

Decision ValueSplit::decide(FormulaId f, bool can_be_true, bool can_be_false,
                            uint64_t units) {
  Decision found;
  for (bool wanted : {true, false}) {
    if (found.value || !(wanted ? can_be_true : can_be_false)) continue;
    const auto decided = refutation_.within(units, [&] {
      return decide_values(f, variables_near(f), wanted, kMaxDepth);
    });
    if (decided && *decided) found = **decided;
  }
  return found;
}

}  // namespace proviso::inline v0_2::internal
