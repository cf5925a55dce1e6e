// Inequalities about floor(a/d), and bounds of it.
//
//   x - 4*(x//4) - y >= 0            y <= 3: the remainder is at most 3
//   x//4 >= 2                        x >= 8
//   x//4 <= 2                        x <= 11
//
// A floor is put below and above its numerator where the inequality has atoms
// in common with it: elsewhere intervals say as much.
#include <algorithm>

#include "solver/propagate/propagators.h"

namespace proviso::inline v0_2::internal {

// r + c*d*floor(a/d) >= 0, d > 0, says r + c*a >= 0 for c > 0 and, with the
// largest remainder, r + c*(a - d + 1) >= 0 for c < 0: where r and a have atoms
// in common, this may bound what the inequality does not.
void FloorPropagator::on_inequality(const Poly& p, Reason why, When when) {
  if (p.terms.size() < 2 || when != When::kNew) return;
  for (const Term& t : p.terms) {
    for (AtomId q : forms_.monomials.factors(t.mono)) {
      const Atom& atom = forms_.atoms[q];
      if (atom.kind != AtomKind::kFloor) continue;
      const Atoms& inside = forms_.occurrences.of_poly(atom.a);
      const bool in_common =
          std::any_of(p.terms.begin(), p.terms.end(), [&](const Term& other) {
            const Factors& f = forms_.monomials.factors(other.mono);
            return &other != &t &&
                   std::any_of(f.begin(), f.end(), [&](AtomId x) {
                     return std::binary_search(inside.begin(), inside.end(), x);
                   });
          });
      if (!in_common) continue;
      const auto u = ranges_.without_floor(p, t, q);
      if (!u) continue;
      const Reason because = join(why, u->why);
      // A remainder that is at most 0 is 0.
      const Range high = ranges_.plain(u->high);
      if (at_most(high, 0) && high.span.contains(Int(0))) {
        return to_.derive(forms_.formulas.eq(p), join(because, high.upper));
      }
      // Which sees to the others.
      return to_.derive(FormulaKind::kGe, u->high, because);
    }
  }
}

void FloorPropagator::on_atom_bound(const Atom& atom, bool lower,
                                    const Int& value, Reason why) {
  if (atom.kind != AtomKind::kFloor) return;
  const Poly& x = forms_.polys[atom.a];
  const Poly& d = forms_.polys[atom.b];
  const Range divisor = ranges_.of(d);
  if (!at_least(divisor, 1)) return;
  Poly inequality = lower ? add(x, d, -value) : d * (value + 1) - x;
  if (!lower) inequality.constant -= 1;
  to_.derive(FormulaKind::kGe, std::move(inequality), join(why, divisor.lower));
}

}  // namespace proviso::inline v0_2::internal
