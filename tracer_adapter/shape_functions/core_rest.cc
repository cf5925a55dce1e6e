// tracer_adapter/shape_functions/core_rest.cc - core ATen operators of no other
// family: gradients that PyTorch keeps whole, the Fourier leaves, pairwise
// distances, bags of embeddings; and what few programs call: pools at places
// that are drawn, shuffled channels.
#include <algorithm>

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;  // NOLINT: the shape functions' own vocabulary

// --- gradients: of the shape of what they are a gradient of

// In the input's memory format, as the pooling kernels allocate it.
bool pool_backward(RuleCall& call) {
  const Tensor& self = call.tensor(1);
  require_rank(self, 3, 4, "input");
  call.returns(fresh(sizes_of(self), self.scalar_type(), self.device(),
                     suggested_format(self)));
  return true;
}

bool wanted(const RuleCall& call, const char* mask, size_t i) {
  const c10::List<bool> list = arg(call, mask).toBoolList();
  TORCH_CHECK(i < list.size(), op_name(call), ": ", mask, " has ", list.size(),
              " elements");
  return list.get(i);
}

void return_if(RuleCall& call, bool is_wanted, const Tensor& t) {
  call.returns(is_wanted ? t : Tensor());
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
  return_if(call, wanted(call, "output_mask", 0), like(input));
  return_if(call, wanted(call, "output_mask", 1), like(weight));
  const bool transposed = arg(call, "transposed").toBool();
  const SymInt channels =
      transposed ? times(weight.sym_size(1), to_sym(arg(call, "groups")))
                 : weight.sym_size(0);
  return_if(call, wanted(call, "output_mask", 2),
            fresh({channels}, grad.scalar_type(), grad.device()));
  return true;
}

bool native_layer_norm_backward(RuleCall& call) {
  const Tensor& input = call.tensor(1);
  const Dims shape = call.sym_ints(2);
  const auto contiguous = [&](const Dims& sizes) {
    return fresh(sizes, input.scalar_type(), input.device());
  };
  return_if(call, wanted(call, "output_mask", 0), contiguous(sizes_of(input)));
  for (size_t i : {1, 2})
    return_if(call, wanted(call, "output_mask", i), contiguous(shape));
  return true;
}

bool native_group_norm_backward(RuleCall& call) {
  const Tensor& input = call.tensor(1);
  const SymInt channels = to_sym(arg(call, "C"));
  return_if(call, wanted(call, "output_mask", 0), fresh_like(input));
  for (size_t i : {1, 2})
    return_if(call, wanted(call, "output_mask", i),
              fresh({channels}, input.scalar_type(), input.device()));
  return true;
}

bool embedding_dense_backward(RuleCall& call) {
  const Tensor& grad = call.tensor(0);
  call.returns(fresh({call.sym_int(2), grad.sym_size(-1)}, grad.scalar_type(),
                     grad.device()));
  return true;
}

// --- Fourier leaves

ScalarType complex_of(ScalarType dtype) { return c10::toComplexType(dtype); }

// Larger strides first.
std::vector<int64_t> by_stride(const Tensor& t, std::vector<int64_t> dims) {
  const LayoutScope layout;
  for (size_t i = 1; i < dims.size(); ++i)
    for (size_t k = i; k > 0; --k) {
      const SymInt &before = t.sym_strides()[dims[k - 1]],
                   &after = t.sym_strides()[dims[k]];
      if (known_equal(before, after) || !known_less_equal(before, after)) break;
      std::swap(dims[k - 1], dims[k]);
    }
  return dims;
}

// The kernels leave the transformed dimensions innermost, in their order, and
// the others outside, those of larger strides first.
Tensor transformed(const Tensor& self, const Dims& sizes,
                   const std::vector<int64_t>& dims, ScalarType dtype) {
  const LayoutScope layout;
  std::vector<int64_t> inner, order;
  for (int64_t d : dims) inner.push_back(dim_of(self, d));
  for (int64_t d = 0; d < self.dim(); ++d)
    if (std::find(inner.begin(), inner.end(), d) == inner.end())
      order.push_back(d);
  order = by_stride(self, std::move(order));
  order.insert(order.end(), inner.begin(), inner.end());
  Dims strides(sizes.size());
  SymInt stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride = stride * at_least_one(sizes[order[i]]);
  }
  return make_fake(sizes, strides, dtype, self.device());
}

// All but the last, which has a meaning of its own, by stride.
std::vector<int64_t> last_stays(const Tensor& self, std::vector<int64_t> dims) {
  const int64_t last = dims.back();
  dims.pop_back();
  dims = by_stride(self, std::move(dims));
  dims.push_back(last);
  return dims;
}

