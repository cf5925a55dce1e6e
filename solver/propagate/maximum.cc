// Inequalities about max(0, d), and bounds of it.
//
//   y - max(0, d) >= 0              y >= 0 and y >= d
//   y + max(0, d) >= 5, y <= 4      y + d >= 5: the other reading is ruled out
//   max(0, d) <= 3                  d <= 3
//
// An inequality with one or more maxima is two inequalities, or one of two; the
// number of maxima in an inequality that is expanded is
// limits().expanded_extrema at most, for each doubles the inequalities.  A name
// that stands for a sum passes its bounds on.
#include "solver/limits_in_force.h"
#include "solver/propagate/propagators.h"

namespace proviso::inline v0_2::internal {

// For c < 0, r + c*pos(d) >= 0 says r >= 0 and r + c*d >= 0; for c > 0 it says
// one of them, which decides where ranges rule out the other.
void MaximumPropagator::on_inequality(const Poly& p, Reason why, When when) {
  if (when != When::kNew) return;
  const Term* found = nullptr;
  size_t negative = 0;
  for (const Term& t : p.terms) {
    const Factors& factors = forms_.monomials.factors(t.mono);
    if (factors.size() != 1) continue;
    if (forms_.atoms[factors[0]].kind != AtomKind::kPos) continue;
    negative += t.coef.sign() < 0;
    const bool first = !found || (found->coef.sign() > 0 && t.coef.sign() < 0);
    if (first) found = &t;
  }
  if (!found || negative > limits().expanded_extrema) return;
  const PolyId d = forms_.atoms[forms_.monomials.single(found->mono)].a;
  const Poly without = p - Poly::term(found->mono, found->coef);
  const Poly with = add(without, forms_.polys[d], found->coef);
  if (negative > 0) {
    to_.derive(FormulaKind::kGe, without, why);
    return to_.derive(FormulaKind::kGe, with, why);
  }
  for (const auto& [one, other] :
       {std::pair(&without, &with), std::pair(&with, &without)}) {
    const Range r = ranges_.plain(*one);
    if (r.span.is_empty() || !at_most(r, -1)) continue;
    return to_.derive(FormulaKind::kGe, *other, join(why, r.upper));
  }
}

void MaximumPropagator::on_atom_bound(const Atom& atom, bool lower,
                                      const Int& value, Reason why) {
  const bool is_maximum = atom.kind == AtomKind::kPos;
  if (!is_maximum && atom.kind != AtomKind::kNamed) return;
  if (is_maximum && lower && value.sign() <= 0) return;
  const Poly& x = forms_.polys[atom.a];
  Poly inequality = lower ? x : -x;
  inequality.constant += lower ? -value : value;
  to_.derive(FormulaKind::kGe, std::move(inequality), why);
}

}  // namespace proviso::inline v0_2::internal
