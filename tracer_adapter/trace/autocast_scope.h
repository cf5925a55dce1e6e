// tracer_adapter/trace/autocast_scope.h - torch.autocast for as long as it
// lives.
//
//   const AutocastScope scope("cpu", at::kBFloat16, true, true);
#pragma once

#include <ATen/autocast_mode.h>

#include <string>

namespace proviso::inline v0_2 {

class AutocastScope {
 public:
  AutocastScope(const std::string& device, at::ScalarType dtype, bool enabled,
                bool cache)
      : device_(c10::Device(device).type()),
        was_enabled_(at::autocast::is_autocast_enabled(device_)),
        dtype_before_(at::autocast::get_autocast_dtype(device_)),
        cache_before_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::set_autocast_enabled(device_, enabled);
    at::autocast::set_autocast_dtype(device_, dtype);
    at::autocast::set_autocast_cache_enabled(cache);
    at::autocast::increment_nesting();
  }
  ~AutocastScope() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, was_enabled_);
    at::autocast::set_autocast_dtype(device_, dtype_before_);
    at::autocast::set_autocast_cache_enabled(cache_before_);
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  const at::DeviceType device_;
  const bool was_enabled_;
  const at::ScalarType dtype_before_;
  const bool cache_before_;
};

}  // namespace proviso::inline v0_2
