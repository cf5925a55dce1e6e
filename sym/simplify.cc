// The rules of an operator are lines of one table, tried in order; each is
// proved against evaluate() on small domains by tests/sym/simplify_test.cc.
#include "sym/simplify.h"

#include <algorithm>
#include <optional>

#include "sym/budget.h"
#include "sym/definition.h"
#include "sym/evaluate.h"
#include "sym/not_null.h"
#include "sym/polynomial.h"
#include "sym/simplifier.h"

namespace proviso::inline v0_2::internal {
namespace {

// ---- floor division: rules over canonical polynomials a // b

struct Division {
  Simplifier& s;
  const Polynomial& a;
  const Polynomial& b;
};

struct DivisionRow {
  DivisionRule rule;
  std::optional<Expr> (*apply)(Division&);
};

// The part of p whose coefficients are multiples of k, divided by k, and the
// rest with coefficients in [0, k).
std::pair<Polynomial, Polynomial> split_by(const Polynomial& p, const Int& k) {
  Polynomial quotient, rest;
  for (const auto& [monomial, c] : p.terms()) {
    quotient.add(monomial, proviso::floor_div(c, k));
    rest.add(monomial, floor_mod(c, k));
  }
  return {quotient, rest};
}

// Removes `factor` from `monomial`, or nothing when it does not divide it.
std::optional<Monomial> without(const Monomial& monomial,
                                const Monomial& factor) {
  Monomial rest;
  size_t next = 0;
  for (Expr atom : monomial) {
    if (next < factor.size() && atom == factor[next]) {
      ++next;
    } else {
      rest.push_back(atom);
    }
  }
  if (next != factor.size()) return std::nullopt;
  return rest;
}

}  // namespace

Polynomial over(const Polynomial& p, const Int& k) {
  Polynomial result;
  for (const auto& [monomial, c] : p.terms()) {
    result.add(monomial, proviso::floor_div(c, k));
  }
  return result;
}

namespace {

// The largest monomial that divides every term of both.
Monomial common_monomial(const Polynomial& a, const Polynomial& b) {
  Monomial common = b.terms().begin()->first;
  auto narrow = [&](const Polynomial& p) {
    for (const auto& [monomial, c] : p.terms()) {
      Monomial kept;
      size_t i = 0;
      for (Expr atom : monomial) {
        while (i < common.size() && compare(common[i], atom) < 0) ++i;
        if (i < common.size() && common[i] == atom) {
          kept.push_back(atom);
          ++i;
        }
      }
      common = kept;
    }
  };
  narrow(b);
  narrow(a);
  return common;
}

Polynomial drop_monomial(const Polynomial& p, const Monomial& factor) {
  Polynomial result;
  for (const auto& [monomial, c] : p.terms()) {
    result.add(*without(monomial, factor), c);
  }
  return result;
}

}  // namespace

Int full_content(const Polynomial& p) {
  Int result = 0;
  for (const auto& [monomial, c] : p.terms()) result = gcd(result, c);
  return result;
}

std::optional<Polynomial> exact_quotient(const Polynomial& a,
                                         const Polynomial& b, int most_steps) {
  Polynomial rest = a, quotient;
  const auto& [lead, lead_c] = *b.terms().begin();
  for (int steps = 0; !rest.is_zero(); ++steps) {
    if (steps == most_steps) return std::nullopt;
    const auto& [monomial, c] = *rest.terms().begin();
    auto factor = without(monomial, lead);
    if (!factor || !floor_mod(c, lead_c).is_zero()) return std::nullopt;
    Polynomial term = Polynomial::term(*factor, proviso::floor_div(c, lead_c));
    quotient = quotient + term;
    rest = rest - term * b;
  }
  return quotient;
}

namespace {

// 0 // b -> 0.
std::optional<Expr> zero_numerator(Division& d) {
  if (!d.a.is_zero()) return {};
  return d.s.integer(0);
}
// a // -k -> (-a) // k.
std::optional<Expr> negative_constant(Division& d) {
  if (!d.b.is_constant() || d.b.constant().sign() >= 0) return {};
  return d.s.floor_div(d.a * Int(-1), d.b * Int(-1));
}
// (k*q + r) // k -> q + r // k, with r's coefficients in [0, k).
std::optional<Expr> pull_out_multiples(Division& d) {
  if (!d.b.is_constant()) return {};
  auto [quotient, rest] = split_by(d.a, d.b.constant());
  if (quotient.is_zero()) return {};
  Expr floor = d.s.floor_div(rest, d.b);
  return d.s.expr(quotient + to_polynomial(floor));
}
// r // k -> 0 for a constant 0 <= r < k (what is left of a constant).
std::optional<Expr> small_constant(Division& d) {
  if (!d.b.is_constant() || !d.a.is_constant()) return {};
  return d.s.integer(proviso::floor_div(d.a.constant(), d.b.constant()));
}
// (g*x + c) // (g*k) -> (x + c//g) // k, g > 0.
std::optional<Expr> cancel_gcd(Division& d) {
  if (!d.b.is_constant()) return {};
  Int g = gcd(d.a.content(), d.b.constant());
  if (g.is_one()) return {};
  return d.s.floor_div(over(d.a, g),
                       Polynomial(proviso::floor_div(d.b.constant(), g)));
}
// The floor of a floor by a number plus a constant.
std::optional<Expr> nested_floor(const Polynomial& a) {
  const Polynomial rest = a - Polynomial(a.constant());
  if (rest.terms().size() != 1) return {};
  const auto& [monomial, c] = *rest.terms().begin();
  if (monomial.size() != 1 || !c.is_one()) return {};
  const Expr atom = monomial[0];
  if (!atom.is(Op::kFloorDiv) || !atom.arg(1).is(Op::kInteger)) return {};
  return atom;
}
// (x//m + e) // k -> (x + m*e) // (m*k) for constants m != 0, k > 0; as often
// as there are floors, which may be thousands.
std::optional<Expr> merge_nested(Division& d) {
  if (!d.b.is_constant()) return {};
  std::optional<Expr> floor = nested_floor(d.a);
  if (!floor) return {};
  Polynomial a = d.a;
  Int k = d.b.constant();
  for (; floor && k.sign() > 0; floor = nested_floor(a)) {
    const Int& m = floor->arg(1).integer();
    a = to_polynomial(floor->arg(0)) + Polynomial(a.constant() * m);
    k *= m;
  }
  return d.s.floor_div(a, Polynomial(k));
}
// a // b -> q when the bounds of a and b leave one value.
std::optional<Expr> bounded(Division& d) {
  if (d.b.is_constant()) {
    auto low = d.s.lower(d.a), high = d.s.upper(d.a);
    if (!low || !high) return {};
    Int q = proviso::floor_div(*low, d.b.constant());
    if (q != proviso::floor_div(*high, d.b.constant())) return {};
    return d.s.integer(q);
  }
  if (!d.s.known_nonneg(d.a) || !d.s.known_positive(d.b - d.a)) return {};
  return d.s.integer(0);
}
// (b*t) // b -> t.
std::optional<Expr> exact(Division& d) {
  if (d.b.is_constant()) return {};
  auto quotient = exact_quotient(d.a, d.b);
  if (!quotient) return {};
  return d.s.expr(*quotient);
}
// (f*a) // (f*b) -> a // b; f is a monomial times a positive constant.
std::optional<Expr> cancel_factor(Division& d) {
  if (d.b.is_constant()) return {};
  Monomial common = common_monomial(d.a, d.b);
  Int g = gcd(full_content(d.a), full_content(d.b));
  if (common.empty() && g.is_one()) return {};
  return d.s.floor_div(over(drop_monomial(d.a, common), g),
                       over(drop_monomial(d.b, common), g));
}
// (b*t + r) // b -> t + r // b for a single-term b.
std::optional<Expr> pull_out_terms(Division& d) {
  if (d.b.is_constant() || d.b.terms().size() != 1) return {};
  const auto& [lead, lead_c] = *d.b.terms().begin();
  Polynomial quotient, rest;
  for (const auto& [monomial, c] : d.a.terms()) {
    auto factor = without(monomial, lead);
    if (factor && floor_mod(c, lead_c).is_zero()) {
      quotient.add(*factor, proviso::floor_div(c, lead_c));
    } else {
      rest.add(monomial, c);
    }
  }
  if (quotient.is_zero()) return {};
  return d.s.expr(quotient + to_polynomial(d.s.floor_div(rest, d.b)));
}

constexpr DivisionRow kFloorDivRules[] = {
    {{"zero_numerator", "0//b", "0", "", "0//y", "1//y"}, zero_numerator},
    {{"negative_constant", "a//(-k)", "(-a)//k", "", "x//(-3)", "x//3"},
     negative_constant},
    {{"pull_out_multiples", "(k*q + r)//k", "q + r//k", "", "(4*x + y)//4",
      "(3*x + y)//4"},
     pull_out_multiples},
    {{"small_constant", "r//k", "0", "(0 <= r) & (r < k)", "(4*x + 3)//4",
      "(3*x + 3)//4"},
     small_constant},
    {{"cancel_gcd", "(g*x + c)//(g*k)", "(x + c//g)//k", "(g > 0) & (k > 0)",
      "(2*x + 3)//4", "(3*x + 2)//4"},
     cancel_gcd},
    {{"merge_nested", "(x//m + e)//k", "(x + m*e)//(m*k)", "k > 0",
      "(x//3 + 1)//2", "(x//y + 1)//2"},
     merge_nested},
    {{"exact", "(b*t)//b", "t", "", "(x*y)//y", "(x*y + 1)//y"}, exact},
    {{"cancel_factor", "(f*a)//(f*b)", "a//b", "", "(x*y)//(x*z)",
      "(x*y)//(z*z)"},
     cancel_factor},
    {{"pull_out_terms", "(b*t + r)//b", "t + r//b", "", "(x*y + z)//y",
      "(x*y + z)//(2*y)"},
     pull_out_terms},
    {{"bounded", "a//b", "0", "(0 <= a) & (a < b)", "y//8", "x//8",
      "y in [0, 7]"},
     bounded},
};

// ---- modulo: rules over canonical polynomials a % b

std::optional<Expr> mod_zero(Division& d) {
  if (!d.a.is_zero()) return {};
  return d.s.integer(0);
}
// c % k of constants.
std::optional<Expr> mod_constants(Division& d) {
  if (!d.a.is_constant() || !d.b.is_constant()) return {};
  return d.s.integer(floor_mod(d.a.constant(), d.b.constant()));
}
// a % -k -> -((-a) % k).
std::optional<Expr> mod_negative(Division& d) {
  if (!d.b.is_constant() || d.b.constant().sign() >= 0) return {};
  Expr positive = d.s.mod(d.a * Int(-1), d.b * Int(-1));
  return d.s.expr(to_polynomial(positive) * Int(-1));
}
// (k*q + r) % k -> r % k.
std::optional<Expr> mod_drop_multiples(Division& d) {
  if (!d.b.is_constant()) return {};
  auto [quotient, rest] = split_by(d.a, d.b.constant());
  if (quotient.is_zero()) return {};
  return d.s.mod(rest, d.b);
}
// (c*(x % m) + e) % k -> (c*x + e) % k when k divides c*m.
std::optional<Expr> mod_of_mod(Division& d) {
  if (!d.b.is_constant()) return {};
  for (const auto& [monomial, c] : d.a.terms()) {
    if (monomial.size() != 1 || !monomial[0].is(Op::kMod)) continue;
    Expr inner = monomial[0];
    if (!inner.arg(1).is(Op::kInteger)) continue;
    if (!floor_mod(c * inner.arg(1).integer(), d.b.constant()).is_zero()) {
      continue;
    }
    Polynomial opened =
        d.a - Polynomial::term(monomial, c) + to_polynomial(inner.arg(0)) * c;
    return d.s.mod(opened, d.b);
  }
  return {};
}
// (g*x + c) % (g*k) -> g*((x + c//g) % k) + c % g.
std::optional<Expr> mod_gcd(Division& d) {
  if (!d.b.is_constant()) return {};
  Int g = gcd(d.a.content(), d.b.constant());
  if (g.is_one()) return {};
  Expr inner =
      d.s.mod(over(d.a, g), Polynomial(proviso::floor_div(d.b.constant(), g)));
  return d.s.expr(to_polynomial(inner) * g +
                  Polynomial(floor_mod(d.a.constant(), g)));
}
// What the facts know of a modulo k, and a % b -> a for 0 <= a < b.
std::optional<Expr> mod_known(Division& d) {
  if (d.b.is_constant()) {
    if (auto r = d.s.known_residue(d.a, d.b.constant())) {
      return d.s.integer(*r);
    }
  }
  if (!d.s.known_nonneg(d.a) || !d.s.known_positive(d.b - d.a)) return {};
  return d.s.expr(d.a);
}
// (b*t) % b -> 0.
std::optional<Expr> mod_exact(Division& d) {
  if (d.b.is_constant() || !exact_quotient(d.a, d.b)) return {};
  return d.s.integer(0);
}
// (b*t + r) % b -> r % b for a single-term b.
std::optional<Expr> mod_drop_terms(Division& d) {
  if (d.b.is_constant() || d.b.terms().size() != 1) return {};
  const auto& [lead, lead_c] = *d.b.terms().begin();
  Polynomial rest;
  for (const auto& [monomial, c] : d.a.terms()) {
    bool multiple = without(monomial, lead) && floor_mod(c, lead_c).is_zero();
    if (!multiple) rest.add(monomial, c);
  }
  if (rest == d.a) return {};
  return d.s.mod(rest, d.b);
}
// (f*a) % (f*b) -> f*(a % b).
std::optional<Expr> mod_factor(Division& d) {
  if (d.b.is_constant()) return {};
  Monomial common = common_monomial(d.a, d.b);
  Int g = gcd(full_content(d.a), full_content(d.b));
  if (common.empty() && g.is_one()) return {};
  Expr inner = d.s.mod(over(drop_monomial(d.a, common), g),
                       over(drop_monomial(d.b, common), g));
  return d.s.expr(to_polynomial(inner) * Polynomial::term(common, g));
}

constexpr DivisionRow kModRules[] = {
    {{"mod_zero", "Mod(0, b)", "0", "", "Mod(0, y)", "Mod(1, y)"}, mod_zero},
    {{"mod_constants", "Mod(r, k)", "r", "(0 <= r) & (r < k)",
      "Mod(4*x + 3, 4)", "Mod(3*x + 3, 4)"},
     mod_constants},
    {{"mod_negative", "Mod(a, -k)", "-Mod(-a, k)", "", "Mod(x, -3)",
      "Mod(x, 3)"},
     mod_negative},
    {{"mod_drop_multiples", "Mod(k*q + r, k)", "Mod(r, k)", "",
      "Mod(4*x + y, 4)", "Mod(3*x + y, 4)"},
     mod_drop_multiples},
    {{"mod_of_mod", "Mod(c*Mod(x, m) + e, k)", "Mod(c*x + e, k)",
      "Eq(Mod(c*m, k), 0)", "Mod(Mod(x, 6) + y, 3)", "Mod(Mod(x, 6) + y, 4)"},
     mod_of_mod},
    {{"mod_gcd", "Mod(g*x + c, g*k)", "g*Mod(x + c//g, k) + Mod(c, g)",
      "(g > 0) & (k > 0)", "Mod(2*x + 3, 4)", "Mod(3*x + 2, 4)"},
     mod_gcd},
    {{"mod_exact", "Mod(b*t, b)", "0", "", "Mod(x*y, y)", "Mod(x*y + 1, y)"},
     mod_exact},
    {{"mod_drop_terms", "Mod(b*t + r, b)", "Mod(r, b)", "", "Mod(x*y + z, y)",
      "Mod(x*y + z, 2*y)"},
     mod_drop_terms},
    {{"mod_factor", "Mod(f*a, f*b)", "f*Mod(a, b)", "", "Mod(x*y, x*z)",
      "Mod(x*y, z*z)"},
     mod_factor},
    {{"mod_known", "Mod(a, b)", "a", "(0 <= a) & (a < b)", "Mod(y, 8)",
      "Mod(x, 8)", "y in [0, 7]"},
     mod_known},
};

constexpr size_t kFloorDivRuleCount = std::size(kFloorDivRules);
constexpr size_t kModRuleCount = std::size(kModRules);
Counter floor_div_counts[kFloorDivRuleCount], mod_counts[kModRuleCount];

// What the first rule that applies makes of it.
std::optional<Expr> first_of(std::span<const DivisionRow> rules,
                             Counter* counts, Division& division) {
  for (size_t i = 0; i < rules.size(); ++i) {
    auto result = rules[i].apply(division);
    if (!result) continue;
    counts[i].add();
    return result;
  }
  return std::nullopt;
}

}  // namespace

std::vector<DivisionRuleCount> division_rule_counts() {
  std::vector<DivisionRuleCount> all;
  for (size_t i = 0; i < kFloorDivRuleCount; ++i) {
    all.push_back({kFloorDivRules[i].rule, floor_div_counts[i].count()});
  }
  for (size_t i = 0; i < kModRuleCount; ++i) {
    all.push_back({kModRules[i].rule, mod_counts[i].count()});
  }
  return all;
}

Expr Simplifier::floor_div(const Polynomial& a, const Polynomial& b) {
  if (!b.is_zero()) {
    Division division{*this, a, b};
    if (auto result = first_of(kFloorDivRules, floor_div_counts, division)) {
      return *result;
    }
  }
  return pool_.make(Op::kFloorDiv, {expr(a), expr(b)});
}

Expr Simplifier::mod(const Polynomial& a, const Polynomial& b) {
  if (!b.is_zero()) {
    Division division{*this, a, b};
    if (auto result = first_of(kModRules, mod_counts, division)) {
      return *result;
    }
  }
  return pool_.make(Op::kMod, {expr(a), expr(b)});
}

// ---- Min and Max

Expr Simplifier::extremum(Op op, Args args) {
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

Expr Simplifier::decided(Expr condition) {
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
Expr Simplifier::render_nonneg(const Polynomial& p) {
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

Expr Simplifier::render_zero(const Polynomial& p) {
  auto [positive, negative, c] = sides_of(p);
  bool left = c.sign() > 0 && !negative.is_zero();
  if (left) {
    positive.add({}, c);
  } else {
    negative.add({}, -c);
  }
  return pool_.make(Op::kEq, {expr(positive), expr(negative)});
}

Expr Simplifier::nonneg(const Polynomial& p) {
  if (p.is_constant()) return boolean(p.constant().sign() >= 0);
  Polynomial tight = over(p, p.content());  // the constant rounds down
  if (known_nonneg(tight)) return boolean(true);
  auto high = upper(tight);
  if (high && high->sign() < 0) return boolean(false);
  return decided(render_nonneg(tight));
}

Expr Simplifier::is_zero(const Polynomial& p) {
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
std::optional<Ratio> Simplifier::ratio(Expr e, int depth) {
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

Expr Simplifier::relation(Op op, Expr a, Expr b) {
  if (op == Op::kNe) return negate(relation(Op::kEq, a, b));
  if (a.is_bool()) {
    if (a == b) return boolean(true);
    if (a.is_constant()) std::swap(a, b);
    if (b.is_constant()) return b.is_true() ? a : negate(a);
    if (compare(b, a) < 0) std::swap(a, b);
    return decided(pool_.make(Op::kEq, {a, b}));
  }
  auto x = ratio(a), y = ratio(b);
  if (x && y) {
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

Expr Simplifier::negate(Expr e) {
  if (e.is_constant()) return boolean(!e.is_true());
  if (auto it = opposites_.find(e.id()); it != opposites_.end()) {
    return it->second;
  }
  Expr result = opposite(e);
  opposites_.emplace(e.id(), result);
  return result;
}

Expr Simplifier::opposite(Expr e) {
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

Expr Simplifier::junction(Op op, Args args) {
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
  for (Expr part : parts) {
    Expr opposite = negate(part);
    if (std::find(parts.begin(), parts.end(), opposite) != parts.end()) {
      return boolean(absorbing);
    }
  }
  if (parts.empty()) return boolean(!absorbing);
  return parts.size() == 1 ? parts[0] : pool_.make(op, parts);
}

Expr Simplifier::where(Expr condition, Expr then, Expr otherwise) {
  if (condition.is_constant()) return condition.is_true() ? then : otherwise;
  if (then == otherwise) return then;
  if (then.is_bool() && then.is_constant() && otherwise.is_constant()) {
    return then.is_true() ? condition : negate(condition);
  }
  return pool_.make(Op::kWhere, {condition, then, otherwise});
}

// ---- the rest of arithmetic

Expr Simplifier::absolute(Expr a) {
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

// Float sums and products: flat, constants folded, arguments sorted.
Expr Simplifier::float_sum(Op op, Args args) {
  const bool sum = op == Op::kAdd;
  Rational constant(sum ? 0 : 1);
  std::vector<Expr> parts;
  auto take = [&](Expr e) {
    if (!e.is_constant()) {
      parts.push_back(e);
      return;
    }
    Rational value = e.is(Op::kInteger) ? Rational(e.integer()) : e.rational();
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
Expr Simplifier::round(Op op, Expr a) {
  if (op == Op::kTruncToFloat) return pool_.make(op, {a});
  auto r = ratio(a);
  if (!r) return pool_.make(op, {a});
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

Expr Simplifier::bits(Op op, Expr a, Expr b) {
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

Expr Simplifier::power(Expr base, Expr exponent) {
  Expr raw = pool_.make(Op::kPow, {base, exponent});
  if (raw.is_int()) return expr(to_polynomial(raw));
  if (exponent.is(Op::kInteger) && exponent.integer().is_one()) return base;
  return raw;
}

Expr Simplifier::true_divide(Op op, Expr a, Expr b) {
  bool by_one =
      b.is_constant() &&
      (b.is(Op::kInteger) ? b.integer().is_one() : b.rational() == Rational(1));
  if (!by_one) return pool_.make(op, {a, b});
  return a.is_float() ? a : pool_.make(Op::kToFloat, {a});
}

// An operator on constants alone is its value, where that is exact.
std::optional<Expr> Simplifier::fold_constants(Expr raw) {
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

Expr Simplifier::build(Op op, Args args) {
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

Expr Simplifier::canonical(Expr e) const {
  const auto& memo = facts_ ? memo_ : PoolStores::simplify_memo(pool_);
  auto it = memo.find(e.id());
  return it == memo.end() ? e : it->second;
}

// Arguments first, on a stack of its own: depth is not the machine's concern.
Expr Simplifier::run(Expr e) {
  visit_arguments_first(
      e, [this](Expr x) { return is_leaf(x.op()) || memo().contains(x.id()); },
      [this](Expr x) { rewrite(x); });
  return canonical(e);
}

// Of an expression whose arguments have been looked at.
Expr Simplifier::rewrite(Expr e) {
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

using internal::Simplifier;

// e as it is where this takes more than kSimplifyUnits; what an outer budget
// ends is its owner's to catch.
Expr run_within_budget(Simplifier simplifier, Expr e) {
  try {
    Budget budget(kSimplifyUnits);
    return simplifier.run(e);
  } catch (const OutOfBudget&) {
    Budget::check();
    return Expr();
  }
}

}  // namespace

Expr simplify(Expr e) {
  if (is_leaf(not_null(e, "simplify").op())) return e;
  auto& memo = PoolStores::simplify_memo(e.pool());
  if (auto it = memo.find(e.id()); it != memo.end()) return it->second;
  Expr result = run_within_budget(Simplifier(e.pool(), nullptr), e);
  if (result) return result;
  memo.insert_or_assign(e.id(), e);
  return e;
}

Expr simplify(Expr e, const Facts& facts) {
  // Structure first: its memo lasts, and facts then see the short form.
  Expr plain = simplify(e);
  Expr result = run_within_budget(Simplifier(e.pool(), &facts), plain);
  return result ? result : plain;
}

}  // namespace proviso::inline v0_2
