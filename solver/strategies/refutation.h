// solver/strategies/refutation.h - a condition contradicts the facts.
//
//   Refutation refutation(domain, reduction);
//   auto proof = refutation.refute(negate(f), Tier::kLinear, units,
//                                  tried);     // a proof that f follows
//
// The condition is assumed in the domain, the constraints around it are
// gathered as linear constraints over monomials (relevance.h), lemmas about
// products are added (lemmas.h), and Fourier and Motzkin's elimination looks
// for a contradiction (solver/linear.h).  Tier::kLinear tries products of
// constraints next; Tier::kCases the same below each branch of a split
// (splits.h), limits().split_depth deep.  All is taken back.  Complete for
// linear facts over the rationals, and for most over the integers; what is
// found about products is sound and no more.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solver/solver.h"
#include "solver/strategies/lemmas.h"
#include "solver/strategies/reduction.h"
#include "solver/strategies/splits.h"

namespace proviso::inline v0_2::internal {

class Refutation {
 public:
  // Literals whose constraints do not contradict each other, as one tier leaves
  // them to the next in the same state.
  using Tried = std::vector<FormulaId>;

  Refutation(Domain& domain, PolynomialReduction& reduction)
      : domain_(domain),
        forms_(domain.forms()),
        reasons_(domain.reasons()),
        reduction_(reduction),
        relevance_(domain),
        lemmas_(domain),
        splits_(domain) {}

  // Spends at most `units` of work; nullopt is "no proof found".
  std::optional<Proof> refute(FormulaId f, Tier tier, uint64_t units,
                              Tried& tried);
  // A contradiction among the facts relevant to these atoms.
  std::optional<Proof> refute_facts(std::span<const AtomId> seeds,
                                    uint64_t units);

  // --- for strategies that refute by other means
  // As Domain::within; what is asserted in it counts as new.
  template <typename Attempt>
  auto within(uint64_t units, Attempt attempt) {
    relevance_.start();
    return domain_.within(units, attempt);
  }
  // A disjunction is refuted part by part; so is p != 0.
  template <typename Refute>
  std::optional<Proof> refute_parts(FormulaId f, Refute refute);
  // f is assumed while `find()` looks for a contradiction.
  template <typename Find>
  std::optional<Proof> assuming(FormulaId f, Find find);
  std::optional<Proof> refute_condition(FormulaId f, Tier tier, Tried& tried) {
    return refute_parts(
        f, [&](FormulaId part) { return refute_literal(part, tier, tried); });
  }
  std::optional<Proof> contradiction(std::span<const AtomId> seeds, Tier tier,
                                     int depth);

 private:
  std::optional<Proof> refute_literal(FormulaId f, Tier tier, Tried& tried);
  std::optional<Proof> refute_by_residues(const Formula& formula);
  std::optional<Proof> refute_cases(const RelevantConstraints& relevant,
                                    std::span<const AtomId> seeds, int depth);
  std::optional<Split> few_values_of_slack(const RelevantConstraints& relevant);
  std::optional<Reason> solve(const std::vector<LinearConstraint>& constraints,
                              const std::vector<LinearConstraint>& lemmas);

  Domain& domain_;
  FormPool& forms_;
  ReasonArena& reasons_;
  PolynomialReduction& reduction_;
  Relevance relevance_;
  ProductLemmas lemmas_;
  CaseSplits splits_;
};

template <typename Find>
std::optional<Proof> Refutation::assuming(FormulaId f, Find find) {
  if (f == kFalse) return Proof{};
  const Formula& formula = forms_.formulas[f];
  const Domain::Mark before = domain_.mark();
  const Reason why = reasons_.leaf(kAssumptionLiteral);
  Reason because = why;
  std::optional<Poly> rest;
  if (formula.poly != kNoId) {
    rest = reduction_.remainder(forms_.polys[formula.poly], because);
  }
  domain_.assume(f, why);
  if (rest)
    domain_.assume(forms_.formulas.relation(formula.kind, *rest), because);
  const std::optional<Proof> proof =
      domain_.conflict() ? Proof{*domain_.conflict(), false} : find();
  domain_.undo(before);
  return proof;
}

template <typename Refute>
std::optional<Proof> Refutation::refute_parts(FormulaId f, Refute refute) {
  const Formula& formula = forms_.formulas[f];
  std::vector<FormulaId> parts = {f};
  if (formula.kind == FormulaKind::kOr) parts = formula.kids;
  if (formula.kind == FormulaKind::kNe) {
    parts = sides_of(forms_, forms_.polys[formula.poly]);
  }
  Proof total;
  for (FormulaId part : parts) {
    const std::optional<Proof> proof =
        part != f ? refute_parts(part, refute) : refute(part);
    if (!proof) return std::nullopt;
    total.why = reasons_.join(total.why, proof->why);
    total.used_cases |= proof->used_cases;
  }
  return total;
}

}  // namespace proviso::inline v0_2::internal
