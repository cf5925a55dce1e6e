#include "solver/normal/quotients.h"

#include <algorithm>
#include <iterator>

#include "solver/limits.h"

namespace proviso {

bool Quotients::is_nonzero(const Poly& p, Reason& why) {
  const Decision nonzero = literals_.is_nonzero(p);
  if (nonzero.value != true) return false;
  why = join(why, nonzero.why);
  return true;
}

// floor(f*a / (f*b)) == floor(a/b) for f != 0.
bool Quotients::cancel_common(Poly& num, Poly& den, Reason& why) {
  if (!num.constant.is_zero() || !den.constant.is_zero()) return false;
  if (num.terms.empty() || den.terms.empty()) return false;
  Factors common = forms_.factors(num.terms[0].mono);
  for (const Poly* p : {&num, &den}) {
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
    if (!is_nonzero(forms_.variable(a), why)) continue;
    any = true;
    for (Poly* p : {&num, &den}) {
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

// Whether 0 <= num < den, by more than ranges.
bool Quotients::is_remainder(const Poly& num, const Poly& den, Reason& why) {
  Reason both = why;
  Poly room = forms_.sub(den, num);
  room.constant -= 1;
  if (!prover_->is_nonnegative(num, both)) return false;
  if (!prover_->is_nonnegative(room, both)) return false;
  why = both;
  return true;
}

// floor((floor(x/m) + e) / d) == floor((x + m*e) / (m*d)) for d > 0, also where
// m < 0: the inner floor only drops what is less than one d-th.
bool Quotients::merge_nested(Poly& num, Poly& den, Reason& why) {
  if (num.terms.size() > limits().quotient_terms) return false;
  const Range divisor = ranges_.of(den);
  if (!at_least(divisor, 1)) return false;
  for (const Term& t : num.terms) {
    const AtomId f = forms_.single(t.mono);
    if (!t.coef.is_one() || f == kNoId) continue;
    const Atom& inner = forms_.atom(f);
    if (inner.kind != AtomKind::kFloor) continue;
    const Poly &x = forms_.poly(inner.a), &m = forms_.poly(inner.b);
    const Poly rest = forms_.sub(num, forms_.monomial(t.mono, 1));
    state_.meter.spend(x.terms.size() +
                       m.terms.size() * (rest.terms.size() + 1));
    num = forms_.add(x, forms_.mul(m, rest));
    den = forms_.mul(m, den);
    why = join(why, divisor.lower);
    return true;
  }
  return false;
}

// a/(k*a) is 1/k where a != 0.
void Quotients::cancel_numerator(Poly& num, Poly& den, Reason& why) {
  state_.meter.spend(den.terms.size() + num.terms.size());
  const std::optional<Poly> k = forms_.exact_quotient(den, num);
  if (!k) return;
  if (!is_nonzero(num, why)) return;
  num = Poly();
  num.constant = 1;
  den = *k;
}

void Quotients::cancel_content(Poly& num, Poly& den) {
  const Int g =
      gcd(gcd(num.content(), num.constant), gcd(den.content(), den.constant));
  if (g.is_one() || g.is_zero()) return;
  num = FormPool::over(num, g);
  den = FormPool::over(den, g);
}

// q where num == q*den, a sum.
std::optional<Poly> Quotients::exact(const Poly& num, const Poly& den,
                                     Reason& why) {
  const bool is_sum =
      den.terms.size() > 1 || (!den.is_constant() && !den.constant.is_zero());
  if (!is_sum) return std::nullopt;
  state_.meter.spend(den.terms.size() + num.terms.size());
  std::optional<Poly> q = forms_.exact_quotient(num, den);
  return q && is_nonzero(den, why) ? std::move(q) : std::nullopt;
}

// Takes t out of floor((den*t + r) / den): leaves r in num, returns t.
Poly Quotients::pull_out(Poly& num, const Poly& den, Reason& why) {
  Poly rest = num;
  Poly multiples = multiples_in(rest, den);
  if (multiples.is_zero() || !is_nonzero(den, why)) return {};
  num = std::move(rest);
  return multiples;
}

// 0 where 0 <= num < den, -1 where -den <= num < 0.
std::optional<Int> Quotients::by_range(const Poly& num, const Poly& den,
                                       Reason& why) {
  const Range n = ranges_.of(num);
  if (n.span.is_empty()) return std::nullopt;
  if (at_least(n, 0)) {
    Poly room = forms_.sub(den, num);
    room.constant -= 1;
    const Range r = ranges_.of(room);
    if (!at_least(r, 0)) return std::nullopt;
    why = join(why, join(n.lower, r.lower));
    return Int(0);
  }
  if (!at_most(n, -1)) return std::nullopt;
  const Range r = ranges_.of(forms_.add(den, num));
  if (!at_least(r, 0)) return std::nullopt;
  why = join(why, join(n.upper, r.lower));
  return Int(-1);
}

// Of a floor without anything to take out, by the ranges of both parts.
std::optional<Poly> Quotients::constant_value(const Poly& quotient,
                                              Reason& why) {
  const std::optional<AtomId> atom = forms_.as_atom(quotient);
  if (!atom || forms_.atom(*atom).kind != AtomKind::kFloor) return {};
  const Poly& num = forms_.poly(forms_.atom(*atom).a);
  const Poly& den = forms_.poly(forms_.atom(*atom).b);
  const Range r = proviso::quotient(reasons_, ranges_.of(num), ranges_.of(den));
  if (!r.span.is_point() || !is_nonzero(den, why)) return {};
  why = join(why, join(r.lower, r.upper));
  return FormPool::constant(*r.span.lower());
}

Poly Quotients::quotient(Poly num, Poly den, Reason& why) {
  Poly outside;
  if (!den.is_constant()) {
    cancel_common(num, den, why);
    cancel_content(num, den);
  }
  if (std::optional<Poly> q = exact(num, den, why)) return *std::move(q);
  if (!num.is_constant() && den.terms.size() > 1) {
    cancel_numerator(num, den, why);
  }
  if (!den.is_constant()) {
    outside = pull_out(num, den, why);
    if (const std::optional<Int> q = by_range(num, den, why)) {
      outside.constant += *q;
      return outside;
    }
  }
  if (has_prover()) {
    if (const auto known = prover_->known_quotient(num, den, why)) {
      outside.constant += *known;
      return outside;
    }
    if (!den.is_constant() && is_remainder(num, den, why)) return outside;
    if (merge_nested(num, den, why)) {
      return forms_.add(outside, quotient(num, den, why));
    }
  }
  if (num.is_zero() && !den.is_zero() && is_nonzero(den, why)) return outside;
  Poly q = forms_.floor_div(num, den);
  if (std::optional<Poly> value = constant_value(q, why)) q = *std::move(value);
  return forms_.add(outside, q);
}

}  // namespace proviso