// The kernels trust them: torch.fft has wrapped them.
std::vector<int64_t> fft_dims(const Tensor& self, const IValue& value) {
  const std::vector<int64_t> dims = to_ints(value);
  std::vector<bool> seen(self.dim());
  for (int64_t d : dims) {
    TORCH_CHECK(d >= 0 && d < self.dim(), "fft: dim ", d, " is not within [0, ",
                self.dim(), ")");
    TORCH_CHECK(!seen[d], "fft: dim ", d, " is named twice");
    seen[d] = true;
  }
  return dims;
}

// Real to complex: half of the last transformed dimension when onesided.
bool fft_r2c(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(
      self.is_floating_point(),
      "Only supports floating-point dtypes, but found: ", self.scalar_type());
  Dims sizes = sizes_of(self);
  const std::vector<int64_t> dims = fft_dims(self, call.args[1]);
  TORCH_CHECK(!dims.empty(), "fft_r2c: dim is empty; name a dimension");
  if (call.args[3].toBool()) {
    SymInt& last = sizes[dims.back()];
    last = floor_div(last, 2) + 1;
  }
  call.returns(transformed(self, sizes, last_stays(self, dims),
                           complex_of(self.scalar_type())));
  return true;
}

// Of several dimensions, the kernel takes all but the last from complex to
// complex first.
bool fft_c2r(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.is_complex(), "fft_c2r: expects a complex tensor, got ",
              self.scalar_type());
  Dims sizes = sizes_of(self);
  std::vector<int64_t> dims = fft_dims(self, call.args[1]);
  TORCH_CHECK(!dims.empty(), "fft_c2r: dim is empty; name a dimension");
  const int64_t last = dims.back();
  dims.pop_back();
  const Tensor before =
      dims.empty()
          ? self
          : transformed(self, sizes, by_stride(self, dims), self.scalar_type());
  sizes[last] = call.sym_int(3);
  call.returns(transformed(before, sizes, {last},
                           c10::toRealValueType(self.scalar_type())));
  return true;
}

bool fft_c2c(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.is_complex(), "fft_c2c: expects a complex tensor, got ",
              self.scalar_type());
  const std::vector<int64_t> dims = fft_dims(self, call.args[1]);
  call.returns(dims.empty()
                   ? fresh_like(self)
                   : transformed(self, sizes_of(self), by_stride(self, dims),
                                 self.scalar_type()));
  return true;
}

// A transform of each window of n_fft elements, hop apart.  The kernel leaves
// the frequencies innermost and then exchanges them with the windows.
bool stft(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const IValue &window = arg(call, "window"),
               &complex = arg(call, "return_complex");
  if (!self.is_floating_point() || complex.isNone() || self.dim() < 1 ||
      self.dim() > 2 || flag_or(arg(call, "align_to_window"), false) ||
      (window.isTensor() && window.toTensor().is_complex()))
    return false;
  const int64_t size = call.args[1].toInt();
  const int64_t hop = call.is_none(2) ? size >> 2 : call.args[2].toInt();
  const int64_t used = call.is_none(3) ? size : call.args[3].toInt();
  SymInt length = self.sym_size(-1);
  if (flag_or(arg(call, "center"), false)) {
    if (arg(call, "pad_mode").toStringRef() == "reflect")
      PROVISO_REQUIRE(length.sym_gt(size / 2),
                      "Padding size should be less than the corresponding "
                      "input dimension, but got: padding (",
                      size / 2, ", ", size / 2, ") at dimension 2 of input ",
                      to_text(self.sym_sizes()));
    length = plus(length, size / 2 * 2);
  }
  PROVISO_REQUIRE(length.sym_ge(size), "stft: expected 0 < n_fft <= ", length,
                  ", but got n_fft=", size);
  TORCH_CHECK(size > 0, "stft: expected 0 < n_fft, but got n_fft=", size);
  TORCH_CHECK(hop > 0,
              "stft: expected hop_length > 0, but got hop_length=", hop);
  TORCH_CHECK(
      used > 0 && used <= size,
      "stft: expected 0 < win_length <= n_fft, but got win_length=", used);
  if (window.isTensor())
    TORCH_CHECK(window.toTensor().dim() == 1 &&
                    expect(window.toTensor().sym_size(0).sym_eq(used)),
                "stft: expected a 1D window tensor of size equal to "
                "win_length=",
                used, ", but got window with size ",
                to_text(window.toTensor().sym_sizes()));
  const SymInt windows = floor_div(length - size, hop) + 1;
  const SymInt frequencies =
      flag_or(arg(call, "onesided"), true) ? size / 2 + 1 : size;
  Dims sizes{frequencies, windows};
  Dims strides{SymInt(1), frequencies};
  if (self.dim() == 2) {
    const LayoutScope layout;
    sizes.insert(sizes.begin(), self.sym_size(0));
    strides.insert(strides.begin(), at_least_one(windows) * frequencies);
  }
  ScalarType dtype = complex_of(self.scalar_type());
  if (!complex.toBool()) {
    dtype = self.scalar_type();
    for (SymInt& stride : strides) stride = stride * 2;
    sizes.push_back(2);
    strides.push_back(1);
  }
  call.returns(make_fake(sizes, strides, dtype, self.device()));
  return true;
}

