// solver/strategies/reduction.h - a polynomial divided by what is asserted.
//
//   s0 > s1 >= 1      s0*s0 - s1*s1 - 1
//                       = (s0 + s1)*(s0 - s1 - 1) + s0 + s1 - 1  >= 0
//   a*b == 6*c        a*b - 3*q is 6*c - 3*q, a multiple of 3
//
// Pseudo-division, leading term by leading term (Knuth, The Art of Computer
// Programming 2, 4.6.1; of several variables, Cox, Little and O'Shea, Ideals,
// Varieties, and Algorithms, 2.3): where k > 0, divisor >= 0 and
// k*p == quotient*divisor + rest, p is not negative when neither the quotient
// nor the rest is, as their ranges show or a division of theirs, of which there
// are limits().division_depth within one another; where divisor == 0, p has the
// sign of the rest.  Where equalities are substituted in it, a question is
// tried as it was asked first, with the constraints as they were asserted: both
// may have fewer terms there.
//
// The cost is that of limits().division_constraints divisions, squared at depth
// 2, each of limits().division_steps steps.  Complete for nothing: no Groebner
// basis is made, and what needs an S-polynomial is not found.
#pragma once

#include <optional>
#include <vector>

#include "solver/strategies/proof.h"

namespace proviso::inline v0_2::internal {

class PolynomialReduction {
 public:
  explicit PolynomialReduction(Domain& domain)
      : domain_(domain), forms_(domain.forms()), reasons_(domain.reasons()) {}

  Decision decide(FormulaId f, uint64_t units);

  // p times something positive, less multiples of equalities about products:
  // its sign is the same.  Nothing where none divides it.
  std::optional<Poly> remainder(const Poly& p, Reason& why);

 private:
  struct Division {
    Poly quotient, rest;
  };
  std::optional<Division> divide(const Poly& p, const Poly& divisor);
  // Constraints, equalities alone, or constraints with those that were
  // rewritten since.
  enum class Divisors { kInequalities, kEqualities, kOriginals };
  bool has_fresh(PolyId p);
  std::vector<const Constraint*> relevant_divisors(const Poly& p,
                                                   Divisors which);
  bool is_nonnegative(const Poly& p, Divisors which, Reason& why, int depth);

  Domain& domain_;
  FormPool& forms_;
  ReasonArena& reasons_;
};

}  // namespace proviso::inline v0_2::internal
