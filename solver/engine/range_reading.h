// solver/engine/range_reading.h - where an integer expression lies, as ranges
// and normal forms show without a proof.
//
//   0 <= x <= 31                 range_of((x + 1)*(x - 31))      [-992, 0]
//   Mod(s0, 8) == 0              strided_of(s0 + 3)              3, 11, 19, ...
//   n and k of any size          range_of((n % 8)*(k % 8))       [0, 49]
//
// An expression is read both as a polynomial and as it is written: opened into
// a polynomial, (n % 8)*(k % 8) no longer shows that both factors are small.
// Each result is a superset of the values.
#pragma once

#include <unordered_map>

#include "solver/engine/reasoner.h"
#include "solver/strided.h"

namespace proviso::inline v0_2::internal {

class RangeReading {
 public:
  explicit RangeReading(Reasoner& reasoner) : reasoner_(reasoner) {}

  Interval range_of(Expr e);
  // The range of e with the distance between its values.
  Strided strided_of(Expr e);

 private:
  Strided as_polynomial(const Poly& p, int depth);
  Strided of_atom(AtomId a, int depth);
  Strided as_written(Expr e);
  bool reads_better_as_written(Expr e);

  Reasoner& reasoner_;
  std::unordered_map<uint32_t, bool> hides_ranges_;  // by node
};

}  // namespace proviso::inline v0_2::internal
