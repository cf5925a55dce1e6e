#include "solver/strategies/proof.h"

namespace proviso::inline v0_2::internal {

Split split_values(Domain& domain, AtomId a, const Range& r) {
  FormPool& forms = domain.forms();
  Split split;
  split.why = domain.reasons().join(r.lower, r.upper);
  for (Int v = *r.span.lower(); v <= *r.span.upper(); v += 1) {
    Poly p = variable(forms, a);
    p.constant = -v;
    split.branches.push_back(forms.formulas.eq(p));
  }
  return split;
}

std::optional<Split> split_divisor(Domain& domain, AtomId a) {
  FormPool& forms = domain.forms();
  const Atom& atom = forms.atoms[a];
  if (atom.kind != AtomKind::kFloor || domain.is_solved(a)) return {};
  Poly d = forms.polys[atom.b];
  if (d.is_constant()) return {};
  const Range r = domain.range(d);
  if (r.span.is_empty() || at_least(r, 1) || at_most(r, -1)) return {};
  const Poly negative = -d;
  d.constant -= 1;
  return Split{{forms.formulas.ge(d), forms.formulas.ge(negative)}, 0};
}

std::optional<Split> split_condition(Domain& domain, AtomId a) {
  FormPool& forms = domain.forms();
  const Atom& atom = forms.atoms[a];
  FormulaId condition = kNoId;
  if (atom.kind == AtomKind::kPos) {
    condition = forms.formulas.ge(forms.polys[atom.a]);
  } else if (atom.kind == AtomKind::kIte) {
    condition = atom.condition;
  }
  if (condition == kNoId || domain.is_solved(a)) return {};
  if (domain.decide(condition).value) return {};
  return Split{{condition, negate(condition)}, 0};
}

}  // namespace proviso::inline v0_2::internal
