#include "solver/lowering/fractions.h"

#include <optional>

#include "solver/lowering/conditions.h"

namespace proviso::inline v0_2::internal {
namespace {

// Any polynomial may be a denominator.
struct LoweredPolynomials {
  using Poly = internal::Poly;

  Poly integer(Expr e) { return lower.integer(e); }
  Poly number(const Int& k) { return Poly::number(k); }
  std::optional<Poly> product(const Poly& p, const Poly& q) {
    return mul(lower.forms(), p, q);
  }
  std::optional<Fraction> oriented(Fraction x) { return x; }

  Lowering& lower;
};

// floor(x + 1/2), less one on a tie that went up to an odd number.
Poly round_half_even(FormPool& forms, const Fraction& x) {
  const Poly top = x.num * 2 + x.den, bottom = x.den * 2;
  const Poly up = floor_div(forms, top, bottom);
  const FormulaId tie = forms.formulas.eq(top - mul(forms, bottom, up));
  const Poly parity = mod(forms, up, Poly::number(2));
  const FormulaId odd = forms.formulas.eq(parity - Poly::number(1));
  return where(forms, forms.formulas.all_of({tie, odd}), up - Poly::number(1),
               up);
}

}  // namespace

std::optional<Fraction> fraction(Lowering& lower, Expr number) {
  return FractionReader(LoweredPolynomials{lower}).read(number);
}

Poly rounded(FormPool& forms, Op op, const Fraction& x) {
  Poly down = floor_div(forms, x.num, x.den);
  if (op == Op::kFloorToInt) return down;
  if (op == Op::kRoundToInt) return round_half_even(forms, x);
  Poly up = -floor_div(forms, -x.num, x.den);
  if (op == Op::kCeilToInt) return up;
  return where(forms, sign_relation(forms, Op::kLe, x), down, up);
}

FormulaId sign_relation(FormPool& forms, Op op, const Fraction& difference) {
  const bool sign_matters = op == Op::kLt || op == Op::kLe;
  if (!sign_matters) return integer_relation(forms, op, difference.num);
  const FormulaId straight = integer_relation(forms, op, difference.num);
  const FormulaId flipped = integer_relation(forms, op, -difference.num);
  const Poly& den = difference.den;
  const Poly one = Poly::number(1);
  const FormulaId positive = forms.formulas.ge(den - one);
  const FormulaId negative = forms.formulas.ge(-den - one);
  return forms.formulas.any_of({forms.formulas.all_of({positive, straight}),
                                forms.formulas.all_of({negative, flipped})});
}

}  // namespace proviso::inline v0_2::internal
