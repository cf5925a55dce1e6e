// solver/forms/poly_pool.h - polynomials, as numbers, and their primitive
// parts.
//
//   PolyId p = polys.id_of(6*x - 3*y + 5);
//   polys[p]                       the polynomial
//   polys.primitive_part(p)        2*x - y, and the content 3: a bound of it
//                                  is one of p less its constant
//
// The record of a polynomial is one line of the cache.  Each field is written
// by the part that it is listed under, and by no other; everybody reads.
#pragma once

#include "solver/forms/interned.h"
#include "solver/forms/monomial_pool.h"

namespace proviso::inline v0_2::internal {

using PolyId = uint32_t;
// 0 is false, 1 is true; a condition and its negation differ in the last bit.
using FormulaId = uint32_t;
using Atoms = SmallVector<AtomId, 4>;  // sorted, each once

// p == content * part + p.constant, where the coefficients of the part have no
// common factor and the first is positive: the content has the sign of p's.
struct PrimitivePart {
  PolyId part = kNoId;
  Int content;
};

struct PolyRecord {
  PrimitivePart primitive;           // PolyPool: kNoId until asked for
  FormulaId ge = kNoId, eq = kNoId;  // FormulaPool: p >= 0, p == 0, once made
  Atoms atoms;                       // Occurrences: empty until asked for
};
static_assert(sizeof(PolyRecord) == 64);

class PolyPool {
 public:
  PolyId id_of(const Poly& p);
  const Poly& operator[](PolyId id) const { return polys_[id]; }
  // The number of -p - 1; kNoId where it has none.
  PolyId find_negation(const Poly& p) const;

  // Require a term.
  PrimitivePart primitive_part(const Poly& p);
  const PrimitivePart& primitive_part(PolyId p);  // remembered

 private:
  struct Keys;
  friend class FormulaPool;
  friend class Occurrences;

  PolyRecord& record(PolyId p) { return records_[p]; }

  Interned<Poly, Keys> polys_;
  StableVector<PolyRecord> records_;
};

}  // namespace proviso::inline v0_2::internal
