// sym/polynomial_ring.h - what is computed of polynomials, whatever their
// monomials are.  Not for callers of the library.
//
// There are two kinds of polynomials.  Those of sym/polynomial.h have monomials
// of expressions, sorted as they are printed; they need no pool of their own,
// may be thrown away, and are what callers see.  Those of the solver
// (solver/forms/poly.h) have monomials that are numbers of a pool, in the order
// in which they were made: two are compared as integers and a product is looked
// up, by which a question takes microseconds.  Neither can be the other: a pool
// keeps all it has seen, which a search over forms of an expression cannot
// afford, and its order depends on what was asked before, which print and
// simplify must not.  solver/lower.h converts, expression by expression:
// Lowering there, to_expr() back.
//
// What is done to both is the same, and stands here once, over a Ring, which
// says what differs:
//
//   Poly, Monomial, Factors   Factors: the sorted atoms of a monomial
//   each(p, f)                calls f(monomial, coefficient) of each term, the
//                             constant being a term of the monomial 1, until f
//                             is false; whether it never was
//   size(p), constant(p), number(k)   the number of terms; the constant of p;
//                             k as a polynomial
//   order(m, n)               below 0 where m comes before n in a sum, 0 where
//                             they are one
//   scaled(p, k)              p*k
//   is_one(m)                 whether m is the monomial 1
//   append(p, m, c)           adds c*m; sort_terms(p) then puts all in order
//   factors(m), common(f, m)  the atoms of m; those of f that are in m too
//   single(m)                 the only atom of m, else nothing
//   monomial(f)               the product of atoms
//   product(m, n)             m*n
//   quotient(m, n)            m/n where n divides m, else nothing
//   leading(p)                a term that products respect: that of p*q is the
//                             product of p's and q's
//   add(p, q, k), times(p, m, c), mul(p, q)   p + k*q, p*c*m, p*q
//   as_floor(m)               the parts of the floor that m is, else nothing
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "sym/fixed_limits.h"
#include "sym/integer.h"
#include "sym/polynomial.h"
#include "sym/small_vector.h"

