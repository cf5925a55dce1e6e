// solver/forms/poly.h - a polynomial as a value: a sum of coefficients times
// monomials, which are numbers.
//
//   Poly p = 3*x + y - 2               x, y: numbers of monomials
//   p.content()                        1: the gcd of 3 and 1
//   p - y                              3*x - 2
//   add(p, y, 4)                       3*x + 5*y - 2
//   over(p, 2)                         x - 1: each coefficient rounded down
//
// What a monomial is, only its pool knows (monomial_pool.h); a sum needs their
// order alone, which is that of their creation.  Sums cost their terms; what
// multiplies monomials is in operations.h.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sym/integer.h"
#include "sym/polynomial_ring.h"
#include "sym/small_vector.h"

namespace proviso::inline v0_2::internal {

using MonoId = uint32_t;  // 0 is the monomial 1

struct Term {
  MonoId mono;
  Int coef;  // not zero
  friend bool operator==(const Term&, const Term&) = default;
};

struct Poly {
  Int constant;
  SmallVector<Term, 4> terms;  // ascending mono, none is the monomial 1

  static Poly number(const Int& k) { return {k, {}}; }
  static Poly term(MonoId m, const Int& coef) {
    if (m == 0 || coef.is_zero()) return number(coef);
    return {0, {{m, coef}}};
  }

  bool is_constant() const { return terms.empty(); }
  bool is_zero() const { return terms.empty() && constant.is_zero(); }
  // Whether the first coefficient is below 0.
  bool leads_negative() const {
    return !terms.empty() && terms[0].coef.sign() < 0;
  }
  Int content() const;  // gcd of the coefficients, without the constant
  friend bool operator==(const Poly&, const Poly&) = default;
};

Poly add(const Poly& a, const Poly& b, const Int& k);  // a + k*b
Poly operator+(const Poly& a, const Poly& b);
Poly operator-(const Poly& a, const Poly& b);
Poly operator*(const Poly& p, const Int& k);
Poly operator-(const Poly& p);
Poly sum(const std::vector<Poly>& parts);
// p / k, each coefficient and the constant rounded down.
Poly over(const Poly& p, const Int& k);

// Adds coef * m, which merge_terms() then puts in its place.
void append(Poly& p, MonoId m, const Int& coef);
// Terms in order, each monomial once, none with 0.
void merge_terms(Poly& p);

// What sym/polynomial_ring.h asks of a polynomial alone; FormRing
// (form_ring.h) adds what it asks of monomials.
struct PolyTerms {
  using Poly = internal::Poly;
  using Monomial = MonoId;

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
  static Poly number(const Int& k) { return Poly::number(k); }
  static bool is_one(MonoId m) { return m == 0; }
  static int order(MonoId m, MonoId n) { return m < n ? -1 : m > n; }
  static void append(Poly& p, MonoId m, const Int& c) {
    internal::append(p, m, c);
  }
  static void sort_terms(Poly& p) { merge_terms(p); }
};

}  // namespace proviso::inline v0_2::internal
