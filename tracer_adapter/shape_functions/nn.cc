// tracer_adapter/shape_functions/nn.cc - layers over images and sequences:
// convolution, pooling, padding, resampling; and dropout.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tracer_adapter/shape_functions/common.h"
#include "tracer_adapter/shape_functions/output_mask.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

void require_32_bits(const RuleCall& call, const char* name, int64_t number) {
  TORCH_CHECK(number >= INT32_MIN && number <= INT32_MAX, op_name(call), ": ",
              name, "=", number, " does not fit into 32 bits");
}

// A list of one number a spatial dimension; one number stands for all.  The
// kernels count in 32 bits, and sums of products of two fit into 64 here.
Dims size_each(const RuleCall& call, const char* name, int64_t rank) {
  Dims values = to_dims(arg(call, name));
  TORCH_CHECK(values.size() == 1 || static_cast<int64_t>(values.size()) == rank,
              op_name(call), ": expected ", name,
              " to be a single integer value or a list of ", rank,
              " values, but got ", name, "=", to_text(values));
  for (const SymInt& v : values)
    require_32_bits(call, name, constant(v).value_or(0));
  values.resize(static_cast<size_t>(rank), values[0]);
  return values;
}

// The same of numbers that the rules need as such.
std::vector<int64_t> one_each(const RuleCall& call, const char* name,
                              int64_t rank) {
  std::vector<int64_t> numbers;
  for (const SymInt& value : size_each(call, name, rank)) {
    numbers.push_back(specialize(value));
    require_32_bits(call, name, numbers.back());
  }
  return numbers;
}

at::MemoryFormat either_channels_last(const Tensor& a, const Tensor& b) {
  auto format = suggested_format(a);
  return format == at::MemoryFormat::Contiguous && a.dim() == b.dim()
             ? suggested_format(b)
             : format;
}

// --- convolution

struct Window {
  Dims stride, padding, dilation;
};

int64_t spatial_rank(const Tensor& weight) {
  TORCH_CHECK(weight.dim() > 2, "weight should have at least three dimensions");
  return weight.dim() - 2;
}

// Eager takes no less; of constants the kernel says so itself.
void require_at_least(const Dims& values, int64_t least, const char* name) {
  for (const SymInt& value : values)
    if (!constant(value))
      PROVISO_REQUIRE(value.sym_ge(least), name, " must be at least ", least,
                      ", but got ", value);
}

// `padding` may be named instead: "same".
Window read_window(const RuleCall& call) {
  const int64_t rank = spatial_rank(call.tensor(1));
  const bool named = arg(call, "padding").isString();
  Window window{size_each(call, "stride", rank),
                named ? Dims(static_cast<size_t>(rank), 0)
                      : size_each(call, "padding", rank),
                size_each(call, "dilation", rank)};
  require_at_least(window.stride, 1, "stride");
  require_at_least(window.padding, 0, "padding");
  require_at_least(window.dilation, 1, "dilation");
  return window;
}

SymInt read_groups(const RuleCall& call) {
  const SymInt groups = to_sym(arg(call, "groups"));
  require_at_least({groups}, 1, "groups");
  return groups;
}

// floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1
SymInt windowed(const SymInt& size, const SymInt& kernel, const SymInt& stride,
                const SymInt& padding_both, const SymInt& dilation) {
  const SymInt reach = times(kernel - 1, dilation);
  return plus(floor_div(plus(size, padding_both) - reach - 1, stride), 1);
}

void require_conv_fits(const Tensor& input, const Tensor& weight,
                       const IValue& bias, const SymInt& groups,
                       bool transposed) {
  int64_t channels_dim = input.dim() == weight.dim() ? 1 : 0;
  TORCH_CHECK(input.dim() == weight.dim() || input.dim() + 1 == weight.dim(),
              "Expected ", weight.dim() - 1, "D (unbatched) or ", weight.dim(),
              "D (batched) input to conv", weight.dim() - 2,
              "d, but got input of size: ", to_text(input.sym_sizes()));
  TORCH_CHECK(input.scalar_type() == weight.scalar_type(), "Input type (",
              input.toString(), ") and weight type (", weight.toString(),
              ") should be the same");
  SymInt channels = input.sym_size(channels_dim);
  SymInt expected =
      transposed ? weight.sym_size(0) : times(weight.sym_size(1), groups);
  if (!known_equal(channels, expected)) {
    PROVISO_REQUIRE(channels.sym_eq(expected), "Given groups=", groups,
                    ", weight of size ", to_text(weight.sym_sizes()),
                    ", expected input", to_text(input.sym_sizes()), " to have ",
                    expected, " channels, but got ", channels,
                    " channels instead");
  }
  if (!bias.isNone() && bias.toTensor().defined()) {
    const Tensor b = bias.toTensor();
    SymInt out =
        transposed ? times(weight.sym_size(1), groups) : weight.sym_size(0);
    PROVISO_REQUIRE(b.sym_size(0).sym_eq(out), "Given ",
                    transposed ? "transposed=1, " : "", "weight of size ",
                    to_text(weight.sym_sizes()),
                    ", expected bias to be "
                    "1-dimensional with ",
                    out,
                    " elements, but got bias of "
                    "size ",
                    to_text(b.sym_sizes()), " instead");
  }
}

