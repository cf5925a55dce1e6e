#include "tracer_adapter/trace/torch_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DefaultDtype.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <cstring>
#include <iterator>
#include <mutex>

namespace proviso::inline v0_2 {
namespace {

using torch::autograd::AnomalyMode;

struct Switch {
  bool (at::Context::*get)() const;
  void (at::Context::*set)(bool);
};
#define PROVISO_SWITCH(getter, setter) \
  Switch { &at::Context::getter, &at::Context::setter }
constexpr Switch kSwitches[] = {
    PROVISO_SWITCH(userEnabledCuDNN, setUserEnabledCuDNN),
    PROVISO_SWITCH(benchmarkCuDNN, setBenchmarkCuDNN),
    PROVISO_SWITCH(deterministicCuDNN, setDeterministicCuDNN),
    PROVISO_SWITCH(userEnabledMkldnn, setUserEnabledMkldnn),
    PROVISO_SWITCH(deterministicMkldnn, setDeterministicMkldnn),
    PROVISO_SWITCH(userEnabledNNPACK, setUserEnabledNNPACK),
    PROVISO_SWITCH(userEnabledFlashSDP, setSDPUseFlash),
    PROVISO_SWITCH(userEnabledMemEfficientSDP, setSDPUseMemEfficient),
    PROVISO_SWITCH(userEnabledMathSDP, setSDPUseMath),
    PROVISO_SWITCH(userEnabledCuDNNSDP, setSDPUseCuDNN),
    PROVISO_SWITCH(userEnabledOverrideableSDP, setSDPUseOverrideable),
    PROVISO_SWITCH(allowFP16BF16ReductionMathSDP,
                   setAllowFP16BF16ReductionMathSDP),
    PROVISO_SWITCH(deterministicFillUninitializedMemory,
                   setDeterministicFillUninitializedMemory),
    PROVISO_SWITCH(allowFP16ReductionCPU, setAllowFP16ReductionCPU),
    PROVISO_SWITCH(areVmapFallbackWarningsEnabled,
                   setDisplayVmapFallbackWarnings),
};
#undef PROVISO_SWITCH
static_assert(std::size(kSwitches) <= 64);

uint64_t switches() {
  uint64_t bits = 0, bit = 1;
  for (const Switch& one : kSwitches) {
    if ((at::globalContext().*one.get)()) bits |= bit;
    bit <<= 1;
  }
  return bits;
}

int autocast_nesting() {
  at::autocast::increment_nesting();
  return at::autocast::decrement_nesting();
}

at::Generator copy_of(at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  return generator.clone();
}

bool same_state(const at::Tensor& a, const at::Tensor& b) {
  return a.nbytes() == b.nbytes() &&
         std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

}  // namespace

TorchState::TorchState()
    : autocast_cache_(at::autocast::is_autocast_cache_enabled()),
      autocast_nesting_(autocast_nesting()),
      dtype_(c10::get_default_dtype()),
      deterministic_(at::globalContext().deterministicAlgorithms()),
      deterministic_warn_only_(
          at::globalContext().deterministicAlgorithmsWarnOnly()),
      anomaly_(AnomalyMode::is_enabled()),
      anomaly_nan_(AnomalyMode::should_check_nan()),
      threads_(at::get_num_threads()),
      quantized_engine_(at::globalContext().qEngine()),
      switches_(switches()),
      random_numbers_(copy_of(at::detail::getDefaultCPUGenerator())) {}

TorchState::~TorchState() {
  put_back_autocast();
  put_back_process();
  at::ThreadLocalState::setThreadLocalState(thread_);
  put_back_random_numbers();
}

void TorchState::put_back_autocast() const {
  at::autocast::set_autocast_cache_enabled(autocast_cache_);
  int nesting = autocast_nesting();
  for (; nesting < autocast_nesting_; ++nesting)
    at::autocast::increment_nesting();
  for (; nesting > autocast_nesting_; --nesting)
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
}

void TorchState::put_back_process() const {
  at::Context& context = at::globalContext();
  if (c10::get_default_dtype() != dtype_) c10::set_default_dtype(dtype_);
  context.setDeterministicAlgorithms(deterministic_, deterministic_warn_only_);
  AnomalyMode::set_enabled(anomaly_, anomaly_nan_);
  if (at::get_num_threads() != threads_) at::set_num_threads(threads_);
  if (context.qEngine() != quantized_engine_)
    context.setQEngine(quantized_engine_);
  uint64_t changed = switches() ^ switches_, before = switches_;
  for (const Switch& one : kSwitches) {
    if (changed & 1) (context.*one.set)(before & 1);
    changed >>= 1;
    before >>= 1;
  }
}

// A trace draws none; the program may have seeded them.
void TorchState::put_back_random_numbers() const {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  const at::Tensor before = random_numbers_.get_state();
  if (!same_state(before, generator.get_state())) generator.set_state(before);
}

}  // namespace proviso::inline v0_2