namespace proviso::inline v0_2::internal {

// The gcd of the coefficients, without the constant's; 0 of a constant.
template <typename Ring>
Int content_of(const typename Ring::Poly& p) {
  Int g = 0;
  Ring::each(p, [&](const auto& m, const Int& c) {
    if (!Ring::is_one(m)) g = gcd(g, c);
    return !g.is_one();
  });
  return g;
}

// The gcd of all coefficients of p, the constant among them.
template <typename Ring>
Int full_content_of(const typename Ring::Poly& p) {
  Int g = 0;
  Ring::each(p, [&](const auto&, const Int& c) {
    g = gcd(g, c);
    return !g.is_one();
  });
  return g;
}

// The terms of p + k*q, given theirs.
template <typename Ring, typename Terms>
void merge_sums(const Terms& p, const Terms& q, const Int& k, Terms& sum) {
  const auto order = [](const auto& term, const auto& m) {
    const auto& [n, d] = term;
    return Ring::order(n, m);
  };
  sum.reserve(p.size() + q.size());
  auto x = p.begin();
  for (const auto& [m, c] : q) {
    int of_x = 1;
    while (x != p.end() && (of_x = order(*x, m)) < 0) sum.push_back(*x++);
    if (x == p.end() || of_x > 0) {
      sum.push_back({m, c * k});
      continue;
    }
    const auto& [n, d] = *x++;
    Int total = d + c * k;
    if (!total.is_zero()) sum.push_back({m, std::move(total)});
  }
  for (; x != p.end(); ++x) sum.push_back(*x);
}

// Each coefficient divided by k, rounded down.
template <typename Ring>
typename Ring::Poly divided_by(const typename Ring::Poly& p, const Int& k) {
  typename Ring::Poly q;
  Ring::each(p, [&](const auto& m, const Int& c) {
    Int part = floor_div(c, k);
    if (!part.is_zero()) Ring::append(q, m, part);
    return true;
  });
  return q;  // in order, as p was
}

template <typename Ring>
typename Ring::Poly product_of(Ring ring, const typename Ring::Poly& p,
                               const typename Ring::Poly& q) {
  typename Ring::Poly product;
  Ring::each(p, [&](const auto& m, const Int& c) {
    return Ring::each(q, [&](const auto& n, const Int& d) {
      Ring::append(product, ring.product(m, n), c * d);
      return true;
    });
  });
  Ring::sort_terms(product);
  return product;
}

// Whether an atom of p has a value: `value_of(a)` is a polynomial, or nullptr
// of an atom that stays.  `result`, which is 0 before, is then p with the
// values substituted.
template <typename Ring, typename ValueOf>
bool substitute_atoms(Ring ring, const typename Ring::Poly& p, ValueOf value_of,
                      typename Ring::Poly& result) {
  using Poly = typename Ring::Poly;
  size_t stayed = 0;  // terms, up to the first that changes
  bool changed = false;
  const auto stays = [&](const auto& m, const Int& c) {
    if (changed) Ring::append(result, m, c);
    stayed += !changed;
  };
  const auto becomes = [&](const Poly& q, const Int& k) {
    if (!changed) {
      Ring::each(p, [&](const auto& m, const Int& c) {
        if (stayed > 0) Ring::append(result, m, c);
        return stayed-- > 0;
      });
      changed = true;
    }
    Ring::each(q, [&](const auto& m, const Int& c) {
      Ring::append(result, m, c * k);
      return true;
    });
  };
  const auto product = [&](const auto& m, Int coefficient) {
    typename Ring::Factors same;
    SmallVector<const Poly*, 4> values;
    bool has_value = false;
    for (const auto& a : ring.factors(m)) {
      const Poly* value = value_of(a);
      has_value = has_value || value != nullptr;
      if (value == nullptr) {
        same.push_back(a);
      } else if (value->is_constant()) {
        coefficient *= Ring::constant(*value);
      } else {
        values.push_back(value);
      }
    }
    if (!has_value) return stays(m, coefficient);
    if (coefficient.is_zero()) return becomes({}, 0);
    Poly all = Ring::number(same.empty() ? coefficient : 1);
    if (!same.empty()) all = ring.times(all, ring.monomial(same), coefficient);
    for (const Poly* value : values) all = ring.mul(all, *value);
    becomes(all, 1);
  };
  Ring::each(p, [&](const auto& m, const Int& c) {
    if (const auto a = ring.single(m)) {
      const Poly* value = value_of(*a);
      value != nullptr ? becomes(*value, c) : stays(m, c);
    } else if (Ring::is_one(m)) {
      stays(m, c);
    } else {
      product(m, c);
    }
    return true;
  });
  if (changed) Ring::sort_terms(result);
  return changed;
}

// p / m, where m divides every term.
template <typename Ring>
std::optional<typename Ring::Poly> without_monomial(
    Ring ring, const typename Ring::Poly& p, const typename Ring::Monomial& m) {
  typename Ring::Poly reduced;
  const bool divides = Ring::each(p, [&](const auto& n, const Int& c) {
    const auto rest = ring.quotient(n, m);
    if (rest) Ring::append(reduced, *rest, c);
    return rest.has_value();
  });
  if (!divides) return std::nullopt;
  Ring::sort_terms(reduced);
  return reduced;
}

// The atoms that are in every term of p and of q, each as often as in all of
// them; none where one of these is 0.
template <typename Ring>
typename Ring::Factors common_factors(Ring ring, const typename Ring::Poly& p,
                                      const typename Ring::Poly& q) {
  std::optional<typename Ring::Factors> common;
  const auto narrow = [&](const auto& m, const Int&) {
    common = common ? ring.common(*common, m) : ring.factors(m);
    return !common->empty();
  };
  const bool any = Ring::each(q, narrow) && Ring::each(p, narrow);
  return any && common ? *std::move(common) : typename Ring::Factors();
}

// q with a == q*b, where there is one and it is soon found: long division by
// the leading term.
template <typename Ring>
std::optional<typename Ring::Poly> exact_quotient_of(
    Ring ring, const typename Ring::Poly& a, const typename Ring::Poly& b) {
  if (b.is_zero()) return std::nullopt;
  const auto [divisor, divisor_c] = ring.leading(b);
  typename Ring::Poly rest = a, result;
  for (int i = 0; i < fixed::quotient_steps; ++i) {
    if (rest.is_zero()) {
      Ring::sort_terms(result);
      return result;
    }
    const auto [m, c] = ring.leading(rest);
    const auto q = ring.quotient(m, divisor);
    if (!q || !floor_mod(c, divisor_c).is_zero()) return std::nullopt;
    const Int times = floor_div(c, divisor_c);
    Ring::append(result, *q, times);
    rest = ring.add(rest, ring.times(b, *q, times), -1);
    if (Ring::size(rest) > fixed::quotient_rest_terms) return std::nullopt;
  }
  return std::nullopt;
}

// What a single term takes out of a sum: num == m*outside + rest.  With
// `whole`, a coefficient is divided or stays as it is; else what is left of it
// stays.
template <typename Ring>
struct TakenOut {
  typename Ring::Poly outside, rest;
};
template <typename Ring>
TakenOut<Ring> multiples_of_term(Ring ring, const typename Ring::Poly& num,
                                 const typename Ring::Monomial& m, const Int& k,
                                 bool whole) {
  TakenOut<Ring> taken;
  Ring::each(num, [&](const auto& n, const Int& c) {
    const auto q = ring.quotient(n, m);
    const Int left = q ? floor_mod(c, k) : c;
    if (!q || (whole && !left.is_zero())) {
      Ring::append(taken.rest, n, c);
      return true;
    }
    const Int times = floor_div(c, k);
    if (!times.is_zero()) Ring::append(taken.outside, *q, times);
    if (!left.is_zero()) Ring::append(taken.rest, n, left);
    return true;
  });
  Ring::sort_terms(taken.outside);
  return taken;  // the rest is in order, as num was
}

// The ring of the polynomials of sym/polynomial.h.
struct ExprRing {
  using Poly = Polynomial;
  using Monomial = proviso::Monomial;
  using Factors = proviso::Monomial;
  struct Floor {
    Polynomial num, den;
  };

