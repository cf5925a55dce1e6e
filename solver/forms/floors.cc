// remainder_range() takes the remainders out of a sum, the latest floor first:
//
//   2*x - 8*(x//4) - y + 3*(y//3) + 1         2*(x % 4) - (y % 3) + 1
//     y//3     3 is 1*3: -(y % 3) is in [-2, 0]; left 2*x - 8*(x//4) + 1
//     x//4    -8 is -2*4: 2*(x % 4) is in [0, 6]; left 1
//     so it is in [-1, 7]
//
// A floor costs a sum of polynomials, and there are fixed::form_remainders at
// most.  Complete for sums of remainders by numbers whose numerators cancel in
// this order.
#include "solver/forms/floors.h"

#include <algorithm>

#include "solver/fixed_limits.h"
#include "solver/forms/form_ring.h"
#include "solver/forms/operations.h"
#include "sym/division.h"

namespace proviso::inline v0_2::internal {
namespace {

// outside + floor(num / den), den a number; once done, outside alone.
struct NumberDivision {
  using Ring = FormRing;
  static constexpr bool kWholeCoefficients = false;

  FormRing ring;
  Poly outside, num, den;
  bool is_done = false;

  void take_out(const Poly& q) { outside = outside + q; }
  static void take_factor(const Factors&, const Int&, const Int&) {}
  void finish() { is_done = true; }
  static bool merges() { return true; }
  static bool merges(const Poly& m) {
    return m.is_constant() && m.constant.sign() > 0;
  }
  static void spend(size_t terms) { Budget::charge(1 + terms / 2); }
};

bool is_floor(const TermPool& terms, const Term& t) {
  const AtomId a = terms.monomials.single(t.mono);
  return a != kNoId && terms.atoms[a].kind == AtomKind::kFloor;
}

// (x % m + e) // k -> e//k where the ends of x % m + e have one quotient.
// Some of the coefficients, which are in [0, k-1] here, were below 0 in the
// remainders.
bool bound_by_remainders(NumberDivision& d) {
  const TermPool& terms = d.ring.terms;
  const auto floors = [&](const Term& t) { return is_floor(terms, t); };
  if (std::none_of(d.num.terms.begin(), d.num.terms.end(), floors)) {
    return false;
  }
  const Int& k = d.den.constant;
  for (const bool of_floors : {true, false}) {
    Poly quotient;
    for (const Term& t : d.num.terms) {
      if (floors(t) == of_floors) quotient.terms.push_back({t.mono, 1});
    }
    const auto range = remainder_range(terms, add(d.num, quotient, -k));
    if (!range) continue;
    quotient.constant = floor_div(range->first, k);
    if (quotient.constant != floor_div(range->second, k)) continue;
    d.take_out(quotient);
    d.finish();
    return true;
  }
  return false;
}

auto& rules() {
  using D = NumberDivision;
  using namespace division;
  static constinit RuleTable table({
      RewriteRow<D>{kNegativeConstant, negative_constant<D>, Then::kNext},
      {kPullOutNumber, pull_out_number<D>, Then::kNext},
      {kCancelGcd, cancel_gcd<D>, Then::kNext},
      {with_examples(kSmallConstant, "(4*x + 3)//4", "x//y"), small_constant<D>,
       Then::kNext},
      {kMergeNested, merge_nested<D>},
      {{"bound_by_remainders", "(Mod(x, m) + e)//k", "e//k",
        "(m > 0) & (k > 0) & Eq(e//k, (m - 1 + e)//k)", "(Mod(x, 8) + 8)//16",
        "(Mod(x, 8) + 9)//16"},
       bound_by_remainders,
       Then::kNext},
  });
  return table;
}

}  // namespace

std::vector<RewriteRuleCount> number_division_rule_counts() {
  return rules().counts();
}

Poly floor_by_number(TermPool& terms, Poly p, const Int& k) {
  NumberDivision d{.ring = FormRing(terms),
                   .outside = {},
                   .num = std::move(p),
                   .den = Poly::number(k)};
  rules().run(d);
  if (d.is_done) return std::move(d.outside);
  return d.outside + floor_atom(terms, d.num, d.den);
}

std::optional<std::pair<Int, Int>> remainder_range(const TermPool& terms,
                                                   const Poly& p) {
  Poly rest = p;
  Int low = 0, high = 0;
  for (int i = 0; i < fixed::form_remainders && !rest.is_constant(); ++i) {
    // What was made last has no part in another's numerator.
    AtomId last = kNoId;
    const Term* last_term = nullptr;
    for (const Term& t : rest.terms) {
      const AtomId a = terms.monomials.single(t.mono);
      if (a == kNoId) return std::nullopt;
      if (terms.atoms[a].kind != AtomKind::kFloor) continue;
      if (last_term != nullptr && a < last) continue;
      last = a;
      last_term = &t;
    }
    if (last_term == nullptr) return std::nullopt;
    const Atom& quotient = terms.atoms[last];
    const Poly& d = terms.polys[quotient.b];
    if (!d.is_constant() || d.constant.sign() <= 0) return std::nullopt;
    if (!floor_mod(last_term->coef, d.constant).is_zero()) return std::nullopt;
    const Int times = floor_div(last_term->coef, d.constant);
    const Int most = times * (d.constant - 1);
    (times.sign() > 0 ? low : high) -= most;
    const Poly without = rest - Poly::term(last_term->mono, last_term->coef);
    rest = add(without, terms.polys[quotient.a], times);
  }
  if (!rest.is_constant()) return std::nullopt;
  return std::pair(low + rest.constant, high + rest.constant);
}

}  // namespace proviso::inline v0_2::internal
