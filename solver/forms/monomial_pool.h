// solver/forms/monomial_pool.h - products of atoms, as numbers.
//
//   MonoId xy = monomials.product(monomials.of(x), monomials.of(y));
//   monomials.factors(xy)                        {x, y}
//   monomials.quotient(xy, monomials.of(x))      the number of y
//   monomials.single(xy)                         kNoId: two factors
//
// Equal products have equal numbers, so that polynomials compare integers.  The
// product of two is looked up from the second time on.
#pragma once

#include <utility>
#include <vector>

#include "solver/forms/interned.h"
#include "solver/forms/poly.h"

namespace proviso::inline v0_2::internal {

using AtomId = uint32_t;
using Factors = SmallVector<AtomId, 4>;  // sorted; twice: squared

class MonomialPool {
 public:
  MonomialPool();  // with the monomial 1

  MonoId of(AtomId a);
  MonoId of(const Factors& factors);
  const Factors& factors(MonoId m) const { return monomials_[m]; }
  // The only factor; kNoId of 1 and of products.
  AtomId single(MonoId m) const { return single_[m]; }
  MonoId product(MonoId a, MonoId b);
  // a / b where b divides a, else kNoId.
  MonoId quotient(MonoId a, MonoId b);
  // An order that products respect: by degree, then by factors.
  bool leads(MonoId a, MonoId b) const;

 private:
  struct Keys;

  Interned<Factors, Keys> monomials_;
  std::vector<AtomId> single_;                         // by monomial
  std::vector<MonoId> of_atom_;                        // kNoId: not made
  InternIndex product_index_;                          // into products_
  std::vector<std::pair<uint64_t, MonoId>> products_;  // of two, by their ids
};

}  // namespace proviso::inline v0_2::internal
