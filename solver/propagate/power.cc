// Powers beside powers compare as what is raised does.
//
//   x*x*x <= 8*y*y*y         x <= 2*y
//   x*x == y*y               x == y or x == -y
//   x*x < 9*y*y, y >= 0      x < 3*y and -x < 3*y
//
// Odd powers grow with their bases, even ones with the sizes of these.  Of two
// terms alone, with perfect powers as coefficients: a**k - b**k for the largest
// k that both have.
#include <numeric>

#include "solver/propagate/propagators.h"

namespace proviso::inline v0_2::internal {

// How often each factor of m is in it, by greatest common divisor.
unsigned PowerPropagator::multiplicity(MonoId m) const {
  const Factors& factors = forms_.monomials.factors(m);
  unsigned all = 0;
  for (size_t i = 0, next; i < factors.size(); i = next) {
    for (next = i; next < factors.size() && factors[next] == factors[i];) {
      ++next;
    }
    all = std::gcd(all, static_cast<unsigned>(next - i));
  }
  return all;
}

// The polynomial whose k-th power the term is, where there is one.
std::optional<Poly> PowerPropagator::root(const Term& t, unsigned k) {
  const bool is_negative = t.coef.sign() < 0;
  if (is_negative && k % 2 == 0) return std::nullopt;
  const Int size = integer_root(abs(t.coef), k);
  if (*pow(size, k) != abs(t.coef)) return std::nullopt;
  const Factors& factors = forms_.monomials.factors(t.mono);
  Factors base;
  for (size_t i = 0; i < factors.size(); i += k) base.push_back(factors[i]);
  return Poly::term(forms_.monomials.of(base), is_negative ? -size : size);
}

// p as a**k - b**k and a constant, k >= 2 the largest.
std::optional<PowerPropagator::Bases> PowerPropagator::bases(const Poly& p) {
  if (p.terms.size() != 2) return std::nullopt;
  const unsigned all =
      std::gcd(multiplicity(p.terms[0].mono), multiplicity(p.terms[1].mono));
  for (unsigned k = all; k >= 2; --k) {
    if (all % k != 0) continue;
    for (const size_t first : {size_t{0}, size_t{1}}) {
      const Term& minus = p.terms[1 - first];
      const auto a = root(p.terms[first], k);
      const auto b = root({minus.mono, -minus.coef}, k);
      if (a && b) return Bases{*a, *b, k};
    }
  }
  return std::nullopt;
}

// a**k >= b**k, or > where the constant is -1.
void PowerPropagator::on_inequality(const Poly& p, Reason why, When) {
  if (!p.constant.is_zero() && p.constant != Int(-1)) return;
  const std::optional<Bases> powers = bases(p);
  if (!powers) return;
  state_.meter.spend(powers->k);
  const auto& [a, b, k] = *powers;
  const Poly slack = Poly::number(p.constant);
  if (k % 2 == 1) return to_.derive(FormulaKind::kGe, a - b + slack, why);
  const Range range = ranges_.plain(a);
  if (range.span.is_empty()) return;
  const bool is_natural = at_least(range, 0);
  if (!is_natural && !at_most(range, 0)) return;
  why = join(why, is_natural ? range.lower : range.upper);
  const Poly size = is_natural ? a : -a;
  to_.derive(FormulaKind::kGe, size - b + slack, why);
  to_.derive(FormulaKind::kGe, size + b + slack, why);
}

void PowerPropagator::on_equality(const Poly& p, Reason why, When) {
  if (!p.constant.is_zero()) return;
  const std::optional<Bases> powers = bases(p);
  if (!powers) return;
  state_.meter.spend(powers->k);
  const auto& [a, b, k] = *powers;
  if (k % 2 == 1) return to_.derive(FormulaKind::kEq, a - b, why);
  to_.derive(forms_.formulas.any_of(
                 {forms_.formulas.eq(a - b), forms_.formulas.eq(a + b)}),
             why);
}

}  // namespace proviso::inline v0_2::internal
