// Relations in canonical form: both sides are one polynomial, of which it is
// said that it is >= 0 or that it is 0; a table of rules each.
//
//   2*x + 4 <= 2*y + 7     2*y - 2*x + 3 >= 0
//     round_down           y - x + 1 >= 0, which is written x <= y + 1
//   2*x == 4*y + 1
//     no_multiple          False
//
// Real numbers whose operations are exact are ratios of polynomials, and are
// compared as these.  A rule ends the call or divides the polynomial once, so
// that a call costs a few passes over its terms.  What facts beyond bounds say
// of a relation is asked last (Facts::truth).
#include <optional>
#include <tuple>

#include "sym/budget.h"
#include "sym/canonicalizer.h"
#include "sym/doubles.h"
#include "sym/fixed_limits.h"

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

// p >= 0, or p == 0, of what is no constant.
struct SignQuestion {
  Canonicalizer& s;
  Polynomial p;
  bool value = false;  // once done
  bool is_done = false;

  bool is(bool answer) {
    value = answer;
    return is_done = true;
  }
};

// p >= 0 for integers: over their common divisor, the constant rounds down.
bool round_down(SignQuestion& c) { return divide_by_content(c.p); }

bool always_nonneg(SignQuestion& c) {
  return c.s.known_nonneg(c.p) && c.is(true);
}

bool always_negative(SignQuestion& c) {
  const auto high = c.s.upper(c.p);
  return high && high->sign() < 0 && c.is(false);
}

constinit RuleTable kNonnegRules({
    RewriteRow<SignQuestion>{{"round_down", "0 <= k*a + c", "0 <= a + c//k",
                              "0 < k", "0 <= 2*x + 3", "0 <= 2*x + 3*y + 1"},
                             round_down,
                             Then::kNext},
    {{"always_nonneg", "0 <= a", "True", "0 <= a", "0 <= y", "0 <= x",
      "y in [0, 7]"},
     always_nonneg},
    {{"always_negative", "0 <= a - b", "False", "a < b", "0 <= y", "0 <= x",
      "y in [-7, -1]"},
     always_negative},
});

bool no_multiple(SignQuestion& c) {
  return !floor_mod(c.p.constant(), c.p.content()).is_zero() && c.is(false);
}

bool divide(SignQuestion& c) { return divide_by_content(c.p); }

bool never_zero(SignQuestion& c) {
  const auto low = c.s.lower(c.p), high = c.s.upper(c.p);
  const bool apart = (low && low->sign() > 0) || (high && high->sign() < 0);
  return apart && c.is(false);
}

constinit RuleTable kZeroRules({
    RewriteRow<SignQuestion>{{"no_multiple", "Eq(k*a, c)", "False",
                              "Ne(Mod(c, k), 0)", "Eq(2*x, 3)", "Eq(2*x, 4)"},
                             no_multiple},
    {{"divide", "Eq(k*a, k*b)", "Eq(a, b)", "Ne(k, 0)", "Eq(2*x, 4*y)",
      "Eq(2*x, 3*y)"},
     divide,
     Then::kNext},
    {{"never_zero", "Eq(a, 0)", "False", "Ne(a, 0)", "Eq(y, 0)", "Eq(x, 0)",
      "y in [1, 7]"},
     never_zero},
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
  SignQuestion question{.s = *this, .p = p};
  kNonnegRules.run(question);
  return question.is_done ? boolean(question.value)
                          : decided(render_nonneg(question.p));
}

Expr Canonicalizer::is_zero(const Polynomial& p) {
  if (p.is_constant()) return boolean(p.constant().is_zero());
  const bool positive = p.terms().begin()->second.sign() > 0;
  SignQuestion question{.s = *this, .p = positive ? p : p * Int(-1)};
  kZeroRules.run(question);
  return question.is_done ? boolean(question.value)
                          : decided(render_zero(question.p));
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
    return nonneg(op == Op::kLe ? gap : gap - Polynomial(Int(1)));
  }
  if (a == b) return boolean(op != Op::kLt);
  if (op == Op::kEq && compare(b, a) < 0) std::swap(a, b);
  return decided(pool_.make(op, {a, b}));
}

}  // namespace proviso::inline v0_2::internal
