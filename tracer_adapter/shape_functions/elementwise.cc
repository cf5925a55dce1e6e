// tracer_adapter/shape_functions/elementwise.cc - one output element for one
// element of each operand: broadcast, promote, keep the operands' layout.
#include <ATen/ops/mul.h>

#include <array>

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

// What becomes of the promoted dtype.
enum class Combined {
  kPromoted,  // add
  kFloat,     // exp, div: integers become the default float
  kBool,      // eq
  kSelf,      // masked_fill: the first operand's
};

ScalarType dtype_of(Combined kind, const Promotion& promotion,
                    const IValue& self) {
  switch (kind) {
    case Combined::kBool: return ScalarType::Bool;
    case Combined::kFloat: return as_float(promotion.result());
    case Combined::kSelf: return self.toTensor().scalar_type();
    case Combined::kPromoted: break;
  }
  return promotion.result();
}

// The operands that are tensors with memory of their own: a number that was
// wrapped to a tensor has no say in shape or layout.
std::vector<Tensor> tensor_operands(std::span<const IValue> operands) {
  std::vector<Tensor> tensors;
  for (const IValue& operand : operands) {
    if (operand.isTensor() && operand.toTensor().defined()) {
      tensors.push_back(operand.toTensor());
    }
  }
  return tensors;
}

Dims common_shape(std::span<const Tensor> tensors) {
  Dims shape = sizes_of(tensors.front());
  for (const Tensor& t : tensors.subspan(1)) {
    if (t.dim() > 0) shape = broadcast(shape, sizes_of(t));
  }
  return shape;
}

Tensor elementwise(std::span<const IValue> operands, Combined kind) {
  Promotion promotion;
  for (const IValue& operand : operands) promotion.add(operand);
  auto tensors = tensor_operands(operands);
  Dims shape = common_shape(tensors);
  return make_fake(shape, elementwise_strides(shape, tensors),
                   dtype_of(kind, promotion, operands.front()),
                   common_device(tensors));
}

// The first `kOperands` arguments are the operands.
template <Combined kKind, size_t kOperands>
bool pointwise(RuleCall& call) {
  call.returns(elementwise(call.args.first(kOperands), kKind));
  return true;
}

constexpr Rule kUnary = pointwise<Combined::kPromoted, 1>;
constexpr Rule kUnaryFloat = pointwise<Combined::kFloat, 1>;
constexpr Rule kUnaryBool = pointwise<Combined::kBool, 1>;
constexpr Rule kBinary = pointwise<Combined::kPromoted, 2>;
constexpr Rule kBinaryFloat = pointwise<Combined::kFloat, 2>;
constexpr Rule kCompare = pointwise<Combined::kBool, 2>;
constexpr Rule kTernary = pointwise<Combined::kPromoted, 3>;

// polygamma(n, self)
bool polygamma(RuleCall& call) {
  call.returns(elementwise(call.args.subspan(1, 1), Combined::kFloat));
  return true;
}

// --- in place: the operands must fit into self

void require_fits(const Tensor& self, std::span<const Tensor> tensors) {
  Dims shape = common_shape(tensors);
  Dims target = sizes_of(self);
  bool fits = shape.size() == target.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    // Broadcasting has made these equal unless self had to stretch.
    fits = known_equal(shape[i], target[i]) ||
           (!known_one(target[i]) && expect(shape[i].sym_eq(target[i])));
  }
  TORCH_CHECK(fits, "output with shape ", to_text(target),
              " doesn't match the broadcast shape ", to_text(shape));
}

template <Combined kKind, size_t kOperands>
bool in_place(RuleCall& call) {
  auto operands = call.args.first(kOperands);
  auto tensors = tensor_operands(operands);
  const Tensor& self = call.tensor(0);
  require_fits(self, tensors);
  if (kKind != Combined::kSelf) {
    Promotion promotion;
    for (const IValue& operand : operands) promotion.add(operand);
    // A comparison writes its bool into any dtype.
    ScalarType dtype = dtype_of(kKind, promotion, operands.front());
    if (kKind != Combined::kBool) require_castable(dtype, self.scalar_type());
  }
  return return_self(call);
}

