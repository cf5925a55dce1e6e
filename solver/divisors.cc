// Equalities that imply divisibility: x*r == 12, 2**x == 3*2**y + 8.
#include "solver/domain.h"
#include "solver/limits.h"

namespace proviso {
namespace {

// Takes from v, not 0, the powers of b >= 2 that divide it; how many they are.
int64_t take_powers(Int& v, const Int& b) {
  int64_t n = 0;
  for (; floor_mod(v, b).is_zero(); ++n) v = floor_div(v, b);
  return n;
}

}  // namespace

// x*r == c, c not 0: neither is 0, so that both lie between -|c| and |c|; where
// x is in r again, x*x does.
void Domain::bound_divisors(const Poly& p, Reason why) {
  Poly product = p;
  product.constant = 0;
  const Int most = abs(p.constant);
  for (AtomId a : forms_.factors(p.terms[0].mono)) {
    std::optional<Poly> rest = divided(product, a);
    if (conflict_ || !rest) continue;
    const bool again = divided(*rest, a).has_value();
    const Int end = again ? integer_root(most) : most;
    set_bound(a, true, -end, why);
    set_bound(a, false, end, why);
    for (bool lower : {true, false}) step_to_divisor(a, lower, most, why);
    if (p.terms.size() < 2) continue;
    for (int sign : {1, -1}) {
      Poly row = forms_.scale(*rest, sign);
      row.constant += most;
      assert_literal(FormulaKind::kGe, row, why);
    }
  }
}

// An end of x, which divides n > 0, moves in to a divisor, by a few steps.
void Domain::step_to_divisor(AtomId x, bool lower, const Int& n, Reason why) {
  if (conflict_) return;
  const Range r = atom_range(x);
  const OptionalInt& end = lower ? r.span.lower() : r.span.upper();
  if (!end) return;
  Int v = *end;
  for (int step = 0; step < limits().divisor_steps; ++step) {
    if (!v.is_zero() && floor_mod(n, v).is_zero()) break;
    v += lower ? 1 : -1;
  }
  if (v != *end) set_bound(x, lower, v, join(why, lower ? r.lower : r.upper));
}

// c*b**x + ... + k == 0, every term a power of the same b.
void Domain::bound_exponents(const Poly& p, Reason why) {
  if (p.terms.size() < 2) return;
  Int base = 0;
  SmallVector<PolyId, 4> exponents;
  for (const Term& t : p.terms) {
    const Factors& factors = forms_.factors(t.mono);
    const Atom& atom = forms_.atom(factors[0]);
    if (factors.size() > 1 || atom.kind != AtomKind::kFunc) return;
    const Poly& b = forms_.poly(atom.a);
    if (atom.op != Op::kPow || !b.is_constant() || b.constant < Int(2)) return;
    if (base.is_zero()) base = b.constant;
    if (b.constant != base) return;
    exponents.push_back(atom.b);
  }
  if (p.constant.is_zero()) {
    if (exponents.size() > 2) return;
    if (p.terms[0].coef.sign() == p.terms[1].coef.sign()) return;
    for (PolyId e : exponents) {
      const Range r = range(forms_.poly(e));
      if (!at_least(r, 0)) return;
      why = join(why, r.lower);
    }
    // c*b**x == d*b**y; no more powers of b in c and d, they must be alike.
    Poly apart =
        forms_.sub(forms_.poly(exponents[0]), forms_.poly(exponents[1]));
    Int c = abs(p.terms[0].coef), d = abs(p.terms[1].coef);
    apart.constant += take_powers(c, base) - take_powers(d, base);
    if (c != d) return raise_conflict(why);
    return assert_literal(FormulaKind::kEq, apart, why);
  }
  // b**(n+1) does not divide the constant: not all exponents are larger than n.
  Int rest = p.constant;
  const int64_t n = take_powers(rest, base);
  std::vector<FormulaId> small;
  for (PolyId e : exponents) {
    Poly room = forms_.scale(forms_.poly(e), -1);
    room.constant += n;
    small.push_back(forms_.ge(room));
  }
  assert_formula(forms_.any_of(std::move(small)), why);
}

}  // namespace proviso
