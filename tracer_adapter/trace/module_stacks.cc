#include "tracer_adapter/trace/module_stacks.h"

#include <algorithm>
#include <utility>

#include "tracer_adapter/trace/nesting.h"

namespace proviso::inline v0_2 {

void ModuleStacks::enter(const std::string& name, const std::string& type) {
  Stack stack = stacks_[open_.back()];
  stack.push_back({name, type, calls_[name]++});
  set(std::move(stack));
}

void ModuleStacks::set(Stack stack) {
  if (stacks_.back() != stack) stacks_.push_back(std::move(stack));
  open_.push_back(static_cast<uint32_t>(stacks_.size() - 1));
}

void ModuleStacks::exit() {
  check_is_open(open_.size() > 1, "exit_module", "enter_module");
  open_.pop_back();
}

uint32_t ModuleStacks::number_of(const Stack& stack) {
  const auto known = std::find(stacks_.begin(), stacks_.end(), stack);
  const auto number = static_cast<uint32_t>(known - stacks_.begin());
  if (known == stacks_.end()) stacks_.push_back(stack);
  return number;
}

int ModuleStacks::calls_of(const std::string& module) const {
  const auto found = calls_.find(module);
  return found == calls_.end() ? 0 : found->second;
}

}  // namespace proviso::inline v0_2
