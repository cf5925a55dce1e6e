// tracer_adapter/trace/module_stacks.h - the modules that operators are of:
// torch.export's nn_module_stack.
//
//   ModuleStacks modules;
//   modules.enter("layers.0", "torch.nn.modules.linear.Linear");
//   modules.now();            // 1
//   modules[1];               // {{"layers.0", "torch..Linear", call 0}}
//   modules.exit();
//   modules.now();            // 0: none
//
// Each node notes the number of its stack (Node::modules); the table of them is
// the graph's (Graph::module_stacks).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

class ModuleStacks {
 public:
  using Stack = std::vector<ModuleFrame>;  // outermost first

  // A module calls another, for the n-th time.
  void enter(const std::string& name, const std::string& type);
  // All of the modules at once, until exit().
  void set(Stack stack);
  void exit();
  size_t depth() const { return open_.size(); }

  // The stack of an operator that is recorded now: its number.
  uint32_t now() const { return open_.back(); }
  const Stack& operator[](uint32_t number) const { return stacks_[number]; }
  uint32_t number_of(const Stack& stack);
  const std::vector<Stack>& all() const { return stacks_; }

  // The number of a module's calls so far: that of the next one.
  int calls_of(const std::string& module) const;

 private:
  std::vector<Stack> stacks_{{}};  // [0]: none
  std::vector<uint32_t> open_{0};  // in stacks_; the current one is last
  std::unordered_map<std::string, int> calls_;
};

}  // namespace proviso::inline v0_2
