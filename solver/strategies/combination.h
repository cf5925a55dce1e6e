// solver/strategies/combination.h - p >= 0 as facts times what is not negative.
//
//   i <= m - 1, j <= n - 1, n >= 0
//   m*n - i*n - j - 1  =  n*(m - 1 - i) + (n - 1 - j)  >= 0
//
// Step by step: where p = A*x + rest and a constraint bounds x on the side of
// A's sign, |A| times that constraint is subtracted.  What is left has fewer
// terms, or as many in a step of equal length; when its range is not negative,
// p is not.  That is a certificate as Handelman's theorem gives, found
// greedily: sound, quick, and meant for linearised indices of any rank.
#pragma once

#include <optional>

#include "solver/strategies/proof.h"

namespace proviso::inline v0_2::internal {

class Combination {
 public:
  explicit Combination(Domain& domain)
      : domain_(domain), forms_(domain.forms()), reasons_(domain.reasons()) {}

  Decision decide(FormulaId f);
  // Whether p >= 0, by at most so many steps of equal length; its reason then
  // joins `why`.
  bool is_nonnegative(Poly p, int equal_length_steps, Reason& why);

 private:
  // p less a multiple of a constraint, with so many terms at most.
  std::optional<Poly> less_a_constraint(const Poly& p, size_t terms,
                                        Reason& why);
  std::optional<Poly> subtract_at(const Poly& p, AtomId x, size_t terms,
                                  Reason& why);

  Domain& domain_;
  FormPool& forms_;
  ReasonArena& reasons_;
};

}  // namespace proviso::inline v0_2::internal
