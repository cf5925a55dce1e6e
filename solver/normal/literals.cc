// What costs least is asked first: the assertions, the sum of the terms'
// ranges, the bounds of the linear form; then differences and ranges of
// products.
#include "solver/normal/literals.h"

namespace proviso::inline v0_2::internal {

bool Literals::decides(FormulaKind kind, const Range& r, Decision& d) {
  if (r.span.is_empty()) return false;
  const OptionalInt &low = r.span.lower(), &high = r.span.upper();
  const bool above = low && low->sign() >= (kind == FormulaKind::kGe ? 0 : 1);
  if (!above && !(high && high->sign() < 0)) return false;
  d.value = kind == FormulaKind::kGe ? above : kind == FormulaKind::kNe;
  d.why = above ? r.lower : r.upper;
  return true;
}

// p lies at 0 alone, where decides() is false.
bool Literals::decides_at_point(FormulaKind kind, const Range& r, Decision& d) {
  if (kind == FormulaKind::kGe || !r.span.is_point()) return false;
  d.value = kind == FormulaKind::kEq;
  d.why = reasons_.join(r.lower, r.upper);
  return true;
}

bool Literals::decide_fast(FormulaId f, Range& r, Decision& d) {
  if (is_asserted(f, d)) return true;
  const Formula& formula = forms_.formulas[f];
  const Poly& p = forms_.polys[formula.poly];
  r = ranges_.plain(p);
  if (decides(formula.kind, r, d)) return true;
  if (!is_single(forms_, p) && !r.span.is_point() &&
      narrow(reasons_, r, ranges_.asserted(formula.poly)) &&
      decides(formula.kind, r, d)) {
    return true;
  }
  return decides_at_point(formula.kind, r, d);
}

bool Literals::decide_slowly(FormulaId f, Range& r, Decision& d) {
  const Formula& formula = forms_.formulas[f];
  const Poly& p = forms_.polys[formula.poly];
  if (is_single(forms_, p)) return false;
  auto decided_by = [&](const Range& other) {
    return narrow(reasons_, r, other) && decides(formula.kind, r, d);
  };
  if (decided_by(state_.differences.by_potentials(p)) ||
      decided_by(state_.differences.by_paths(p))) {
    return true;
  }
  const bool products = forms_.monomials.single(p.terms[0].mono) == kNoId ||
                        forms_.monomials.single(p.terms.back().mono) == kNoId;
  if (products && decided_by(ranges_.factored(p))) return true;
  if (decided_by(ranges_.by_shift(p))) return true;
  const int enough = formula.kind == FormulaKind::kGe ? 0 : 1;
  if (decided_by(ranges_.correlated(p, 0, enough))) return true;
  return decides_at_point(formula.kind, r, d);
}

Decision Literals::is_nonzero(const Poly& p) {
  Decision d;
  if (p.is_constant()) {
    d.value = !p.constant.is_zero();
    return d;
  }
  if (decides(FormulaKind::kNe, ranges_.plain(p), d)) return d;
  FormulaId id = forms_.formulas.ne(p);
  if (id <= kTrue) {  // 2*u0 + 1 is never 0
    d.value = id == kTrue;
    return d;
  }
  decide(id, d);
  return d;
}

}  // namespace proviso::inline v0_2::internal