void require_kernel_fits(const SymInt& out, const SymInt& padded,
                         const SymInt& kernel) {
  PROVISO_REQUIRE(out.sym_ge(1), "Calculated padded input size per channel: (",
                  padded, "). Kernel size: (", kernel,
                  "). Kernel size can't be "
                  "greater than actual input size");
}

Tensor conv_result(const Tensor& input, const Tensor& weight,
                   const SymInt& channels, const Dims& spatial) {
  bool batched = input.dim() == weight.dim();
  Dims sizes;
  if (batched) sizes.push_back(input.sym_size(0));
  sizes.push_back(channels);
  sizes.insert(sizes.end(), spatial.begin(), spatial.end());
  auto format = batched ? either_channels_last(input, weight)
                        : at::MemoryFormat::Contiguous;
  return fresh(sizes, input.scalar_type(), input.device(), format);
}

Tensor convolve(const Tensor& input, const Tensor& weight, const IValue& bias,
                const Window& window, const SymInt& groups) {
  require_conv_fits(input, weight, bias, groups, false);
  int64_t rank = weight.dim() - 2, first = input.dim() - rank;
  Dims spatial;
  for (int64_t i = 0; i < rank; ++i) {
    SymInt kernel = weight.sym_size(2 + i), size = input.sym_size(first + i);
    const SymInt both = times(2, window.padding[i]);
    const SymInt& dilation = window.dilation[i];
    SymInt out = windowed(size, kernel, window.stride[i], both, dilation);
    require_kernel_fits(out, plus(size, both),
                        plus(times(kernel - 1, dilation), 1));
    spatial.push_back(out);
  }
  return conv_result(input, weight, weight.sym_size(0), spatial);
}

// padding="valid" or "same": the latter keeps the size.
Tensor convolve_named(const Tensor& input, const Tensor& weight,
                      const IValue& bias, const Window& window,
                      const std::string& padding, const SymInt& groups) {
  if (padding == "valid") return convolve(input, weight, bias, window, groups);
  TORCH_CHECK(padding == "same", "Invalid padding string: '", padding, "'");
  require_conv_fits(input, weight, bias, groups, false);
  for (const SymInt& stride : window.stride)
    PROVISO_REQUIRE(stride.sym_eq(1),
                    "padding='same' is not supported for strided convolutions");

  int64_t rank = weight.dim() - 2;
  Dims spatial;
  for (int64_t i = input.dim() - rank; i < input.dim(); ++i) {
    spatial.push_back(input.sym_size(i));
  }
  return conv_result(input, weight, weight.sym_size(0), spatial);
}

// conv1d/2d/3d(input, weight, bias, stride, padding, dilation, groups)
bool conv(RuleCall& call) {
  const Window window = read_window(call);
  const SymInt groups = read_groups(call);
  if (call.args[4].isString()) {
    call.returns(convolve_named(call.tensor(0), call.tensor(1), call.args[2],
                                window, call.args[4].toStringRef(), groups));
    return true;
  }
  call.returns(
      convolve(call.tensor(0), call.tensor(1), call.args[2], window, groups));
  return true;
}

// Of a transposed convolution: an empty batch may have empty images.
c10::SymBool is_result_size(const SymInt& out, const SymInt& batch) {
  if (batch.maybe_as_int().value_or(0) > 0) return out.sym_gt(0);
  return out.sym_gt(0).sym_or(out.sym_ge(0).sym_and(batch.sym_eq(0)));
}

Tensor convolve_transposed(const Tensor& input, const Tensor& weight,
                           const IValue& bias, const Window& window,
                           const Dims& extra, const SymInt& groups) {
  require_conv_fits(input, weight, bias, groups, true);
  int64_t rank = weight.dim() - 2, first = input.dim() - rank;
  const SymInt batch =
      input.dim() == weight.dim() ? input.sym_size(0) : SymInt(1);
  Dims spatial;
  for (int64_t i = 0; i < rank; ++i) {
    const SymInt moved = times(input.sym_size(first + i) - 1, window.stride[i]),
                 reach = times(weight.sym_size(2 + i) - 1, window.dilation[i]);
    SymInt out =
        plus(moved - times(2, window.padding[i]), reach + extra[i] + 1);
    PROVISO_REQUIRE(is_result_size(out, batch),
                    "Given input size per channel: (",
                    input.sym_size(first + i),
                    "). Calculated output size per "
                    "channel: (",
                    out, "). Output size is too small");
    spatial.push_back(out);
  }
  return conv_result(input, weight, times(weight.sym_size(1), groups), spatial);
}

Dims extra_of(const RuleCall& call) {
  Dims extra = size_each(call, "output_padding", spatial_rank(call.tensor(1)));
  require_at_least(extra, 0, "output_padding");
  return extra;
}

