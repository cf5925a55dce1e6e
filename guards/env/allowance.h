// guards/env/allowance.h - the work of many calls of one kind, together.
//
//   Allowance allowance(3'000'000, 10'000);
//   for (Expr size : sizes) allowance.within([&] { return simplify(size); });
//
// Each call adds a little to what all may do, and may do all that is left: a
// program of a thousand plain sizes loses nothing, and one whose every size is
// as hard as one call may be takes not a thousand times as long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "solver/interrupt_scope.h"
#include "sym/budget.h"

namespace proviso::inline v0_2::internal {

class Allowance {
 public:
  Allowance(uint64_t units, uint64_t units_of_one)
      : left_(units), units_of_one_(units_of_one) {}

  // What `work` returns; nothing where it takes more than is left, or is
  // interrupted.
  template <typename Work>
  auto within(Work work) -> std::optional<decltype(work())> {
    left_ += units_of_one_;
    const uint64_t most = std::min(left_, Budget::units_left());
    uint64_t units = most;
    auto result = InterruptScope::within(units, work);
    left_ -= most - units;
    return result;
  }

 private:
  uint64_t left_;
  const uint64_t units_of_one_;
};

}  // namespace proviso::inline v0_2::internal
