#include "tracer_adapter/trace/source_stacks.h"

#include <utility>

namespace proviso::inline v0_2 {

uint32_t SourceStacks::number_of(Stack stack) {
  std::string text;
  for (const Frame& frame : stack)
    text += frame.file + ":" + std::to_string(frame.line) + ":" +
            frame.function + ":" + frame.code + "\n";
  const auto [place, is_new] =
      numbers_.emplace(std::move(text), stacks_.size());
  if (is_new) stacks_.push_back(std::move(stack));
  return place->second;
}

}  // namespace proviso::inline v0_2