  template <typename F>
  static bool each(const Polynomial& p, F f) {
    return std::all_of(p.terms().begin(), p.terms().end(),
                       [&](const auto& t) { return f(t.first, t.second); });
  }
  static size_t size(const Polynomial& p) { return p.terms().size(); }
  static Int constant(const Polynomial& p) { return p.constant(); }
  static Polynomial number(const Int& k) { return Polynomial(k); }
  static Polynomial scaled(const Polynomial& p, const Int& k) { return p * k; }
  static bool is_one(const Monomial& m) { return m.empty(); }
  static void append(Polynomial& p, Monomial m, const Int& c) {
    p.add(std::move(m), c);
  }
  static void sort_terms(Polynomial&) {}  // always is in order
  // Higher degrees first; atoms by structure.
  static int order(const Monomial& m, const Monomial& n) {
    if (m.size() != n.size()) return m.size() > n.size() ? -1 : 1;
    for (size_t i = 0; i < m.size(); ++i) {
      if (const int order = compare(m[i], n[i])) return order;
    }
    return 0;
  }

  static Factors factors(const Monomial& m) { return m; }
  static Monomial monomial(const Factors& f) { return f; }
  static std::optional<Expr> single(const Monomial& m) {
    return m.size() == 1 ? std::optional(m[0]) : std::nullopt;
  }
  static Factors common(const Factors& f, const Monomial& m) {
    Factors both;
    std::set_intersection(f.begin(), f.end(), m.begin(), m.end(),
                          std::back_inserter(both), precedes);
    return both;
  }
  static Monomial product(const Monomial& m, const Monomial& n) {
    Monomial both;
    both.reserve(m.size() + n.size());
    std::merge(m.begin(), m.end(), n.begin(), n.end(), std::back_inserter(both),
               precedes);
    return both;
  }
  static std::optional<Monomial> quotient(const Monomial& m,
                                          const Monomial& n) {
    Monomial rest;
    size_t next = 0;
    for (Expr atom : m) {
      if (next < n.size() && atom == n[next]) {
        ++next;
      } else {
        rest.push_back(atom);
      }
    }
    if (next != n.size()) return std::nullopt;
    return rest;
  }
  static std::pair<Monomial, Int> leading(const Polynomial& p) {
    return *p.terms().begin();
  }
  static Polynomial add(const Polynomial& p, const Polynomial& q,
                        const Int& k) {
    return k == Int(-1) ? p - q : p + (k.is_one() ? q : q * k);
  }
  static Polynomial times(const Polynomial& p, const Monomial& m,
                          const Int& c) {
    return Polynomial::term(m, c) * p;
  }
  static Polynomial mul(const Polynomial& p, const Polynomial& q) {
    return p * q;
  }
  static std::optional<Floor> as_floor(const Monomial& m) {
    if (m.size() != 1 || !m[0].is(Op::kFloorDiv)) return std::nullopt;
    return Floor{to_polynomial(m[0].arg(0)), to_polynomial(m[0].arg(1))};
  }

 private:
  static bool precedes(Expr a, Expr b) { return compare(a, b) < 0; }
};

}  // namespace proviso::inline v0_2::internal