// conv_transpose2d(input, weight, bias, stride, padding, output_padding,
// groups, dilation)
bool conv_transpose(RuleCall& call) {
  const Window window = read_window(call);
  call.returns(convolve_transposed(call.tensor(0), call.tensor(1), call.args[2],
                                   window, extra_of(call), read_groups(call)));
  return true;
}

// convolution(input, weight, bias, stride, padding, dilation, transposed,
// output_padding, groups)
bool convolution(RuleCall& call) {
  const Window window = read_window(call);
  const SymInt groups = read_groups(call);
  bool transposed = call.args[6].toBool();
  call.returns(transposed ? convolve_transposed(call.tensor(0), call.tensor(1),
                                                call.args[2], window,
                                                extra_of(call), groups)
                          : convolve(call.tensor(0), call.tensor(1),
                                     call.args[2], window, groups));
  return true;
}

// --- pooling

struct Pool {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool ceil = false;
};

// In ceil mode the last window may hang over the end, but must start inside.
SymInt pooled(const SymInt& size, const Pool& pool, size_t i) {
  int64_t kernel = pool.kernel[i], stride = pool.stride[i];
  int64_t padding = pool.padding[i], dilation = pool.dilation[i];
  TORCH_CHECK(stride > 0, "stride should not be zero");
  TORCH_CHECK(padding >= 0, "pad must be non-negative, but got pad: ", padding);
  TORCH_CHECK(padding <= ((kernel - 1) * dilation + 1) / 2,
              "pad should be at most half of effective kernel size, but got "
              "pad=",
              padding, ", kernel_size=", kernel, " and dilation=", dilation);
  int64_t overhang = pool.ceil ? stride - 1 : 0;
  SymInt out =
      floor_div(size + (2 * padding - dilation * (kernel - 1) - 1 + overhang),
                stride) +
      1;
  // Only then can a window start in the right padding.
  bool may_start_outside =
      pool.ceil && padding + stride - 2 >= dilation * (kernel - 1);
  return may_start_outside ? out.min(ceil_div(size + padding, stride)) : out;
}

Dims pooled_sizes(const Tensor& input, const Pool& pool, int64_t rank) {
  TORCH_CHECK(input.dim() == rank + 1 || input.dim() == rank + 2, "non-empty ",
              rank + 1, "D or ", rank + 2,
              "D (batch mode) tensor "
              "expected for input, but got: ",
              to_text(input.sym_sizes()));
  Dims sizes = sizes_of(input);
  int64_t first = input.dim() - rank;
  for (int64_t i = 0; i < rank; ++i) {
    SymInt out = pooled(sizes[first + i], pool, i);
    PROVISO_REQUIRE(out.sym_ge(1), "Given input size: (",
                    to_text(input.sym_sizes()),
                    "). Calculated output size at "
                    "dimension ",
                    first + i, ": ", out, ". Output size is too small");
    sizes[first + i] = out;
  }
  return sizes;
}

Pool read_pool(const RuleCall& call, int64_t rank) {
  Pool pool;
  pool.kernel = one_each(call, "kernel_size", rank);
  pool.stride = to_dims(arg(call, "stride")).empty()
                    ? pool.kernel
                    : one_each(call, "stride", rank);
  pool.padding = one_each(call, "padding", rank);
  pool.dilation = find_arg(call, "dilation")
                      ? one_each(call, "dilation", rank)
                      : std::vector<int64_t>(static_cast<size_t>(rank), 1);
  pool.ceil = flag_or(arg(call, "ceil_mode"), false);
  return pool;
}

// The pooled values and, for those that tell them, the indices.
bool return_pooled(RuleCall& call, const Dims& sizes, int64_t rank) {
  const Tensor& input = call.tensor(0);
  auto format = rank > 1 && input.dim() == rank + 2
                    ? suggested_format(input)
                    : at::MemoryFormat::Contiguous;
  call.returns(fresh(sizes, input.scalar_type(), input.device(), format));
  if (return_count(call) == 2) {
    call.returns(fresh(sizes, ScalarType::Long, input.device(), format));
  }
  return true;
}

template <int64_t kRank>
bool pool(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  Dims sizes = pooled_sizes(input, read_pool(call, kRank), kRank);
  return return_pooled(call, sizes, kRank);
}

// An average of everything is a mean, which takes empty dimensions.
bool is_mean(const RuleCall& call, const Dims& out) {
  return op_name(call).starts_with("adaptive_avg") &&
         std::all_of(out.begin(), out.end(),
                     [](const SymInt& n) { return constant(n) == 1; });
}

template <int64_t kRank>
bool adaptive_pool(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  Dims out = to_dims(call.args[1]), sizes = sizes_of(input);
  TORCH_CHECK(static_cast<int64_t>(out.size()) == kRank, op_name(call),
              ": output_size must be ", kRank);
  TORCH_CHECK(input.dim() == kRank + 1 || input.dim() == kRank + 2,
              op_name(call), "(): Expected ", kRank + 1, "D or ", kRank + 2,
              "D tensor, but got ", to_text(input.sym_sizes()));
  const bool takes_empty = is_mean(call, out);
  for (int64_t i = 0; i < kRank; ++i) {
    SymInt& size = sizes[sizes.size() - kRank + i];
    PROVISO_REQUIRE(takes_empty ? c10::SymBool(true) : size.sym_ge(1),
                    op_name(call),
                    "(): Expected input to have "
                    "non-zero size for non-batch dimensions, but input has "
                    "sizes ",
                    to_text(input.sym_sizes()), " with dimension ",
                    input.dim() - kRank + i, " being empty");
    size = out[i];
  }
  return return_pooled(call, sizes, kRank);
}