// --- others

// (gradient, output, dim, dtype of the input)
bool softmax_backward(RuleCall& call) {
  const Tensor& gradient = call.tensor(0);
  wrap_dim(call.args[2].toInt(), gradient.dim());
  call.returns(fresh(sizes_of(gradient),
                     dtype_or(call.args[3], gradient.scalar_type()),
                     gradient.device()));
  return true;
}

// v scaled to have the norms g; and the norms that v has.  The kernel takes as
// many elements as there are from both, one norm for each index of the
// dimension, and divides by its size.
bool weight_norm_interface(RuleCall& call) {
  const Tensor &v = call.tensor(0), &g = call.tensor(1);
  TORCH_CHECK(v.dim() >= 1, "_weight_norm_interface: v has no dimensions");
  const int64_t dim = wrap_dim(call.args[2].toInt(), v.dim());
  TORCH_CHECK(dim == 0 || dim == v.dim() - 1,
              "_weight_norm_interface: the dimension that keeps its norms is "
              "the first or the last, not ",
              dim, " of ", v.dim());
  for (const Tensor& t : {v, g})
    TORCH_CHECK(is_contiguous(t) || known_dense(t.sym_sizes(), t.sym_strides()),
                "_weight_norm_interface: v and g must be dense");
  PROVISO_REQUIRE(v.sym_size(dim).sym_ge(1),
                  "_weight_norm_interface: v has size 0 in dimension ", dim);
  PROVISO_REQUIRE(product(g.sym_sizes()).sym_eq(v.sym_size(dim)),
                  "_weight_norm_interface: g has sizes ",
                  to_text(g.sym_sizes()), " for the norms of dimension ", dim,
                  " of ", to_text(v.sym_sizes()));
  const ScalarType norms = v.scalar_type() == ScalarType::BFloat16
                               ? ScalarType::Float
                               : g.scalar_type();
  call.returns(fresh(sizes_of(v), v.scalar_type(), v.device()));
  call.returns(make_fake(g.sym_sizes(), g.sym_strides(), norms, g.device()));
  return true;
}

// n (n - 1) .. (n - r + 1) / r!, exact of a constant n.
SymInt choices(const SymInt& n, int64_t r) {
  if (const std::optional<int64_t> known = constant(n)) {
    Int count = 1;
    for (int64_t i = 0; i < r; ++i)
      count = floor_div(count * (Int(*known) - i), Int(i + 1));
    const std::optional<int64_t> fits = count.to_int64();
    TORCH_CHECK(fits, "combinations: ", count.to_string(),
                " rows are more than a tensor can have");
    return *fits;
  }
  SymInt product = 1, factorial = 1;
  for (int64_t i = 0; i < r; ++i) {
    product = times(product, n - i);
    factorial = times(factorial, i + 1);
  }
  return floor_div(product, factorial);
}

