// sym/budget.h - the work that a call may do, from parse to print.
//
//   Budget budget(1'000'000);
//   try { return rewrite(e); } catch (const OutOfBudget&) { return e; }
//
// A unit is about 50 ns of one core or 64 bytes of memory, whichever is more,
// so that a number of units bounds both.  Work is counted and never timed: the
// same call spends the same units on every machine.  Integers are charged by
// their length, expressions and polynomials by their terms.
//
// Budgets nest: an inner one allows no more than the outer one has left, and
// what is spent in it is spent in the outer one too.  They are a thread's own.
// Where there is none, work is not limited.
//
// charge() only counts, so that a low layer may call it in the middle of a
// change; check() throws OutOfBudget, and stands where nothing is half done.
// Whoever makes a Budget catches what it throws: it never reaches a caller of
// the library.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

struct OutOfBudget {};

class [[nodiscard]] Budget {
  friend class BudgetProbe;  // what a test finds in a signal

 public:
  static constexpr uint64_t kUnlimited = uint64_t{1} << 62;

  // At most `units`.  Where another thread sets `interrupted`, what is left
  // is nothing, as is seen within 1 ms of work.
  explicit Budget(uint64_t units,
                  const std::atomic<bool>* interrupted = nullptr)
      : outer_(innermost_),
        outer_slice_(slice_left_),
        total_(static_cast<int64_t>(std::min(units, units_left()))),
        reserve_(total_),
        interrupted_(interrupted) {
    // Of many short ones in a row some look, too.
    open_slice(outer_ == nullptr ? kSlice : slice_left_);
    innermost_ = this;
  }
  ~Budget() {
    const int64_t spent = total_ - reserve_ - slice_left_;
    innermost_ = outer_;
    slice_left_ = outer_ == nullptr ? outer_slice_ : outer_slice_ - spent;
  }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  static void charge(uint64_t units) {
    slice_left_ -= static_cast<int64_t>(units);
  }
  static void check() {
    if (__builtin_expect(slice_left_ < 0, 0)) next_slice();
  }
  static void spend(uint64_t units) {
    charge(units);
    check();
  }

  // What this thread may still spend; kUnlimited where there is no budget.
  static uint64_t units_left() {
    if (innermost_ == nullptr) return kUnlimited;
    const int64_t left = innermost_->reserve_ + slice_left_;
    return left > 0 ? static_cast<uint64_t>(left) : 0;
  }

 private:
  static constexpr int64_t kSlice = 8192;  // between two looks at the flag

  static void next_slice();
  bool is_interrupted() const;
  void open_slice(int64_t most = kSlice) {
    slice_left_ = std::max<int64_t>(0, std::min({reserve_, most, kSlice}));
    reserve_ -= slice_left_;
  }

  // What the innermost budget may spend before it must look at its reserve:
  // one addition and one comparison a charge.
  static inline constinit thread_local int64_t slice_left_ =
      std::numeric_limits<int64_t>::max();
  static inline constinit thread_local Budget* innermost_ = nullptr;

  Budget* const outer_;
  const int64_t outer_slice_;  // outer_'s slice_left_, while this one is open
  int64_t total_;
  int64_t reserve_;  // of total_, beside the open slice
  const std::atomic<bool>* const interrupted_;
};

}  // namespace proviso::inline v0_2
PROVISO_API_END
