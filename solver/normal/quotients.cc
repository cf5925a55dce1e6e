#include "solver/normal/quotients.h"

#include <algorithm>
#include <iterator>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {

bool Quotients::is_nonzero(const Poly& p, Reason& why) {
  const Decision nonzero = literals_.is_nonzero(p);
  if (nonzero.value != true) return false;
  why = join(why, nonzero.why);
  return true;
}

// (f*a) // (f*b) -> a // b for f != 0.
bool Quotients::cancel_factor(Division& d) {
  if (!d.num.constant.is_zero() || !d.den.constant.is_zero()) return false;
  if (d.num.terms.empty() || d.den.terms.empty()) return false;
  Factors common = forms_.factors(d.num.terms[0].mono);
  for (const Poly* p : {&d.num, &d.den}) {
    for (const Term& t : p->terms) {
      const Factors& f = forms_.factors(t.mono);
      Factors both;
      std::set_intersection(common.begin(), common.end(), f.begin(), f.end(),
                            std::back_inserter(both));
      common = std::move(both);
    }
  }
  bool any = false;
  for (AtomId a : common) {
    if (!is_nonzero(forms_.variable(a), d.why)) continue;
    any = true;
    for (Poly* p : {&d.num, &d.den}) {
      Poly reduced;
      for (const Term& t : p->terms) {
        FormPool::append(reduced, forms_.quotient(t.mono, forms_.mono(a)),
                         t.coef);
      }
      FormPool::merge_terms(reduced);
      *p = std::move(reduced);
    }
  }
  return any;
}

// (g*a) // (g*b) -> a // b for numbers g.
bool Quotients::cancel_content(Division& d) {
  if (d.den.is_constant()) return false;
  const Int g = gcd(gcd(d.num.content(), d.num.constant),
                    gcd(d.den.content(), d.den.constant));
  if (g.is_one() || g.is_zero()) return false;
  d.num = FormPool::over(d.num, g);
  d.den = FormPool::over(d.den, g);
  return true;
}

// (b*t) // b -> t for a sum b that is not 0.
bool Quotients::take_exact(Division& d) {
  const bool is_sum = d.den.terms.size() > 1 ||
                      (!d.den.is_constant() && !d.den.constant.is_zero());
  if (!is_sum) return false;
  state_.meter.spend(d.den.terms.size() + d.num.terms.size());
  const std::optional<Poly> q = forms_.exact_quotient(d.num, d.den);
  if (!q || !is_nonzero(d.den, d.why)) return false;
  d.outside = forms_.add(d.outside, *q);
  d.is_done = true;
  return true;
}

// a // (k*a) -> 1 // k for a != 0.
bool Quotients::cancel_numerator(Division& d) {
  if (d.num.is_constant() || d.den.terms.size() < 2) return false;
  state_.meter.spend(d.den.terms.size() + d.num.terms.size());
  const std::optional<Poly> k = forms_.exact_quotient(d.den, d.num);
  if (!k || !is_nonzero(d.num, d.why)) return false;
  d.num = FormPool::constant(1);
  d.den = *k;
  return true;
}

// The t of num == den*t + r, term by term; num is then r.
Poly Quotients::multiples_in(Poly& num, const Poly& den) {
  Poly outside;
  if (den.terms.empty()) return outside;
  // The leading term: of highest degree, then the oldest.
  const Term* lead = &den.terms[0];
  for (const Term& t : den.terms) {
    if (forms_.factors(t.mono).size() > forms_.factors(lead->mono).size()) {
      lead = &t;
    }
  }
  bool single = den.terms.size() == 1 && den.constant.is_zero();
  for (size_t i = 0; i < num.terms.size();) {
    Term t = num.terms[i++];
    const MonoId q = forms_.quotient(t.mono, lead->mono);
    if (q == kNoId) continue;
    Int c = floor_div(t.coef, lead->coef);
    if (c.is_zero()) continue;
    Poly times = forms_.monomial(q, c);
    Poly next = forms_.sub(num, forms_.mul(times, den));
    if (!single && next.terms.size() >= num.terms.size()) continue;
    state_.meter.spend(den.terms.size() + num.terms.size());
    outside = forms_.add(outside, times);
    num = std::move(next);
    i = 0;
    if (outside.terms.size() > 64) break;
  }
  return outside;
}

