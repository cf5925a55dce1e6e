// solver/interrupt_scope.h - what one interrupt() ends: all calls of contexts
// within a scope.
//
//   const InterruptScope scope(env.context());
//   for (Expr q : questions) other.ask(q);   // env.context().interrupt() ends
//                                            // them all, each at once
//
// A call of guards/ asks many questions, some of them of contexts that it makes
// for itself and that nobody else can interrupt.  Scopes nest, and the
// outermost of a thread counts: until it ends, an interrupt of its context ends
// the call under way and each that comes later, with what is known without
// work.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "solver/solver.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {

class PROVISO_HIDDEN InterruptScope {
 public:
  explicit InterruptScope(Context& context) : InterruptScope() {
    if (is_outermost_) begin(context);
  }
  ~InterruptScope() {
    if (is_outermost_) is_open_ = false;
  }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  static bool is_interrupted() {
    const std::atomic<bool>* flag = interruption();
    return flag != nullptr && flag->load(std::memory_order_relaxed);
  }
  // What `work` returns; nothing where it takes more than the units, or than an
  // outer budget has left, or is interrupted.  `units` is then what it left.
  template <typename Work>
  static auto within(uint64_t& units, Work work)
      -> std::optional<decltype(work())> {
    units = std::min(units, Budget::units_left());
    if (is_interrupted()) return std::nullopt;
    return internal::within(units, work, interruption());
  }

  // The same of work that has a bound of its own, and without its first look:
  // what takes little is found although the scope is interrupted.
  template <typename Work>
  static auto until_interrupted(Work work) -> std::optional<decltype(work())> {
    return try_within(Budget::kUnlimited, interruption(), work);
  }

  // The flag that another thread sets; nullptr where no scope is open.
  static const std::atomic<bool>* interruption() {
    return is_open_ ? interrupted_ : nullptr;
  }
  // A context that `flag` interrupts is called.  Whether the call is part of
  // one that has begun, so that an interrupt of before still counts; it begins
  // one otherwise.
  static bool goes_on(const std::atomic<bool>& flag) {
    if (!is_open_) return false;
    if (interrupted_ != nullptr) return interrupted_ == &flag;
    interrupted_ = &flag;
    return false;
  }

 private:
  InterruptScope() : is_outermost_(!is_open_) {
    if (!is_outermost_) return;
    is_open_ = true;
    interrupted_ = nullptr;
  }
  static void begin(Context& context);

  static inline constinit thread_local bool is_open_ = false;
  static inline constinit thread_local const std::atomic<bool>* interrupted_ =
      nullptr;

  const bool is_outermost_;
};

}  // namespace proviso::inline v0_2::internal
