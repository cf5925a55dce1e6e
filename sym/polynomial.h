// sym/polynomial.h - an integer expression as a sum of coefficient * monomial.
//
//   Polynomial p = to_polynomial(canonical(e));   // 3*s0*u0 - 2*(s0//4) + 7
//
// Atoms are whatever is not +, * or a small constant power: symbols, floor
// divisions, Min, ...  Terms are sorted (higher degree first, then by compare()
// of the atoms; the constant last) and have nonzero coefficients.
#pragma once

#include <utility>

#include "sym/api.h"
#include "sym/expr.h"
#include "sym/small_vector.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// A total order by structure alone: symbols by creation, then by operator and
// arguments.  Negative, 0 or positive.
[[nodiscard]] int compare(Expr a, Expr b);

// A sorted run of atoms; repetition is a power; empty is the constant 1.
using Monomial = internal::SmallVector<Expr, 2>;

struct MonomialLess {
  bool operator()(const Monomial& a, const Monomial& b) const;
};

class Polynomial;
// Declared here too: a friend that its class alone declares is not shown by
// libproviso.so.
Polynomial operator+(const Polynomial& a, const Polynomial& b);
Polynomial operator-(const Polynomial& a, const Polynomial& b);
Polynomial operator*(const Polynomial& a, const Polynomial& b);
Polynomial operator*(const Polynomial& a, const Int& k);

class [[nodiscard]] Polynomial {
 public:
  // Sorted by MonomialLess in one piece of memory, which is the polynomial
  // itself while there are few terms.
  class Terms {
   public:
    using value_type = std::pair<Monomial, Int>;
    using const_iterator = const value_type*;

    const_iterator begin() const { return sorted_.begin(); }
    const_iterator end() const { return sorted_.end(); }
    size_t size() const { return sorted_.size(); }
    bool empty() const { return sorted_.empty(); }
    const_iterator find(const Monomial& monomial) const;
    bool contains(const Monomial& m) const { return find(m) != end(); }
    friend bool operator==(const Terms&, const Terms&) = default;

   private:
    friend class Polynomial;
    internal::SmallVector<value_type, 2> sorted_;
  };

  Polynomial() = default;
  explicit Polynomial(const Int& constant) { add({}, constant); }
  static Polynomial atom(Expr e);
  static Polynomial term(Monomial monomial, const Int& coefficient);

  const Terms& terms() const { return terms_; }
  Int constant() const;      // the coefficient of 1
  bool is_constant() const;  // no other term
  bool is_zero() const { return terms_.empty(); }
  Int content() const;    // gcd of the non-constant coefficients; 0 if none
  size_t degree() const;  // the most atoms of a monomial

  void add(Monomial monomial, const Int& coefficient);
  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Int& k);
  friend bool operator==(const Polynomial&, const Polynomial&) = default;

 private:
  static Polynomial sum(const Polynomial& a, const Polynomial& b, bool minus);

  Terms terms_;
};

// Sums and products of integer expressions opened; all else is an atom (as it
// stands: canonical() first).  Products of sums past 64 terms stay atoms, and
// so do products and powers past degree 256.
Polynomial to_polynomial(Expr e);
// The canonical expression of p.
[[nodiscard]] Expr to_expr(ExprPool& pool, const Polynomial& p);

}  // namespace proviso::inline v0_2
PROVISO_API_END
