// tracer_adapter/trace/tensors_in.h - the tensors in an argument or result.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace proviso::inline v0_2 {

// Those of lists, and of lists in lists, too; undefined ones are left out.
template <typename Visit>
void for_each_tensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& t : value.toTensorList())
      if (t.defined()) visit(t);
  } else if (value.isList() && !value.isIntList() && !value.isDoubleList()) {
    for (const c10::IValue& item : value.toListRef())
      for_each_tensor(item, visit);
  }
}

}  // namespace proviso::inline v0_2
