// solver/strategies/reduction.h - a polynomial divided by what is asserted.
//
//   s0 > s1 >= 1      s0*s0 - s1*s1 - 1
//                       = (s0 + s1)*(s0 - s1 - 1) + s0 + s1 - 1
//   a*b == 6*c        (a*b) % 3: the rest of a*b by the equality
//
// Pseudo-division, leading term by leading term: where k > 0, divisor >= 0 and
// k*p == quotient*divisor + rest, p is not negative when the quotient and the
// rest are not, as ranges see them or the same again, limits().division_depth
// deep; where divisor == 0, p has the sign of the rest.  No Groebner basis is
// made: what needs an S-polynomial is not found.  Where equalities are
// substituted in it, a question is tried as it was asked first, with the
// constraints as they were asserted: both may have fewer terms there.
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
