#include "tracer_adapter/finish/legal_form.h"

#include "sym/canonical.h"
#include "sym/definition.h"
#include "sym/operators.h"

namespace proviso::inline v0_2 {
namespace {

bool is_quotient_of_integers(Expr e) {
  return e.is(Op::kIntTrueDiv) && e.arg(0).is_int() && e.arg(1).is_int();
}

// floor(a/b) and ceil(a/b) of integers, exactly: a // b and -(-a // b).
Expr rounded_down(Expr quotient) {
  return canonical(floor_div(quotient.arg(0), quotient.arg(1)));
}
Expr rounded_up(Expr quotient) {
  return canonical(-floor_div(-quotient.arg(0), quotient.arg(1)));
}

// round(a/b) of integers, b a positive constant: to the nearest, ties to the
// even, in integers alone.
std::optional<Expr> rounded(Expr quotient) {
  if (!quotient.is(Op::kIntTrueDiv)) return std::nullopt;
  const Expr a = quotient.arg(0), b = quotient.arg(1);
  if (!a.is_int() || !b.is(Op::kInteger) || b.integer() < Int(1))
    return std::nullopt;
  ExprPool& pool = quotient.pool();
  const Expr doubled = a * 2 + b;
  const Expr half_up = canonical(floor_div(doubled, b * 2));
  const Expr rest = pool.make(Op::kPythonMod, {doubled, b * 2});
  const Expr is_tie = pool.integer(1) - min(pool.integer(1), rest);
  const Expr is_odd = pool.make(Op::kPythonMod, {half_up, pool.integer(2)});
  return canonical(half_up - is_tie * is_odd);
}

// Python asks two symbolic truth values for == alone, and negates the answer.
std::optional<Expr> unlike(Expr e) {
  if (!e.arg(0).is_bool()) return std::nullopt;
  return e.pool().make(Op::kNot, {e.pool().make(Op::kEq, e.args())});
}

std::optional<Expr> by_definition(Expr e) {
  if (!info(e.op()).target.empty()) return std::nullopt;
  const Expr meaning = definition(e);
  if (meaning == e) return std::nullopt;
  return canonical(meaning);
}

// FX writes (-2)**n without brackets, which Python reads as -(2**n).
std::optional<Expr> without_negative_base(Expr e) {
  const Expr base = e.arg(0), power = e.arg(1);
  if (!base.is(Op::kInteger) || base.integer() >= Int(0) || !power.is_int())
    return by_definition(e);
  ExprPool& pool = e.pool();
  const Expr size = pool.make(e.op(), {canonical(-base), power});
  const Expr is_odd = pool.make(Op::kPythonMod, {power, pool.integer(2)});
  return canonical(size * (pool.integer(1) - is_odd * 2));
}

}  // namespace

std::optional<Expr> legal_form(Expr e) {
  switch (e.op()) {
    case Op::kIdentity: return e.arg(0);
    case Op::kAbs: return max(e.arg(0), canonical(-e.arg(0)));
    case Op::kFloorToInt:
      if (!is_quotient_of_integers(e.arg(0))) return std::nullopt;
      return rounded_down(e.arg(0));
    case Op::kCeilToInt:
      if (!is_quotient_of_integers(e.arg(0))) return std::nullopt;
      return rounded_up(e.arg(0));
    case Op::kRoundToInt: return rounded(e.arg(0));
    case Op::kNe: return unlike(e);
    case Op::kPow:
    case Op::kPowByNatural: return without_negative_base(e);
    default: return by_definition(e);
  }
}

}  // namespace proviso::inline v0_2
