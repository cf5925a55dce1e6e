#include "solver/lowering/fractions.h"

#include "solver/lowering/conditions.h"
#include "sym/budget.h"

namespace proviso::inline v0_2::internal {
namespace {

// Sums within sums: what is deeper has no fraction.
constexpr int kMaxDepth = 64;

class Fractions {
 public:
  explicit Fractions(Lowering& lower) : lower_(lower), forms_(lower.forms()) {}

  std::optional<Fraction> of(Expr e, int depth) {
    if (depth > kMaxDepth) return std::nullopt;
    Budget::spend(1);
    if (e.is_int()) return Fraction{lower_.integer(e), Poly::number(1)};
    switch (e.op()) {
      case Op::kRational:
        return Fraction{Poly::number(e.rational().num()),
                        Poly::number(e.rational().den())};
      case Op::kToFloat:
      case Op::kIdentity: return of(e.arg(0), depth + 1);
      case Op::kAdd:
      case Op::kMul: return folded(e, depth);
      case Op::kIntTrueDiv:
      case Op::kFloatTrueDiv: {
        const auto a = of(e.arg(0), depth + 1), b = of(e.arg(1), depth + 1);
        if (!a || !b) return std::nullopt;
        return Fraction{mul(forms_, a->num, b->den),
                        mul(forms_, a->den, b->num)};
      }
      default: return std::nullopt;
    }
  }

 private:
  std::optional<Fraction> folded(Expr e, int depth) {
    std::optional<Fraction> total = of(e.arg(0), depth + 1);
    for (Expr arg : e.args().subspan(1)) {
      const std::optional<Fraction> next = of(arg, depth + 1);
      if (!total || !next) return std::nullopt;
      Poly num = e.is(Op::kMul) ? mul(forms_, total->num, next->num)
                                : mul(forms_, total->num, next->den) +
                                      mul(forms_, next->num, total->den);
      total = Fraction{std::move(num), mul(forms_, total->den, next->den)};
    }
    return total;
  }

  Lowering& lower_;
  FormPool& forms_;
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
  return Fractions(lower).of(number, 0);
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
