#include "solver/lowering/integers.h"

#include <cassert>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "solver/fixed_limits.h"
#include "solver/forms/functions.h"
#include "solver/lowering/closed.h"
#include "solver/lowering/fractions.h"
#include "sym/budget.h"
#include "sym/definition.h"
#include "sym/doubles.h"

namespace proviso::inline v0_2::internal {
namespace {

// Few from the left; many by halves, so that atoms within atoms stay few.
Poly extremum(Lowering& lower, Op op, std::span<const Expr> args) {
  FormPool& forms = lower.forms();
  auto join = [&](const Poly& a, const Poly& b) {
    return op == Op::kMin ? min(forms, a, b) : max(forms, a, b);
  };
  if (args.size() > fixed::chained_extrema) {
    const size_t half = args.size() / 2;
    return join(extremum(lower, op, args.first(half)),
                extremum(lower, op, args.subspan(half)));
  }
  Poly best = lower.integer(args[0]);
  for (Expr a : args.subspan(1)) best = join(best, lower.integer(a));
  return best;
}

// Nested sums are opened in one go: a left-nested chain of n additions costs
// n, not n squared.
Poly opened_sum(Lowering& lower, Expr e) {
  std::vector<Poly> parts;
  std::vector<Expr> open = {e};
  while (!open.empty()) {
    Expr next = open.back();
    open.pop_back();
    Budget::spend(1);
    if (next.is(Op::kAdd)) {
      open.insert(open.end(), next.args().begin(), next.args().end());
    } else {
      parts.push_back(lower.integer(next));
    }
  }
  return sum(parts);
}

Poly integer_without_form(FormPool& forms, Expr e) {
  const std::optional<Evaluation> known = value_without_symbols(e);
  if (known && known->defined()) {
    return Poly::number(std::get<Int>(*known->value));
  }
  return variable(forms, forms.atoms.opaque(e));
}

Poly rounded(Lowering& lower, Expr e) {
  if (e.arg(0).is_int()) return lower.integer(e.arg(0));
  FormPool& forms = lower.forms();
  const std::optional<Fraction> x = fraction(lower, e.arg(0));
  return x && rounds_exactly(e.arg(0)) ? rounded(forms, e.op(), *x)
                                       : integer_without_form(forms, e);
}

}  // namespace

Poly lowered_integer(Lowering& lower, Expr e) {
  FormPool& forms = lower.forms();
  const auto arg = [&](size_t i) { return lower.integer(e.arg(i)); };
  switch (info(e.op()).kind) {
    case OpKind::kSymbol: return variable(forms, forms.atoms.symbol(e));
    case OpKind::kSum: return opened_sum(lower, e);
    case OpKind::kProduct: {
      Poly product = arg(0);
      for (Expr a : e.args().subspan(1)) {
        product = mul(forms, product, lower.integer(a));
      }
      return product;
    }
    case OpKind::kPower: return function_of(forms, Op::kPow, arg(0), arg(1));
    case OpKind::kFloorDiv: return floor_div(forms, arg(0), arg(1));
    case OpKind::kMod: return mod(forms, arg(0), arg(1));
    case OpKind::kExtremum: return extremum(lower, e.op(), e.args());
    case OpKind::kAbs:  // |x| == 2*pos(x) - x
      return pos(forms, arg(0)) * 2 - arg(0);
    case OpKind::kIdentity: return arg(0);
    case OpKind::kShift:
    case OpKind::kBitwise: return function_of(forms, e.op(), arg(0), arg(1));
    case OpKind::kWhere:
      return where(forms, lower.condition(e.arg(0)), arg(1), arg(2));
    case OpKind::kRounding: return rounded(lower, e);
    case OpKind::kDefined: return lower.integer(definition(e));
    case OpKind::kIndicator: return integer_without_form(forms, e);
    case OpKind::kConstant:
    case OpKind::kRelation:
    case OpKind::kJunction:
    case OpKind::kNot:
    case OpKind::kToFloat:
    case OpKind::kTrueDiv:
    case OpKind::kReal: break;
  }
  assert(false && "no integer, or a constant");
  return integer_without_form(forms, e);
}

}  // namespace proviso::inline v0_2::internal
