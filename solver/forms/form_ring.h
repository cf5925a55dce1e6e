// solver/forms/form_ring.h - the solver's polynomials as a ring: what
// sym/polynomial_ring.h computes of polynomials, of those of a TermPool.
//
//   exact_quotient_of(FormRing{terms}, x*x - y*y, x + y)      x - y
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "solver/forms/operations.h"

namespace proviso::inline v0_2::internal {

struct FormRing : PolyTerms {
  using Factors = internal::Factors;
  struct Floor {  // whose parts are interned
    const Poly& num;
    const Poly& den;
  };

  TermPool& terms;

  explicit FormRing(TermPool& pool) : terms(pool) {}

  const Factors& factors(MonoId m) const { return terms.monomials.factors(m); }
  std::optional<AtomId> single(MonoId m) const {
    const AtomId a = terms.monomials.single(m);
    return a == kNoId ? std::nullopt : std::optional(a);
  }
  MonoId monomial(const Factors& f) const { return terms.monomials.of(f); }
  Factors common(const Factors& f, MonoId m) const {
    const Factors& others = factors(m);
    Factors both;
    std::set_intersection(f.begin(), f.end(), others.begin(), others.end(),
                          std::back_inserter(both));
    return both;
  }
  MonoId product(MonoId m, MonoId n) const {
    return terms.monomials.product(m, n);
  }
  std::optional<MonoId> quotient(MonoId m, MonoId n) const {
    const MonoId q = terms.monomials.quotient(m, n);
    return q == kNoId ? std::nullopt : std::optional(q);
  }
  std::pair<MonoId, Int> leading(const Poly& p) const {
    if (p.terms.empty()) return {0, p.constant};
    const Term& t = internal::leading(terms, p);
    return {t.mono, t.coef};
  }
  static Poly scaled(const Poly& p, const Int& k) { return p * k; }
  static Poly add(const Poly& p, const Poly& q, const Int& k) {
    return internal::add(p, q, k);
  }
  Poly mul(const Poly& p, const Poly& q) const {
    return internal::mul(terms, p, q);
  }
  Poly times(const Poly& p, MonoId m, const Int& c) const {
    return internal::mul(terms, Poly::term(m, c), p);
  }
  std::optional<Floor> as_floor(MonoId m) const {
    const AtomId a = terms.monomials.single(m);
    if (a == kNoId || terms.atoms[a].kind != AtomKind::kFloor) return {};
    return Floor{terms.polys[terms.atoms[a].a], terms.polys[terms.atoms[a].b]};
  }
};

}  // namespace proviso::inline v0_2::internal
