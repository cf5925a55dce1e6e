// The rules come one after another and their table last; quotient() runs it.
//
//   (m*i + m + j) // m, 0 <= j < m
//     pull_out_terms     i + 1, and j // m is left
//     bound_by_range     0: m - j - 1 and j are not negative
//
// A rule costs the terms of the two polynomials, and what it asks: whether a
// divisor is 0, a range, or, with a prover, a proof.
#include "solver/normal/quotients.h"

#include "solver/forms/form_ring.h"
#include "solver/limits_in_force.h"
#include "sym/division.h"

namespace proviso::inline v0_2::internal {

bool Quotients::is_nonzero(const Poly& p, Reason& why) {
  const Decision nonzero = literals_.is_nonzero(p);
  if (nonzero.value != true) return false;
  why = join(why, nonzero.why);
  return true;
}

// outside + floor(num / den); once done, outside alone.
struct Quotients::Division {
  using Ring = FormRing;
  static constexpr bool kWholeCoefficients = false;

  Quotients& within;
  FormRing ring;
  Poly outside, num, den;
  Reason why = 0;
  Reason divisor_why = 0;  // that den > 0, where merges() found so
  bool is_done = false;

  void take_out(const Poly& q) { outside = outside + q; }
  static void take_factor(const Factors&, const Int&, const Int&) {}
  void finish() { is_done = true; }
  bool is_nonzero(const Poly& p) { return within.is_nonzero(p, why); }
  bool is_nonzero_atom(AtomId a) {
    return within.is_nonzero(variable(ring.terms, a), why);
  }
  bool merges() {
    if (!within.has_prover()) return false;
    if (num.terms.size() > limits().merged_floor_terms) return false;
    const Range divisor = within.ranges_.of(den);
    divisor_why = divisor.lower;
    return at_least(divisor, 1);
  }
  bool merges(const Poly&) {
    why = within.join(why, divisor_why);
    return true;
  }
  void spend(size_t terms) { within.state_.meter.spend(terms); }