// (b*t + r) // b -> t + r // b for b != 0.
bool Quotients::pull_out_multiples(Division& d) {
  if (d.den.is_constant()) return false;
  Poly rest = d.num;
  const Poly multiples = multiples_in(rest, d.den);
  if (multiples.is_zero() || !is_nonzero(d.den, d.why)) return false;
  d.num = std::move(rest);
  d.outside = forms_.add(d.outside, multiples);
  return true;
}

// r // b -> 0 for 0 <= r < b, -1 for -b <= r < 0.
bool Quotients::bound_by_range(Division& d) {
  if (d.den.is_constant()) return false;
  const Range n = ranges_.of(d.num);
  if (n.span.is_empty()) return false;
  if (at_least(n, 0)) {
    Poly room = forms_.sub(d.den, d.num);
    room.constant -= 1;
    const Range r = ranges_.of(room);
    if (!at_least(r, 0)) return false;
    d.why = join(d.why, join(n.lower, r.lower));
  } else {
    if (!at_most(n, -1)) return false;
    const Range r = ranges_.of(forms_.add(d.den, d.num));
    if (!at_least(r, 0)) return false;
    d.why = join(d.why, join(n.upper, r.lower));
    d.outside.constant -= 1;
  }
  d.is_done = true;
  return true;
}

// a // b -> p // q where equalities say a*q == b*p.
bool Quotients::take_known_ratio(Division& d) {
  if (!has_prover()) return false;
  const auto known = prover_->known_quotient(d.num, d.den, d.why);
  if (!known) return false;
  d.outside.constant += *known;
  d.is_done = true;
  return true;
}

// r // b -> 0 for 0 <= r < b, by more than ranges.
bool Quotients::bound_by_proof(Division& d) {
  if (!has_prover() || d.den.is_constant()) return false;
  Reason both = d.why;
  Poly room = forms_.sub(d.den, d.num);
  room.constant -= 1;
  if (!prover_->is_nonnegative(d.num, both)) return false;
  if (!prover_->is_nonnegative(room, both)) return false;
  d.why = both;
  d.is_done = true;
  return true;
}

// (x//m + e) // b -> (x + m*e) // (m*b) for b > 0, also where m < 0: the inner
// floor only drops what is less than one b-th.
bool Quotients::merge_nested(Division& d) {
  if (!has_prover()) return false;
  if (d.num.terms.size() > limits().quotient_terms) return false;
  const Range divisor = ranges_.of(d.den);
  if (!at_least(divisor, 1)) return false;
  for (const Term& t : d.num.terms) {
    const AtomId f = forms_.single(t.mono);
    if (!t.coef.is_one() || f == kNoId) continue;
    const Atom& inner = forms_.atom(f);
    if (inner.kind != AtomKind::kFloor) continue;
    const Poly &x = forms_.poly(inner.a), &m = forms_.poly(inner.b);
    const Poly rest = forms_.sub(d.num, forms_.monomial(t.mono, 1));
    state_.meter.spend(x.terms.size() +
                       m.terms.size() * (rest.terms.size() + 1));
    d.num = forms_.add(x, forms_.mul(m, rest));
    d.den = forms_.mul(m, d.den);
    d.why = join(d.why, divisor.lower);
    return true;
  }
  return false;
}

// 0 // b -> 0 for b != 0.
bool Quotients::drop_zero(Division& d) {
  if (!d.num.is_zero() || d.den.is_zero()) return false;
  d.is_done = is_nonzero(d.den, d.why);
  return d.is_done;
}

struct Quotients::Row {
  internal::DivisionRule rule;
  bool (Quotients::*apply)(Division&);
  bool begins_anew = false;  // the rules before it may apply again
};

