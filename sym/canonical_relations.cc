// Relations in canonical form: both sides are one polynomial, of which it is
// said that it is >= 0 or that it is 0; a table of the rules of sym/relations.h
// each, with ends from the facts.
//
//   2*x + 4 <= 2*y + 7     y - x + 1 >= 0, which is written x <= y + 1
//   ToFloat(x)/2 < 3/4     5 - 4*x >= 0 and so 1 - x >= 0, written x <= 1
//
// Real numbers whose operations are exact are fractions of polynomials, and are
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

// Denominators are positive numbers (sym/fractions.h).
struct OverNumbers {
  using Poly = Polynomial;
  using Fraction = Canonicalizer::Fraction;

  Poly integer(Expr e) { return to_polynomial(e); }
  Poly number(const Int& k) { return Polynomial(k); }
  std::optional<Poly> product(const Poly& p, const Poly& q) {
    if (p.is_constant()) return q * p.constant();
    if (q.is_constant()) return p * q.constant();
    if (p.terms().size() * q.terms().size() > fixed::product_terms) return {};
    if (p.degree() + q.degree() > fixed::product_degree) return {};
    return p * q;
  }
  std::optional<Fraction> oriented(const Fraction& x) {
    if (!x.den.is_constant() || x.den.is_zero()) return {};
    const Int sign = x.den.constant().sign();
    return Fraction{x.num * sign, x.den * sign};
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

std::optional<Canonicalizer::Fraction> Canonicalizer::fraction(Expr e) {
  return FractionReader(OverNumbers()).read(e);
}

// b - a, times a positive number; nothing where the program's arithmetic may
// round.
std::optional<Polynomial> Canonicalizer::gap(Expr a, Expr b) {
  if (a.is_int() && b.is_int()) return to_polynomial(b) - to_polynomial(a);
  const auto x = fraction(a), y = fraction(b);
  if (!x || !y || !compares_exactly(a, b)) return {};
  return y->num * x->den - x->num * y->den;
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
  if (auto difference = gap(a, b)) {
    if (op == Op::kEq) return is_zero(*difference);
    difference->add({}, -least_gap(op));
    return nonneg(*difference);
  }
  if (a == b) return boolean(op != Op::kLt);
  if (op == Op::kEq && compare(b, a) < 0) std::swap(a, b);
  return decided(pool_.make(op, {a, b}));
}

}  // namespace proviso::inline v0_2::internal
