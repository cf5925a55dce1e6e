// solver/engine/expression_ranges.h - bounds() and values() know what ask()
// knows.
//
//   0 <= x <= 31             bounds of (x + 1)*(x - 31):  [-256, 0]
//   Mod(s0, 8) == 0          values of s0 % 16:           0, 8
//
// Ranges are read first (range_reading.h).  Then their ends are moved in for as
// long as ask() proves that nothing lies there, and what ask() proves to be one
// value is it.
#pragma once

#include <optional>
#include <vector>

#include "solver/engine/native_answers.h"
#include "solver/engine/range_reading.h"

namespace proviso::inline v0_2::internal {

class ExpressionRanges {
 public:
  ExpressionRanges(Reasoner& reasoner, NativeAnswers& native,
                   RangeReading& reading)
      : reasoner_(reasoner), native_(native), reading_(reading) {}

  // Within the limit of a call.  Where the facts contradict each other nothing
  // has a value.
  Interval bounds_quick(Expr e);  // without proofs
  Interval bounds(Expr e);
  Strided strided(Expr e);
  Int multiple_of(Expr e);  // a number that divides all values
  std::optional<std::vector<Int>> values(Expr e, size_t limit);

  // The value that e has wherever the facts hold, when it has only one; within
  // the caller's budget.
  std::optional<Int> constant_of(Expr e);

 private:
  bool proves(Expr e) { return native_.ask(e) == Verdict::kYes; }
  size_t most_bits(Expr e, const Interval& range);
  void tighten(Expr e, Interval& range);
  std::optional<std::vector<Int>> list_values(Expr e, size_t limit);

  Reasoner& reasoner_;
  NativeAnswers& native_;
  RangeReading& reading_;
};

}  // namespace proviso::inline v0_2::internal
