// tracer_adapter/shape_functions/loss_reduction.h - the argument `reduction` of
// losses: 0 none, 1 mean, 2 sum.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/util/Exception.h>

namespace proviso::inline v0_2 {

// Whether a loss keeps all its elements.  Kernels do not agree about other
// numbers, which only a file can hold.
inline bool keeps_all(const c10::IValue& reduction) {
  const int64_t value = reduction.toInt();
  TORCH_CHECK_VALUE(value >= 0 && value <= 2, value,
                    " is not a valid value for reduction; 0 (none), 1 (mean) "
                    "and 2 (sum) are");
  return value == 0;
}

}  // namespace proviso::inline v0_2
