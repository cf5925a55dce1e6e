// Factors of a product that is a number divide it.
//
//   x*r == 12           -12 <= x <= 12, and x is no 5
//   x*x*r == 12         -3 <= x <= 3
//
// Ends of a factor move in to the next divisor, by limits().divisor_steps.
#include "solver/forms/form_ring.h"
#include "solver/limits_in_force.h"
#include "solver/propagate/propagators.h"
#include "sym/budget.h"

namespace proviso::inline v0_2::internal {

// x*r == c, c not 0: neither is 0, so that both lie between -|c| and |c|; where
// x is in r again, x*x does.
void DivisorPropagator::on_equality(const Poly& p, Reason why, When) {
  if (p.constant.is_zero()) return;
  const Int most = abs(p.constant);
  Poly product = p;
  product.constant = 0;
  for (AtomId a : forms_.monomials.factors(p.terms[0].mono)) {
    const MonoId factor = forms_.monomials.of(a);
    const auto rest = without_monomial(FormRing(forms_), product, factor);
    if (to_.has_conflict() || !rest) continue;
    const bool again =
        without_monomial(FormRing(forms_), *rest, factor).has_value();
    const Int end = again ? integer_root(most) : most;
    to_.bound(a, true, -end, why);
    to_.bound(a, false, end, why);
    for (bool lower : {true, false}) step_to_divisor(a, lower, most, why);
    if (p.terms.size() < 2) continue;
    for (int sign : {1, -1}) {
      Poly inequality = *rest * sign;
      inequality.constant += most;
      to_.derive(FormulaKind::kGe, std::move(inequality), why);
    }
  }
}

// An end of x, which divides n > 0, moves in to a divisor, by a few steps.
void DivisorPropagator::step_to_divisor(AtomId x, bool lower, const Int& n,
                                        Reason why) {
  if (to_.has_conflict()) return;
  const Range r = ranges_.of_atom(x);
  const OptionalInt& end = lower ? r.span.lower() : r.span.upper();
  if (!end) return;
  Int v = *end;
  int step = 0;
  for (; step < limits().divisor_steps; ++step) {
    if (!v.is_zero() && floor_mod(n, v).is_zero()) break;
    v += lower ? 1 : -1;
  }
  // Beside the division of what is longer than 64 bits.
  Budget::charge(static_cast<uint64_t>(step) / 8);
  if (v != *end) to_.bound(x, lower, v, join(why, lower ? r.lower : r.upper));
}

}  // namespace proviso::inline v0_2::internal
