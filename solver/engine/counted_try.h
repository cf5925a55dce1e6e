// solver/engine/counted_try.h - one try of a part, as Statistics counts it.
//
//   CountedTry a_try(statistics.consistency);    // tried once more
//   if (found) a_try.decided();
//   ...                                          // its work, when it ends
//
// Also where a budget ends it.  Work is counted within a Budget alone.
#pragma once

#include "solver/solver.h"
#include "sym/budget.h"

namespace proviso::inline v0_2::internal {

class CountedTry {
 public:
  explicit CountedTry(StrategyCount& count)
      : count_(count), before_(Budget::units_left()) {
    ++count_.tried;
  }
  ~CountedTry() { count_.work += before_ - Budget::units_left(); }
  CountedTry(const CountedTry&) = delete;
  CountedTry& operator=(const CountedTry&) = delete;

  void decided() { ++count_.decided; }

 private:
  StrategyCount& count_;
  const uint64_t before_;
};

}  // namespace proviso::inline v0_2::internal
