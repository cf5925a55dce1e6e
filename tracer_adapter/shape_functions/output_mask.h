// tracer_adapter/shape_functions/output_mask.h - the argument `output_mask` of
// gradients: which of them are wanted.
#pragma once

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2::shapes {

// The i-th gradient, or none.
inline void return_if_wanted(RuleCall& call, size_t i, const Tensor& t) {
  const c10::List<bool> mask = arg(call, "output_mask").toBoolList();
  TORCH_CHECK(i < mask.size(), op_name(call), ": output_mask has ", mask.size(),
              " elements");
  call.returns(mask.get(i) ? t : Tensor());
}

}  // namespace proviso::inline v0_2::shapes
