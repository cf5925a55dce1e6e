// tracer_adapter/shape_functions/gradients.cc - what torch.func leaves in a
// program of the gradients of views, losses and functions of single elements.
//
//   torch.func.grad(lambda t: t[0].sum())(x)
//   select_backward(grad, [s0, 5], 0, 0)    // zeros of [s0, 5], but for row 0
//
// The gradient of a view is as large as what was viewed, and grad as the view;
// that of a function of single elements is as large as its operands together.
#include <ATen/ops/diagonal.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/select.h>
#include <ATen/ops/slice.h>

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

// (grad, input_sizes, ...): `view` gives the part of the input that grad is of.
template <typename View>
bool view_backward(RuleCall& call, const View& view) {
  const Tensor& grad = call.tensor(0);
  const Tensor whole =
      fresh(call.sym_ints(1), grad.scalar_type(), grad.device());
  {
    const RecordingOff off(call.tracer);
    require_part(grad, sizes_of(view(whole)));
  }
  call.returns(whole);
  return true;
}

bool select_backward(RuleCall& call) {
  return view_backward(call, [&](const Tensor& whole) {
    return at::select_symint(whole, call.args[2].toInt(), call.sym_int(3));
  });
}

bool slice_backward(RuleCall& call) {
  return view_backward(call, [&](const Tensor& whole) {
    return at::slice_symint(whole, call.args[2].toInt(), call.sym_int(3),
                            call.sym_int(4), call.sym_int(5));
  });
}

bool diagonal_backward(RuleCall& call) {
  return view_backward(call, [&](const Tensor& whole) {
    return at::diagonal(whole, call.args[2].toInt(), call.args[3].toInt(),
                        call.args[4].toInt());
  });
}

bool unfold_backward(RuleCall& call) {
  return view_backward(call, [&](const Tensor& whole) {
    return whole.unfold(call.args[2].toInt(), call.args[3].toInt(),
                        call.args[4].toInt());
  });
}

// As large, and of such a dtype, as the product of the tensors.
bool of_elements(RuleCall& call) {
  const RecordingOff off(call.tracer);
  Tensor result;
  for (const c10::IValue& arg : call.args)
    if (arg.isTensor() && arg.toTensor().defined())
      result =
          result.defined() ? at::mul(result, arg.toTensor()) : arg.toTensor();
  call.returns(fresh_like(result));
  return true;
}

// (grad, self, ...): as large as self, at whose elements grad is taken, and
// contiguous.
bool contiguous_operand(RuleCall& call) {
  const Tensor& self = call.tensor(1);
  call.returns(fresh(sizes_of(self), self.scalar_type(), self.device()));
  return true;
}

bool like_operand(RuleCall& call) {
  call.returns(fresh_like(call.tensor(1)));
  return true;
}

const RuleEntry kGradientRules[] = {
    {"aten::diagonal_backward", diagonal_backward, "gradient"},
    {"aten::select_backward", select_backward, "gradient"},
    {"aten::slice_backward", slice_backward, "gradient"},
    {"aten::unfold_backward", unfold_backward, "gradient"},
    // of losses
    {"aten::huber_loss_backward", contiguous_operand, "gradient"},
    {"aten::mse_loss_backward", contiguous_operand, "gradient"},
    {"aten::nll_loss_backward", contiguous_operand, "gradient"},
    {"aten::nll_loss2d_backward", like_operand, "gradient"},
    {"aten::smooth_l1_loss_backward", contiguous_operand, "gradient"},
    // of functions of single elements
    {"aten::elu_backward", of_elements, "gradient"},
    {"aten::gelu_backward", of_elements, "gradient"},
    {"aten::glu_backward", contiguous_operand, "gradient"},
    {"aten::hardshrink_backward", of_elements, "gradient"},
    {"aten::hardsigmoid_backward", of_elements, "gradient"},
    {"aten::hardswish_backward", of_elements, "gradient"},
    {"aten::hardtanh_backward", of_elements, "gradient"},
    {"aten::leaky_relu_backward", of_elements, "gradient"},
    {"aten::logit_backward", of_elements, "gradient"},
    {"aten::mish_backward", of_elements, "gradient"},
    {"aten::sigmoid_backward", of_elements, "gradient"},
    {"aten::silu_backward", of_elements, "gradient"},
    {"aten::softplus_backward", of_elements, "gradient"},
    {"aten::softshrink_backward", of_elements, "gradient"},
    {"aten::tanh_backward", of_elements, "gradient"},
    {"aten::threshold_backward", of_elements, "gradient"},
};

}  // namespace

void register_gradient_rules() { register_rules(kGradientRules); }

}  // namespace proviso::inline v0_2
