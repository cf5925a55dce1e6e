// solver/state/meter.h - the work done on a state, and limits to it that nest.
//
//   const Meter::Limit limit(meter, 2000);
//   meter.spend(3);           // throws OutOfBudget past 2000 units
//
// An inner limit allows no more than the outer one has left, and ends with its
// block.  Every unit is spent of the Budget in force as well (sym/budget.h),
// which counts what forms and integers cost, too: a limit is a strategy's
// share, the budget is the call's.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sym/budget.h"

namespace proviso::inline v0_2::internal {

class Meter {
 public:
  class Limit {
   public:
    Limit(Meter& meter, uint64_t units) : meter_(meter), outer_(meter.limit_) {
      meter.limit_ = meter.work_ + std::min(units, meter.units_left());
    }
    ~Limit() { meter_.limit_ = outer_; }
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

   private:
    Meter& meter_;
    const uint64_t outer_;
  };

  void spend(uint64_t units) {
    work_ += units;
    if (work_ > limit_) [[unlikely]] {
      has_run_out_ = true;
      throw OutOfBudget();
    }
    Budget::spend(units);
  }
  uint64_t work() const { return work_; }
  uint64_t units_left() const { return work_ < limit_ ? limit_ - work_ : 0; }

  // Whether a limit ended something that more units might have found.
  bool has_run_out() const { return has_run_out_; }
  void note_run_out() { has_run_out_ = true; }

 private:
  uint64_t work_ = 0;
  uint64_t limit_ = ~uint64_t{0};
  bool has_run_out_ = false;
};

}  // namespace proviso::inline v0_2::internal