constexpr Rule kUnaryInPlace = in_place<Combined::kPromoted, 1>;
constexpr Rule kUnaryFloatInPlace = in_place<Combined::kFloat, 1>;
constexpr Rule kBinaryInPlace = in_place<Combined::kPromoted, 2>;
constexpr Rule kBinaryFloatInPlace = in_place<Combined::kFloat, 2>;
constexpr Rule kBinarySelfInPlace = in_place<Combined::kSelf, 2>;
constexpr Rule kCompareInPlace = in_place<Combined::kBool, 2>;
constexpr Rule kTernaryInPlace = in_place<Combined::kPromoted, 3>;
constexpr Rule kTernarySelfInPlace = in_place<Combined::kSelf, 3>;

// --- the ones that differ

// rounding_mode "floor" and "trunc" keep integers.
template <bool kInPlace>
bool divide_with_mode(RuleCall& call) {
  bool rounds = !call.is_none(2);
  if (kInPlace) {
    return rounds ? kBinaryInPlace(call) : kBinaryFloatInPlace(call);
  }
  return rounds ? kBinary(call) : kBinaryFloat(call);
}

// clamp(self, min?, max?): absent limits are None.
bool clamp(RuleCall& call) {
  TORCH_CHECK(!call.is_none(1) || !call.is_none(2),
              "torch.clamp: At least one of 'min' or 'max' must not be None");
  call.returns(elementwise(call.args.first(3), Combined::kPromoted));
  return true;
}

// where(condition, self, other): the condition has no say in the dtype, all
// three in the shape.
bool where(RuleCall& call) {
  Promotion promotion;
  promotion.add(call.args[1]);
  promotion.add(call.args[2]);
  auto tensors = tensor_operands(call.args.first(3));
  // The two choices come first in TensorIterator's list of operands, after the
  // condition.
  Dims shape = common_shape(tensors);
  call.returns(make_fake(shape, elementwise_strides(shape, tensors),
                         promotion.result(), common_device(tensors)));
  return true;
}

bool lerp_scalar(RuleCall& call) {
  call.returns(elementwise(call.args.first(2), Combined::kPromoted));
  return true;
}

// abs of complex is real; others keep the dtype.
bool absolute(RuleCall& call) {
  Tensor result = elementwise(call.args.first(1), Combined::kPromoted);
  if (result.is_complex()) {
    result =
        make_fake(result.sym_sizes(), result.sym_strides(),
                  c10::toRealValueType(result.scalar_type()), result.device());
  }
  call.returns(result);
  return true;
}

// A real tensor is its own conjugate.
bool conj_physical(RuleCall& call) {
  return call.tensor(0).is_complex() ? kUnary(call) : return_self(call);
}

// polar(abs, angle), complex(real, imag)
bool complex_of_two(RuleCall& call) {
  const Tensor &first = call.tensor(0), &second = call.tensor(1);
  TORCH_CHECK(first.scalar_type() == second.scalar_type(),
              "Expected object of scalar type ", first.scalar_type(),
              " but got scalar type ", second.scalar_type(),
              " for second argument");
  const Tensor result = elementwise(call.args.first(2), Combined::kPromoted);
  call.returns(make_fake(result.sym_sizes(), result.sym_strides(),
                         c10::toComplexType(result.scalar_type()),
                         result.device()));
  return true;
}

// pow(number, exponent): unlike the other overloads, contiguous.
bool power_of_number(RuleCall& call) {
  Promotion promotion;
  promotion.add(call.args[0]);
  promotion.add(call.args[1]);
  const Tensor& exponent = call.tensor(1);
  call.returns(
      fresh(sizes_of(exponent), promotion.result(), exponent.device()));
  return true;
}

// pow(self, 2): a bool becomes an integer.
bool square(RuleCall& call) {
  std::array<IValue, 2> operands{call.args[0], IValue(int64_t{2})};
  call.returns(elementwise(operands, Combined::kPromoted));
  return true;
}

// A contiguous copy of self, as large as mask asks, then filled in place.
bool masked_fill(RuleCall& call) {
  const Tensor &self = call.tensor(0), &mask = call.tensor(1);
  TORCH_CHECK(
      mask.scalar_type() == ScalarType::Bool,
      "masked_fill only supports boolean masks, but got mask with dtype ",
      mask.scalar_type());
  call.returns(fresh(broadcast(sizes_of(self), sizes_of(mask)),
                     self.scalar_type(), self.device()));
  return true;
}

