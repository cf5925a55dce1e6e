// solver/limits_in_force.h - the limits of the engine that works on this
// thread.
//
//   LimitsInForce in_force(limits_of(options));  // for as long as a call lasts
//   if (depth > limits().split_depth) ..      // anywhere below it
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "solver/limits.h"
#include "sym/budget.h"

namespace proviso::inline v0_2::internal {

extern constinit thread_local const Limits* current_limits;

// The limits of the engine that works on this thread.
inline const Limits& limits() { return *current_limits; }

// The limits that the options name, else the defaults; they live as long.
const Limits& limits_of(const SolverOptions& options);

// So many thousandths of a budget, as rows of the table say shares.
inline uint64_t thousandths(uint64_t share, uint64_t budget) {
  const uint64_t whole = std::min(budget, Budget::kUnlimited / 64);
  return whole / 1000 * share + whole % 1000 * share / 1000;
}

// What is wrong where limit_named() finds nothing.
std::string no_limit(std::string_view name);

// Has an engine's limits in force for as long as one of its calls lasts.
class LimitsInForce {
 public:
  explicit LimitsInForce(const Limits& limits) : before_(current_limits) {
    current_limits = &limits;
  }
  ~LimitsInForce() { current_limits = before_; }
  LimitsInForce(const LimitsInForce&) = delete;
  LimitsInForce& operator=(const LimitsInForce&) = delete;

 private:
  const Limits* before_;
};

}  // namespace proviso::inline v0_2::internal
