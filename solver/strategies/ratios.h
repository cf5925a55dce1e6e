// solver/strategies/ratios.h - questions about the ratio of two products, by
// equalities between products.
//
//   a*b == c*d, c*d == e*f         a*b == e*f, (a*b) % (e*f) == 0
//   a*b == 2*c*d, c*d == e*f       a*b > e*f: the ratio is 2
//
// An equality of monomials over positive factors is a linear equation between
// exponents (solver/monomials.h); reducing by the echelon form of all that are
// gathered gives the ratio, or another product in place of it.  This is the
// lattice of exponents of a binomial ideal (Eisenbud and Sturmfels, Binomial
// ideals, 1996).
//
// The cost is Gauss's elimination over few rows: at most
// limits().ratio_constraints are looked at, limits().ratio_equalities kept.
// Complete for the ratio of two products as far as such equalities imply it; a
// product compared with a number, a*d == 6, is not read as a ratio.
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
