// The canonical form, operator by operator; floors and remainders have a file
// of their own (sym/canonical_division.cc).  Each is proved against evaluate()
// on small domains by tests/sym/canonical_test.cc.
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
#include <optional>

#include "sym/budget.h"
#include "sym/canonicalizer.h"
#include "sym/definition.h"
#include "sym/doubles.h"
#include "sym/evaluate.h"
#include "sym/not_null.h"
#include "sym/polynomial.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {

// ---- Min and Max

Expr Canonicalizer::extremum(Op op, Args args) {
  std::vector<Expr> kept;
  for (Expr arg : args) {
    if (arg.is(op)) {
      kept.insert(kept.end(), arg.args().begin(), arg.args().end());
    } else {
      kept.push_back(arg);
    }
  }
  std::sort(kept.begin(), kept.end(),
            [](Expr a, Expr b) { return compare(a, b) < 0; });
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  // An argument that another one dominates everywhere goes.
  auto dominated = [&](Expr a, Expr b) {
    if (!a.is_int() || !b.is_int()) return false;
    Polynomial gap = to_polynomial(b) - to_polynomial(a);
    return known_nonneg(op == Op::kMax ? gap : gap * Int(-1));
  };
  for (size_t i = 0; i < kept.size();) {
    bool drop = false;
    for (size_t j = 0; j < kept.size() && !drop; ++j) {
      drop = j != i && dominated(kept[i], kept[j]);
    }
    if (drop) {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return kept.size() == 1 ? kept[0] : pool_.make(op, kept);
}

// ---- relations

Expr Canonicalizer::decided(Expr condition) {
  if (!facts_ || condition.is_constant()) return condition;
  auto truth = facts_->truth(condition);
  return truth ? boolean(*truth) : condition;
}

namespace {

// The terms with a positive coefficient, and those with a negative one negated.
struct Sides {
  Polynomial positive, negative;
  Int constant;
};

Sides sides_of(const Polynomial& p) {
  Sides sides;
  sides.constant = p.constant();
  for (const auto& [monomial, c] : p.terms()) {
    if (monomial.empty()) continue;
    if (c.sign() > 0) {
      sides.positive.add(monomial, c);
    } else {
      sides.negative.add(monomial, -c);
    }
  }
  return sides;
}

}  // namespace

// N <= P + c, with the constant where it reads best.
Expr Canonicalizer::render_nonneg(const Polynomial& p) {
  auto [positive, negative, c] = sides_of(p);
  if (negative.is_zero()) {
    return pool_.make(Op::kLe, {integer(-c), expr(positive)});
  }
  if (positive.is_zero()) {
    return pool_.make(Op::kLe, {expr(negative), integer(c)});
  }
  if (c == Int(-1)) {
    return pool_.make(Op::kLt, {expr(negative), expr(positive)});
  }
  if (c.sign() < 0) {
    negative.add({}, -c);
  } else {
    positive.add({}, c);
  }
  return pool_.make(Op::kLe, {expr(negative), expr(positive)});
}

Expr Canonicalizer::render_zero(const Polynomial& p) {
  auto [positive, negative, c] = sides_of(p);
  bool left = c.sign() > 0 && !negative.is_zero();
  if (left) {
    positive.add({}, c);
  } else {
    negative.add({}, -c);
  }
  return pool_.make(Op::kEq, {expr(positive), expr(negative)});
}

Expr Canonicalizer::nonneg(const Polynomial& p) {
  if (p.is_constant()) return boolean(p.constant().sign() >= 0);
  Polynomial tight = over(p, p.content());  // the constant rounds down
  if (known_nonneg(tight)) return boolean(true);
  auto high = upper(tight);
  if (high && high->sign() < 0) return boolean(false);
  return decided(render_nonneg(tight));
}

Expr Canonicalizer::is_zero(const Polynomial& p) {
  if (p.is_constant()) return boolean(p.constant().is_zero());
  Int g = p.content();
  if (!floor_mod(p.constant(), g).is_zero()) return boolean(false);
  if (p.terms().begin()->second.sign() < 0) g = -g;
  Polynomial primitive = over(p, g);
  auto low = lower(primitive), high = upper(primitive);
  if ((low && low->sign() > 0) || (high && high->sign() < 0)) {
    return boolean(false);
  }
  if (low && high && low->is_zero() && high->is_zero()) return boolean(true);
  return decided(render_zero(primitive));
}

// Exact real arithmetic on both sides becomes one integer relation.
std::optional<Ratio> Canonicalizer::ratio(Expr e, int depth) {
  constexpr int kMaxDepth = 64;
  if (e.is_int()) return Ratio{to_polynomial(e), 1};
  if (depth == kMaxDepth) return {};
  Budget::spend(1);
  switch (e.op()) {
    case Op::kRational:
      return Ratio{Polynomial(e.rational().num()), e.rational().den()};
    case Op::kToFloat: return ratio(e.arg(0), depth + 1);
    case Op::kIntTrueDiv:
    case Op::kFloatTrueDiv: {
      auto a = ratio(e.arg(0), depth + 1), b = ratio(e.arg(1), depth + 1);
      if (!a || !b || !b->numerator.is_constant()) return {};
      Int divisor = b->numerator.constant();
      if (divisor.is_zero()) return {};
      Int sign = divisor.sign();
      return Ratio{a->numerator * (b->denominator * sign),
                   a->denominator * divisor * sign};
    }
    case Op::kAdd: {
      Ratio sum;
      for (Expr arg : e.args()) {
        auto part = ratio(arg, depth + 1);
        if (!part) return {};
        sum.numerator = sum.numerator * part->denominator +
                        part->numerator * sum.denominator;
        sum.denominator *= part->denominator;
      }
      return sum;
    }
    case Op::kMul: {
      Ratio product{Polynomial(Int(1)), 1};
      for (Expr arg : e.args()) {
        auto part = ratio(arg, depth + 1);
        if (!part) return {};
        size_t terms =
            product.numerator.terms().size() * part->numerator.terms().size();
        if (terms > 64) return {};
        product.numerator = product.numerator * part->numerator;
        product.denominator *= part->denominator;
      }
      return product;
    }
    default: return {};
  }
}

Expr Canonicalizer::relation(Op op, Expr a, Expr b) {
  if (op == Op::kNe) return negate(relation(Op::kEq, a, b));
  if (a.is_bool()) {
    if (a == b) return boolean(true);
    if (a.is_constant()) std::swap(a, b);
    if (b.is_constant()) return b.is_true() ? a : negate(a);
    if (compare(b, a) < 0) std::swap(a, b);
    return decided(pool_.make(Op::kEq, {a, b}));
  }
  auto x = ratio(a), y = ratio(b);
  if (x && y && compares_exactly(a, b)) {
    Polynomial gap = y->numerator * x->denominator -
                     x->numerator * y->denominator;  // b - a, scaled up
    if (op == Op::kEq) return is_zero(gap);
    return nonneg(op == Op::kLe ? gap : gap - Polynomial(Int(1)));
  }
  if (a == b) return boolean(op != Op::kLt);
  if (op == Op::kEq && compare(b, a) < 0) std::swap(a, b);
  return decided(pool_.make(op, {a, b}));
}

// ---- logic

Expr Canonicalizer::negate(Expr e) {
  if (e.is_constant()) return boolean(!e.is_true());
  const auto is_junction = [](Expr x) {
    return x.is(Op::kAnd) || x.is(Op::kOr);
  };
  if (!is_junction(e)) return opposite(e);
  // Arguments first, so that no call goes deep.
  visit_arguments_first(
      e, [&](Expr x) { return !is_junction(x) || opposites_.contains(x.id()); },
      [&](Expr x) { opposites_.emplace(x.id(), opposite(x)); });
  return opposites_.at(e.id());
}

Expr Canonicalizer::opposite(Expr e) {
  switch (e.op()) {
    case Op::kNot: return e.arg(0);
    case Op::kEq: return pool_.make(Op::kNe, e.args());
    case Op::kNe: return pool_.make(Op::kEq, e.args());
    case Op::kLt: return relation(Op::kLe, e.arg(1), e.arg(0));
    case Op::kLe: return relation(Op::kLt, e.arg(1), e.arg(0));
    case Op::kAnd:
    case Op::kOr: {
      std::vector<Expr> parts;
      for (Expr arg : e.args()) parts.push_back(negate(arg));
      return junction(e.is(Op::kAnd) ? Op::kOr : Op::kAnd, parts);
    }
    default: return pool_.make(Op::kNot, {e});
  }
}

bool Canonicalizer::has_opposites(Args parts) {
  if (nested_ == kMostNested) return false;
  struct Nested {
    int& levels;
    ~Nested() { --levels; }
  } const nested{++nested_};
  return std::any_of(parts.begin(), parts.end(), [&](Expr part) {
    return std::find(parts.begin(), parts.end(), negate(part)) != parts.end();
  });
}

Expr Canonicalizer::junction(Op op, Args args) {
  const bool absorbing = op == Op::kOr;
  std::vector<Expr> parts;
  for (Expr arg : args) {
    if (arg.is(op)) {
      parts.insert(parts.end(), arg.args().begin(), arg.args().end());
    } else if (!arg.is_constant()) {
      parts.push_back(arg);
    } else if (arg.is_true() == absorbing) {
      return boolean(absorbing);
    }
  }
  std::sort(parts.begin(), parts.end(),
            [](Expr a, Expr b) { return compare(a, b) < 0; });
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  if (has_opposites(parts)) return boolean(absorbing);
  if (parts.empty()) return boolean(!absorbing);
  return parts.size() == 1 ? parts[0] : pool_.make(op, parts);
}

Expr Canonicalizer::where(Expr condition, Expr then, Expr otherwise) {
  if (condition.is_constant()) return condition.is_true() ? then : otherwise;
  if (then == otherwise) return then;
  if (then.is_bool() && then.is_constant() && otherwise.is_constant()) {
    return then.is_true() ? condition : negate(condition);
  }
  return pool_.make(Op::kWhere, {condition, then, otherwise});
}

// ---- the rest of arithmetic

Expr Canonicalizer::absolute(Expr a) {
  if (!a.is_int()) return pool_.make(Op::kAbs, {a});
  Polynomial p = to_polynomial(a);
  if (known_nonneg(p)) return a;
  if (known_nonneg(p * Int(-1))) return expr(p * Int(-1));
  Int g = full_content(p);
  Polynomial primitive = over(p, g);
  if (primitive.terms().begin()->second.sign() < 0) {
    primitive = primitive * Int(-1);
  }
  Expr inner = primitive.is_constant()
                   ? expr(primitive)
                   : pool_.make(Op::kAbs, {expr(primitive)});
  return expr(to_polynomial(inner) * g);
}

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
  std::sort(parts.begin(), parts.end(),
            [](Expr a, Expr b) { return compare(a, b) < 0; });
  bool idle = constant == Rational(sum ? 0 : 1);
  bool has_float = false;
  for (Expr part : parts) has_float = has_float || part.is_float();
  // The constant also carries the type when the rest are integers.
  if (!idle || !has_float) {
    parts.insert(parts.begin(), pool_.rational(constant));
  }
  return parts.size() == 1 ? parts[0] : pool_.make(op, parts);
}

// floor, ceil, trunc and round of an exact ratio.
Expr Canonicalizer::round(Op op, Expr a) {
  if (op == Op::kTruncToFloat) return pool_.make(op, {a});
  auto r = ratio(a);
  if (!r || !rounds_exactly(a)) return pool_.make(op, {a});
  const Polynomial& n = r->numerator;
  const Polynomial d(r->denominator);
  auto down = [&] { return floor_div(n, d); };
  auto up = [&] {
    return expr(to_polynomial(floor_div(n * Int(-1), d)) * Int(-1));
  };
  if (op == Op::kFloorToInt) return down();
  if (op == Op::kCeilToInt) return up();
  if (r->denominator.is_one()) return expr(n);
  if (op == Op::kTruncToInt) {
    if (known_nonneg(n)) return down();
    if (known_nonneg(n * Int(-1))) return up();
  }
  return pool_.make(op, {a});
}

Expr Canonicalizer::bits(Op op, Expr a, Expr b) {
  if (compare(a, b) < 0) std::swap(a, b);  // a constant goes right
  if (a.is(Op::kInteger)) std::swap(a, b);
  if (a == b) return op == Op::kBitXor ? integer(0) : a;
  if (b.is(Op::kInteger)) {
    const Int& mask = b.integer();
    if (mask.is_zero()) return op == Op::kBitAnd ? b : a;
    if (mask == Int(-1) && op == Op::kBitAnd) return a;
    if (mask == Int(-1) && op == Op::kBitOr) return b;
    // (x ^ 5) ^ 3 is x ^ 6, and so on.
    if (a.is(op) && a.arg(1).is(Op::kInteger)) {
      const Int& inner = a.arg(1).integer();
      const Int both = op == Op::kBitAnd  ? bit_and(inner, mask)
                       : op == Op::kBitOr ? bit_or(inner, mask)
                                          : bit_xor(inner, mask);
      return bits(op, a.arg(0), integer(both));
    }
    // x & (2**k - 1) is x % 2**k.
    if (op == Op::kBitAnd && mask.sign() > 0 &&
        bit_and(mask, mask + Int(1)).is_zero()) {
      return mod(to_polynomial(a), Polynomial(mask + Int(1)));
    }
  }
  return pool_.make(op, {a, b});
}

Expr Canonicalizer::power(Expr base, Expr exponent) {
  Expr raw = pool_.make(Op::kPow, {base, exponent});
  if (raw.is_int()) return expr(to_polynomial(raw));
  if (exponent.is(Op::kInteger) && exponent.integer().is_one()) return base;
  return raw;
}

Expr Canonicalizer::true_divide(Op op, Expr a, Expr b) {
  bool by_one =
      b.is_constant() &&
      (b.is(Op::kInteger) ? b.integer().is_one() : b.rational() == Rational(1));
  if (!by_one) return pool_.make(op, {a, b});
  return a.is_float() ? a : pool_.make(Op::kToFloat, {a});
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
  switch (op) {
    case Op::kAdd:
    case Op::kMul: {
      Expr raw = pool_.make(op, args);
      return raw.is_int() ? expr(to_polynomial(raw)) : float_sum(op, args);
    }
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe: return relation(op, args[0], args[1]);
    case Op::kAnd:
    case Op::kOr: return junction(op, args);
    case Op::kNot: return negate(args[0]);
    default: break;
  }
  if (auto value = fold_constants(pool_.make(op, args))) return *value;
  switch (op) {
    case Op::kPow:
    case Op::kPowByNatural: return power(args[0], args[1]);
    case Op::kFloorDiv:
    case Op::kCleanDiv: return floor_div(poly(0), poly(1));
    case Op::kMod:
    case Op::kPythonMod: return mod(poly(0), poly(1));
    case Op::kMin:
    case Op::kMax: return extremum(op, args);
    case Op::kAbs: return absolute(args[0]);
    case Op::kIdentity: return args[0];
    case Op::kLShift:
    case Op::kRShift: {
      auto count = args[1].maybe_int64();
      if (!count || *count < 0 || *count > 4096) break;
      Int scale = *pow(Int(2), static_cast<uint64_t>(*count));
      if (op == Op::kLShift) return expr(poly(0) * scale);
      return floor_div(poly(0), Polynomial(scale));
    }
    case Op::kBitAnd:
    case Op::kBitOr:
    case Op::kBitXor: return bits(op, args[0], args[1]);
    case Op::kWhere: return where(args[0], args[1], args[2]);
    case Op::kToFloat:
      if (args[0].is_float()) return args[0];
      break;
    case Op::kIntTrueDiv:
    case Op::kFloatTrueDiv: return true_divide(op, args[0], args[1]);
    case Op::kTruncToInt:
    case Op::kCeilToInt:
    case Op::kFloorToInt:
    case Op::kRoundToInt:
    case Op::kTruncToFloat: return round(op, args[0]);
    default: break;
  }
  const Expr raw = pool_.make(op, args), meaning = definition(raw);
  return meaning == raw ? raw : run(meaning);
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
  for (int round = 0; round < 4 && result != e && !is_leaf(result.op());
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

}  // namespace proviso::inline v0_2::internal

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

using internal::Canonicalizer;

// Null where this takes more than kCanonicalUnits.
Expr run_within_budget(Canonicalizer canonicalizer, Expr e) {
  return within_own(kCanonicalUnits, [&] { return canonicalizer.run(e); })
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
