// tracer_adapter/trace/torch_state.h - torch's modes, put back as they were.
//
//   const TorchState state;          // remembers
//   run(program);                    // set_grad_enabled(false), manual_seed(0)
//                                    // the destructor puts all back
//
// Of this thread: gradients and inference, included and excluded dispatch keys,
// stacks of modes, hooks for saved tensors, autocast of every device.  Of the
// process: default dtype, deterministic algorithms, number of threads, anomaly
// detection, backends' switches, the CPU's random numbers.
#pragma once

#include <ATen/ThreadLocalState.h>
#include <ATen/core/Generator.h>
#include <c10/core/QEngine.h>
#include <c10/util/typeid.h>

#include <cstdint>

namespace proviso::inline v0_2 {

class TorchState {
 public:
  TorchState();
  ~TorchState();
  TorchState(const TorchState&) = delete;
  TorchState& operator=(const TorchState&) = delete;

 private:
  void put_back_autocast() const;
  void put_back_process() const;
  void put_back_random_numbers() const;

  const at::ThreadLocalState thread_;
  // Not among those of the thread.
  const bool autocast_cache_;
  const int autocast_nesting_;
  // --- of the process
  const caffe2::TypeMeta dtype_;
  const bool deterministic_, deterministic_warn_only_;
  const bool anomaly_, anomaly_nan_;
  const int threads_;
  const at::QEngine quantized_engine_;
  const uint64_t switches_;  // one bit a row of the table
  at::Generator random_numbers_;
};

}  // namespace proviso::inline v0_2
