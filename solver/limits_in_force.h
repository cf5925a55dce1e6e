// solver/limits_in_force.h - the limits of the engine that works on this
// thread.
//
//   LimitsInForce in_force(limits_of(options));  // for as long as a call lasts
//   if (depth > limits().split_depth) ..      // anywhere below it
#pragma once

#include <string>
#include <string_view>

#include "solver/limits.h"

namespace proviso::inline v0_2::internal {

extern constinit thread_local const Limits* current_limits;

// The limits of the engine that works on this thread.
inline const Limits& limits() { return *current_limits; }

// The limits that the options name, else the defaults; they live as long.
const Limits& limits_of(const SolverOptions& options);

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