// prelu(self, weight): weight is per channel.
bool prelu(RuleCall& call) {
  call.returns(elementwise(call.args.first(1), Combined::kPromoted));
  return true;
}

// glu halves a dimension.
bool glu(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  int64_t dim = wrap_dim(call.args[1].toInt(), self.dim());
  Dims sizes = sizes_of(self);
  PROVISO_REQUIRE((sizes[dim] % 2).sym_eq(0),
                  "Halving dimension must be even, ", "but dimension ", dim,
                  " is size ", sizes[dim]);
  sizes[dim] = floor_div(sizes[dim], 2);
  // Its halves are narrow() views of self.
  Tensor half = view_of(self, sizes, strides_of(self));
  std::array<IValue, 1> operands{half};
  call.returns(elementwise(operands, Combined::kPromoted));
  return true;
}

bool copy_in_place(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  Dims shape = broadcast(sizes_of(self), sizes_of(call.tensor(1)));
  TORCH_CHECK(shape.size() == static_cast<size_t>(self.dim()),
              "output with shape ", self.sym_sizes(),
              " doesn't match the broadcast shape ", to_text(shape));
  return return_self(call);
}

// fill_(self, 0-d tensor)
bool fill_tensor(RuleCall& call) {
  if (call.args[1].isTensor()) {
    TORCH_CHECK(call.tensor(1).dim() == 0,
                "fill_ only supports 0-dimension value tensor but got tensor "
                "with ",
                call.tensor(1).dim(), " dimensions.");
  }
  return return_self(call);
}

bool fill(RuleCall& call) {
  call.returns(fresh_like(call.tensor(0)));
  return true;
}

// (mantissa, exponent)
bool frexp(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.is_floating_point(),
              "torch.frexp() only supports floating-point dtypes");
  call.returns(fresh_like(self));
  call.returns(fresh_like(self, ScalarType::Int));
  return true;
}

// (grad, mask, scale): grad * mask * scale
bool dropout_backward(RuleCall& call) {
  const RecordingOff off(call.tracer);
  call.returns(at::mul(at::mul(call.tensor(0), call.tensor(1)),
                       call.args[2].toDouble()));
  return true;
}

