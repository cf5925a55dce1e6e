// Relations in canonical form: both sides are one polynomial, of which it is
// said that it is >= 0 or that it is 0; a table of the rules of sym/relations.h
// each, with ends from the facts.
//
//   2*x + 4 <= 2*y + 7     y - x + 1 >= 0, which is written x <= y + 1
//   ToFloat(x)/2 < 3/4     5 - 4*x >= 0 and so 1 - x >= 0, written x <= 1
//
// Real numbers whose operations are exact are ratios of polynomials, and are
// compared as these.  A rule ends the call or divides the polynomial once, so
// that a call costs a few passes over its terms.  What facts beyond bounds say
// of a relation is asked last (Facts::truth).
#include <optional>
#include <tuple>
#include <utility>

#include "sym/budget.h"
#include "sym/canonicalizer.h"
#include "sym/doubles.h"
#include "sym/fixed_limits.h"
#include "sym/relations.h"

namespace proviso::inline v0_2::internal {
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

// p >= 0, or p == 0, of what is no constant (sym/relations.h).
struct SignQuestion {
  using Ring = ExprRing;

  Canonicalizer& s;
  Polynomial polynomial;
  const Int content;
  bool value = false;  // once done
  bool is_done = false;

  SignQuestion(Canonicalizer& canonicalizer, const Polynomial& p)
      : s(canonicalizer), polynomial(p), content(p.content()) {}

  const Polynomial& p() const { return polynomial; }
  bool leads_negative() const {
    return polynomial.terms().begin()->second.sign() < 0;
  }
  void becomes(Polynomial q) { polynomial = std::move(q); }
  std::optional<Int> lower() { return s.lower(polynomial); }
  std::optional<Int> upper() { return s.upper(polynomial); }
  bool is(bool answer) {
    value = answer;
    return is_done = true;
  }
};

using namespace relations;
constinit RuleTable kNonnegRules({
    RewriteRow<SignQuestion>{kRoundDown, round_down<SignQuestion>, Then::kNext},
    {kAlwaysNonneg, always_nonneg<SignQuestion>},
    {kAlwaysNegative, always_negative<SignQuestion>},
});
constinit RuleTable kZeroRules({
    RewriteRow<SignQuestion>{kNoMultiple, no_multiple<SignQuestion>},
    {kDivide, divide<SignQuestion>, Then::kNext},
    {kNeverZero, never_zero<SignQuestion>},
});

// a == b, a < b or a <= b of real numbers that are not exact.
struct RealQuestion {
  Expr a, b;
  bool is_done = false;
};

bool root_sign(RealQuestion& c) {
  const auto simple = without_root(c.a, c.b);
  if (simple) std::tie(c.a, c.b) = *simple;
  return simple.has_value();
}

constinit RuleTable kRealRules({
    RewriteRow<RealQuestion>{
        {"root_sign", "Eq(OpaqueUnaryFn_sqrt(ToFloat(a)), 0.0)",
         "Eq(ToFloat(a), 0.0)", "", "Eq(OpaqueUnaryFn_sqrt(ToFloat(x)), 0.0)",
         "Eq(OpaqueUnaryFn_sqrt(ToFloat(x)), 1.0)", "0 <= x"},
        root_sign},
});

}  // namespace

std::vector<RewriteRuleCount> real_rule_counts() { return kRealRules.counts(); }
std::vector<RewriteRuleCount> nonneg_rule_counts() {
  return kNonnegRules.counts();
}
std::vector<RewriteRuleCount> zero_rule_counts() { return kZeroRules.counts(); }

Expr Canonicalizer::decided(Expr condition) {
  if (!facts_ || condition.is_constant()) return condition;
  auto truth = facts_->truth(condition);
  return truth ? boolean(*truth) : condition;
}

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
  SignQuestion question(*this, p);
  kNonnegRules.run(question);
  return question.is_done ? boolean(question.value)
                          : decided(render_nonneg(question.p()));
}

Expr Canonicalizer::is_zero(const Polynomial& p) {
  if (p.is_constant()) return boolean(p.constant().is_zero());
  SignQuestion question(*this, p);
  positive_first(question);
  kZeroRules.run(question);
  return question.is_done ? boolean(question.value)
                          : decided(render_zero(question.p()));
}

// Exact real arithmetic on both sides becomes one integer relation.
std::optional<Ratio> Canonicalizer::ratio(Expr e, int depth) {
  if (e.is_int()) return Ratio{to_polynomial(e), 1};
  if (depth == fixed::ratio_depth) return {};
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
        if (terms > fixed::product_terms) return {};
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
  RealQuestion reals{a, b};
  kRealRules.run(reals);
  a = reals.a;
  b = reals.b;
  auto x = ratio(a), y = ratio(b);
  if (x && y && compares_exactly(a, b)) {
    Polynomial gap = y->numerator * x->denominator -
                     x->numerator * y->denominator;  // b - a, scaled up
    if (op == Op::kEq) return is_zero(gap);
    gap.add({}, -least_gap(op));
    return nonneg(gap);
  }
  if (a == b) return boolean(op != Op::kLt);
  if (op == Op::kEq && compare(b, a) < 0) std::swap(a, b);
  return decided(pool_.make(op, {a, b}));
}

}  // namespace proviso::inline v0_2::internal
