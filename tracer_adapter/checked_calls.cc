#include "tracer_adapter/checked_calls.h"

#include <ATen/core/List.h>

#include <optional>
#include <string_view>

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

// Kernels that take as many steps as an argument says: for each element, or
// before they look whether the result fits into memory.  No program means as
// many as these.
struct StepArgument {
  std::string_view op;
  size_t argument;
  double most;
};
constexpr StepArgument kStepArguments[] = {
    {"aten::combinations", 1, 1e3},
    {"aten::special_laguerre_polynomial_l", 1, 1e6},
    {"aten::special_legendre_polynomial_p", 1, 1e6},
};

double largest(const c10::IValue& value) {
  if (value.isScalar()) return value.toScalar().toDouble();
  const at::Tensor t = value.toTensor();
  return is_fake(t) || t.is_complex() || t.numel() == 0
             ? 0
             : t.max().item().toDouble();
}

void check_steps(const c10::OperatorHandle& op, const c10::Stack& stack) {
  for (const StepArgument& steps : kStepArguments) {
    if (op.schema().name() != steps.op) continue;
    const double asked = largest(stack.at(steps.argument));
    TORCH_CHECK_VALUE(asked <= steps.most, op.schema().name(), ": ",
                      op.schema().arguments()[steps.argument].name(), " is ",
                      asked, ", a number of steps; at most ", steps.most,
                      " are taken");
  }
}

}  // namespace

CheckedCalls::CheckedCalls() : outer_(std::exchange(checking, true)) {}
CheckedCalls::~CheckedCalls() { checking = outer_; }

void CheckedCalls::look_at(const c10::OperatorHandle& op,
                           const c10::Stack& stack) {
  if (!checking || Tracer::current() != nullptr) return;
  check_steps(op, stack);
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
