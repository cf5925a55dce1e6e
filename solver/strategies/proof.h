// solver/strategies/proof.h - what strategies share: proofs, and cases.
//
//   Split split{{x == 0, x >= 1}, why_x_is_not_negative};
//   decide_branches(domain, f, split, ...);      // what holds in both
//
// A refutation assumes a condition in the domain, for the reason
// kAssumptionLiteral, and derives a contradiction.
#pragma once

#include <optional>
#include <vector>

#include "solver/domain.h"

namespace proviso::inline v0_2::internal {

// Stands for the condition that is refuted, among the leaves of a reason.
inline constexpr uint32_t kAssumptionLiteral = ~0u - 1;

struct Proof {
  Reason why = 0;
  bool used_cases = false;
};

// One of the branches holds, because of `why`.
struct Split {
  std::vector<FormulaId> branches;
  Reason why = 0;
};

inline bool is_linear(const FormPool& forms, const Poly& p) {
  for (const Term& t : p.terms) {
    if (forms.monomials.single(t.mono) == kNoId) return false;
  }
  return true;
}

// p >= 1 and p <= -1: what p != 0 means.
inline std::vector<FormulaId> sides_of(FormPool& forms, const Poly& p) {
  Poly above = p, below = -p;
  above.constant -= 1;
  below.constant -= 1;
  return {forms.formulas.ge(above), forms.formulas.ge(below)};
}

// Decides p >= 0, p == 0 or p != 0 by what is seen to be nonnegative: p (or p -
// 1), or what is below it.
template <typename IsNonnegative>
Decision decide_by_sign(FormulaKind kind, const Normal& n,
                        IsNonnegative is_nonnegative) {
  Poly above = n.poly, below = -n.poly;
  below.constant -= 1;
  if (kind != FormulaKind::kGe) above.constant -= 1;
  for (bool up : {true, false}) {
    Reason why = n.why;
    if (!is_nonnegative(up ? above : below, why)) continue;
    return {kind == FormulaKind::kGe ? up : kind == FormulaKind::kNe, why};
  }
  return {};
}

// A refutation in each branch.
template <typename Refute>
std::optional<Proof> refute_branches(Domain& domain, const Split& split,
                                     Refute refute) {
  Proof total{split.why, true};
  for (FormulaId branch : split.branches) {
    const Domain::Mark before = domain.mark();
    domain.assume(branch, split.why);
    std::optional<Proof> proof = refute(branch);
    domain.undo(before);
    if (!proof) return std::nullopt;
    total.why = domain.reasons().join(total.why, proof->why);
  }
  return total;
}

// What holds in each branch that is possible, by the domain or else as
// `decide` says; without a value where none is, nullopt is "not decided".
template <typename Decide>
std::optional<Decision> decide_branches(Domain& domain, FormulaId f,
                                        const Split& split,
                                        std::optional<bool> wanted,
                                        Decide decide) {
  Decision all;
  all.why = split.why;
  for (FormulaId branch : split.branches) {
    const Domain::Mark before = domain.mark();
    domain.assume(branch, split.why);
    std::optional<Decision> d;
    if (domain.conflict()) {
      d = Decision{std::nullopt, *domain.conflict()};
    } else {
      d = domain.decide(f);
      const bool unwanted = d->value && wanted && *wanted != *d->value;
      if (!d->value || unwanted) d = decide(wanted);
    }
    domain.undo(before);
    if (!d || (d->value && wanted && *wanted != *d->value)) return std::nullopt;
    if (d->value) all.value = wanted = d->value;
    all.why = domain.reasons().join(all.why, d->why);
  }
  return all;
}

// A branch for each value of `a`.  Requires both ends.
Split split_values(Domain& domain, AtomId a, const Range& r);
// The divisor of the floor `a` is positive, negative or 0, where that is not
// known; its floor has no constraints until then.
std::optional<Split> split_divisor(Domain& domain, AtomId a);
// A maximum is one of two, a conditional as well, where that is not known.
std::optional<Split> split_condition(Domain& domain, AtomId a);

}  // namespace proviso::inline v0_2::internal
