// solver/z3_backend.h - the last tier: Z3, which the .cc alone sees.
//
//   Z3Backend z3;                                 // nothing is made yet
//   if (Z3Backend::is_built()) z3.implied(facts, question, budget);
//
// The solver is made at the first question, with a fixed seed and a budget in
// Z3's own resource units, so that results do not depend on the clock.  Z3 does
// not count what it spends on writing out products: those that would have
// thousands of terms are not asked.  A yes (no) is a refutation of the
// opposite; models are for the caller to check.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sym/evaluate.h"

namespace proviso::inline v0_2::internal {

class Z3Backend {
 public:
  Z3Backend();
  ~Z3Backend();

  // What a unit of Z3's counts in those of sym/budget.h.
  static constexpr uint64_t kUnits = 8;

  static bool is_built();
  static std::string version();  // "4.15.4"; empty when it was not built in

  struct Result {
    enum {
      kYes,
      kNo,
      kContradiction,
      kUnknown,
      kUnsupported
    } verdict = kUnsupported;
    std::vector<size_t> used;  // indices of facts
    // What Z3 says are points where the question does not hold, and does.
    std::optional<Assignment> counterexample, witness;
  };
  // `facts` hold and are defined.  Is the question defined and true (false)
  // wherever they do?  `bounded` symbols are 64-bit integers.
  // Facts that have no translation are left out.
  Result implied(const std::vector<Expr>& facts, Expr question, bool bounded,
                 uint32_t budget);
  // Ends implied() on another thread, if it runs, with kUnknown.
  void interrupt();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace proviso::inline v0_2::internal
