// solver/forms/occurrences.h - the atoms that occur in something, at any depth.
//
//   occurrences.of(2*x + y//x)          {x, y, y//x}
//   occurrences.of_atom(y//x)           the same: an atom occurs in itself
//
// Sorted, each once.  Of what is numbered they are remembered; the references
// stay valid.  Each costs what its parts have, once.
#pragma once

#include "solver/forms/formula_pool.h"

namespace proviso::inline v0_2::internal {

class Occurrences {
 public:
  Occurrences(TermPool& terms, FormulaPool& formulas)
      : terms_(terms), formulas_(formulas) {}

  Atoms of(const Poly& p);
  const Atoms& of_poly(PolyId p);
  const Atoms& of_atom(AtomId a);
  const Atoms& of_formula(FormulaId f);

 private:
  TermPool& terms_;
  FormulaPool& formulas_;
  StableVector<Atoms> of_atom_, of_formula_;  // empty until asked for
};

}  // namespace proviso::inline v0_2::internal
