#include "solver/lowering/definedness.h"

#include <optional>
#include <utility>
#include <vector>

#include "solver/lowering/closed.h"
#include "solver/lowering/conditions.h"
#include "solver/lowering/fractions.h"

namespace proviso::inline v0_2::internal {
namespace {

// kNoId below: no form is known.
FormulaId nonzero(Lowering& lower, Expr divisor) {
  const std::optional<Fraction> x = fraction(lower, divisor);
  return x ? lower.forms().formulas.ne(x->num) : kNoId;
}

FormulaId nonzero_divisors(Lowering& lower, Expr e) {
  const auto count = static_cast<size_t>(info(e.op()).divisors);
  if (count == 0) return kTrue;
  if (count == 1) return nonzero(lower, e.arg(1));
  std::vector<FormulaId> parts;
  for (Expr divisor : e.args().subspan(1, count)) {
    parts.push_back(nonzero(lower, divisor));
    if (parts.back() == kNoId) return kNoId;
  }
  return lower.forms().formulas.all_of(std::move(parts));
}

FormulaId natural(Lowering& lower, Expr count) {
  return lower.forms().formulas.ge(lower.integer(count));
}

FormulaId has_root(Lowering& lower, Expr number) {
  const std::optional<Fraction> x = fraction(lower, number);
  return x ? sign_relation(lower.forms(), Op::kLe, *x) : kNoId;
}

// Beyond that the arguments are defined.
FormulaId own_condition(Lowering& lower, Expr e) {
  FormulaId f = nonzero_divisors(lower, e);
  switch (e.op()) {
    case Op::kPow: f = e.is_int() ? natural(lower, e.arg(1)) : kNoId; break;
    case Op::kPowByNatural:
    case Op::kLShift:
    case Op::kRShift: f = natural(lower, e.arg(1)); break;
    case Op::kFloatPow:
    case Op::kRoundDecimal: f = kNoId; break;
    case Op::kSqrt: f = has_root(lower, e.arg(0)); break;
    default:
      if (is_opaque(e.op())) f = kNoId;
      break;
  }
  if (f != kNoId) return f;
  if (const std::optional<Evaluation> known = value_without_symbols(e)) {
    return known->defined() ? kTrue : kFalse;
  }
  return lower.forms().formulas.opaque(e, true);
}

}  // namespace

FormulaId lowered_definedness(Lowering& lower, Expr e) {
  FormPool& forms = lower.forms();
  if (e.is(Op::kWhere)) {
    const FormulaId a = lower.defined(e.arg(1)), b = lower.defined(e.arg(2));
    const FormulaId arms =
        a == b ? a : choice(forms, lower.condition(e.arg(0)), a, b);
    return forms.formulas.all_of({lower.defined(e.arg(0)), arms});
  }
  std::vector<FormulaId> parts;
  for (Expr arg : e.args()) {
    const FormulaId part = lower.defined(arg);
    if (part != kTrue) parts.push_back(part);
  }
  const FormulaId own = own_condition(lower, e);
  if (own != kTrue) parts.push_back(own);
  return parts.empty() ? kTrue : forms.formulas.all_of(std::move(parts));
}

}  // namespace proviso::inline v0_2::internal
