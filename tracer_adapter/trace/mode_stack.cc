#include "tracer_adapter/trace/mode_stack.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "tracer_adapter/trace/nesting.h"

namespace proviso::inline v0_2 {
namespace {

// Of this thread.
Mode current_mode(int autocast_depth) {
  Mode mode;
  mode.grad = at::GradMode::is_enabled();
  mode.autocast = at::autocast::is_autocast_enabled(c10::kCPU);
  mode.autocast_dtype = at::autocast::get_autocast_dtype(c10::kCPU);
  mode.autocast_cache = at::autocast::is_autocast_cache_enabled();
  mode.autocast_depth = autocast_depth;
  return mode;
}

}  // namespace

ModeStack::ModeStack() : modes_{current_mode(0)} {}

uint32_t ModeStack::now() {
  if (!held_.empty()) return held_.back();
  const Mode mode = current_mode(autocast_depth_);
  if (const auto known = number_of(mode)) return *known;
  modes_.push_back(mode);
  return static_cast<uint32_t>(modes_.size() - 1);
}

std::optional<uint32_t> ModeStack::number_of(const Mode& mode) const {
  const auto known = std::find(modes_.begin(), modes_.end(), mode);
  if (known == modes_.end()) return std::nullopt;
  return static_cast<uint32_t>(known - modes_.begin());
}

bool ModeStack::records_grad() const {
  return held_.empty() ? at::GradMode::is_enabled() : modes_[held_.back()].grad;
}

void ModeStack::release() {
  check_is_open(!held_.empty(), "release_mode", "hold_mode");
  held_.pop_back();
}

void ModeStack::release_to(size_t held) {
  if (held_.size() > held) held_.resize(held);
}

void ModeStack::exit_autocast() {
  check_is_open(autocast_depth_ > 0, "exit_autocast_block",
                "enter_autocast_block");
  --autocast_depth_;
}

}  // namespace proviso::inline v0_2
