#include "tracer_adapter/finish/expr_expander.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sym/canonical.h"
#include "sym/operators.h"
#include "sym/print.h"
#include "tracer_adapter/finish/legal_form.h"

namespace proviso::inline v0_2 {
namespace {

Argument constant_argument(Expr e) {
  if (e.is(Op::kBoolean)) return {e.is_true()};
  if (e.is(Op::kRational)) return {e.rational().to_double()};
  std::optional<int64_t> value = e.maybe_int64();
  TORCH_CHECK(value.has_value(), "Proviso: the constant ", to_string(e),
              " does not fit in 64 bits");
  return {*value};
}

// e is minus something: what.
std::optional<Expr> negated(Expr e) {
  if (e.is(Op::kInteger) && e.integer() < Int(0)) return canonical(-e);
  if (e.is(Op::kMul) && e.arg(0).is(Op::kInteger) &&
      e.arg(0).integer() < Int(0))
    return canonical(-e);
  return std::nullopt;
}

}  // namespace

bool ExprExpander::can_expand(Expr e) const {
  std::unordered_set<Expr, ExprHash> seen{e};
  for (std::vector<Expr> open{e}; !open.empty();) {
    const Expr part = open.back();
    open.pop_back();
    if (part.is_constant() || is_defined(part)) continue;
    if (part.is_symbol()) return false;
    for (Expr arg : part.args())
      if (seen.insert(arg).second) open.push_back(arg);
  }
  return true;
}

Argument ExprExpander::expand(Expr e) {
  if (e.is_constant()) return constant_argument(e);
  auto found = values_.find(e);
  if (found != values_.end()) return {ValueRef{found->second}};
  Argument result = make(e);
  if (const ValueRef* ref = result.get<ValueRef>()) define(e, ref->id);
  return result;
}

Argument ExprExpander::make(Expr e) {
  if (std::optional<Expr> form = legal_form(e)) return expand(*form);
  switch (e.op()) {
    case Op::kAdd: return sum(e);
    case Op::kMul: return product(e);
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe: return relation(e);
    case Op::kWhere: return choice(e);
    case Op::kBitXor: return bit_xor(e);
    case Op::kRoundToInt: return round_float(e);
    case Op::kRoundDecimal:
      return builder_.call("builtins.round",
                           {expand(e.arg(0)), expand(e.arg(1))}, e);
    default: break;
  }
  const OpInfo& op = info(e.op());
  TORCH_CHECK_NOT_IMPLEMENTED(!op.target.empty(), "Proviso: ", to_string(e),
                              " has no form in an exported graph");
  if (op.max_args == 1) return builder_.call(op.target, {expand(e.arg(0))}, e);
  return chain(e, op.target);
}

// Of functions of two arguments.
Argument ExprExpander::chain(Expr e, std::string_view target) {
  // s0 * 2 reads better than 2 * s0.
  std::vector<Expr> args(e.args().begin(), e.args().end());
  if (e.is(Op::kMul) && args[0].is_constant())
    std::rotate(args.begin(), args.begin() + 1, args.end());
  Argument result = expand(args[0]);
  for (size_t i = 1; i < args.size(); ++i) {
    const std::span<const Expr> so_far(args.data(), i + 1);
    result = builder_.call(
        target, {result, expand(args[i])},
        i + 1 == args.size() ? e : canonical(pool_.make(e.op(), so_far)));
  }
  return result;
}

// a - b reads better than a + -1*b.
Argument ExprExpander::sum(Expr e) {
  Argument result = expand(e.arg(0));
  Expr so_far = e.arg(0);
  for (Expr term : e.args().subspan(1)) {
    so_far = so_far + term;
    if (std::optional<Expr> minus = negated(term))
      result = builder_.call("_operator.sub", {result, expand(*minus)},
                             canonical(so_far));
    else
      result = builder_.call("_operator.add", {result, expand(term)},
                             canonical(so_far));
  }
  return result;
}

Argument ExprExpander::product(Expr e) {
  if (e.arg(0).maybe_int64() == -1 && e.arity() > 1) {
    const Expr rest =
        e.arity() == 2 ? e.arg(1) : pool_.make(Op::kMul, e.args().subspan(1));
    return builder_.call("_operator.neg", {expand(rest)}, e);
  }
  return chain(e, "_operator.mul");
}

// A constant on the left reads better on the right: 0 <= u0 is u0 >= 0.
Argument ExprExpander::relation(Expr e) {
  const bool ordered = e.is(Op::kLt) || e.is(Op::kLe);
  if (!ordered || !e.arg(0).is_constant())
    return builder_.call(info(e.op()).target,
                         {expand(e.arg(0)), expand(e.arg(1))}, e);
  return builder_.call(e.is(Op::kLt) ? "_operator.gt" : "_operator.ge",
                       {expand(e.arg(1)), expand(e.arg(0))}, e);
}

Argument ExprExpander::one_if(Argument condition, Expr meaning) {
  return builder_.call(
      "torch.sym_ite", {std::move(condition), {int64_t{1}}, {int64_t{0}}},
      pool_.make(Op::kWhere, {meaning, pool_.integer(1), pool_.integer(0)}));
}

// torch.sym_ite takes two symbolic numbers or two constants: where one integer
// is of each kind, their difference times 1 or 0 is added.
Argument ExprExpander::choice(Expr e) {
  const Expr condition = e.arg(0), yes = e.arg(1), no = e.arg(2);
  if (yes.is_constant() == no.is_constant() || !e.is_int())
    return builder_.call("torch.sym_ite",
                         {expand(condition), expand(yes), expand(no)}, e);
  const Expr step = canonical(yes - no);
  const Argument chosen = one_if(expand(condition), condition);
  const Argument rise =
      builder_.call("_operator.mul", {chosen, expand(step)}, canonical(e - no));
  return builder_.call("_operator.add", {rise, expand(no)}, e);
}

// No reader has operator.xor, but in bits the difference is the same.
Argument ExprExpander::bit_xor(Expr e) {
  return builder_.call("_operator.sub",
                       {expand(pool_.make(Op::kBitOr, {e.arg(0), e.arg(1)})),
                        expand(pool_.make(Op::kBitAnd, {e.arg(0), e.arg(1)}))},
                       e);
}

// round(x) of a float, by functions that all readers know (builtins.round is
// none of them): the floor, and one more where the rest is above a half, or is
// a half and the floor is odd.  The rest is exact wherever it is near a half.
Argument ExprExpander::round_float(Expr e) {
  const Expr x = e.arg(0), floor = pool_.make(Op::kFloorToInt, {x});
  const Expr zero = pool_.integer(0);
  const Expr floor_real = pool_.make(Op::kToFloat, {floor});
  const Expr rest = x - floor_real, half = pool_.rational(Rational(1, 2));
  const Expr odd = pool_.make(Op::kPythonMod, {floor, pool_.integer(2)});
  const Argument left =
      builder_.call("_operator.sub", {expand(x), expand(floor_real)}, rest);
  const auto when = [&](const char* sign, Expr condition) {
    return one_if(builder_.call(sign, {left, {0.5}}, condition), condition);
  };
  const Argument above = when("_operator.gt", gt(rest, half));
  const Argument tie = when("_operator.eq", eq(rest, half));
  const Expr to_even = pool_.make(Op::kWhere, {eq(rest, half), odd, zero});
  const Argument up =
      builder_.call("_operator.mul", {tie, expand(odd)}, to_even);
  const Argument raised = builder_.call("_operator.add", {expand(floor), above},
                                        canonical(e - to_even));
  return builder_.call("_operator.add", {raised, up}, e);
}

}  // namespace proviso::inline v0_2
