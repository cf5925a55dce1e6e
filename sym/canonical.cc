// The canonical form of an expression.  Each operator is proved against
// evaluate() on small domains by tests/sym/canonical_test.cc; those with rules
// have a file each (sym/canonicalizer.h).
//
//   2*(x + 1) <= x + y + 2     both sides are one polynomial, y - x >= 0, which
//                              is written x <= y
//   Max(x, x + 1, y)           arguments sorted, x + 1 dominates x
//   x & 7                      Mod(x, 8)
//
// run() walks from the arguments up with a memo, and each node is rebuilt of
// canonical arguments, so that the cost is that of the polynomials on the way.
// Equal polynomials become one node; what is equal by cases or by facts beyond
// bounds is the search's (sym/simplify.h).
#include "sym/canonical.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "sym/budget.h"
#include "sym/canonicalizer.h"
#include "sym/definition.h"
#include "sym/doubles.h"
#include "sym/evaluate.h"
#include "sym/fixed_limits.h"
#include "sym/not_null.h"
#include "sym/polynomial.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {
namespace {

// Whether the rules of the kind fold constants, so that nothing else need.
bool folds_constants(OpKind kind) {
  return kind == OpKind::kSum || kind == OpKind::kProduct ||
         kind == OpKind::kRelation || kind == OpKind::kJunction ||
         kind == OpKind::kNot;
}

}  // namespace

// Float sums and products: flat, constants folded, arguments sorted, where no
// rounding depends on it.
Expr Canonicalizer::float_sum(Op op, Args args) {
  const Expr whole = pool_.make(op, args);
  if (!is_exact_double(whole) && !is_scaled_exactly(whole)) return whole;
  const bool sum = op == Op::kAdd;
  Rational constant(sum ? 0 : 1);
  std::vector<Expr> parts;
  auto take = [&](Expr e) {
    if (!e.is_constant()) {
      parts.push_back(e);
      return;
    }
    const Rational value = number_of(e);
    constant = sum ? constant + value : constant * value;
  };
  for (Expr arg : args) {
    if (arg.is(op) && arg.is_float()) {
      for (Expr inner : arg.args()) take(inner);
    } else {
      take(arg);
    }
  }
  if (parts.empty()) return pool_.rational(constant);
  sort_by_structure(parts);
  bool idle = constant == Rational(sum ? 0 : 1);
  bool has_float = false;
  for (Expr part : parts) has_float = has_float || part.is_float();
  // The constant also carries the type when the rest are integers.
  if (!idle || !has_float) {
    parts.insert(parts.begin(), pool_.rational(constant));
  }
  return parts.size() == 1 ? parts[0] : pool_.make(op, parts);
}

// An operator on constants alone is its value, where that is exact.
std::optional<Expr> Canonicalizer::fold_constants(Expr raw) {
  for (Expr arg : raw.args()) {
    if (!arg.is_constant()) return {};
  }
  Evaluation result = evaluate(raw, {});
  if (!result.defined()) return {};
  if (auto* i = std::get_if<Int>(&*result.value)) {
    return raw.is_float() ? pool_.rational(Rational(*i)) : integer(*i);
  }
  if (auto* r = std::get_if<Rational>(&*result.value)) {
    return pool_.rational(*r);
  }
  if (auto* b = std::get_if<bool>(&*result.value)) return boolean(*b);
  return {};
}

