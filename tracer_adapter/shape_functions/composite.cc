// tracer_adapter/shape_functions/composite.cc - operators that LibTorch defines
// by others, recorded whole as torch.export does: their own definition, run on
// fakes with recording off, says what they return.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/div.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/slice.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/transpose.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

constexpr auto kComposite = c10::DispatchKey::CompositeImplicitAutograd;

void run_kernel(RuleCall& call, c10::Stack stack) {
  const RecordingOff off(call.tracer);
  call.op.callBoxedForDispatchKey(kComposite, stack);
  for (IValue& value : stack) call.returns(std::move(value));
}

// Runs the operator's composite kernel; the operators in it come back to the
// tracer and compute shapes alone.
bool whole(RuleCall& call) {
  if (!call.op.hasKernelForDispatchKey(kComposite)) return false;
  run_kernel(call, {call.args.begin(), call.args.end()});
  return true;
}

// The dimensions that a transform is given sizes for; none where it has no
// sizes, or eager refuses them.
std::vector<int64_t> sized_dims(const RuleCall& call, size_t count) {
  const int64_t rank = call.tensor(0).dim();
  std::vector<int64_t> dims;
  if (call.is_none(2))
    for (size_t i = count; i-- > 0;)
      dims.push_back(rank - 1 - static_cast<int64_t>(i));
  else
    dims = to_ints(call.args[2]);
  if (dims.size() != count) return {};
  for (int64_t& d : dims) {
    if (d < 0) d += rank;
    if (d < 0 || d >= rank) return {};
  }
  return dims;
}

// fft(self, sizes, dims, norm) pads or cuts the input to the sizes that it is
// given.  On which of the two it does, the result's sizes do not depend, nor
// its strides where the input is contiguous: the kernel sees an input of those
// sizes.
bool transform(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const Dims wanted = call.sym_ints(1);
  const std::vector<int64_t> dims = sized_dims(call, wanted.size());
  if (dims.empty() || !is_contiguous(self)) return whole(call);
  const std::string_view name = op_name(call);
  const bool halves =
      name.starts_with("fft_irfft") || name.starts_with("fft_hfft");
  Dims sizes = sizes_of(self);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (constant(wanted[i]) == -1) continue;
    const bool is_half = halves && i + 1 == dims.size();
    sizes[dims[i]] = is_half ? floor_div(wanted[i], 2) + 1 : wanted[i];
  }
  c10::Stack stack(call.args.begin(), call.args.end());
  stack[0] = fresh(sizes, self.scalar_type(), self.device());
  run_kernel(call, std::move(stack));
  return true;
}

// Where a size of 1 is asked for, the kernel asks whether there is anything to
// sum, on which only the strides of an input that is not contiguous depend.
bool sum_to_size(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const Dims wanted = call.sym_ints(1);
  const Dims sizes = sizes_of(self);
  if (wanted.size() > sizes.size() || !is_contiguous(self)) return whole(call);
  const size_t added = sizes.size() - wanted.size();
  bool sums = added > 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool is_one = constant(wanted[i]) == 1;
    if (!is_one && !known_equal(wanted[i], sizes[added + i]))
      return whole(call);
    sums = sums || is_one;
  }
  // A sum of integers is int64; of nothing to sum, what they were.
  const ScalarType dtype = self.scalar_type();
  const bool widens = c10::isIntegralType(dtype, true) && dtype != at::kLong;
  if (!sums || widens) return whole(call);
  call.returns(fresh(wanted, dtype, self.device()));
  return true;
}

// The kernels of these two ask which sizes are 1, on which the result does not
// depend.
bool cosine_similarity(RuleCall& call) {
  const RecordingOff off(call.tracer);
  const Tensor product = at::mul(call.tensor(0), call.tensor(1));
  TORCH_CHECK(
      at::isFloatingType(product.scalar_type()),
      "expected common dtype to be floating point, yet common dtype is ",
      product.scalar_type());
  call.returns(at::sum(product, {call.args[2].toInt()}));
  return true;
}

