// tracer_adapter/trace/nesting.h - what a program enters and leaves around its
// operators balances: over a whole trace, and within each sub-graph.
//
//   const Nesting begun = ...;                    // when the sub-graph begins
//   check_nesting(now, begun, "the true branch of cond");
//       // "Proviso: the true branch of cond: enter_module and exit_module do
//       // not balance; call each as often as the other"
#pragma once

#include <cstddef>
#include <string>

namespace proviso::inline v0_2 {

// How many are open.
struct Nesting {
  size_t modules = 1;
  int autocast = 0;
  size_t held = 0;
};

// Throws where `exit` is called and nothing is open.
void check_is_open(bool is_open, const char* exit, const char* enter);
// Throws where at `end` others are open than had begun before.
void check_nesting(const Nesting& now, const Nesting& begun,
                   const std::string& end);

}  // namespace proviso::inline v0_2