Expr Canonicalizer::build(Op op, Args args) {
  auto poly = [&](size_t i) { return to_polynomial(args[i]); };
  const auto made = [&] { return pool_.make(op, args); };
  const OpKind kind = info(op).kind;
  if (!folds_constants(kind)) {
    if (auto value = fold_constants(made())) return *value;
  }
  switch (kind) {
    case OpKind::kSum:
    case OpKind::kProduct: {
      const Expr raw = made();
      return raw.is_int() ? expr(to_polynomial(raw)) : float_sum(op, args);
    }
    case OpKind::kRelation: return relation(op, args[0], args[1]);
    case OpKind::kJunction: return junction(op, args);
    case OpKind::kNot: return negate(args[0]);
    case OpKind::kPower: {
      const Expr raw = pool_.make(Op::kPow, args);
      return raw.is_int() ? expr(to_polynomial(raw))
                          : real_operation(Op::kPow, args[0], args[1]);
    }
    case OpKind::kFloorDiv: return floor_div(poly(0), poly(1));
    case OpKind::kMod: return mod(poly(0), poly(1));
    case OpKind::kExtremum: return extremum(op, args);
    case OpKind::kAbs: return absolute(args[0]);
    case OpKind::kIdentity: return args[0];
    case OpKind::kShift:
    case OpKind::kBitwise: return bits(op, args[0], args[1]);
    case OpKind::kWhere: return where(args[0], args[1], args[2]);
    case OpKind::kToFloat: return args[0].is_float() ? args[0] : made();
    case OpKind::kTrueDiv: return real_operation(op, args[0], args[1]);
    case OpKind::kRounding: return round(op, args[0]);
    case OpKind::kDefined: return run(definition(made()));
    case OpKind::kReal:
    case OpKind::kIndicator: return made();
    case OpKind::kConstant:
    case OpKind::kSymbol: break;
  }
  assert(false && "a leaf is not built");
  return made();
}

Expr Canonicalizer::canonical(Expr e) const {
  const auto& memo = facts_ ? memo_ : PoolStores::canonical_memo(pool_);
  auto it = memo.find(e.id());
  return it == memo.end() ? e : it->second;
}

// Arguments first, on a stack of its own: depth is not the machine's concern.
Expr Canonicalizer::run(Expr e) {
  visit_arguments_first(
      e, [this](Expr x) { return is_leaf(x.op()) || memo().contains(x.id()); },
      [this](Expr x) { rewrite(x); });
  return canonical(e);
}

// The arguments of e have their canonical forms already.
Expr Canonicalizer::rewrite(Expr e) {
  Budget::spend(4);
  std::vector<Expr> args;
  args.reserve(e.arity());
  for (Expr arg : e.args()) args.push_back(canonical(arg));
  Expr result = build(e.op(), args);
  // A rule's result may itself have something left to do (a Max that became a
  // sum inside a product); a few rounds reach the fixpoint.
  for (int round = 0;
       round < fixed::canonical_rounds && result != e && !is_leaf(result.op());
       ++round) {
    std::vector<Expr> again;
    for (Expr arg : result.args()) again.push_back(arg);
    Expr next = build(result.op(), again);
    if (next == result) break;
    result = next;
  }
  memo().emplace(e.id(), result);
  memo().emplace(result.id(), result);
  return result;
}

void sort_by_structure(std::vector<Expr>& args) {
  std::sort(args.begin(), args.end(),
            [](Expr a, Expr b) { return compare(a, b) < 0; });
}

std::vector<RewriteRuleCount> canonical_rule_counts() {
  std::vector<RewriteRuleCount> all;
  for (auto* counts :
       {division_rule_counts, bit_rule_counts, extremum_rule_counts,
        absolute_rule_counts, nonneg_rule_counts, zero_rule_counts,
        real_rule_counts, rounding_rule_counts, real_operation_rule_counts,
        junction_rule_counts, choice_rule_counts}) {
    for (const RewriteRuleCount& rule : counts()) all.push_back(rule);
  }
  return all;
}

}  // namespace proviso::inline v0_2::internal

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

using internal::Canonicalizer;

// Null where this takes more than fixed::canonical_units.
Expr run_within_budget(Canonicalizer canonicalizer, Expr e) {
  return within_own(fixed::canonical_units,
                    [&] { return canonicalizer.run(e); })
      .value_or(Expr());
}

}  // namespace

Expr canonical(Expr e) {
  if (is_leaf(not_null(e, "canonical").op())) return e;
  auto& memo = PoolStores::canonical_memo(e.pool());
  if (auto it = memo.find(e.id()); it != memo.end()) return it->second;
  Expr result = run_within_budget(Canonicalizer(e.pool(), nullptr), e);
  if (result) return result;
  memo.insert_or_assign(e.id(), e);
  return e;
}

Expr canonical(Expr e, const Facts& facts) {
  // Structure first: its memo lasts, and facts then see the short form.
  Expr plain = canonical(e);
  Expr result = run_within_budget(Canonicalizer(e.pool(), &facts), plain);
  return result ? result : plain;
}

}  // namespace proviso::inline v0_2