bool tensordot(RuleCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  const std::vector<int64_t> left = to_ints(call.args[2]),
                             right = to_ints(call.args[3]);
  TORCH_CHECK(left.size() == right.size(),
              "both dimension lists should have same length");
  TORCH_CHECK(a.scalar_type() == b.scalar_type(),
              "both inputs should have same dtype");
  Dims sizes;
  const auto keep = [&](const Tensor& t, const std::vector<int64_t>& summed) {
    std::vector<bool> is_summed(std::max<int64_t>(t.dim(), 1));
    for (int64_t d : summed) is_summed[wrap_dim(d, t.dim())] = true;
    for (int64_t d = 0; d < t.dim(); ++d)
      if (!is_summed[d]) sizes.push_back(t.sym_size(d));
  };
  keep(a, left);
  keep(b, right);
  for (size_t i = 0; i < left.size(); ++i)
    broadcast({a.sym_size(left[i])}, {b.sym_size(right[i])});
  call.returns(fresh(sizes, a.scalar_type(), a.device()));
  return true;
}

// The kernel asks whether there is a sample.  Without one it returns zeros, on
// which only the dtype of integers depends: they stay what they were.
bool trapezoid(RuleCall& call) {
  const Tensor& y = call.tensor(0);
  const bool has_places = call.args[1].isTensor();
  const int64_t dim = wrap_dim(arg(call, "dim").toInt(), y.dim());
  if (!y.is_floating_point() || y.dim() == 0) return whole(call);
  const SymInt samples = y.sym_size(dim);
  if (has_places) {
    const Tensor& x = call.tensor(1);
    if (x.scalar_type() != y.scalar_type() || x.dim() != 1) return whole(call);
    PROVISO_REQUIRE(x.sym_size(0).sym_eq(samples).sym_or(samples.sym_eq(0)),
                    "trapezoid: There must be one `x` value for each sample "
                    "point");
  } else if (call.args[1].isComplexDouble()) {
    return whole(call);
  }
  Dims sizes = sizes_of(y);
  sizes.erase(sizes.begin() + dim);
  call.returns(fresh(sizes, y.scalar_type(), y.device()));
  return true;
}

// "fro", "nuc", 1, 2 and inf, with a sign.
void require_norm_of_matrix(const IValue& order) {
  if (order.isString()) {
    const std::string& name = order.toStringRef();
    TORCH_CHECK(name == "fro" || name == "nuc",
                "linalg.cond got an invalid norm type: ", name);
  } else if (!order.isNone()) {
    const double size = std::abs(order.toScalar().toDouble());
    TORCH_CHECK(size == 1 || size == 2 || std::isinf(size),
                "linalg.cond got an invalid norm type: ", order);
  }
}

// The kernel asks whether there is an element.  Without one the result is 0,
// whatever the matrices are.
bool condition_number(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const IValue& order = call.args[1];
  if (!order.isNone() && !order.isString() && !order.isScalar())
    return whole(call);
  TORCH_CHECK(self.dim() >= 2,
              "linalg.cond: The input tensor must have at least 2 dimensions.");
  TORCH_CHECK(self.is_floating_point() || self.is_complex(),
              "linalg.cond: Expected a floating point or complex tensor as "
              "input. Got ",
              self.scalar_type());
  require_norm_of_matrix(order);
  const SymInt rows = self.sym_size(-2), columns = self.sym_size(-1);
  const bool is_spectral =
      order.isNone() ||
      (order.isScalar() && std::abs(order.toScalar().toDouble()) == 2);
  if (!is_spectral && !known_equal(rows, columns)) {
    const c10::SymBool square = rows.sym_eq(columns);
    PROVISO_REQUIRE(
        order.isString() ? square : square.sym_or(self.sym_numel().sym_eq(0)),
        "linalg.cond(ord=", order,
        "): A must be batches of square matrices, but they are ", rows, " by ",
        columns, " matrices");
  }
  Dims sizes = sizes_of(self);
  sizes.resize(sizes.size() - 2);
  call.returns(
      fresh(sizes, c10::toRealValueType(self.scalar_type()), self.device()));
  return true;
}

