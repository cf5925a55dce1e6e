#include "tracer_adapter/checked_calls.h"

#include <ATen/core/List.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <optional>
#include <span>
#include <string_view>

#include "tracer_adapter/graph.h"
#include "tracer_adapter/interceptor.h"
#include "tracer_adapter/tracer.h"

namespace proviso::inline v0_2 {
namespace {

thread_local const pt2::AllowedOperators* asked = nullptr;  // while checking

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

void check_steps(const c10::OperatorHandle& op,
                 std::span<const c10::IValue> args) {
  for (const StepArgument& steps : kStepArguments) {
    if (op.schema().name() != steps.op) continue;
    const double asked = largest(args[steps.argument]);
    TORCH_CHECK_VALUE(asked <= steps.most, op.schema().name(), ": ",
                      op.schema().arguments()[steps.argument].name(), " is ",
                      asked, ", a number of steps; at most ", steps.most,
                      " are taken");
  }
}

bool is_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(
      c10::DispatchKey::CompositeImplicitAutograd);
}

// Namespaces beside these are the user's own operators.
bool comes_with_torch(const c10::OperatorHandle& op) {
  const std::string& name = op.schema().name();
  return name.starts_with("aten::") || name.starts_with("prims::");
}

// Throws what the operator's shape function throws.  False where the data
// decide what the operator does.
bool look_at(const c10::OperatorHandle& op, std::span<const c10::IValue> args) {
  check_steps(op, args);
  c10::Stack fakes;
  for (const c10::IValue& value : args) fakes.push_back(fakes_of(value));
  Tracer tracer;
  const RecordingOff off(tracer);
  try {
    op.callBoxed(fakes);
    // Sizes and numbers that the data give have symbols here, others have none.
    return tracer.env().pool().symbols().empty();
  } catch (const DataDependentError&) {
    return false;
  } catch (const c10::NotImplementedError& error) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !comes_with_torch(op) || asked->is_asked(op),
        "nothing looks at its arguments before its kernel does (",
        error.what_without_backtrace(),
        "); where you trust the file, allow it by its name: ", target_name(op));
    return true;
  }
}

void look_at_parts(const c10::OperatorHandle& op, c10::Stack* stack);

// While it lives, this thread's operators on real tensors come here.
class Parts : public Interceptor {
 public:
  bool intercept(const c10::OperatorHandle& op, c10::Stack* stack) override {
    if (is_looking_) return false;  // the trace of look_at()
    is_looking_ = true;
    bool is_whole = true;
    try {
      is_whole =
          look_at(op, std::span(*stack).last(op.schema().arguments().size()));
    } catch (...) {
      is_looking_ = false;
      throw;
    }
    is_looking_ = false;
    if (!is_whole && is_composite(op)) {
      look_at_parts(op, stack);
    } else {
      const c10::impl::ExcludeDispatchKeyGuard execute(kTraceKey);
      op.callBoxed(stack);
    }
    return true;
  }

 private:
  bool is_looking_ = false;
};

// What an operator is composed of is called one after another, each looked at
// when its tensors are there.
void look_at_parts(const c10::OperatorHandle& op, c10::Stack* stack) {
  Tracer tracer;
  const RecordingOff off(tracer);
  Parts parts;
  op.callBoxedForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd,
                             *stack);
}

}  // namespace

CheckedCalls::CheckedCalls(pt2::AllowedOperators allowed)
    : allowed_(std::move(allowed)), outer_(std::exchange(asked, &allowed_)) {}
CheckedCalls::~CheckedCalls() { asked = outer_; }

void CheckedCalls::call(const c10::OperatorHandle& op, c10::Stack& stack) {
  const bool is_checked = asked != nullptr && Tracer::current() == nullptr;
  if (is_checked && !look_at(op, stack) && is_composite(op))
    return look_at_parts(op, &stack);
  op.callBoxed(stack);
}

}  // namespace proviso::inline v0_2
