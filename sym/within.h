// sym/within.h - work that may give up.
//
//   uint64_t units = 500'000;
//   const auto found = within(units, [&] { return search(e); });
//   return found.value_or(e);          // units: what the search left
//
// What takes more than the units (sym/budget.h), or more than an outer budget
// has left, is left undone and has no result.  These are the functions that
// catch OutOfBudget; CallWork and InterruptScope add to them what only they
// know.  Shares of one strategy are another count, with the one other place
// that catches: Domain::within.
//
// Law.  The work may end at any check(), so that what outlives it is then as
// before or has only whole entries more: a memo a value less, never half of
// one.  What the work holds open (a depth, a mark) is closed by a destructor in
// it, or by the caller where there is no result: CallWork undoes the domain,
// FormSearch has recover().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "sym/budget.h"

namespace proviso::inline v0_2::internal {

// At most so many units, of which none come back.
template <typename Work>
auto try_within(uint64_t units, const std::atomic<bool>* interrupted, Work work)
    -> std::optional<decltype(work())> {
  try {
    const Budget budget(units, interrupted);
    return work();
  } catch (const OutOfBudget&) {
    return std::nullopt;
  }
}

// The same of a bound that is the work's own: what an outer budget ends is its
// owner's to catch.
template <typename Work>
auto within_own(uint64_t units, Work work) -> std::optional<decltype(work())> {
  auto result = try_within(units, nullptr, work);
  if (!result) Budget::check();
  return result;
}

// `units` becomes what the work leaves of them.
template <typename Work>
auto within(uint64_t& units, Work work,
            const std::atomic<bool>* interrupted = nullptr)
    -> std::optional<decltype(work())> {
  struct Rest {
    uint64_t& units;
    ~Rest() { units = Budget::units_left(); }
  };
  units = std::min(units, Budget::units_left());
  if (units == 0) return std::nullopt;
  return try_within(units, interrupted, [&] {
    const Rest rest{units};
    return work();
  });
}

}  // namespace proviso::inline v0_2::internal