// The norm of a difference.
bool dist(RuleCall& call) {
  const RecordingOff off(call.tracer);
  const Tensor difference = at::sub(call.tensor(0), call.tensor(1));
  const ScalarType dtype = difference.scalar_type();
  TORCH_CHECK(at::isFloatingType(dtype) || at::isComplexType(dtype),
              "linalg.vector_norm: Expected a floating point or complex tensor "
              "as input. Got ",
              dtype);
  call.returns(fresh({}, c10::toRealValueType(dtype), difference.device()));
  return true;
}

// self * 2**exponent
bool ldexp(RuleCall& call) {
  const RecordingOff off(call.tracer);
  call.returns(at::mul(call.tensor(0), at::pow(2.0, call.tensor(1))));
  return true;
}

// rot90(self, k, dims): by how it is composed of flips and a transposition.
bool rot90(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const int64_t rank = self.dim();
  std::vector<int64_t> dims = to_ints(call.args[2]);
  TORCH_CHECK(
      dims.size() == 2,
      "expected total rotation dims == 2, but got dims = ", dims.size());
  TORCH_CHECK(rank >= 2,
              "expected total dims >= 2, but got total dims = ", rank);
  for (int64_t& d : dims) d = wrap_dim(d, rank);
  TORCH_CHECK(dims[0] != dims[1],
              "expected rotation dims to be different, but got dim0 = ",
              dims[0], " and dim1 = ", dims[1]);
  const int64_t turns = ((call.args[1].toInt() % 4) + 4) % 4;
  const RecordingOff off(call.tracer);
  if (turns == 0) {
    call.returns(fresh(sizes_of(self), self.scalar_type(), self.device()));
  } else if (turns == 2) {
    call.returns(at::flip(self, dims));
  } else {
    const Tensor flipped = at::flip(self, {dims[turns == 1 ? 1 : 0]});
    const Tensor turned = at::transpose(flipped, dims[0], dims[1]);
    call.returns(make_fake(turned.sym_sizes(), turned.sym_strides(),
                           self.scalar_type(), self.device()));
  }
  return true;
}

// The dimensions that a gradient is taken along.
std::vector<int64_t> gradient_dims(const RuleCall& call) {
  const IValue& given = arg(call, "dim");
  const int64_t rank = call.tensor(0).dim();
  std::vector<int64_t> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  if (!given.isNone()) dims = to_ints(given);
  std::vector<bool> seen(std::max<int64_t>(rank, 1));
  for (int64_t& d : dims) {
    d = wrap_dim(d, rank);
    TORCH_CHECK(!seen[d], "dim ", d,
                " appears multiple times in the list of dims");
    seen[d] = true;
  }
  return dims;
}

// Along dim: a difference at each end, and between them what is weighed by the
// places of the samples.
Tensor gradient_along(const Tensor& self, int64_t dim, const IValue& spacing) {
  const auto part = [&](int64_t begin, std::optional<SymInt> end) {
    return at::slice_symint(self, dim, SymInt(begin), std::move(end));
  };
  Tensor inner = at::sub(part(2, std::nullopt), part(0, SymInt(-2)));
  Tensor edge = at::sub(part(1, SymInt(2)), part(0, SymInt(1)));
  if (spacing.isTensor()) {
    const Tensor places = spacing.toTensor();
    TORCH_CHECK(places.dim() == 1,
                "torch.gradient expected each element of spacing to have one "
                "dimension, but got an element with ",
                places.dim(), " dimensions!");
    PROVISO_REQUIRE(places.sym_size(0).sym_eq(self.sym_size(dim)),
                    "torch.gradient: dimension ", dim, " of size ",
                    self.sym_size(dim), " has ", places.sym_size(0), " places");
    Dims shape(self.dim(), SymInt(1));
    shape[dim] = inner.sym_size(dim);
    const ScalarType dtype = as_float(places.scalar_type());
    inner = at::mul(fresh(shape, dtype, places.device()), inner);
    edge = at::div(edge, fresh({}, places.scalar_type(), places.device()));
  } else {
    const at::Scalar step = spacing.isNone() ? 1 : spacing.toScalar();
    inner = at::div(inner, step);
    edge = at::div(edge, step);
  }
  return at::cat({edge, inner, edge}, dim);
}

