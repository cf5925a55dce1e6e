// solver/engine/call_work.h - the work of one call of a context: shares of it,
// and its end by another thread.
//
//   const auto found = work.within(2000, [&] { return search(); });
//   if (!found && work.is_undisturbed()) ...    // 2000 units were too few
//
// A share that is spent, or an interrupt, leaves nothing half done: what was
// asserted in the domain is taken back.
//
// Protocol: interrupt() is the only member for another thread; it lasts until
// resume(), which the next call does first.
#pragma once

#include <atomic>
#include <optional>

#include "solver/domain.h"
#include "solver/interrupt_scope.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {

class CallWork {
 public:
  explicit CallWork(Domain& domain) : domain_(domain) {}

  // What `work` returns; nothing where it takes more than so many units of the
  // call's budget, and the domain is then as before.
  template <typename Work>
  auto within(uint64_t units, Work work) -> std::optional<decltype(work())>;

  void interrupt() { is_interrupted_ = true; }
  void resume() { is_interrupted_ = false; }
  bool is_interrupted() const {
    return is_interrupted_ || InterruptScope::is_interrupted();
  }
  // Whether neither another thread nor a budget of the caller ends the call.
  bool is_undisturbed() const {
    return !is_interrupted() && Budget::units_left() != 0;
  }
  // For a Budget that ends where another thread interrupts.
  const std::atomic<bool>* interruption() const {
    const std::atomic<bool>* outer = InterruptScope::interruption();
    return outer != nullptr ? outer : &is_interrupted_;
  }

 private:
  Domain& domain_;
  std::atomic<bool> is_interrupted_{false};
};

template <typename Work>
auto CallWork::within(uint64_t units, Work work)
    -> std::optional<decltype(work())> {
  if (!is_undisturbed()) return std::nullopt;
  const Domain::Mark before = domain_.mark();
  auto result = try_within(units, interruption(), work);
  if (!result) domain_.undo(before);
  return result;
}

}  // namespace proviso::inline v0_2::internal