// fractional_max_pool(self, kernel_size, output_size, random_samples): the
// samples say for each channel where its windows begin.
template <int64_t kRank>
bool fractional_max_pool(RuleCall& call) {
  const Tensor &input = call.tensor(0), &samples = call.tensor(3);
  const std::vector<int64_t> kernel = to_ints(call.args[1]),
                             out = to_ints(call.args[2]);
  TORCH_CHECK(kernel.size() == kRank && out.size() == kRank, op_name(call),
              ": kernel_size and output_size have ", kRank, " elements each");
  TORCH_CHECK(input.dim() == kRank + 1 || input.dim() == kRank + 2,
              op_name(call), "(): Expected ", kRank + 1, "D or ", kRank + 2,
              "D tensor, but got: ", to_text(input.sym_sizes()));
  TORCH_CHECK(input.scalar_type() == samples.scalar_type(),
              "Expect _random_samples to have the same dtype as input");
  TORCH_CHECK(samples.dim() == 3,
              "Expect _random_samples to have 3 dimensions, got ",
              samples.dim());
  const int64_t first = input.dim() - kRank;
  const SymInt batch = input.dim() > kRank + 1 ? input.sym_size(0) : SymInt(1);
  PROVISO_REQUIRE(samples.sym_size(0).sym_ge(batch),
                  "Expect _random_samples.size(0) no less then input batch "
                  "size.");
  PROVISO_REQUIRE(samples.sym_size(1).sym_eq(input.sym_size(first - 1)),
                  "Expect _random_samples.size(1) equals to input channel "
                  "size.");
  PROVISO_REQUIRE(samples.sym_size(2).sym_eq(kRank),
                  "Expect _random_samples.size(2) equals to ", kRank, "; got ",
                  samples.sym_size(2), ".");
  PROVISO_REQUIRE(input.sym_size(first - 1).sym_gt(0), op_name(call),
                  "(): Expected input to have non-zero size for non-batch "
                  "dimensions, but got ",
                  to_text(input.sym_sizes()));
  Dims sizes = sizes_of(input);
  for (int64_t i = 0; i < kRank; ++i) {
    TORCH_CHECK(kernel[i] > 0 && kernel[i] <= INT32_MAX && out[i] >= 0 &&
                    out[i] <= INT32_MAX,
                op_name(call),
                "(): kernel_size must be positive, and output_size not "
                "negative");
    // The kernel of three dimensions leaves one place free.
    const int64_t least = out[i] + kernel[i] - 1 + (kRank == 3 ? 1 : 0);
    PROVISO_REQUIRE(sizes[first + i].sym_ge(std::max<int64_t>(least, 1)),
                    op_name(call), "(): pool size ", kernel[i],
                    " too large relative to input size ", sizes[first + i]);
    sizes[first + i] = out[i];
  }
  call.returns(fresh(sizes, input.scalar_type(), input.device()));
  call.returns(fresh(sizes, ScalarType::Long, input.device()));
  return true;
}

// max_unpool(self, indices, output_size): the kernels look at each index.
template <int64_t kRank>
bool max_unpool(RuleCall& call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(1);
  require_rank(self, kRank + 1, kRank + 2, "max_unpool");
  const Dims wanted = call.sym_ints(2);
  TORCH_CHECK(
      static_cast<int64_t>(wanted.size()) == kRank, "There should be exactly ",
      kRank == 2 ? "two" : "three", " elements (", kRank == 2 ? "" : "depth, ",
      "height, width) in output_size, but got ", wanted.size(), " elements.");
  TORCH_CHECK(indices.scalar_type() == at::kLong,
              "elements in indices should be type int64 but got: ",
              indices.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), '"', op_name(call),
                              "\" not implemented for '",
                              c10::toString(self.scalar_type()), "'");
  TORCH_CHECK(indices.dim() == self.dim(), op_name(call),
              ": input and indices differ in rank");
  Dims sizes = sizes_of(self);
  for (size_t d = 0; d < sizes.size(); ++d) {
    PROVISO_REQUIRE(sizes[d].sym_eq(indices.sym_size(static_cast<int64_t>(d))),
                    "Expected shape of indices to be same as that of the input "
                    "tensor (",
                    to_text(self.sym_sizes()),
                    ") but got indices tensor with "
                    "shape: ",
                    to_text(indices.sym_sizes()));
    if (d > 0)
      PROVISO_REQUIRE(sizes[d].sym_ge(1), op_name(call),
                      "(): Expected input to have non-zero size for non-batch "
                      "dimensions, but got ",
                      to_text(self.sym_sizes()), " with dimension ", d,
                      " being empty.");
  }
  for (const SymInt& size : wanted)
    PROVISO_REQUIRE(size.sym_ge(0), op_name(call),
                    "(): output_size must contain non-negative spatial "
                    "dimensions, but got output_size=",
                    to_text(wanted));
  std::copy(wanted.begin(), wanted.end(), sizes.end() - kRank);
  call.returns(fresh(
      sizes, self.scalar_type(), self.device(),
      kRank == 2 ? suggested_format(self) : at::MemoryFormat::Contiguous));
  return true;
}

