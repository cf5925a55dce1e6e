// sym/within.h - work that may give up.
//
//   uint64_t units = 500'000;
//   const auto found = within(units, [&] { return search(e); });
//   return found.value_or(e);          // units: what the search left
//
// What takes more than the units (sym/budget.h), or more than an outer budget
// has left, is left undone and has no result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sym/budget.h"

namespace proviso::inline v0_2::internal {

template <typename Work>
auto within(uint64_t& units, Work work) -> std::optional<decltype(work())> {
  struct Rest {
    uint64_t& units;
    ~Rest() { units = Budget::units_left(); }
  };
  units = std::min(units, Budget::units_left());
  if (units == 0) return std::nullopt;
  try {
    const Budget budget(units);
    const Rest rest{units};
    return work();
  } catch (const OutOfBudget&) {
    return std::nullopt;
  }
}

}  // namespace proviso::inline v0_2::internal
