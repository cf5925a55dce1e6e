// tracer_adapter/trace/mode_stack.h - the modes that operators are recorded in:
// whether gradients are on, and autocast.
//
//   ModeStack modes;                  // 0 is the mode that is on now
//   at::GradMode::set_enabled(false);
//   modes.now();                      // 1; modes[1].grad is false
//   modes.hold();                     // .. and 1 stays, whatever kernels set,
//   at::GradMode::set_enabled(true);
//   modes.now();                      // 1
//   modes.release();                  // until here
//   modes.now();                      // 0
//
// Each node notes the number of its mode (Node::mode); at the end of a trace
// nodes of other modes than 0 are outlined (mode_blocks.h).
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace proviso::inline v0_2 {

// What changes how operators run, but is no argument of them.
struct Mode {
  bool grad = true;
  // Of the CPU, the one device whose autocast is traced.
  bool autocast = false;
  c10::ScalarType autocast_dtype = c10::ScalarType::BFloat16;
  bool autocast_cache = true;
  int autocast_depth = 0;  // of Python's `with` blocks

  bool same_autocast(const Mode& other) const {
    return autocast == other.autocast &&
           autocast_dtype == other.autocast_dtype &&
           autocast_cache == other.autocast_cache &&
           autocast_depth == other.autocast_depth;
  }
  bool operator==(const Mode& other) const {
    return grad == other.grad && same_autocast(other);
  }
};

class ModeStack {
 public:
  ModeStack();

  // The mode of an operator that is recorded now: its number.
  uint32_t now();
  const Mode& operator[](uint32_t number) const { return modes_[number]; }
  // Nothing was recorded in a mode that has no number.
  std::optional<uint32_t> number_of(const Mode& mode) const;
  bool records_grad() const;

  // The innermost mode that is held counts.
  void hold() { held_.push_back(now()); }
  void release();
  size_t held() const { return held_.size(); }
  // What was held since there were so many is released.
  void release_to(size_t held);

  // `with torch.autocast(..)`, also where it changes nothing.
  void enter_autocast() { ++autocast_depth_; }
  void exit_autocast();
  int autocast_depth() const { return autocast_depth_; }

 private:
  int autocast_depth_ = 0;
  std::vector<Mode> modes_;  // each once
  std::vector<uint32_t> held_;
};

}  // namespace proviso::inline v0_2
