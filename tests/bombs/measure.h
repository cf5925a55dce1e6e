// tests/bombs/measure.h - what one call costs: work units, CPU, memory.
//
//   Meter meter(limits);
//   meter.start("nested cubes", 24, 190);
//   meter.call("ask", [&] { context.ask(question); });
//
// Cut, each call has a budget that ends somewhere in it, as when another thread
// interrupts: it then ends within 1 ms of work, and what comes later works.
//
// Interrupted, each call of a context (`interruptible`) is interrupted after a
// random time, once: it then ends within 1 ms of work.
//
// A call that costs more than the limits, or ends otherwise than with a value
// or an Error of no more than kMostText characters, is printed and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <string>

#include "solver/solver.h"

namespace proviso::testing {

struct Limits {
  uint64_t units = 2'000'000;  // of sym/budget.h: 100 ms
  double milliseconds = 100;   // of this thread's CPU
  size_t bytes = size_t{64} << 20;
  size_t stack = size_t{64} << 10;
};

class Meter {
 public:
  static constexpr size_t kMostText = 4096;

  enum class End { kItsOwn, kBudget, kInterrupt };

  Meter(Limits limits, bool is_verbose, End end, uint32_t seed)
      : limits_(limits), is_verbose_(is_verbose), end_(end), random_(seed) {}

  // The context that is interrupted in what is called next.
  static inline const Context* interruptible = nullptr;

  // What is measured next; on a small stack that is looked at afterwards.
  void run(const std::string& family, int n, size_t bytes,
           const std::function<void()>& work);
  // Whether it returned.
  bool call(const std::string& name, const std::function<void()>& work);

  static std::FILE* report;  // where lines go
  size_t found() const { return found_; }
  // Calls that were interrupted, and the most that one did after that.
  size_t interrupted() const { return interrupted_; }
  uint64_t most_after() const { return most_after_; }
  // "nested cubes n=24 (190 B) ask": of the call that runs.
  static const char* doing();

 private:
  Limits limits_;
  bool is_verbose_;
  End end_;
  size_t found_ = 0, interrupted_ = 0;
  uint64_t most_after_ = 0;
  std::mt19937 random_;
  std::string where_;
};

}  // namespace proviso::testing
