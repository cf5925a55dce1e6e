#include "solver/lowering/fractions.h"

#include <optional>
#include <unordered_map>

#include "solver/lowering/conditions.h"
#include "sym/budget.h"

namespace proviso::inline v0_2::internal {
namespace {

// Fractions of a number's parts, arguments first: depth is no concern of the
// stack, and a part that is shared is looked at once.
class Fractions {
 public:
  explicit Fractions(Lowering& lower) : lower_(lower), forms_(lower.forms()) {}

  std::optional<Fraction> of(Expr number) {
    visit_arguments_first(
        number, [this](Expr e) { return e.is_int() || parts_.contains(e); },
        [this](Expr e) {
          Budget::spend(1);
          parts_.emplace(e, made_of_parts(e));
        });
    return part(number);
  }

 private:
  std::optional<Fraction> part(Expr e) {
    if (e.is_int()) return Fraction{lower_.integer(e), Poly::number(1)};
    const auto known = parts_.find(e);
    return known == parts_.end() ? std::nullopt : known->second;
  }

  std::optional<Fraction> made_of_parts(Expr e) {
    switch (e.op()) {
      case Op::kRational:
        return Fraction{Poly::number(e.rational().num()),
                        Poly::number(e.rational().den())};
      case Op::kToFloat:
      case Op::kIdentity: return part(e.arg(0));
      case Op::kAdd:
      case Op::kMul: return folded(e);
      case Op::kIntTrueDiv:
      case Op::kFloatTrueDiv: {
        const auto a = part(e.arg(0)), b = part(e.arg(1));
        if (!a || !b) return std::nullopt;
        return Fraction{mul(forms_, a->num, b->den),
                        mul(forms_, a->den, b->num)};
      }
      default: return std::nullopt;
    }
  }

  std::optional<Fraction> folded(Expr e) {
    std::optional<Fraction> total = part(e.arg(0));
    for (Expr arg : e.args().subspan(1)) {
      const std::optional<Fraction> next = part(arg);
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
  std::unordered_map<Expr, std::optional<Fraction>, ExprHash> parts_;
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
  return Fractions(lower).of(number);
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