  static bool cancel_numerator(Division& d);
  static bool bound_by_remainder(Division& d);
  static bool pull_out_sums(Division& d);
  static bool bound_by_range(Division& d);
  static bool take_known_ratio(Division& d);
  static bool bound_by_proof(Division& d);
  static auto& rules();
};

// a // (k*a) -> 1 // k for a != 0.
bool Quotients::Division::cancel_numerator(Division& d) {
  if (d.num.is_constant() || d.den.terms.size() < 2) return false;
  d.spend(d.den.terms.size() + d.num.terms.size());
  const std::optional<Poly> k = exact_quotient_of(d.ring, d.den, d.num);
  if (!k || !d.is_nonzero(d.num)) return false;
  d.num = Poly::number(1);
  d.den = *k;
  return true;
}

namespace {

std::optional<Int> whole_ratio(const Int& a, const Int& b) {
  if (!floor_mod(a, b).is_zero()) return std::nullopt;
  return floor_div(a, b);
}

// The number k with p == k*q; q has a term.
std::optional<Int> multiple_of(const Poly& p, const Poly& q) {
  if (p.is_zero()) return Int(0);
  if (p.terms.size() != q.terms.size()) return std::nullopt;
  const auto k = whole_ratio(p.terms[0].coef, q.terms[0].coef);
  if (!k || p != q * *k) return std::nullopt;
  return k;
}

}  // namespace

// (c*(x % b) + j*b) // (d*b) -> j//d where no remainder reaches the next
// multiple, whatever the sign of b: it is (j + c*f)//d for a fraction f in [0,
// 1).
bool Quotients::Division::bound_by_remainder(Division& d) {
  if (d.den.is_constant()) return false;
  TermPool& terms = d.ring.terms;
  for (const Term& t : d.num.terms) {
    for (AtomId a : terms.monomials.factors(t.mono)) {
      if (terms.atoms[a].kind != AtomKind::kFloor) continue;
      const Poly& x = terms.polys[terms.atoms[a].a];
      const Poly& b = terms.polys[terms.atoms[a].b];
      if (b.is_constant()) continue;
      const Term& lead = leading(terms, b);
      if (terms.monomials.quotient(t.mono, terms.monomials.of(a)) != lead.mono)
        continue;
      d.spend(d.num.terms.size() + b.terms.size());
      const std::optional<Int> c = whole_ratio(-t.coef, lead.coef);
      const std::optional<Int> k = multiple_of(d.den, b);
      if (!c || !k || c->sign() <= 0 || k->sign() <= 0) continue;
      const Poly remainder = x - mul(terms, b, variable(terms, a));
      const std::optional<Int> j = multiple_of(add(d.num, remainder, -*c), b);
      if (!j || floor_div(*j, *k) != floor_div(*j + *c - 1, *k)) continue;
      if (!d.is_nonzero(b)) continue;
      d.take_out(Poly::number(floor_div(*j, *k)));
      d.finish();
      return true;
    }
  }
  return false;
}

// (b*t + r) // b -> t + r // b for sums b, where that leaves fewer terms.
bool Quotients::Division::pull_out_sums(Division& d) {
  if (d.den.is_constant() || d.ring.size(d.den) < 2) return false;
  TermPool& terms = d.ring.terms;
  // The leading term: of highest degree, then the oldest.
  const Term* lead = &d.den.terms[0];
  for (const Term& t : d.den.terms) {
    if (terms.monomials.factors(t.mono).size() >
        terms.monomials.factors(lead->mono).size()) {
      lead = &t;
    }
  }
  Poly rest = d.num, multiples;
  for (size_t i = 0; i < rest.terms.size();) {
    const Term t = rest.terms[i++];
    const MonoId q = terms.monomials.quotient(t.mono, lead->mono);
    if (q == kNoId) continue;
    const Int c = floor_div(t.coef, lead->coef);
    if (c.is_zero()) continue;
    const Poly times = Poly::term(q, c);
    Poly next = rest - mul(terms, times, d.den);
    if (next.terms.size() >= rest.terms.size()) continue;
    d.spend(d.den.terms.size() + rest.terms.size());
    multiples = multiples + times;
    rest = std::move(next);
    i = 0;
    if (multiples.terms.size() > limits().pulled_terms) break;
  }
  if (multiples.is_zero() || !d.is_nonzero(d.den)) return false;
  d.num = std::move(rest);
  d.take_out(multiples);
  return true;
}

// r // b -> 0 for 0 <= r < b, -1 for -b <= r < 0.
bool Quotients::Division::bound_by_range(Division& d) {
  if (d.den.is_constant()) return false;
  Ranges& ranges = d.within.ranges_;
  const Range n = ranges.of(d.num);
  if (n.span.is_empty()) return false;
  if (at_least(n, 0)) {
    Poly room = d.den - d.num;
    room.constant -= 1;
    const Range r = ranges.of(room);
    if (!at_least(r, 0)) return false;
    d.why = d.within.join(d.why, d.within.join(n.lower, r.lower));
  } else {
    if (!at_most(n, -1)) return false;
    const Range r = ranges.of(d.den + d.num);
    if (!at_least(r, 0)) return false;
    d.why = d.within.join(d.why, d.within.join(n.upper, r.lower));
    d.outside.constant -= 1;
  }
  d.is_done = true;
  return true;
}

// a // b -> p // q where equalities say a*q == b*p.
bool Quotients::Division::take_known_ratio(Division& d) {
  if (!d.within.has_prover()) return false;
  const auto known = d.within.prover_->known_quotient(d.num, d.den, d.why);
  if (!known) return false;
  d.outside.constant += *known;
  d.is_done = true;
  return true;
}

// r // b -> 0 for 0 <= r < b, by more than ranges.
bool Quotients::Division::bound_by_proof(Division& d) {
  if (!d.within.has_prover() || d.den.is_constant()) return false;
  QuotientProver& prover = *d.within.prover_;
  Reason both = d.why;
  Poly room = d.den - d.num;
  room.constant -= 1;
  if (!prover.is_nonnegative(d.num, both)) return false;
  if (!prover.is_nonnegative(room, both)) return false;
  d.why = both;
  d.is_done = true;
  return true;
}

auto& Quotients::Division::rules() {
  using D = Division;
  using namespace division;
  static constinit RuleTable table({
      RewriteRow<D>{kCancelFactor, cancel_factor<D>, Then::kNext},
      {kCancelContent, cancel_content<D>, Then::kNext},
      {kExact, exact<D>, Then::kNext},
      {{"cancel_numerator", "a//(k*a)", "1//k", "Ne(a, 0)",
        "(x + y)//(x*x + 2*x*y + y*y)", "(x + 2*y)//(x*x + 2*x*y + y*y)",
        "x in [1, 9]; y in [1, 9]"},
       cancel_numerator,
       Then::kNext},
      {{"bound_by_remainder", "(c*Mod(x, b) + j*b)//(d*b)", "j//d",
        "(c > 0) & (d > 0) & Eq(j//d, (j + c - 1)//d)", "Mod(x, y)//(2*y)",
        "(2*Mod(x, y))//y", "Ne(y, 0)"},
       bound_by_remainder,
       Then::kNext},
      {kPullOutTerms, pull_out_terms<D>, Then::kNext},
      {{"pull_out_sums", "(b*t + r)//b", "t + r//b", "Ne(b, 0)",
        "(x*y + x + z)//(y + 1)", "(x*y + z)//(y + 1)", "y in [1, 9]"},
       pull_out_sums,
       Then::kNext},
      {{"bound_by_range", "r//b", "Where(r >= 0, 0, -1)", "(-b <= r) & (r < b)",
        "x//y", "z//y", "x in [0, 3]; y in [4, 9]; z in [0, 4]"},
       bound_by_range,
       Then::kNext},
      {{"known_ratio", "a//b", "p//q", "Eq(a*q, b*p) & Ne(q, 0)",
        "(x*y)//(z*w)", "(x*y)//(z*z)",
        "x in [1, int_oo]; y in [1, int_oo]; z in [1, int_oo]; "
        "w in [1, int_oo]; Eq(x*y, 2*v*w); Eq(v, z)"},
       take_known_ratio,
       Then::kNext},
      {{"bound_by_proof", "r//b", "0", "(0 <= r) & (r < b)", "(x*y + z)//(w*y)",
        "(x*y + z)//(w*w)",
        "x in [0, int_oo]; y in [1, int_oo]; z in [0, int_oo]; "
        "w in [1, int_oo]; z < y; x < w"},
       bound_by_proof,
       Then::kNext},
      {with_examples(kMergeNested, "(x//y)//z", "(2*(x//y))//z",
                     "y in [1, int_oo]; z in [1, int_oo]"),
       merge_nested<D>},
      {kZeroNumerator, zero_numerator<D>, Then::kNext},
  });
  return table;
}

std::vector<RewriteRuleCount> quotient_rule_counts() {
  return Quotients::Division::rules().counts();
}

// The value of a floor that no rule shortens, where the ranges of its two parts
// leave one.
std::optional<Poly> Quotients::constant_value(const Poly& quotient,
                                              Reason& why) {
  const std::optional<AtomId> atom = as_atom(forms_, quotient);
  if (!atom || forms_.atoms[*atom].kind != AtomKind::kFloor) return {};
  const Poly& num = forms_.polys[forms_.atoms[*atom].a];
  const Poly& den = forms_.polys[forms_.atoms[*atom].b];
  const Range r =
      internal::quotient(reasons_, ranges_.of(num), ranges_.of(den));
  if (!r.span.is_point() || !is_nonzero(den, why)) return {};
  why = join(why, join(r.lower, r.upper));
  return Poly::number(*r.span.lower());
}

Poly Quotients::quotient(Poly num, Poly den, Reason& why) {
  Division d{.within = *this,
             .ring = FormRing(forms_),
             .outside = {},
             .num = std::move(num),
             .den = std::move(den),
             .why = why};
  Division::rules().run(d);
  why = d.why;
  if (d.is_done) return std::move(d.outside);
  Poly q = floor_div(forms_, d.num, d.den);
  if (std::optional<Poly> value = constant_value(q, why)) q = *std::move(value);
  return d.outside + q;
}

}  // namespace proviso::inline v0_2::internal