// max_unpool3d(self, indices, output_size, stride, padding)
bool max_unpool3d(RuleCall& call) {
  for (const char* name : {"stride", "padding"})
    TORCH_CHECK(to_dims(arg(call, name)).size() == 3,
                "There should be exactly three elements (depth, height, width) "
                "in ",
                name, ", but got: ", to_dims(arg(call, name)).size(),
                " elements.");
  for (int64_t stride : to_ints(arg(call, "stride")))
    TORCH_CHECK(
        stride > 0,
        "strides should be greater than zero, but got stride: ", stride);
  return max_unpool<3>(call);
}

// --- gradients: of the shape of what they are a gradient of

// In the input's memory format, as the pooling kernels allocate it.
bool pool_backward(RuleCall& call) {
  const Tensor& self = call.tensor(1);
  require_rank(self, 3, 4, "input");
  call.returns(fresh(sizes_of(self), self.scalar_type(), self.device(),
                     suggested_format(self)));
  return true;
}

bool convolution_backward(RuleCall& call) {
  const Tensor& grad = call.tensor(0);
  const Tensor& input = call.tensor(1);
  const Tensor& weight = call.tensor(2);
  const bool channels_last =
      suggested_format(input) != at::MemoryFormat::Contiguous ||
      suggested_format(weight) != at::MemoryFormat::Contiguous;
  const at::MemoryFormat format =
      !channels_last     ? at::MemoryFormat::Contiguous
      : input.dim() == 4 ? at::MemoryFormat::ChannelsLast
      : input.dim() == 5 ? at::MemoryFormat::ChannelsLast3d
                         : at::MemoryFormat::Contiguous;
  const auto like = [&](const Tensor& t) {
    return fresh(sizes_of(t), grad.scalar_type(), t.device(), format);
  };
  return_if_wanted(call, 0, like(input));
  return_if_wanted(call, 1, like(weight));
  const bool transposed = arg(call, "transposed").toBool();
  const SymInt channels =
      transposed ? times(weight.sym_size(1), to_sym(arg(call, "groups")))
                 : weight.sym_size(0);
  return_if_wanted(call, 2,
                   fresh({channels}, grad.scalar_type(), grad.device()));
  return true;
}

// --- dropout

bool dropout(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  double p = call.args[1].toDouble();
  TORCH_CHECK(p >= 0 && p <= 1,
              "dropout probability has to be between 0 and 1, but got ", p);
  if (!call.args[2].toBool() || p == 0) return return_self(call);
  call.returns(fresh_like(input));
  return true;
}

bool native_dropout(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  call.returns(fresh_like(input));
  call.returns(fresh_like(input, ScalarType::Bool));
  return true;
}

// --- resampling and padding

// floor(size * scale), in integers where the scale is a fraction of powers of
// two (2.0, 0.5, 1.25); else of the double that the kernel computes.
SymInt scaled(const SymInt& size, double scale) {
  const auto rounded_down = [&](int64_t value) {
    const double product = static_cast<double>(value) * scale;
    TORCH_CHECK(std::abs(product) < 0x1p63, "a size of ", value,
                " times the scale factor ", scale,
                " does not fit into 64 bits");
    return static_cast<int64_t>(product);
  };
  if (auto value = constant(size)) return rounded_down(*value);
  for (int64_t denominator = 1; denominator <= 1024; denominator *= 2) {
    double numerator = scale * static_cast<double>(denominator);
    if (numerator != std::floor(numerator) || numerator > 1e6) continue;
    return floor_div(size * static_cast<int64_t>(numerator), denominator);
  }
  const c10::SymFloat product = c10::SymFloat(size) * c10::SymFloat(scale);
  return product.is_symbolic() ? SymInt(product.toSymNodeImplUnowned()->floor())
                               : SymInt(rounded_down(specialize(size)));
}

// upsample_*.vec(input, output_size?, [align_corners,] scale_factors?)
bool upsample(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  const IValue& wanted = arg(call, "output_size");
  const IValue& factors = arg(call, "scale_factors");
  Dims sizes = sizes_of(input);
  TORCH_CHECK(sizes.size() >= 3, "Non-empty ", sizes.size(),
              "D data tensor expected but got a tensor with sizes ",
              to_text(sizes));
  if (!wanted.isNone()) {
    Dims out = to_dims(wanted);
    TORCH_CHECK(out.size() + 2 == sizes.size(),
                "It is expected output_size equals to ", sizes.size() - 2,
                ", but got size ", out.size());
    std::copy(out.begin(), out.end(), sizes.begin() + 2);
  } else {
    TORCH_CHECK(!factors.isNone(),
                "Must specify exactly one of output_size and scale_factors");
    auto scales = factors.toDoubleVector();
    TORCH_CHECK(scales.size() + 2 == sizes.size(),
                "It is expected scale_factors equals to ", sizes.size() - 2,
                ", but got size ", scales.size());
    for (size_t i = 0; i + 2 < sizes.size(); ++i) {
      sizes[2 + i] = scaled(sizes[2 + i], scales[i]);
    }
  }
  for (size_t i = 2; i < sizes.size(); ++i) {
    PROVISO_REQUIRE(sizes[i].sym_gt(0),
                    "Input and output sizes should be "
                    "greater than 0, but got output ",
                    to_text(sizes));
  }
  call.returns(fresh(sizes, input.scalar_type(), input.device(),
                     suggested_format(input)));
  return true;
}

