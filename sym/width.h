// sym/width.h - how large the parts of an expression become, and whether one
// form overflows a machine integer where another does not.
//
//   width(8*x + 3), x in [0, 100]            803
//   widens(31*x - 30*x, x), x in [0, 2**60]  true: 31*x is no int64
//
// Sums and products are made from left to right.  Not for callers of the
// library.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "sym/facts.h"

namespace proviso::inline v0_2::internal {

// A bound of the size of every integer part, where the facts have one.
std::optional<Int> width(Expr e, const Facts& facts);

// The largest number that something in e is added to or multiplied by, by its
// size: a form with none larger is hardly wider.
Int largest_number(Expr e);

// largest_number() of many expressions that share parts, each node once.
class LargestNumbers {
 public:
  Int operator()(Expr e);

 private:
  std::unordered_map<uint32_t, Int> known_;  // by node
};

// Whether what is so wide may be no int32 or no int64 where `than` is one.
bool widens(const std::optional<Int>& form, const std::optional<Int>& than);

}  // namespace proviso::inline v0_2::internal
