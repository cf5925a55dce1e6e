#include "tracer_adapter/checked_calls.h"

#include <ATen/core/List.h>

#include <optional>

#include "tracer_adapter/tracer.h"

namespace proviso::inline v0_2 {
namespace {

thread_local bool checking = false;

// As it is where its parts are no sizes and strides.
at::Tensor fake_of(const at::Tensor& t) {
  if (!t.defined() || is_fake(t) || t.layout() != at::kStrided ||
      t.is_quantized() || t.is_nested())
    return t;
  const at::Tensor fake =
      make_fake(t.sym_sizes(), t.sym_strides(), t.scalar_type(), t.device(),
                std::nullopt, t.sym_storage_offset());
  if (t.unsafeGetTensorImpl()->is_wrapped_number())
    fake.unsafeGetTensorImpl()->set_wrapped_number(true);
  return fake;
}

c10::IValue fakes_of(const c10::IValue& value) {
  if (value.isTensor()) return fake_of(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& t : value.toTensorList()) list.push_back(fake_of(t));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& t : value.toOptionalTensorList())
      list.push_back(t ? std::optional(fake_of(*t)) : std::nullopt);
    return list;
  }
  return value;
}

// Kernels that take a step for each degree that an argument says, for each
// element; no program means a million.
void check_degree(const c10::OperatorHandle& op, const c10::Stack& stack) {
  const std::string& name = op.schema().name();
  if (name != "aten::special_laguerre_polynomial_l" &&
      name != "aten::special_legendre_polynomial_p")
    return;
  constexpr double kMost = 1e6;
  const c10::IValue& degree = stack.at(1);
  double most = 0;
  if (degree.isScalar())
    most = degree.toScalar().toDouble();
  else if (const at::Tensor n = degree.toTensor();
           !is_fake(n) && !n.is_complex() && n.numel() > 0)
    most = n.max().item().toDouble();
  TORCH_CHECK_VALUE(most <= kMost, "the degree ", most, " of a polynomial is ",
                    "more than ", kMost, " steps for each element");
}

}  // namespace

CheckedCalls::CheckedCalls() : outer_(std::exchange(checking, true)) {}
CheckedCalls::~CheckedCalls() { checking = outer_; }

void CheckedCalls::look_at(const c10::OperatorHandle& op,
                           const c10::Stack& stack) {
  if (!checking || Tracer::current() != nullptr) return;
  check_degree(op, stack);
  c10::Stack fakes;
  for (const c10::IValue& value : stack) fakes.push_back(fakes_of(value));
  Tracer tracer;
  const RecordingOff off(tracer);
  try {
    op.callBoxed(fakes);
  } catch (const DataDependentError&) {  // the kernel looks at the data
  } catch (const c10::NotImplementedError&) {
  }
}

}  // namespace proviso::inline v0_2