const RuleEntry kElementwiseRules[] = {
    {"aten::native_dropout_backward", dropout_backward, "gradient"},
    // one operand, same dtype
    {"aten::abs", absolute, "elementwise"},
    {"aten::absolute", absolute, "elementwise"},
    {"aten::bitwise_not", kUnary, "elementwise"},
    {"aten::ceil", kUnary, "elementwise"},
    {"aten::celu", kUnary, "elementwise"},
    {"aten::clamp_max", kBinary, "elementwise"},
    {"aten::clamp_min", kBinary, "elementwise"},
    {"aten::complex", complex_of_two, "elementwise"},
    {"aten::conj_physical", conj_physical, "elementwise"},
    {"aten::elu", kUnary, "elementwise"},
    {"aten::fix", kUnary, "elementwise"},
    {"aten::floor", kUnary, "elementwise"},
    {"aten::frac", kUnary, "elementwise"},
    {"aten::gelu", kUnary, "elementwise"},
    {"aten::hardshrink", kUnary, "elementwise"},
    {"aten::hardsigmoid", kUnary, "elementwise"},
    {"aten::hardswish", kUnary, "elementwise"},
    {"aten::hardtanh", kUnary, "elementwise"},
    {"aten::leaky_relu", kUnary, "elementwise"},
    {"aten::log_sigmoid", return_contiguous, "elementwise"},
    {"aten::mish", kUnary, "elementwise"},
    {"aten::nan_to_num", kUnary, "elementwise"},
    {"aten::neg", kUnary, "elementwise"},
    {"aten::negative", kUnary, "elementwise"},
    {"aten::positive", return_self, "elementwise"},
    {"aten::prelu", prelu, "elementwise"},
    {"aten::relu", kUnary, "elementwise"},
    {"aten::relu6", kUnary, "elementwise"},
    {"aten::round", kUnary, "elementwise"},
    {"aten::selu", kUnary, "elementwise"},
    {"aten::sgn", kUnary, "elementwise"},
    {"aten::sign", kUnary, "elementwise"},
    {"aten::silu", kUnary, "elementwise"},
    {"aten::softplus", kUnary, "elementwise"},
    {"aten::softshrink", kUnary, "elementwise"},
    {"aten::square", square, "elementwise"},
    {"aten::threshold", kUnary, "elementwise"},
    {"aten::trunc", kUnary, "elementwise"},
    {"aten::bernoulli", return_contiguous, "elementwise"},
    {"aten::fill", fill, "elementwise"},
    {"aten::copy", return_like_self, "elementwise"},
    {"aten::glu", glu, "elementwise"},
    // one operand, integers become float
    {"aten::acos", kUnaryFloat, "elementwise"},
    {"aten::acosh", kUnaryFloat, "elementwise"},
    {"aten::angle", kUnaryFloat, "elementwise"},
    {"aten::arccos", kUnaryFloat, "elementwise"},
    {"aten::arcsin", kUnaryFloat, "elementwise"},
    {"aten::arctan", kUnaryFloat, "elementwise"},
    {"aten::asin", kUnaryFloat, "elementwise"},
    {"aten::asinh", kUnaryFloat, "elementwise"},
    {"aten::atan", kUnaryFloat, "elementwise"},
    {"aten::atanh", kUnaryFloat, "elementwise"},
    {"aten::cos", kUnaryFloat, "elementwise"},
    {"aten::cosh", kUnaryFloat, "elementwise"},
    {"aten::deg2rad", kUnaryFloat, "elementwise"},
    {"aten::digamma", kUnaryFloat, "elementwise"},
    {"aten::erf", kUnaryFloat, "elementwise"},
    {"aten::erfc", kUnaryFloat, "elementwise"},
    {"aten::erfinv", kUnaryFloat, "elementwise"},
    {"aten::exp", kUnaryFloat, "elementwise"},
    {"aten::exp2", kUnaryFloat, "elementwise"},
    {"aten::expm1", kUnaryFloat, "elementwise"},
    {"aten::i0", kUnaryFloat, "elementwise"},
    {"aten::lgamma", kUnaryFloat, "elementwise"},
    {"aten::log", kUnaryFloat, "elementwise"},
    {"aten::log10", kUnaryFloat, "elementwise"},
    {"aten::log1p", kUnaryFloat, "elementwise"},
    {"aten::log2", kUnaryFloat, "elementwise"},
    {"aten::logit", kUnaryFloat, "elementwise"},
    {"aten::mvlgamma", kUnaryFloat, "elementwise"},
    {"aten::polygamma", polygamma, "elementwise"},
    {"aten::rad2deg", kUnaryFloat, "elementwise"},
    {"aten::reciprocal", kUnaryFloat, "elementwise"},
    {"aten::rsqrt", kUnaryFloat, "elementwise"},
    {"aten::sigmoid", kUnaryFloat, "elementwise"},
    {"aten::sin", kUnaryFloat, "elementwise"},
    {"aten::sinc", kUnaryFloat, "elementwise"},
    {"aten::sinh", kUnaryFloat, "elementwise"},
    {"aten::special_airy_ai", kUnaryFloat, "elementwise"},
    {"aten::special_bessel_j0", kUnaryFloat, "elementwise"},
    {"aten::special_bessel_j1", kUnaryFloat, "elementwise"},
    {"aten::special_bessel_y0", kUnaryFloat, "elementwise"},
    {"aten::special_bessel_y1", kUnaryFloat, "elementwise"},
    {"aten::special_entr", kUnaryFloat, "elementwise"},
    {"aten::special_erfcx", kUnaryFloat, "elementwise"},
    {"aten::special_expit", kUnaryFloat, "elementwise"},
    {"aten::special_i0e", kUnaryFloat, "elementwise"},
    {"aten::special_i1", kUnaryFloat, "elementwise"},
    {"aten::special_i1e", kUnaryFloat, "elementwise"},
    {"aten::special_log_ndtr", kUnaryFloat, "elementwise"},
    {"aten::special_modified_bessel_i0", kUnaryFloat, "elementwise"},
    {"aten::special_modified_bessel_i1", kUnaryFloat, "elementwise"},
    {"aten::special_modified_bessel_k0", kUnaryFloat, "elementwise"},
    {"aten::special_modified_bessel_k1", kUnaryFloat, "elementwise"},
    {"aten::special_ndtri", kUnaryFloat, "elementwise"},
    {"aten::special_scaled_modified_bessel_k0", kUnaryFloat, "elementwise"},
    {"aten::special_scaled_modified_bessel_k1", kUnaryFloat, "elementwise"},
    {"aten::special_spherical_bessel_j0", kUnaryFloat, "elementwise"},
    {"aten::sqrt", kUnaryFloat, "elementwise"},
    {"aten::tan", kUnaryFloat, "elementwise"},
    {"aten::tanh", kUnaryFloat, "elementwise"},
    // one operand, bool
    {"aten::isfinite", kUnaryBool, "elementwise"},
    {"aten::isinf", kUnaryBool, "elementwise"},
    {"aten::isnan", kUnaryBool, "elementwise"},
    {"aten::isneginf", kUnaryBool, "elementwise"},
    {"aten::isposinf", kUnaryBool, "elementwise"},
    {"aten::isreal", kUnaryBool, "elementwise"},
    {"aten::logical_not", kUnaryBool, "elementwise"},
    {"aten::signbit", kUnaryBool, "elementwise"},
    // two operands
    {"aten::add.Scalar", kBinary, "elementwise"},
    {"aten::add.Tensor", kBinary, "elementwise"},
    {"aten::sub.Scalar", kBinary, "elementwise"},
    {"aten::sub.Tensor", kBinary, "elementwise"},
    {"aten::subtract.Scalar", kBinary, "elementwise"},
    {"aten::subtract.Tensor", kBinary, "elementwise"},
    {"aten::rsub", kBinary, "elementwise"},
    {"aten::mul.Scalar", kBinary, "elementwise"},
    {"aten::mul.Tensor", kBinary, "elementwise"},
    {"aten::multiply.Scalar", kBinary, "elementwise"},
    {"aten::multiply.Tensor", kBinary, "elementwise"},
    {"aten::maximum", kBinary, "elementwise"},
    {"aten::minimum", kBinary, "elementwise"},
    {"aten::max.other", kBinary, "elementwise"},
    {"aten::min.other", kBinary, "elementwise"},
    {"aten::fmax", kBinary, "elementwise"},
    {"aten::fmin", kBinary, "elementwise"},
    {"aten::remainder", kBinary, "elementwise"},
    {"aten::fmod", kBinary, "elementwise"},
    {"aten::floor_divide", kBinary, "elementwise"},
    {"aten::polar", complex_of_two, "elementwise"},
    {"aten::pow.Tensor_Scalar", kBinary, "elementwise"},
    {"aten::pow.Tensor_Tensor", kBinary, "elementwise"},
    {"aten::pow.Scalar", power_of_number, "elementwise"},
    {"aten::remainder.Scalar_Tensor", kBinary, "elementwise"},
    {"aten::gcd", kBinary, "elementwise"},
    {"aten::lcm", kBinary, "elementwise"},
    {"aten::hypot", kBinary, "elementwise"},
    {"aten::igamma", kBinary, "elementwise"},
    {"aten::igammac", kBinary, "elementwise"},
    {"aten::nextafter", kBinary, "elementwise"},
    {"aten::heaviside", kBinary, "elementwise"},
    {"aten::bitwise_and", kBinary, "elementwise"},
    {"aten::bitwise_or", kBinary, "elementwise"},
    {"aten::bitwise_xor", kBinary, "elementwise"},
    {"aten::bitwise_left_shift", kBinary, "elementwise"},
    {"aten::bitwise_right_shift", kBinary, "elementwise"},
    {"aten::__and__", kBinary, "elementwise"},
    {"aten::__or__", kBinary, "elementwise"},
    {"aten::__xor__", kBinary, "elementwise"},
    {"aten::__lshift__", kBinary, "elementwise"},
    {"aten::__rshift__", kBinary, "elementwise"},
    {"aten::logaddexp", kBinary, "elementwise"},
    {"aten::logaddexp2", kBinary, "elementwise"},
    {"aten::div.Scalar", kBinaryFloat, "elementwise"},
    {"aten::div.Tensor", kBinaryFloat, "elementwise"},
    {"aten::div.Scalar_mode", divide_with_mode<false>, "elementwise"},
    {"aten::div.Tensor_mode", divide_with_mode<false>, "elementwise"},
    {"aten::divide.Scalar", kBinaryFloat, "elementwise"},
    {"aten::divide.Tensor", kBinaryFloat, "elementwise"},
    {"aten::true_divide", kBinaryFloat, "elementwise"},
    {"aten::atan2", kBinaryFloat, "elementwise"},
    {"aten::arctan2", kBinaryFloat, "elementwise"},
    {"aten::xlogy", kBinaryFloat, "elementwise"},
    {"aten::copysign", kBinaryFloat, "elementwise"},
    {"aten::special_chebyshev_polynomial_t", kBinaryFloat, "elementwise"},
    {"aten::special_chebyshev_polynomial_u", kBinaryFloat, "elementwise"},
    {"aten::special_chebyshev_polynomial_v", kBinaryFloat, "elementwise"},
    {"aten::special_chebyshev_polynomial_w", kBinaryFloat, "elementwise"},
    {"aten::special_hermite_polynomial_h", kBinaryFloat, "elementwise"},
    {"aten::special_hermite_polynomial_he", kBinaryFloat, "elementwise"},
    {"aten::special_laguerre_polynomial_l", kBinaryFloat, "elementwise"},
    {"aten::special_legendre_polynomial_p", kBinaryFloat, "elementwise"},
    {"aten::special_shifted_chebyshev_polynomial_t", kBinaryFloat,
     "elementwise"},
    {"aten::special_shifted_chebyshev_polynomial_u", kBinaryFloat,
     "elementwise"},
    {"aten::special_shifted_chebyshev_polynomial_v", kBinaryFloat,
     "elementwise"},
    {"aten::special_shifted_chebyshev_polynomial_w", kBinaryFloat,
     "elementwise"},
    {"aten::special_xlog1py", kBinaryFloat, "elementwise"},
    {"aten::special_zeta", kBinaryFloat, "elementwise"},
    {"aten::masked_fill", masked_fill, "elementwise"},
    // comparisons
    {"aten::eq", kCompare, "elementwise"},
    {"aten::ge", kCompare, "elementwise"},
    {"aten::greater", kCompare, "elementwise"},
    {"aten::greater_equal", kCompare, "elementwise"},
    {"aten::gt", kCompare, "elementwise"},
    {"aten::le", kCompare, "elementwise"},
    {"aten::less", kCompare, "elementwise"},
    {"aten::less_equal", kCompare, "elementwise"},
    {"aten::logical_and", kCompare, "elementwise"},
    {"aten::logical_or", kCompare, "elementwise"},
    {"aten::logical_xor", kCompare, "elementwise"},
    {"aten::lt", kCompare, "elementwise"},
    {"aten::ne", kCompare, "elementwise"},
    {"aten::not_equal", kCompare, "elementwise"},
    // three operands
    {"aten::addcdiv", pointwise<Combined::kFloat, 3>, "elementwise"},
    {"aten::addcmul", kTernary, "elementwise"},
    {"aten::clamp", clamp, "elementwise"},
    {"aten::clip", clamp, "elementwise"},
    {"aten::lerp.Scalar", lerp_scalar, "elementwise"},
    {"aten::lerp.Tensor", kTernary, "elementwise"},
    {"aten::where.self", where, "elementwise"},
    {"aten::where.Scalar", where, "elementwise"},
    {"aten::where.ScalarOther", where, "elementwise"},
    {"aten::where.ScalarSelf", where, "elementwise"},
    // in place
    {"aten::abs_", kUnaryInPlace, "in place"},
    {"aten::bitwise_not_", kUnaryInPlace, "in place"},
    {"aten::ceil_", kUnaryInPlace, "in place"},
    {"aten::celu_", kUnaryInPlace, "in place"},
    {"aten::elu_", kUnaryInPlace, "in place"},
    {"aten::floor_", kUnaryInPlace, "in place"},
    {"aten::frac_", kUnaryInPlace, "in place"},
    {"aten::gelu_", kUnaryInPlace, "in place"},
    {"aten::hardsigmoid_", kUnaryInPlace, "in place"},
    {"aten::hardswish_", kUnaryInPlace, "in place"},
    {"aten::hardtanh_", kUnaryInPlace, "in place"},
    {"aten::leaky_relu_", kUnaryInPlace, "in place"},
    {"aten::logical_not_", kUnaryInPlace, "in place"},
    {"aten::mish_", kUnaryInPlace, "in place"},
    {"aten::nan_to_num_", kUnaryInPlace, "in place"},
    {"aten::neg_", kUnaryInPlace, "in place"},
    {"aten::negative_", kUnaryInPlace, "in place"},
    {"aten::relu_", kUnaryInPlace, "in place"},
    {"aten::relu6_", kUnaryInPlace, "in place"},
    {"aten::round_", kUnaryInPlace, "in place"},
    {"aten::selu_", kUnaryInPlace, "in place"},
    {"aten::sign_", kUnaryInPlace, "in place"},
    {"aten::silu_", kUnaryInPlace, "in place"},
    {"aten::square_", kUnaryInPlace, "in place"},
    {"aten::threshold_", kUnaryInPlace, "in place"},
    {"aten::trunc_", kUnaryInPlace, "in place"},
    {"aten::acos_", kUnaryFloatInPlace, "in place"},
    {"aten::asin_", kUnaryFloatInPlace, "in place"},
    {"aten::atan_", kUnaryFloatInPlace, "in place"},
    {"aten::cos_", kUnaryFloatInPlace, "in place"},
    {"aten::cosh_", kUnaryFloatInPlace, "in place"},
    {"aten::erf_", kUnaryFloatInPlace, "in place"},
    {"aten::exp_", kUnaryFloatInPlace, "in place"},
    {"aten::exp2_", kUnaryFloatInPlace, "in place"},
    {"aten::expm1_", kUnaryFloatInPlace, "in place"},
    {"aten::log_", kUnaryFloatInPlace, "in place"},
    {"aten::log1p_", kUnaryFloatInPlace, "in place"},
    {"aten::log2_", kUnaryFloatInPlace, "in place"},
    {"aten::reciprocal_", kUnaryFloatInPlace, "in place"},
    {"aten::rsqrt_", kUnaryFloatInPlace, "in place"},
    {"aten::sigmoid_", kUnaryFloatInPlace, "in place"},
    {"aten::sin_", kUnaryFloatInPlace, "in place"},
    {"aten::sinh_", kUnaryFloatInPlace, "in place"},
    {"aten::sqrt_", kUnaryFloatInPlace, "in place"},
    {"aten::tan_", kUnaryFloatInPlace, "in place"},
    {"aten::tanh_", kUnaryFloatInPlace, "in place"},
    {"aten::acosh_", kUnaryFloatInPlace, "in place"},
    {"aten::arccosh_", kUnaryFloatInPlace, "in place"},
    {"aten::arcsinh_", kUnaryFloatInPlace, "in place"},
    {"aten::arctanh_", kUnaryFloatInPlace, "in place"},
    {"aten::asinh_", kUnaryFloatInPlace, "in place"},
    {"aten::atanh_", kUnaryFloatInPlace, "in place"},
    {"aten::digamma_", kUnaryFloatInPlace, "in place"},
    {"aten::erfc_", kUnaryFloatInPlace, "in place"},
    {"aten::erfinv_", kUnaryFloatInPlace, "in place"},
    {"aten::i0_", kUnaryFloatInPlace, "in place"},
    {"aten::lgamma_", kUnaryFloatInPlace, "in place"},
    {"aten::log10_", kUnaryFloatInPlace, "in place"},
    {"aten::polygamma_", kUnaryFloatInPlace, "in place"},
    {"aten::deg2rad_", kUnaryFloatInPlace, "in place"},
    {"aten::logit_", kUnaryFloatInPlace, "in place"},
    {"aten::mvlgamma_", kUnaryFloatInPlace, "in place"},
    {"aten::rad2deg_", kUnaryFloatInPlace, "in place"},
    {"aten::sinc_", kUnaryFloatInPlace, "in place"},
    {"aten::sgn_", kUnaryInPlace, "in place"},
    {"aten::add_", kBinaryInPlace, "in place"},
    {"aten::sub_", kBinaryInPlace, "in place"},
    {"aten::subtract_", kBinaryInPlace, "in place"},
    {"aten::mul_", kBinaryInPlace, "in place"},
    {"aten::multiply_", kBinaryInPlace, "in place"},
    {"aten::div_.Scalar", kBinaryFloatInPlace, "in place"},
    {"aten::div_.Tensor", kBinaryFloatInPlace, "in place"},
    {"aten::div_.Scalar_mode", divide_with_mode<true>, "in place"},
    {"aten::div_.Tensor_mode", divide_with_mode<true>, "in place"},
    {"aten::divide_.Scalar", kBinaryFloatInPlace, "in place"},
    {"aten::divide_.Tensor", kBinaryFloatInPlace, "in place"},
    {"aten::true_divide_", kBinaryFloatInPlace, "in place"},
    {"aten::floor_divide_", kBinaryInPlace, "in place"},
    {"aten::remainder_", kBinaryInPlace, "in place"},
    {"aten::fmod_", kBinaryInPlace, "in place"},
    {"aten::pow_", kBinaryInPlace, "in place"},
    {"aten::bitwise_and_", kBinaryInPlace, "in place"},
    {"aten::bitwise_or_", kBinaryInPlace, "in place"},
    {"aten::bitwise_xor_", kBinaryInPlace, "in place"},
    {"aten::__iand__", kBinaryInPlace, "in place"},
    {"aten::__ior__", kBinaryInPlace, "in place"},
    {"aten::__ixor__", kBinaryInPlace, "in place"},
    {"aten::gcd_", kBinaryInPlace, "in place"},
    {"aten::heaviside_", kBinaryInPlace, "in place"},
    {"aten::hypot_", kBinaryInPlace, "in place"},
    {"aten::igamma_", kBinaryInPlace, "in place"},
    {"aten::igammac_", kBinaryInPlace, "in place"},
    {"aten::lcm_", kBinaryInPlace, "in place"},
    {"aten::nextafter_", kBinaryInPlace, "in place"},
    {"aten::bitwise_left_shift_", kBinaryInPlace, "in place"},
    {"aten::bitwise_right_shift_", kBinaryInPlace, "in place"},
    {"aten::copysign_", kBinaryFloatInPlace, "in place"},
    {"aten::__ilshift__", kBinaryInPlace, "in place"},
    {"aten::__irshift__", kBinaryInPlace, "in place"},
    {"aten::atan2_", kBinaryFloatInPlace, "in place"},
    {"aten::xlogy_", kBinaryFloatInPlace, "in place"},
    {"aten::clamp_", kTernaryInPlace, "in place"},
    {"aten::clip_", kTernaryInPlace, "in place"},
    {"aten::clamp_min_", kBinaryInPlace, "in place"},
    {"aten::clamp_max_", kBinaryInPlace, "in place"},
    {"aten::masked_fill_", kBinarySelfInPlace, "in place"},
    {"aten::eq_", kCompareInPlace, "in place"},
    {"aten::ge_", kCompareInPlace, "in place"},
    {"aten::gt_", kCompareInPlace, "in place"},
    {"aten::le_", kCompareInPlace, "in place"},
    {"aten::logical_and_", kCompareInPlace, "in place"},
    {"aten::logical_or_", kCompareInPlace, "in place"},
    {"aten::logical_xor_", kCompareInPlace, "in place"},
    {"aten::lt_", kCompareInPlace, "in place"},
    {"aten::ne_", kCompareInPlace, "in place"},
    {"aten::addcdiv_", in_place<Combined::kFloat, 3>, "in place"},
    {"aten::addcmul_", kTernaryInPlace, "in place"},
    {"aten::lerp_", kTernarySelfInPlace, "in place"},
    {"aten::copy_", copy_in_place, "in place"},
    {"aten::fill_", fill_tensor, "in place"},
    {"aten::zero_", return_self, "in place"},
    // random values in place
    {"aten::bernoulli_", return_self, "random"},
    {"aten::cauchy_", return_self, "random"},
    {"aten::exponential_", return_self, "random"},
    {"aten::geometric_", return_self, "random"},
    {"aten::log_normal_", return_self, "random"},
    {"aten::normal_", return_self, "random"},
    {"aten::random_", return_self, "random"},
    {"aten::uniform_", return_self, "random"},
    {"aten::frexp.Tensor", frexp, "elementwise"},
};

}  // namespace

void register_elementwise_rules() { register_rules(kElementwiseRules); }

}  // namespace proviso::inline v0_2
