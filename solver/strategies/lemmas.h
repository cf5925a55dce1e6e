// solver/strategies/lemmas.h - linear constraints about products.
//
//   x in [2, 5], y in [1, 4]      (x - 2)*(y - 1) >= 0: x*y - x - 2*y + 2 >= 0
//   x - y >= 0                    (x - y)*(x - 2) >= 0
//
// Over monomials that occur already, and one new one at most, so that a linear
// system can use them: the first steps of the reformulation-linearisation
// technique (Sherali and Adams).
#pragma once

#include <vector>

#include "solver/strategies/relevance.h"

namespace proviso::inline v0_2::internal {

class ProductLemmas {
 public:
  explicit ProductLemmas(Domain& domain)
      : domain_(domain), forms_(domain.forms()), reasons_(domain.reasons()) {}

  // Lemmas of each monomial x*rest: (x - low)*(rest - low) >= 0 and the other
  // corners, and constraint*(x - low) >= 0 for constraints that mention rest.
  std::vector<LinearConstraint> of_bounds(const RelevantConstraints& relevant);
  // Short constraints times each other: 0 <= a <= b makes a*a <= b*b.
  std::vector<LinearConstraint> of_constraints(
      const RelevantConstraints& relevant);

 private:
  class Maker;
  bool has_products(const RelevantConstraints& relevant) const;
  bool stays_relevant(const LinearConstraint& a, const LinearConstraint& b,
                      const RelevantConstraints& relevant);

  Domain& domain_;
  FormPool& forms_;
  ReasonArena& reasons_;
};

}  // namespace proviso::inline v0_2::internal
