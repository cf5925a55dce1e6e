// tracer_adapter/shape_functions/fourier.cc - what torch.fft, torch.stft and
// istft are composed of: transforms of some dimensions, and of windows.
#include <algorithm>

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

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

// Windows of `size` elements, `hop` apart, of which `used` count.
struct Windows {
  explicit Windows(const RuleCall& call)
      : size(call.args[1].toInt()),
        hop(call.is_none(2) ? size >> 2 : call.args[2].toInt()),
        used(call.is_none(3) ? size : call.args[3].toInt()) {}
  // As long as `window`, if it is a tensor.
  void require_used(const RuleCall& call, const IValue& window) const {
    TORCH_CHECK(
        used > 0 && used <= size, op_name(call),
        ": expected 0 < win_length <= n_fft, but got win_length=", used);
    if (window.isTensor())
      TORCH_CHECK(window.toTensor().dim() == 1 &&
                      expect(window.toTensor().sym_size(0).sym_eq(used)),
                  op_name(call),
                  ": expected a 1D window tensor of size equal to win_length=",
                  used, ", but got window with size ",
                  to_text(window.toTensor().sym_sizes()));
  }

  int64_t size, hop, used;
};

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
  const Windows each(call);
  const int64_t size = each.size, hop = each.hop;
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
  each.require_used(call, window);
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

// The signal whose windows these are: each hop after the one before, the first
// and the last cut in half where they are centered.
bool istft(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const IValue& window = arg(call, "window");
  TORCH_CHECK(self.is_complex(),
              "istft requires a complex-valued input tensor "
              "matching the output from stft with return_complex=True.");
  TORCH_CHECK(self.dim() == 2 || self.dim() == 3,
              "istft: expected a tensor with 2 or 3 dimensions, but got ",
              self.dim());
  const Windows each(call);
  const int64_t size = each.size, hop = each.hop;
  TORCH_CHECK(
      hop > 0 && hop <= each.used,
      "istft: expected 0 < hop_length <= win_length, but got hop_length=", hop);
  each.require_used(call, window);
  const SymInt frequencies = self.sym_size(-2), windows = self.sym_size(-1);
  for (const SymInt& n : self.sym_sizes())
    PROVISO_REQUIRE(n.sym_gt(0), "istft: input tensor cannot be empty");
  const IValue& side = arg(call, "onesided");
  const bool onesided =
      side.isNone() ? frequencies.sym_ne(size).guard_bool(__FILE__, __LINE__)
                    : side.toBool();
  const int64_t wanted = onesided ? size / 2 + 1 : size;
  PROVISO_REQUIRE(frequencies.sym_eq(wanted), "istft: expected ", wanted,
                  " frequencies of n_fft=", size, ", but got ", frequencies);
  const bool is_complex = flag_or(arg(call, "return_complex"), false);
  TORCH_CHECK(!is_complex || !onesided,
              "istft: cannot have onesided output if window or input is "
              "complex");
  ScalarType dtype = is_complex ? self.scalar_type()
                                : c10::toRealValueType(self.scalar_type());
  if (window.isTensor()) {
    const Tensor& w = window.toTensor();
    TORCH_CHECK(is_complex || !w.is_complex(),
                "istft: complex windows are incompatible with "
                "return_complex=False");
    dtype = c10::promoteTypes(dtype, w.scalar_type());
  }
  SymInt length = plus(size, times(hop, minus(windows, 1)));
  if (flag_or(arg(call, "center"), true)) length = minus(length, size / 2 * 2);
  if (!arg(call, "length").isNone()) length = arg(call, "length").toInt();
  PROVISO_REQUIRE(length.sym_gt(0), "istft: no element is left of the signal");
  Dims sizes{length};
  if (self.dim() == 3) sizes.insert(sizes.begin(), self.sym_size(0));
  call.returns(fresh(sizes, dtype, self.device()));
  return true;
}

const RuleEntry kFourierRules[] = {
    {"aten::_fft_r2c", fft_r2c, "fourier"},
    {"aten::_fft_c2r", fft_c2r, "fourier"},
    {"aten::_fft_c2c", fft_c2c, "fourier"},
    {"aten::stft", stft, "fourier"},
    {"aten::istft", istft, "fourier"},
};

}  // namespace

void register_fourier_rules() { register_rules(kFourierRules); }

}  // namespace proviso::inline v0_2
