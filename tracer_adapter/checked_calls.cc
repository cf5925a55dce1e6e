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

// One layer of an LSTM as torch's decompositions write it.  The kernel trusts
// its arguments, and there is no rule, as what it keeps for a gradient is
// oneDNN's own.
void check_lstm_layer(const c10::OperatorHandle& op, const c10::Stack& stack) {
  if (op.schema().name() != "aten::mkldnn_rnn_layer") return;
  constexpr size_t kModeIndex = 9, kHiddenIndex = 10, kLayersIndex = 11;
  constexpr size_t kBiasesIndex = 12, kBatchFirstIndex = 14;
  constexpr int64_t kLstm = 2;
  const int64_t mode = stack.at(kModeIndex).toInt();
  TORCH_CHECK_VALUE(mode == kLstm, "mkldnn_rnn_layer: mode is ", mode,
                    "; 2, an LSTM, is taken");
  TORCH_CHECK_VALUE(stack.at(kLayersIndex).toInt() == 1,
                    "mkldnn_rnn_layer: num_layers is ",
                    stack.at(kLayersIndex).toInt(), "; 1 is taken");
  const at::Tensor input = stack.at(0).toTensor();
  if (is_fake(input)) return;
  const int64_t hidden = stack.at(kHiddenIndex).toInt();
  const bool fits = input.dim() == 3 && hidden >= 1 && hidden <= (1 << 24);
  TORCH_CHECK_VALUE(fits, "mkldnn_rnn_layer: an input of ", input.dim(),
                    " dimensions and hidden_size ", hidden,
                    "; 3 dimensions and at least 1 are taken");
  const int64_t gates = 4 * hidden;
  const std::vector<std::vector<int64_t>> weights = {
      {gates, input.size(2)}, {gates, hidden}, {gates}, {gates}};
  const size_t count = stack.at(kBiasesIndex).toBool() ? 4 : 2;
  for (size_t i = 0; i < count; ++i) {
    const at::Tensor weight = stack.at(1 + i).toTensor();
    TORCH_CHECK_VALUE(weight.defined() && weight.sizes() == weights[i],
                      "mkldnn_rnn_layer: weight", i, " has sizes ",
                      weight.sizes(), " where the others need ",
                      at::IntArrayRef(weights[i]));
  }
  for (size_t i : {5, 6}) {
    const at::Tensor state = stack.at(i).toTensor();
    TORCH_CHECK_VALUE(state.dim() >= 1 && state.size(-1) == hidden &&
                          input.numel() > 0 && state.numel() % hidden == 0,
                      "mkldnn_rnn_layer: a state has sizes ", state.sizes(),
                      " for hidden_size ", hidden);
    const int64_t rows = state.numel() / hidden;
    TORCH_CHECK_VALUE(
        rows == input.size(stack.at(kBatchFirstIndex).toBool() ? 0 : 1),
        "mkldnn_rnn_layer: a state of ", rows, " rows for an input of sizes ",
        input.sizes());
  }
}

}  // namespace

CheckedCalls::CheckedCalls() : outer_(std::exchange(checking, true)) {}
CheckedCalls::~CheckedCalls() { checking = outer_; }

void CheckedCalls::look_at(const c10::OperatorHandle& op,
                           const c10::Stack& stack) {
  if (!checking || Tracer::current() != nullptr) return;
  check_steps(op, stack);
  check_lstm_layer(op, stack);
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