// The pads come in pairs from the last dimension on.
Dims padded_sizes(const Tensor& self, const Dims& pad) {
  Dims sizes = sizes_of(self);
  TORCH_CHECK(pad.size() % 2 == 0,
              "Length of pad must be even but instead it "
              "equals ",
              pad.size());
  TORCH_CHECK(
      pad.size() <= 2 * sizes.size(),
      "Length of pad should be no more "
      "than twice the number of dimensions of the input. Pad length is ",
      pad.size(), " while the input has ", sizes.size(), " dimensions.");
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    SymInt& size = sizes[sizes.size() - 1 - i];
    SymInt after = plus(plus(size, pad[2 * i]), pad[2 * i + 1]);
    PROVISO_REQUIRE(after.sym_ge(0), "The input size ", size,
                    ", plus negative padding ", pad[2 * i], " and ",
                    pad[2 * i + 1],
                    " resulted in a negative output size, which is invalid. "
                    "Check dimension ",
                    sizes.size() - 1 - i, " of your input.");
    size = after;
  }
  return sizes;
}

bool constant_pad(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  call.returns(fresh(padded_sizes(self, call.sym_ints(1)), self.scalar_type(),
                     self.device(), suggested_format(self)));
  return true;
}

// Reflections and wraps cannot be longer than what they repeat.
bool repeating_pad(RuleCall& call, std::string_view mode) {
  const Tensor& self = call.tensor(0);
  Dims pad = call.sym_ints(1), sizes = padded_sizes(self, pad);
  for (size_t i = 0; i < pad.size() && mode != "replicate"; ++i) {
    SymInt size = self.sym_size(self.dim() - 1 - static_cast<int64_t>(i / 2));
    PROVISO_REQUIRE(
        mode == "reflect" ? pad[i].sym_lt(size) : pad[i].sym_le(size),
        "Padding size should be less than the corresponding input "
        "dimension, but got: padding ",
        pad[i], " at input of size ", to_text(self.sym_sizes()));
  }
  call.returns(fresh(sizes, self.scalar_type(), self.device(),
                     mode == "circular" ? at::MemoryFormat::Contiguous
                                        : suggested_format(self)));
  return true;
}

bool pad(RuleCall& call) {
  const std::string& mode = call.args[2].toStringRef();
  return mode == "constant" ? constant_pad(call) : repeating_pad(call, mode);
}

bool reflection_pad(RuleCall& call) { return repeating_pad(call, "reflect"); }
bool replication_pad(RuleCall& call) {
  return repeating_pad(call, "replicate");
}

template <bool kUp>
bool pixel_shuffle(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t factor = call.args[1].toInt();
  TORCH_CHECK(factor > 0 && factor <= INT32_MAX, op_name(call),
              " expects a positive factor, but got ", factor);
  int64_t square = factor * factor;
  TORCH_CHECK(self.dim() >= 3, op_name(call),
              " expects input to have at least "
              "3 dimensions, but got input with ",
              self.dim(), " dimension(s)");
  Dims sizes = sizes_of(self);
  SymInt &height = *(sizes.end() - 2), &width = *(sizes.end() - 1);
  SymInt& channels = *(sizes.end() - 3);
  if (kUp) {
    PROVISO_REQUIRE((channels % square).sym_eq(0),
                    "pixel_shuffle expects its "
                    "input's 'channel' dimension to be divisible by the square "
                    "of upscale_factor, but input.size(-3)=",
                    channels, " is not divisible by ", square);
    channels = floor_div(channels, square);
    height = times(height, factor);
    width = times(width, factor);
  } else {
    for (SymInt* size : {&height, &width}) {
      PROVISO_REQUIRE((*size % factor).sym_eq(0),
                      "pixel_unshuffle expects "
                      "height and width to be divisible by downscale_factor, "
                      "but got ",
                      *size, " and ", factor);
      *size = floor_div(*size, factor);
    }
    channels = times(channels, square);
  }
  call.returns(
      fresh(sizes, self.scalar_type(), self.device(), suggested_format(self)));
  return true;
}

