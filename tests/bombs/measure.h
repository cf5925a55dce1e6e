// tests/bombs/measure.h - what one call costs: work units, CPU, memory.
//
//   Meter meter(limits);
//   meter.start("nested cubes", 24, 190);
//   meter.call("ask", [&] { context.ask(question); });
//
// Cut, each call has a budget that ends somewhere in it, as when another thread
// interrupts: it then ends within 1 ms of work, and what comes later works.
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

  Meter(Limits limits, bool is_verbose, bool is_cut)
      : limits_(limits), is_verbose_(is_verbose), is_cut_(is_cut) {}

  // What is measured next; on a small stack that is looked at afterwards.
  void run(const std::string& family, int n, size_t bytes,
           const std::function<void()>& work);
  // Whether it returned.
  bool call(const std::string& name, const std::function<void()>& work);

  static std::FILE* report;  // where lines go
  size_t found() const { return found_; }
  // "nested cubes n=24 (190 B) ask": of the call that runs.
  static const char* doing();

 private:
  Limits limits_;
  bool is_verbose_, is_cut_;
  size_t found_ = 0;
  std::mt19937 random_{7};
  std::string where_;
};

}  // namespace proviso::testing
