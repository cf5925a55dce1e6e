#include "solver/lowering/conditions.h"

#include <cassert>
#include <optional>
#include <vector>

#include "solver/lowering/closed.h"
#include "solver/lowering/fractions.h"
#include "sym/doubles.h"
#include "sym/relations.h"

namespace proviso::inline v0_2::internal {
namespace {

// What has no value here is left open: that it is defined is another condition.
FormulaId condition_without_form(FormPool& forms, Expr e) {
  const std::optional<Evaluation> known = value_without_symbols(e);
  if (known && known->defined()) return known->is_true() ? kTrue : kFalse;
  return forms.formulas.opaque(e, false);
}

// < and != are the negations of <= and ==, so that an assumed one decides its
// negation.
FormulaId opaque_relation(FormPool& forms, Expr e) {
  ExprPool& pool = e.pool();
  if (e.arg(0) == e.arg(1)) {
    return e.is(Op::kLe) || e.is(Op::kEq) ? kTrue : kFalse;
  }
  if (e.is(Op::kLt)) {
    const Expr reverse = pool.make(Op::kLe, {e.arg(1), e.arg(0)});
    return negate(condition_without_form(forms, reverse));
  }
  if (e.is(Op::kNe)) {
    const Expr same = pool.make(Op::kEq, {e.arg(0), e.arg(1)});
    return negate(condition_without_form(forms, same));
  }
  return condition_without_form(forms, e);
}

FormulaId relation(Lowering& lower, Expr e) {
  FormPool& forms = lower.forms();
  const Expr a = e.arg(0), b = e.arg(1);
  if (a.is_bool()) {
    const FormulaId x = lower.condition(a), y = lower.condition(b);
    const FormulaId same = choice(forms, x, y, negate(y));
    return e.is(Op::kEq) ? same : negate(same);
  }
  if (a.is_int() && b.is_int()) {
    return integer_relation(forms, e.op(), lower.integer(b) - lower.integer(a));
  }
  if (const auto simple = without_root(a, b))
    return relation(lower,
                    e.pool().make(e.op(), {simple->first, simple->second}));
  const std::optional<Fraction> x = fraction(lower, a), y = fraction(lower, b);
  if (!x || !y || !compares_exactly(a, b)) return opaque_relation(forms, e);
  const Poly num = mul(forms, y->num, x->den) - mul(forms, x->num, y->den);
  return sign_relation(forms, e.op(), {num, mul(forms, x->den, y->den)});
}

}  // namespace

FormulaId lowered_condition(Lowering& lower, Expr e) {
  FormPool& forms = lower.forms();
  if (e.is(Op::kBoolean)) return e.is_true() ? kTrue : kFalse;
  if (is_relation(e.op())) return relation(lower, e);
  if (e.is(Op::kNot)) return negate(lower.condition(e.arg(0)));
  if (e.is(Op::kAnd) || e.is(Op::kOr)) {
    std::vector<FormulaId> kids;
    for (Expr arg : e.args()) kids.push_back(lower.condition(arg));
    return e.is(Op::kAnd) ? forms.formulas.all_of(kids)
                          : forms.formulas.any_of(kids);
  }
  if (e.is(Op::kWhere)) {
    return choice(forms, lower.condition(e.arg(0)), lower.condition(e.arg(1)),
                  lower.condition(e.arg(2)));
  }
  return condition_without_form(forms, e);
}

FormulaId integer_relation(FormPool& forms, Op op, Poly difference) {
  difference.constant -= relations::least_gap(op);
  if (op == Op::kEq) return forms.formulas.eq(difference);
  if (op == Op::kNe) return forms.formulas.ne(difference);
  assert(is_relation(op) && "a relation");
  return forms.formulas.ge(difference);
}

FormulaId choice(FormPool& forms, FormulaId c, FormulaId a, FormulaId b) {
  return forms.formulas.any_of(
      {forms.formulas.all_of({c, a}), forms.formulas.all_of({negate(c), b})});
}

}  // namespace proviso::inline v0_2::internal