// The kernel reads the sizes as numbers.
bool gradient(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const IValue& spacing = arg(call, "spacing");
  const int64_t order = arg(call, "edge_order").toInt();
  const std::vector<int64_t> dims = gradient_dims(call);
  TORCH_CHECK(self.scalar_type() != ScalarType::Byte,
              "torch.gradient does not support uint8 input.");
  std::vector<IValue> steps(dims.size(), spacing);
  if (spacing.isList()) {
    const auto given = spacing.toListRef();
    TORCH_CHECK(
        given.size() == dims.size(),
        "torch.gradient expected spacing to be unspecified, a scalar or "
        "it's spacing and dim arguments to have the same length, but "
        "got a spacing argument of length ",
        given.size(), " and a dim argument of length ", dims.size(), ".");
    steps.assign(given.begin(), given.end());
  }
  TORCH_CHECK(order == 1 || order == 2,
              "torch.gradient only supports edge_order=1 and edge_order=2.");
  for (const int64_t d : dims)
    PROVISO_REQUIRE(
        self.sym_size(d).sym_ge(order + 1),
        "torch.gradient expected each dimension size to be at least "
        "edge_order+1");
  const RecordingOff off(call.tracer);
  std::vector<Tensor> results;
  for (size_t i = 0; i < dims.size(); ++i)
    results.push_back(gradient_along(self, dims[i], steps[i]));
  call.returns(results);
  return true;
}

// As long as the longest, one beside the other.
bool pad_sequence(RuleCall& call) {
  const std::vector<Tensor> sequences = to_tensors(call.args[0]);
  TORCH_CHECK(!sequences.empty(), "received an empty list of sequences");
  const Tensor& first = sequences[0];
  TORCH_CHECK(first.dim() > 0, "pad_sequence: sequences have a dimension");
  const std::string& side = call.args[3].toStringRef();
  TORCH_CHECK(side == "left" || side == "right",
              "Expected padding_side to be one of left or right, but got ",
              side, ".");
  const SymInt count(static_cast<int64_t>(sequences.size()));
  SymInt longest = first.sym_size(0);
  for (const Tensor& t : sequences) {
    TORCH_CHECK(t.dim() == first.dim(), "pad_sequence: sequences of ",
                first.dim(), " and of ", t.dim(), " dimensions");
    for (int64_t d = 1; d < t.dim(); ++d)
      PROVISO_REQUIRE(t.sym_size(d).sym_eq(first.sym_size(d)),
                      "pad_sequence: sequences of shapes ",
                      to_text(first.sym_sizes()), " and ",
                      to_text(t.sym_sizes()), " differ in dimension ", d);
    longest = longest.max(t.sym_size(0));
  }
  const bool batch_first = call.args[1].toBool();
  Dims sizes = sizes_of(first);
  sizes[0] = batch_first ? count : longest;
  sizes.insert(sizes.begin() + 1, batch_first ? longest : count);
  call.returns(fresh(sizes, first.scalar_type(), first.device()));
  return true;
}