// im2col: (batch, channels, h, w) -> (batch, channels * kernel, blocks)
bool im2col(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const auto kernel = one_each(call, "kernel_size", 2),
             dilation = one_each(call, "dilation", 2),
             padding = one_each(call, "padding", 2),
             stride = one_each(call, "stride", 2);
  require_rank(self, 3, 4, "im2col");
  SymInt blocks(1);
  for (size_t i = 0; i < 2; ++i) {
    SymInt out = windowed(self.sym_size(self.dim() - 2 + i), kernel[i],
                          stride[i], 2 * padding[i], dilation[i]);
    PROVISO_REQUIRE(out.sym_ge(1), "Given input with spatial size ",
                    self.sym_size(self.dim() - 2 + i),
                    ", kernel_size=", kernel[i],
                    ", calculated shape of the array of sliding "
                    "blocks as ",
                    out, ", which is too small (non-positive)");
    blocks = times(blocks, out);
  }
  Dims sizes;
  if (self.dim() == 4) sizes.push_back(self.sym_size(0));
  sizes.push_back(times(self.sym_size(-3), times(kernel[0], kernel[1])));
  sizes.push_back(blocks);
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

bool col2im(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  require_rank(self, 2, 3, "col2im");
  const Dims output = call.sym_ints(1);
  const std::vector<int64_t> kernel = to_ints(call.args[2]);
  TORCH_CHECK(output.size() == 2 && kernel.size() == 2,
              "col2im: output_size and kernel_size have two elements each");
  TORCH_CHECK(kernel[0] > 0 && kernel[1] > 0,
              "kernel size should be greater than zero, but got ", kernel);
  const SymInt area = times(kernel[0], kernel[1]);
  const SymInt rows = self.sym_size(-2);
  PROVISO_REQUIRE((rows % area).sym_eq(0),
                  "Expected size of input's dimension 1 to be divisible by "
                  "the product of kernel_size, but got ",
                  rows, " and ", area);
  Dims sizes{floor_div(rows, area), output[0], output[1]};
  if (self.dim() == 3) sizes.insert(sizes.begin(), self.sym_size(0));
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

// The channels of each group, one of each in turn.
bool channel_shuffle(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const SymInt groups = call.sym_int(1);
  TORCH_CHECK(self.dim() > 2,
              "channel_shuffle expects input with > 2 dims, but got input with "
              "sizes ",
              to_text(self.sym_sizes()));
  const SymInt channels = self.sym_size(1);
  PROVISO_REQUIRE(groups.sym_gt(0),
                  "Number of groups to divide channels in must be positive. "
                  "Value of groups:",
                  groups);
  PROVISO_REQUIRE((channels % groups).sym_eq(0),
                  "Number of channels must be divisible by groups. Got ",
                  channels, " channels and ", groups, " groups.");
  call.returns(fresh(sizes_of(self), self.scalar_type(), self.device(),
                     suggested_format(self)));
  return true;
}

bool grid_sampler(RuleCall& call) {
  const Tensor &input = call.tensor(0), &grid = call.tensor(1);
  Dims sizes{input.sym_size(0), input.sym_size(1)};
  for (int64_t i = 1; i + 1 < grid.dim(); ++i)
    sizes.push_back(grid.sym_size(i));
  PROVISO_REQUIRE(input.sym_size(0).sym_eq(grid.sym_size(0)),
                  "grid_sampler(): "
                  "expected grid and input to have same batch size, but got "
                  "input with sizes ",
                  to_text(input.sym_sizes()), " and grid with sizes ",
                  to_text(grid.sym_sizes()));
  call.returns(fresh(sizes, input.scalar_type(), input.device()));
  return true;
}

// affine_grid_generator(theta, size, align_corners): a place for each of the
// N x C x H x W (or N x C x D x H x W) elements of an image.
bool affine_grid(RuleCall& call) {
  const Tensor& theta = call.tensor(0);
  const Dims size = call.sym_ints(1);
  TORCH_CHECK(size.size() == 4 || size.size() == 5,
              "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) "
              "inputs.");
  const int64_t rank = static_cast<int64_t>(size.size()) - 2;
  TORCH_CHECK(theta.dim() == 3, "batch2 must be a 3D tensor");
  PROVISO_REQUIRE(theta.sym_size(0)
                      .sym_eq(size[0])
                      .sym_and(theta.sym_size(1).sym_eq(rank))
                      .sym_and(theta.sym_size(2).sym_eq(rank + 1)),
                  "affine_grid_generator: expected theta of shape [", size[0],
                  ", ", rank, ", ", rank + 1, "], but got ",
                  to_text(theta.sym_sizes()));
  Dims sizes{size[0]};
  sizes.insert(sizes.end(), size.begin() + 2, size.end());
  sizes.push_back(rank);
  for (const SymInt& s : size)
    PROVISO_REQUIRE(s.sym_ge(0), "affine_grid_generator: negative size ", s);
  call.returns(fresh(sizes, theta.scalar_type(), theta.device()));
  return true;
}

const RuleEntry kNnRules[] = {
    {"aten::conv1d", conv, "convolution"},
    {"aten::conv1d.padding", conv, "convolution"},
    {"aten::conv2d", conv, "convolution"},
    {"aten::conv2d.padding", conv, "convolution"},
    {"aten::conv3d", conv, "convolution"},
    {"aten::conv3d.padding", conv, "convolution"},
    {"aten::conv_transpose1d", conv_transpose, "convolution"},
    {"aten::conv_transpose2d.input", conv_transpose, "convolution"},
    {"aten::conv_transpose3d.input", conv_transpose, "convolution"},
    {"aten::convolution", convolution, "convolution"},
    {"aten::im2col", im2col, "convolution"},
    {"aten::adaptive_avg_pool1d", adaptive_pool<1>, "pooling"},
    {"aten::adaptive_avg_pool2d", adaptive_pool<2>, "pooling"},
    {"aten::adaptive_avg_pool3d", adaptive_pool<3>, "pooling"},
    {"aten::_adaptive_avg_pool2d", adaptive_pool<2>, "pooling"},
    {"aten::_adaptive_avg_pool3d", adaptive_pool<3>, "pooling"},
    {"aten::adaptive_max_pool1d", adaptive_pool<1>, "pooling"},
    {"aten::adaptive_max_pool2d", adaptive_pool<2>, "pooling"},
    {"aten::adaptive_max_pool3d", adaptive_pool<3>, "pooling"},
    {"aten::avg_pool1d", pool<1>, "pooling"},
    {"aten::avg_pool2d", pool<2>, "pooling"},
    {"aten::avg_pool3d", pool<3>, "pooling"},
    {"aten::max_pool1d", pool<1>, "pooling"},
    {"aten::max_pool1d_with_indices", pool<1>, "pooling"},
    {"aten::max_pool2d", pool<2>, "pooling"},
    {"aten::max_pool2d_with_indices", pool<2>, "pooling"},
    {"aten::max_pool3d", pool<3>, "pooling"},
    {"aten::max_pool3d_with_indices", pool<3>, "pooling"},
    {"aten::alpha_dropout", dropout, "dropout"},
    {"aten::dropout", dropout, "dropout"},
    {"aten::dropout_", return_self, "dropout"},
    {"aten::feature_alpha_dropout", dropout, "dropout"},
    {"aten::feature_dropout", dropout, "dropout"},
    {"aten::feature_dropout_", return_self, "dropout"},
    {"aten::native_dropout", native_dropout, "dropout"},
    {"aten::rrelu", return_like_self, "dropout"},
    {"aten::constant_pad_nd", constant_pad, "padding"},
    {"aten::pad", pad, "padding"},
    {"aten::reflection_pad1d", reflection_pad, "padding"},
    {"aten::reflection_pad2d", reflection_pad, "padding"},
    {"aten::reflection_pad3d", reflection_pad, "padding"},
    {"aten::replication_pad1d", replication_pad, "padding"},
    {"aten::replication_pad2d", replication_pad, "padding"},
    {"aten::replication_pad3d", replication_pad, "padding"},
    {"aten::affine_grid_generator", affine_grid, "resampling"},
    {"aten::grid_sampler", grid_sampler, "resampling"},
    {"aten::grid_sampler_2d", grid_sampler, "resampling"},
    {"aten::grid_sampler_3d", grid_sampler, "resampling"},
    {"aten::max_unpool2d", max_unpool<2>, "pooling"},
    {"aten::max_unpool3d", max_unpool3d, "pooling"},
    {"aten::pixel_shuffle", pixel_shuffle<true>, "resampling"},
    {"aten::pixel_unshuffle", pixel_shuffle<false>, "resampling"},
    {"aten::_upsample_bicubic2d_aa.vec", upsample, "resampling"},
    {"aten::_upsample_bilinear2d_aa.vec", upsample, "resampling"},
    {"aten::upsample_bicubic2d.vec", upsample, "resampling"},
    {"aten::upsample_bilinear2d.vec", upsample, "resampling"},
    {"aten::upsample_linear1d.vec", upsample, "resampling"},
    {"aten::upsample_nearest1d.vec", upsample, "resampling"},
    {"aten::_upsample_nearest_exact1d.vec", upsample, "resampling"},
    {"aten::upsample_nearest2d.vec", upsample, "resampling"},
    {"aten::_upsample_nearest_exact2d.vec", upsample, "resampling"},
    {"aten::upsample_nearest3d.vec", upsample, "resampling"},
    {"aten::_upsample_nearest_exact3d.vec", upsample, "resampling"},
    {"aten::upsample_trilinear3d.vec", upsample, "resampling"},
    {"aten::_adaptive_avg_pool2d_backward", pool_backward, "gradient"},
    {"aten::avg_pool2d_backward", pool_backward, "gradient"},
    {"aten::max_pool2d_with_indices_backward", pool_backward, "gradient"},
    {"aten::convolution_backward", convolution_backward, "gradient"},
    {"aten::col2im", col2im, "resampling"},
    {"aten::fractional_max_pool2d", fractional_max_pool<2>, "pooling"},
    {"aten::fractional_max_pool3d", fractional_max_pool<3>, "pooling"},
    {"aten::channel_shuffle", channel_shuffle, "resampling"},
    {"aten::native_channel_shuffle", channel_shuffle, "resampling"},
};

}  // namespace

void register_nn_rules() { register_rules(kNnRules); }

}  // namespace proviso::inline v0_2
