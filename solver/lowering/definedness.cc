#include "solver/lowering/definedness.h"

#include <optional>
#include <utility>
#include <vector>

#include "solver/lowering/closed.h"
#include "solver/lowering/conditions.h"
#include "solver/lowering/fractions.h"
#include "sym/definition.h"

namespace proviso::inline v0_2::internal {
namespace {

// kNoId below: no form is known.
FormulaId nonzero(Lowering& lower, Expr divisor) {
  const std::optional<Fraction> x = fraction(lower, divisor);
  return x ? lower.forms().formulas.ne(x->num) : kNoId;
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
  switch (info(e.op()).kind) {
    case OpKind::kPower: return e.is_int() ? natural(lower, e.arg(1)) : kNoId;
    case OpKind::kShift: return natural(lower, e.arg(1));
    case OpKind::kReal:
      if (e.is(Op::kTruncToFloat)) return kTrue;
      return e.is(Op::kSqrt) ? has_root(lower, e.arg(0)) : kNoId;
    case OpKind::kFloorDiv:
    case OpKind::kMod:
    case OpKind::kTrueDiv: return nonzero(lower, e.arg(1));
    case OpKind::kDefined:  // of these two lowered_definedness() says more
    case OpKind::kWhere:
    case OpKind::kConstant:
    case OpKind::kSymbol:
    case OpKind::kSum:
    case OpKind::kProduct:
    case OpKind::kExtremum:
    case OpKind::kAbs:
    case OpKind::kIdentity:
    case OpKind::kBitwise:
    case OpKind::kRelation:
    case OpKind::kJunction:
    case OpKind::kNot:
    case OpKind::kToFloat:
    case OpKind::kRounding:
    case OpKind::kIndicator: break;
  }
  return kTrue;
}

FormulaId own_condition_without_form(Lowering& lower, Expr e) {
  if (const std::optional<Evaluation> known = value_without_symbols(e)) {
    return known->defined() ? kTrue : kFalse;
  }
  return lower.forms().formulas.opaque(e, true);
}

}  // namespace

FormulaId lowered_definedness(Lowering& lower, Expr e) {
  FormPool& forms = lower.forms();
  if (info(e.op()).kind == OpKind::kDefined) {
    return lower.defined(definition(e));
  }
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
  FormulaId own = own_condition(lower, e);
  if (own == kNoId) own = own_condition_without_form(lower, e);
  if (own != kTrue) parts.push_back(own);
  return parts.empty() ? kTrue : forms.formulas.all_of(std::move(parts));
}

}  // namespace proviso::inline v0_2::internal
