// tracer_adapter/trace/source_stacks.h - the lines of the program that
// operators come from, each stack of calls once.
//
//   SourceStacks stacks;
//   stacks.number_of({{"model.py", 12, "forward", "y = x + 1"}});   // 1
//   stacks[1].back().line;                                          // 12
//
// Each node notes the number of its stack (Node::location); the table of them
// is the graph's (Graph::stacks).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

class SourceStacks {
 public:
  using Stack = std::vector<Frame>;  // the innermost call last

  uint32_t number_of(Stack stack);
  const Stack& operator[](uint32_t number) const { return stacks_[number]; }
  const std::vector<Stack>& all() const { return stacks_; }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;  // by text
  std::vector<Stack> stacks_{{}};                      // [0]: unknown
};

}  // namespace proviso::inline v0_2
