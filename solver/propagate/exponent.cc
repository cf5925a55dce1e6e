// Powers of one number, against each other and against constants.
//
//   2**x == 3*2**y + 8         x <= 3 or y <= 3: 16 does not divide 8
//   2**x == 4*2**y             x == y + 2
//   2**n <= 40, n >= 0         n <= 5
//
// Complete for c*b**x == d*b**y; of longer sums one step by divisibility.
#include "solver/propagate/propagators.h"

namespace proviso::inline v0_2::internal {
namespace {

// Takes from v, not 0, the powers of b >= 2 that divide it; how many they are.
int64_t take_powers(Int& v, const Int& b) {
  int64_t n = 0;
  for (; floor_mod(v, b).is_zero(); ++n) v = floor_div(v, b);
  return n;
}

}  // namespace

// c*b**x + ... + k == 0, every term a power of the same b.
void ExponentPropagator::on_equality(const Poly& p, Reason why, When when) {
  if (p.terms.size() < 2 || when != When::kNew) return;
  Int base = 0;
  SmallVector<PolyId, 4> exponents;
  for (const Term& t : p.terms) {
    const Factors& factors = forms_.monomials.factors(t.mono);
    const Atom& atom = forms_.atoms[factors[0]];
    if (factors.size() > 1 || atom.kind != AtomKind::kFunc) return;
    const Poly& b = forms_.polys[atom.a];
    if (atom.op != Op::kPow || !b.is_constant() || b.constant < Int(2)) return;
    if (base.is_zero()) base = b.constant;
    if (b.constant != base) return;
    exponents.push_back(atom.b);
  }
  if (p.constant.is_zero()) {
    if (exponents.size() > 2) return;
    if (p.terms[0].coef.sign() == p.terms[1].coef.sign()) return;
    for (PolyId e : exponents) {
      const Range r = ranges_.of(forms_.polys[e]);
      if (!at_least(r, 0)) return;
      why = join(why, r.lower);
    }
    // c*b**x == d*b**y; no more powers of b in c and d, they must be alike.
    Poly apart = forms_.polys[exponents[0]] - forms_.polys[exponents[1]];
    Int c = abs(p.terms[0].coef), d = abs(p.terms[1].coef);
    apart.constant += take_powers(c, base) - take_powers(d, base);
    if (c != d) return to_.conflict(why);
    return to_.derive(FormulaKind::kEq, apart, why);
  }
  // b**(n+1) does not divide the constant: not all exponents are larger than n.
  Int rest = p.constant;
  const int64_t n = take_powers(rest, base);
  std::vector<FormulaId> small;
  for (PolyId e : exponents) {
    Poly room = -forms_.polys[e];
    room.constant += n;
    small.push_back(forms_.formulas.ge(room));
  }
  to_.derive(forms_.formulas.any_of(std::move(small)), why);
}

// For b >= 2 and n >= 0: b**n <= v makes n at most the logarithm of v, and
// b**n >= v at least that.
void ExponentPropagator::on_atom_bound(const Atom& atom, bool lower,
                                       const Int& value, Reason why) {
  if (atom.kind != AtomKind::kFunc || atom.op != Op::kPow) return;
  const Poly& base = forms_.polys[atom.a];
  const Poly& exponent = forms_.polys[atom.b];
  if (!base.is_constant() || base.constant < Int(2)) return;
  Range n = ranges_.of(exponent);
  if (!at_least(n, 0) || value.sign() <= 0) return;
  Int power = 1;
  int64_t log = 0;  // the least with b**log >= v; the largest with b**log <= v
  while (lower ? power < value : power * base.constant <= value) {
    power *= base.constant;
    ++log;
  }
  state_.meter.spend(static_cast<uint64_t>(log));
  Poly inequality = lower ? exponent : -exponent;
  inequality.constant += lower ? -log : log;
  to_.derive(FormulaKind::kGe, inequality, join(why, n.lower));
}

}  // namespace proviso::inline v0_2::internal
