// solver/form_ring.h - the solver's polynomials as a ring: what
// sym/polynomial_ring.h computes of polynomials, of those of a FormPool.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "solver/form.h"
#include "sym/polynomial_ring.h"

namespace proviso::inline v0_2::internal {

struct FormRing {
  using Poly = internal::Poly;
  using Monomial = MonoId;
  using Factors = internal::Factors;
  struct Floor {  // whose parts are interned
    const Poly& num;
    const Poly& den;
  };

  FormPool& forms;

  template <typename F>
  static bool each(const Poly& p, F f) {
    for (const Term& t : p.terms) {
      if (!f(t.mono, t.coef)) return false;
    }
    return p.constant.is_zero() || f(MonoId{0}, p.constant);
  }
  static size_t size(const Poly& p) {
    return p.terms.size() + (p.constant.is_zero() ? 0 : 1);
  }
  static const Int& constant(const Poly& p) { return p.constant; }
  static Poly number(const Int& k) { return FormPool::constant(k); }
  static bool is_one(MonoId m) { return m == 0; }
  static void append(Poly& p, MonoId m, const Int& c) {
    FormPool::append(p, m, c);
  }
  static void settle(Poly& p) { FormPool::merge_terms(p); }

  const Factors& factors(MonoId m) const { return forms.factors(m); }
  MonoId monomial(const Factors& f) const { return forms.mono(f); }
  Factors common(const Factors& f, MonoId m) const {
    const Factors& others = forms.factors(m);
    Factors both;
    std::set_intersection(f.begin(), f.end(), others.begin(), others.end(),
                          std::back_inserter(both));
    return both;
  }
  MonoId product(MonoId m, MonoId n) const { return forms.product(m, n); }
  std::optional<MonoId> quotient(MonoId m, MonoId n) const {
    const MonoId q = forms.quotient(m, n);
    return q == kNoId ? std::nullopt : std::optional(q);
  }
  std::pair<MonoId, Int> leading(const Poly& p) const {
    if (p.terms.empty()) return {0, p.constant};
    const Term& t = forms.leading(p);
    return {t.mono, t.coef};
  }
  Poly scaled(const Poly& p, const Int& k) const { return forms.scale(p, k); }
  Poly add(const Poly& p, const Poly& q, const Int& k) const {
    return forms.add(p, q, k);
  }
  Poly mul(const Poly& p, const Poly& q) const { return forms.mul(p, q); }
  Poly times(const Poly& p, MonoId m, const Int& c) const {
    return forms.mul(forms.monomial(m, c), p);
  }
  std::optional<Floor> as_floor(MonoId m) const {
    const AtomId a = forms.single(m);
    if (a == kNoId || forms.atom(a).kind != AtomKind::kFloor) return {};
    return Floor{forms.poly(forms.atom(a).a), forms.poly(forms.atom(a).b)};
  }
};

}  // namespace proviso::inline v0_2::internal
