// solver/strategies/ratios.h - questions about the ratio of two products, by
// equalities between products.
//
//   a*b == c*d, c*d == e*f         a*b == e*f, (a*b) % (e*f) == 0
//
// An equality of monomials over positive factors is a linear equation between
// exponents (solver/monomials.h); reducing by the echelon form of all that are
// gathered gives the ratio, or another product in place of it.  Complete for
// equalities of monomials over positive factors, of which
// limits().ratio_constraints are gathered around the question.
#pragma once

#include "solver/strategies/deep_floors.h"

namespace proviso::inline v0_2::internal {

class MonomialRatios final : private RemainderProver {
 public:
  MonomialRatios(Domain& domain, Combination& combination)
      : RemainderProver(domain, combination), forms_(domain.forms()) {}

  // Whether equalities between products are about the condition's atoms.
  bool applies(FormulaId f);
  Decision decide(FormulaId f, uint64_t units);

 private:
  class Equalities;
  Decision decide_reduced(FormulaId f, Equalities& equalities);
  std::optional<Int> known_quotient(const Poly& num, const Poly& den,
                                    Reason& why) override;

  FormPool& forms_;
  Equalities* equalities_ = nullptr;  // while normal forms may ask
};

}  // namespace proviso::inline v0_2::internal
