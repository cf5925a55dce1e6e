// a // b and a % b in canonical form: one table of rules for both, since the
// two belong together by a % b == a - b*(a // b).
//
//   (8*x + 4*y + 5) // 8
//     pull_out_number     x + (4*y + 5) // 8
//     cancel_gcd          x + (y + 1) // 2
//   the same % 8          4*((y + 1) % 2) + 1
//
// A rule that fires begins the table again; each shortens the division, so that
// a call costs a few passes over its terms.  Most rules are those of any
// polynomials (sym/division.h); the rest use the facts.  The form is complete
// for nothing: equal quotients may differ, and the search (sym/simplify.h)
// knows more.
#include "sym/budget.h"
#include "sym/canonicalizer.h"
#include "sym/division.h"

namespace proviso::inline v0_2::internal {
namespace {

// outside + times * (num op den); once done, outside alone.  The factor is 1 of
// a floor.
struct Division {
  using Ring = ExprRing;
  static constexpr bool kWholeCoefficients = true;

  Canonicalizer& s;
  const Op op;  // kFloorDiv or kMod
  Polynomial num, den;
  Polynomial outside = {}, times = Polynomial(Int(1));
  bool is_done = false;
  ExprRing ring = {};

  bool is_floor() const { return op == Op::kFloorDiv; }

  void take_out(const Polynomial& q) {
    if (is_floor()) outside = outside + q;
  }
  void take_factor(const Monomial& f, const Int& g, const Int& c) {
    if (is_floor()) return;
    outside = outside + times * c;
    times = times * Polynomial::term(f, g);
  }
  void finish() {
    is_done = true;
    if (!is_floor()) outside = outside + times * num;
  }
  // A zero divisor is undefined, whatever becomes of the rest.
  static bool is_nonzero(const Polynomial&) { return true; }
  static bool is_nonzero_atom(Expr) { return true; }
  // The sum of a floor and a constant is merged; other sums are the search's.
  bool merges() const {
    const size_t constants = num.constant().is_zero() ? 0 : 1;
    return is_floor() && den.is_constant() && den.constant().sign() > 0 &&
           num.terms().size() == 1 + constants;
  }
  static bool merges(const Polynomial& m) {
    return m.is_constant() && !m.is_zero();
  }
  static void spend(size_t terms) { Budget::spend(1 + terms); }

  Expr value() {
    if (is_done) return s.expr(outside);
    const Expr rest = s.pool().make(op, {s.expr(num), s.expr(den)});
    if (outside.is_zero() && times == Polynomial(Int(1))) return rest;
    return s.expr(outside + times * Polynomial::atom(rest));
  }
};

// The floor has one value by the bounds of a and b; the remainder is a.
bool bounded(Division& d) {
  if (d.is_floor() && d.den.is_constant()) {
    const auto low = d.s.lower(d.num), high = d.s.upper(d.num);
    if (!low || !high) return false;
    const Int q = floor_div(*low, d.den.constant());
    if (q != floor_div(*high, d.den.constant())) return false;
    d.outside = d.outside + Polynomial(q);
    d.is_done = true;
    return true;
  }
  if (!d.s.known_nonneg(d.num) || !d.s.known_positive(d.den - d.num)) {
    return false;
  }
  d.finish();
  return true;
}

// (c*(x % m) + e) % k -> (c*x + e) % k when k divides c*m.
bool open_remainder(Division& d) {
  if (d.is_floor() || !d.den.is_constant()) return false;
  for (const auto& [monomial, c] : d.num.terms()) {
    if (monomial.size() != 1 || !monomial[0].is(Op::kMod)) continue;
    const Expr inner = monomial[0];
    if (!inner.arg(1).is(Op::kInteger)) continue;
    const Int period = c * inner.arg(1).integer();
    if (!floor_mod(period, d.den.constant()).is_zero()) continue;
    d.num = d.num - Polynomial::term(monomial, c) +
            to_polynomial(inner.arg(0)) * Int(c);
    return true;
  }
  return false;
}

// What the facts know of a modulo k.
bool known_residue(Division& d) {
  if (d.is_floor() || !d.den.is_constant()) return false;
  const auto r = d.s.known_residue(d.num, d.den.constant());
  if (!r) return false;
  d.num = Polynomial(*r);
  d.finish();
  return true;
}

using namespace division;
constinit RuleTable kFloorRules({
    RewriteRow<Division>{with_examples(kZeroNumerator, "0//y", "1//y"),
                         zero_numerator<Division>},
    {kNegativeConstant, negative_constant<Division>},
    {kPullOutNumber, pull_out_number<Division>},
    {kSmallConstant, small_constant<Division>},
    {{"open_remainder", "Mod(c*Mod(x, m) + e, k)", "Mod(c*x + e, k)",
      "Eq(Mod(c*m, k), 0)", "Mod(Mod(x, 6) + y, 3)", "Mod(Mod(x, 6) + y, 4)"},
     open_remainder},
    {kCancelGcd, cancel_gcd<Division>},
    {with_examples(kMergeNested, "(x//3 + 1)//2", "(x//y + 1)//2"),
     merge_nested<Division>},
    {kExact, exact<Division>},
    {kCancelFactor, cancel_factor<Division>},
    {kCancelContent, cancel_content<Division>},
    {kPullOutTerms, pull_out_terms<Division>},
    {{"known_residue", "Mod(a, k)", "Mod(r, k)", "Eq(Mod(a - r, k), 0)",
      "Mod(x, 4)", "Mod(x, 16)", "Eq(Mod(x, 8), 0)"},
     known_residue},
    {{"bounded", "a//b", "0", "(0 <= a) & (a < b)", "y//8", "x//8",
      "y in [0, 7]"},
     bounded},
});

Expr divided(Canonicalizer& s, Op op, const Polynomial& a,
             const Polynomial& b) {
  Division division{.s = s, .op = op, .num = a, .den = b};
  if (!b.is_zero()) kFloorRules.run(division);
  return division.value();
}

}  // namespace

std::vector<RewriteRuleCount> division_rule_counts() {
  return kFloorRules.counts();
}

Expr Canonicalizer::floor_div(const Polynomial& a, const Polynomial& b) {
  return divided(*this, Op::kFloorDiv, a, b);
}

Expr Canonicalizer::mod(const Polynomial& a, const Polynomial& b) {
  return divided(*this, Op::kMod, a, b);
}

Polynomial over(const Polynomial& p, const Int& k) {
  return divided_by<ExprRing>(p, k);
}

Int full_content(const Polynomial& p) { return full_content_of<ExprRing>(p); }

std::optional<Polynomial> exact_quotient(const Polynomial& a,
                                         const Polynomial& b) {
  return exact_quotient_of(ExprRing(), a, b);
}

}  // namespace proviso::inline v0_2::internal