// combinations(self, r, with_replacement): a row for each choice.
bool combinations(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const int64_t r = call.args[1].toInt();
  TORCH_CHECK(self.dim() == 1, "Expect a 1D vector, but got shape ",
              to_text(self.sym_sizes()));
  TORCH_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  TORCH_CHECK(r <= 1000, "combinations of ", r,
              " elements are not traced; 1000 is the most");
  const SymInt n = self.sym_size(0);
  Dims sizes{choices(call.args[2].toBool() ? n + (r - 1) : n, r), SymInt(r)};
  if (r == 0) sizes = {SymInt(0)};
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

// The distances of n rows: n*(n - 1)/2 of them.
bool pdist_forward(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  require_rank(self, 2, 2, "pdist");
  const SymInt n = self.sym_size(0);
  call.returns(fresh({floor_div(times(n, n - 1), 2)}, self.scalar_type(),
                     self.device()));
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

// (output, offset2bag, bag_size, max_indices): the last three serve the
// gradient, and their sizes follow the kernel's mode.
bool embedding_bag(RuleCall& call) {
  const Tensor& weight = call.tensor(0);
  const Tensor& indices = call.tensor(1);
  const Tensor& offsets = call.tensor(2);
  const int64_t mode = call.args[4].toInt();
  const bool last = arg(call, "include_last_offset").toBool();
  const SymInt bags = last ? offsets.sym_size(0) - 1 : offsets.sym_size(0);
  const auto integers = [&](const Dims& sizes) {
    return fresh(sizes, indices.scalar_type(), indices.device());
  };
  call.returns(
      fresh({bags, weight.sym_size(1)}, weight.scalar_type(), weight.device()));
  const bool float_weight = weight.scalar_type() == ScalarType::Float ||
                            weight.scalar_type() == ScalarType::Half ||
                            weight.scalar_type() == ScalarType::BFloat16;
  const bool fast =
      mode == 0 && float_weight && known_one(weight.sym_stride(1));
  call.returns(integers({fast ? SymInt(0) : indices.sym_size(0)}));
  call.returns(integers({bags}));
  if (mode == 2)
    call.returns(integers({bags, weight.sym_size(1)}));
  else
    call.returns(integers({bags}));
  return true;
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

// (mantissa, exponent)
bool frexp(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.is_floating_point(),
              "torch.frexp() only supports floating-point dtypes");
  call.returns(fresh_like(self));
  call.returns(fresh_like(self, ScalarType::Int));
  return true;
}

// renorm(self, p, dim, maxnorm): the parts along dim are made no longer than
// maxnorm.
bool renorm(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(call.args[1].isScalar() && call.args[3].isScalar(),
              "renorm: p and maxnorm must be numbers");
  TORCH_CHECK(
      !call.args[1].isComplexDouble() && call.args[1].toScalar().toDouble() > 0,
      "renorm: non-positive-norm not supported");
  TORCH_CHECK(!call.args[3].isComplexDouble() &&
                  call.args[3].toScalar().toDouble() >= 0,
              "renorm: expected maxnorm to be >= 0");
  TORCH_CHECK(self.is_floating_point() || self.is_complex(),
              "renorm: expected a floating point or complex tensor, got ",
              self.scalar_type());
  TORCH_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ",
              self.dim(), " dimensions");
  wrap_dim(call.args[2].toInt(), self.dim());
  return return_contiguous(call);
}

// embedding_renorm_(self, indices, max_norm, norm_type): the rows named are
// made no longer than max_norm.
bool embedding_renorm(RuleCall& call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(1);
  TORCH_CHECK(self.dim() == 2, "Expected 2-dimensional tensor, but got ",
              self.dim(),
              "-dimensional tensor for argument #1 'self' (while checking "
              "arguments for embedding_renorm_)");
  TORCH_CHECK(
      indices.scalar_type() == at::kLong || indices.scalar_type() == at::kInt,
      "Expected tensor for argument #2 'indices' to have one of the following "
      "scalar types: Long, Int; but got ",
      indices.toString(),
      " instead (while checking arguments for embedding_renorm_)");
  return op_name(call).ends_with('_') ? return_self(call)
                                      : return_like_self(call);
}

const RuleEntry kRules[] = {
    {"aten::_adaptive_avg_pool2d_backward", pool_backward, "gradient"},
    {"aten::avg_pool2d_backward", pool_backward, "gradient"},
    {"aten::max_pool2d_with_indices_backward", pool_backward, "gradient"},
    {"aten::convolution_backward", convolution_backward, "gradient"},
    {"aten::native_layer_norm_backward", native_layer_norm_backward,
     "gradient"},
    {"aten::native_group_norm_backward", native_group_norm_backward,
     "gradient"},
    {"aten::embedding_dense_backward", embedding_dense_backward, "gradient"},
    {"aten::_softmax_backward_data", softmax_backward, "gradient"},
    {"aten::_log_softmax_backward_data", softmax_backward, "gradient"},
    {"aten::_fft_r2c", fft_r2c, "fourier"},
    {"aten::_fft_c2r", fft_c2r, "fourier"},
    {"aten::_fft_c2c", fft_c2c, "fourier"},
    {"aten::stft", stft, "fourier"},
    {"aten::_weight_norm_interface", weight_norm_interface, "normalisation"},
    {"aten::combinations", combinations, "indexing"},
    {"aten::_pdist_forward", pdist_forward, "distance"},
    {"aten::col2im", col2im, "resampling"},
    {"aten::_embedding_bag", embedding_bag, "embedding"},
    {"aten::_embedding_bag_forward_only", embedding_bag, "embedding"},
    {"aten::fractional_max_pool2d", fractional_max_pool<2>, "pooling"},
    {"aten::fractional_max_pool3d", fractional_max_pool<3>, "pooling"},
    {"aten::channel_shuffle", channel_shuffle, "resampling"},
    {"aten::native_channel_shuffle", channel_shuffle, "resampling"},
    {"aten::frexp.Tensor", frexp, "elementwise"},
    {"aten::renorm", renorm, "normalisation"},
    {"aten::embedding_renorm", embedding_renorm, "embedding"},
    {"aten::embedding_renorm_", embedding_renorm, "embedding"},
};

}  // namespace

void register_core_rest_rules() { register_rules(kRules); }

}  // namespace proviso::inline v0_2
