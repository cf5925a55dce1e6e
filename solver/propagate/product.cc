// What bounds of a product say of its factors, and the other way round.
//
//   x*y >= 5, x in [0, 2]       y >= 3
//   x*x <= 50                   -7 <= x <= 7
//   x*r - 3 >= 0, x >= 0        x >= 1, r >= 1
//   x*y == x*z, x >= 1          y == z
//
// One factor is looked at a time, the range of the others given; powers by
// integer roots.  Constant work a factor.
#include "solver/forms/form_ring.h"
#include "solver/limits_in_force.h"
#include "solver/propagate/propagators.h"

namespace proviso::inline v0_2::internal {
namespace {

Int ceil_div(const Int& a, const Int& b) { return -floor_div(-a, b); }

}  // namespace

// x*r + c >= 0 with x >= 1 bounds r: by 1 where c < 0, else by -c over the
// least x.  Where c < 0, x >= 0 makes x >= 1.  Where r has a sign, it bounds x.
void ProductPropagator::on_inequality(const Poly& p, Reason why, When when) {
  // A product alone is a bound; what follows for an original inequality's
  // factors has been derived.
  if (p.terms.size() < 2 || when == When::kOriginal) return;
  const bool positive = p.constant.sign() < 0;
  Poly product = p;
  product.constant = 0;
  for (AtomId a : forms_.monomials.factors(p.terms[0].mono)) {
    if (to_.has_conflict()) return;
    std::optional<Poly> rest =
        without_monomial(FormRing(forms_), product, forms_.monomials.of(a));
    if (!rest) continue;
    Range r = ranges_.plain(*rest);
    const bool negative = at_most(r, -1);
    if (negative) r = scaled(r, -1);
    tighten_factor(a, 1, r, !negative, negative ? p.constant : -p.constant,
                   why);
    const Range x = ranges_.of_atom(a);
    if (to_.has_conflict() || !at_least(x, positive ? 0 : 1)) continue;
    rest->constant -=
        positive ? Int(1) : ceil_div(-p.constant, *x.span.lower());
    to_.derive(FormulaKind::kGe, *std::move(rest), join(why, x.lower));
    if (positive) to_.bound(a, true, 1, join(why, x.lower));
  }
}

// A bound of a product bounds its factors (and their powers).
void ProductPropagator::on_product_bound(MonoId m, bool lower, const Int& value,
                                         Reason why) {
  const Factors& factors = forms_.monomials.factors(m);
  for (size_t i = 0; i < factors.size() && !to_.has_conflict(); ++i) {
    if (i > 0 && factors[i] == factors[i - 1]) continue;
    Factors power;
    for (AtomId a : factors) {
      if (a == factors[i]) power.push_back(a);
    }
    Range rest = point(1);
    if (power.size() < factors.size()) {
      rest = ranges_.of_monomial(
          forms_.monomials.quotient(m, forms_.monomials.of(power)));
    }
    tighten_factor(factors[i], static_cast<unsigned>(power.size()), rest, lower,
                   value, why);
  }
}

// x**k * rest >= bound, or <= where not `lower`, where the rest is known to be
// nonnegative or positive.
void ProductPropagator::tighten_factor(AtomId x, unsigned k, const Range& rest,
                                       bool lower, const Int& bound,
                                       Reason why) {
  if (rest.span.is_empty()) return;
  if (!at_least(rest, lower && bound.sign() > 0 ? 0 : 1)) return;
  // x*rest >= 1 with rest >= 0 makes rest >= 1.
  Int least = *rest.span.lower();
  if (least.is_zero()) least = 1;
  Reason because = join(why, rest.lower);
  Int value;
  bool by_least = lower ? bound.sign() <= 0 : bound.sign() >= 0;
  if (by_least) {
    value = lower ? ceil_div(bound, least) : floor_div(bound, least);
  } else if (rest.span.upper()) {
    if (rest.span.upper()->sign() <= 0) {  // x*0 >= 1
      return to_.conflict(join(because, rest.upper));
    }
    value = lower ? ceil_div(bound, *rest.span.upper())
                  : floor_div(bound, *rest.span.upper());
    because = join(because, rest.upper);
  } else {
    value = lower ? 1 : -1;
  }
  tighten_power(x, k, lower, value, because);
}

// x**k >= bound, or <= where not `lower`.
void ProductPropagator::tighten_power(AtomId x, unsigned k, bool lower,
                                      const Int& bound, Reason why) {
  if (k == 1) return to_.bound(x, lower, bound, why);
  if (bound.bit_length() > limits().bound_bits) return;
  auto least_root = [k](const Int& v) { return integer_root(v - 1, k) + 1; };
  if (k % 2 == 1) {
    const bool outward = (bound.sign() > 0) == lower;  // away from 0
    const Int size = abs(bound);
    const Int root = size.is_zero() ? Int(0)
                     : outward      ? least_root(size)
                                    : integer_root(size, k);
    return to_.bound(x, lower, bound.sign() < 0 ? -root : root, why);
  }
  if (!lower) {
    if (bound.sign() < 0) return to_.conflict(why);
    const Int root = integer_root(bound, k);
    to_.bound(x, false, root, why);
    return to_.bound(x, true, -root, why);
  }
  if (bound.sign() <= 0) return;
  const Int root = least_root(bound);  // x <= -root or x >= root
  const Range r = ranges_.of_atom(x);
  if (at_least(r, 1 - root)) {
    to_.bound(x, true, root, join(why, r.lower));
  } else if (at_most(r, root - 1)) {
    to_.bound(x, false, -root, join(why, r.upper));
  }
}

// Divides p by factors known not to be 0.  False when there are none.
bool ProductPropagator::cancel(Poly& p, Reason& why) {
  if (!p.constant.is_zero() || p.terms.empty()) return false;
  bool any = false;
  for (AtomId a : forms_.monomials.factors(p.terms[0].mono)) {
    std::optional<Poly> rest =
        without_monomial(FormRing(forms_), p, forms_.monomials.of(a));
    if (!rest) continue;
    const Decision nonzero = literals_.is_nonzero(variable(forms_, a));
    if (nonzero.value != true) continue;
    why = join(why, nonzero.why);
    p = *std::move(rest);
    any = true;
  }
  return any;
}

// x*r == 0: one of them is 0.
void ProductPropagator::on_equality(const Poly& p, Reason why, When when) {
  if (when != When::kNew || !p.constant.is_zero()) return;
  for (AtomId a : forms_.monomials.factors(p.terms[0].mono)) {
    const std::optional<Poly> rest =
        without_monomial(FormRing(forms_), p, forms_.monomials.of(a));
    if (!rest || rest->is_constant()) continue;
    const FormulaId zero = forms_.formulas.eq(variable(forms_, a));
    return to_.derive(forms_.formulas.any_of({zero, forms_.formulas.eq(*rest)}),
                      why);
  }
}

}  // namespace proviso::inline v0_2::internal