constexpr Quotients::Row Quotients::kRules[] = {
    {{"cancel_factor", "(f*a)//(f*b)", "a//b", "Ne(f, 0)", "(x*z)//(y*z)",
      "(x*z)//(y*w)", "y in [1, 9]; z in [1, 9]; w in [1, 9]"},
     &Quotients::cancel_factor},
    {{"cancel_content", "(g*a)//(g*b)", "a//b", "g > 0", "(2*x)//(4*y)",
      "(2*x)//(3*y)", "y in [1, 9]"},
     &Quotients::cancel_content},
    {{"exact", "(b*t)//b", "t", "Ne(b, 0)", "(x*x - y*y)//(x + y)",
      "(x*x + y*y)//(x + y)", "x in [1, 9]; y in [1, 9]"},
     &Quotients::take_exact},
    {{"cancel_numerator", "a//(k*a)", "1//k", "Ne(a, 0)",
      "(x + y)//(x*x + 2*x*y + y*y)", "(x + 2*y)//(x*x + 2*x*y + y*y)",
      "x in [1, 9]; y in [1, 9]"},
     &Quotients::cancel_numerator},
    {{"pull_out_multiples", "(b*t + r)//b", "t + r//b", "Ne(b, 0)",
      "(x*y + z)//y", "(x*x + z)//y", "y in [1, 9]"},
     &Quotients::pull_out_multiples},
    {{"bound_by_range", "r//b", "Where(r >= 0, 0, -1)", "(-b <= r) & (r < b)",
      "x//y", "z//y", "x in [0, 3]; y in [4, 9]; z in [0, 4]"},
     &Quotients::bound_by_range},
    {{"known_ratio", "a//b", "p//q", "Eq(a*q, b*p) & Ne(q, 0)", "(x*y)//(z*w)",
      "(x*y)//(z*z)",
      "x in [1, int_oo]; y in [1, int_oo]; z in [1, int_oo]; "
      "w in [1, int_oo]; Eq(x*y, 2*v*w); Eq(v, z)"},
     &Quotients::take_known_ratio},
    {{"bound_by_proof", "r//b", "0", "(0 <= r) & (r < b)", "(x*y + z)//(w*y)",
      "(x*y + z)//(w*w)",
      "x in [0, int_oo]; y in [1, int_oo]; z in [0, int_oo]; "
      "w in [1, int_oo]; z < y; x < w"},
     &Quotients::bound_by_proof},
    {{"merge_nested", "(x//m + e)//b", "(x + m*e)//(m*b)", "b > 0", "(x//y)//z",
      "(2*(x//y))//z", "y in [1, int_oo]; z in [1, int_oo]"},
     &Quotients::merge_nested,
     true},
    {{"zero_numerator", "0//b", "0", "Ne(b, 0)", "(x - y)//z", "(x - w)//z",
      "Ne(z, 0); Eq(x, y)"},
     &Quotients::drop_zero},
};

namespace {
constexpr size_t kMaxRules = 16;
internal::Counter rule_counts[kMaxRules];
}  // namespace

std::vector<internal::DivisionRuleCount> quotient_rule_counts() {
  std::vector<internal::DivisionRuleCount> all;
  for (const auto& row : Quotients::kRules) {
    all.push_back({row.rule, rule_counts[all.size()].count()});
  }
  return all;
}

// Of a floor without anything to take out, by the ranges of both parts.
std::optional<Poly> Quotients::constant_value(const Poly& quotient,
                                              Reason& why) {
  const std::optional<AtomId> atom = forms_.as_atom(quotient);
  if (!atom || forms_.atom(*atom).kind != AtomKind::kFloor) return {};
  const Poly& num = forms_.poly(forms_.atom(*atom).a);
  const Poly& den = forms_.poly(forms_.atom(*atom).b);
  const Range r =
      internal::quotient(reasons_, ranges_.of(num), ranges_.of(den));
  if (!r.span.is_point() || !is_nonzero(den, why)) return {};
  why = join(why, join(r.lower, r.upper));
  return FormPool::constant(*r.span.lower());
}

Poly Quotients::quotient(Poly num, Poly den, Reason& why) {
  static_assert(std::size(kRules) <= kMaxRules);
  Division d{
      .outside = {}, .num = std::move(num), .den = std::move(den), .why = why};
  for (size_t i = 0; i < std::size(kRules) && !d.is_done;) {
    const bool fires = (this->*kRules[i].apply)(d);
    if (fires) rule_counts[i].add();
    i = fires && kRules[i].begins_anew ? 0 : i + 1;
  }
  why = d.why;
  if (d.is_done) return std::move(d.outside);
  Poly q = forms_.floor_div(d.num, d.den);
  if (std::optional<Poly> value = constant_value(q, why)) q = *std::move(value);
  return forms_.add(d.outside, q);
}

}  // namespace proviso::inline v0_2::internal
