// From a condition to a linear system, and on where that has solutions.
//
//   s0 <= s1, s1 + 3 <= s2, s2 < s3           is s0 + 3 < s3?
//     assume     s0 + 3 >= s3, in the domain
//     gather     the four constraints around s0 and s3
//     solve      their sum is -1 >= 0: they contradict each other
//
// Where it is not refuted, products of constraints are added, and then come the
// branches of a split, each from the start.  The cost is that of a system of
// the relevant constraints with their lemmas, and of one for each branch of a
// tree that is limits().split_depth deep.
#include "solver/strategies/refutation.h"

#include <algorithm>

#include "solver/limits_in_force.h"
#include "solver/strategies/residues.h"

namespace proviso::inline v0_2::internal {
namespace {

void add_all(LinearSystem& system,
             const std::vector<LinearConstraint>& constraints) {
  for (const LinearConstraint& r : constraints) system.add(r);
}

}  // namespace

std::optional<Proof> Refutation::refute(FormulaId f, Tier tier, uint64_t units,
                                        Tried& tried) {
  return within(units, [&] { return refute_condition(f, tier, tried); })
      .value_or(std::nullopt);
}

std::optional<Proof> Refutation::refute_facts(std::span<const AtomId> seeds,
                                              uint64_t units) {
  auto search = [&] {
    return contradiction(seeds, Tier::kCases, limits().split_depth);
  };
  return within(units, search).value_or(std::nullopt);
}

std::optional<Proof> Refutation::refute_literal(FormulaId f, Tier tier,
                                                Tried& tried) {
  if (tier == Tier::kCases && f != kFalse) {
    if (auto proof = refute_by_residues(forms_.formulas[f])) return proof;
  }
  return assuming(f, [&]() -> std::optional<Proof> {
    const std::span<const AtomId> seeds = forms_.occurrences.of_formula(f);
    const int depth = limits().split_depth;
    if (std::find(tried.begin(), tried.end(), f) == tried.end()) {
      tried.push_back(f);
      std::optional<Proof> proof = contradiction(seeds, tier, depth);
      if (proof) std::erase(tried, f);
      return proof;
    }
    if (tier != Tier::kCases) return std::nullopt;
    return refute_cases(relevance_.gather(seeds), seeds, depth);
  });
}

// Before it is assumed: it would be substituted in itself.  p >= 0 with p <= 2
// is p == 0, p == 1 or p == 2.
std::optional<Proof> Refutation::refute_by_residues(const Formula& formula) {
  if (formula.poly == kNoId || formula.kind == FormulaKind::kNe) {
    return std::nullopt;
  }
  Normal n = domain_.normal(forms_.polys[formula.poly]);
  if (is_linear(forms_, n.poly)) return std::nullopt;
  Int most = 0;
  if (formula.kind == FormulaKind::kGe) {
    const Range r = domain_.range(n.poly);
    const OptionalInt& end = r.span.upper();
    if (r.span.is_empty() || !end || *end > Int(limits().residue_values))
      return std::nullopt;
    most = *end;
    n.why = reasons_.join(n.why, r.upper);
  }
  for (; most.sign() >= 0; most -= 1, n.poly.constant -= 1) {
    if (!has_no_root(domain_, n.poly)) return std::nullopt;
  }
  return Proof{reasons_.join(reasons_.leaf(kAssumptionLiteral), n.why), false};
}

std::optional<Proof> Refutation::contradiction(std::span<const AtomId> seeds,
                                               Tier tier, int depth) {
  if (domain_.conflict()) return Proof{*domain_.conflict(), false};
  const RelevantConstraints relevant = relevance_.gather(seeds);
  auto why = solve(relevant.linear, lemmas_.of_bounds(relevant));
  const bool is_small = relevant.linear.size() <= limits().small_refutation;
  if (!why && (tier == Tier::kLinear || is_small)) {
    const std::vector<LinearConstraint> products =
        lemmas_.of_constraints(relevant);
    if (!products.empty()) why = solve(relevant.linear, products);
  }
  if (why) return Proof{*why, false};
  if (tier != Tier::kCases || depth == 0) return std::nullopt;
  return refute_cases(relevant, seeds, depth);
}

std::optional<Proof> Refutation::refute_cases(
    const RelevantConstraints& relevant, std::span<const AtomId> seeds,
    int depth) {
  std::optional<Split> split = splits_.choose(relevant);
  if (!split) split = few_values_of_slack(relevant);
  // No branches would be a proof without any.
  if (!split || split->branches.empty()) return std::nullopt;
  return refute_branches(domain_, *split, [&](FormulaId branch) {
    std::vector<AtomId> relevant_atoms(seeds.begin(), seeds.end());
    for (AtomId a : forms_.occurrences.of_formula(branch))
      relevant_atoms.push_back(a);
    return contradiction(relevant_atoms, Tier::kCases, depth - 1);
  });
}

// The values of a constraint's left side, where the others leave it few: in a
// thin polyhedron one at least does, and each value leaves one dimension less.
//
//   2*x + 3*y >= 1, x - 4*y >= 0, 5*x + 2*y <= 4     x - 4*y is 0 or 1
std::optional<Split> Refutation::few_values_of_slack(
    const RelevantConstraints& relevant) {
  const std::vector<LinearConstraint>& constraints = relevant.linear;
  if (constraints.size() > limits().small_refutation) return std::nullopt;
  const std::vector<LinearConstraint> bounds = lemmas_.of_bounds(relevant);
  for (int most = 2; most <= limits().slack_values; most *= 2) {
    for (const LinearConstraint& constraint : constraints) {
      if (constraint.equality || constraint.terms.size() < 2) continue;
      LinearConstraint larger = constraint;  // constraint >= most
      larger.constant -= most;
      larger.why = 0;
      LinearSystem system(reasons_, constraints.size() + bounds.size() + 1);
      add_all(system, constraints);
      add_all(system, bounds);
      system.add(std::move(larger));
      const auto why = system.contradiction(domain_.units_left());
      domain_.spend(1 + system.work() / 4);
      if (!why) continue;
      Poly p = poly_of(constraint);
      Split split{{}, reasons_.join(constraint.why, *why)};
      for (int value = 0; value < most; ++value, p.constant -= 1) {
        split.branches.push_back(forms_.formulas.eq(p));
      }
      return split;
    }
  }
  return std::nullopt;
}

std::optional<Reason> Refutation::solve(
    const std::vector<LinearConstraint>& constraints,
    const std::vector<LinearConstraint>& lemmas) {
  LinearSystem system(reasons_, constraints.size() + lemmas.size());
  add_all(system, constraints);
  add_all(system, lemmas);
  const uint64_t units = domain_.units_left();
  auto why = system.contradiction(units);
  domain_.spend(system.work() / 4);
  if (why) return why;
  if (system.work() > units) domain_.note_run_out();
  // A thin polyhedron is tried again with smaller coefficients.
  const auto reduced = with_short_columns(constraints);
  if (!reduced) return std::nullopt;
  LinearSystem again(reasons_, reduced->size());
  add_all(again, *reduced);
  why = again.contradiction(domain_.units_left());
  domain_.spend(again.work() / 4);
  return why;
}

}  // namespace proviso::inline v0_2::internal