const RuleEntry kCompositeRules[] = {
    {"aten::_weight_norm", whole, "composite"},
    {"aten::adjoint", whole, "composite"},
    {"aten::atleast_1d", whole, "composite"},
    {"aten::atleast_2d", whole, "composite"},
    {"aten::atleast_3d", whole, "composite"},
    {"aten::cartesian_prod", whole, "composite"},
    {"aten::column_stack", whole, "composite"},
    {"aten::conj", whole, "composite"},
    {"aten::cosine_embedding_loss", whole, "composite"},
    {"aten::cosine_similarity", cosine_similarity, "composite"},
    {"aten::cross", whole, "composite"},
    {"aten::cumulative_trapezoid", whole, "composite"},
    {"aten::diag", whole, "composite"},
    {"aten::dist", dist, "composite"},
    {"aten::dsplit", whole, "composite"},
    {"aten::dstack", whole, "composite"},
    {"aten::einsum", whole, "composite"},
    {"aten::embedding_bag", whole, "composite"},
    {"aten::fft_fft", transform, "fourier"},
    {"aten::fft_fft2", transform, "fourier"},
    {"aten::fft_fftn", transform, "fourier"},
    {"aten::fft_fftshift", whole, "fourier"},
    {"aten::fft_hfft", transform, "fourier"},
    {"aten::fft_hfft2", transform, "fourier"},
    {"aten::fft_hfftn", transform, "fourier"},
    {"aten::fft_ifft", transform, "fourier"},
    {"aten::fft_ifft2", transform, "fourier"},
    {"aten::fft_ifftn", transform, "fourier"},
    {"aten::fft_ifftshift", whole, "fourier"},
    {"aten::fft_ihfft", transform, "fourier"},
    {"aten::fft_ihfft2", transform, "fourier"},
    {"aten::fft_ihfftn", transform, "fourier"},
    {"aten::fft_irfft", transform, "fourier"},
    {"aten::fft_irfft2", transform, "fourier"},
    {"aten::fft_irfftn", transform, "fourier"},
    {"aten::fft_rfft", transform, "fourier"},
    {"aten::fft_rfft2", transform, "fourier"},
    {"aten::fft_rfftn", transform, "fourier"},
    {"aten::fliplr", whole, "composite"},
    {"aten::flipud", whole, "composite"},
    {"aten::float_power", whole, "composite"},
    {"aten::gradient", gradient, "composite"},
    {"aten::hinge_embedding_loss", whole, "composite"},
    {"aten::hsplit", whole, "composite"},
    {"aten::hstack", whole, "composite"},
    {"aten::imag", whole, "composite"},
    {"aten::inner", whole, "composite"},
    {"aten::isclose", whole, "composite"},
    {"aten::ldexp.Tensor", ldexp, "composite"},
    {"aten::linalg_cond", condition_number, "composite"},
    {"aten::linalg_eigvals", whole, "composite"},
    {"aten::linalg_eigvalsh", whole, "composite"},
    {"aten::linalg_matrix_norm", whole, "composite"},
    {"aten::linalg_norm", whole, "composite"},
    {"aten::linalg_svdvals", whole, "composite"},
    {"aten::linalg_vecdot", whole, "composite"},
    {"aten::margin_ranking_loss", whole, "composite"},
    {"aten::matrix_H", whole, "composite"},
    {"aten::meshgrid", whole, "composite"},
    {"aten::meshgrid.indexing", whole, "composite"},
    {"aten::mH", whole, "composite"},
    {"aten::outer", whole, "composite"},
    {"aten::pad_sequence", pad_sequence, "composite"},
    {"aten::pairwise_distance", whole, "composite"},
    {"aten::real", whole, "composite"},
    {"aten::rot90", rot90, "composite"},
    {"aten::row_stack", whole, "composite"},
    {"aten::sum_to_size", sum_to_size, "composite"},
    {"aten::tensor_split", whole, "composite"},
    {"aten::tensordot", tensordot, "composite"},
    {"aten::trapezoid", trapezoid, "composite"},
    {"aten::trapz", trapezoid, "composite"},
    {"aten::triplet_margin_loss", whole, "composite"},
    {"aten::vander", whole, "composite"},
    {"aten::vsplit", whole, "composite"},
    {"aten::vstack", whole, "composite"},
};

}  // namespace

void register_composite_rules() { register_rules(kCompositeRules); }

}  // namespace proviso::inline v0_2
