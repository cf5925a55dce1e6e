// tracer_adapter/shape_functions/factories.cc - tensors made from nothing, and
// copies: zeros, arange, *_like, new_*, clone, to, contiguous.
#include <c10/core/DefaultDtype.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sym/canonical.h"
#include "tracer_adapter/fake/float_ratio.h"
#include "tracer_adapter/fake/sym_node.h"
#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

// --- from sizes

void require_sizes(const Dims& sizes) {
  for (const SymInt& size : sizes) {
    PROVISO_REQUIRE(size.sym_ge(0),
                    "Trying to create tensor with negative "
                    "dimension ",
                    size, ": ", to_text(sizes));
  }
}

at::MemoryFormat format_or(const IValue& value, at::MemoryFormat otherwise) {
  return value.isNone() ? otherwise : value.toMemoryFormat();
}

Tensor made(RuleCall& call, const Dims& sizes, ScalarType dtype) {
  require_sizes(sizes);
  return fresh(
      sizes, dtype_or(arg(call, "dtype"), dtype),
      device_or(arg(call, "device"), c10::kCPU),
      format_or(arg(call, "memory_format"), at::MemoryFormat::Contiguous));
}

bool from_sizes(RuleCall& call) {
  call.returns(made(call, to_dims(arg(call, "size")), default_dtype()));
  return true;
}

bool full(RuleCall& call) {
  call.returns(
      made(call, to_dims(arg(call, "size")), dtype_of_number(call.args[1])));
  return true;
}

bool from_sizes_long(RuleCall& call) {
  call.returns(made(call, to_dims(arg(call, "size")), ScalarType::Long));
  return true;
}

bool empty_strided(RuleCall& call) {
  call.returns(make_fake(call.sym_ints(0), call.sym_ints(1),
                         dtype_or(arg(call, "dtype"), default_dtype()),
                         device_or(arg(call, "device"), c10::kCPU)));
  return true;
}

bool empty_permuted(RuleCall& call) {
  Dims sizes = call.sym_ints(0), strides(sizes.size());
  SymInt next(1);
  const std::vector<int64_t> layout = to_ints(call.args[1]);
  std::vector<int64_t> sorted = layout, dims(sizes.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(dims.begin(), dims.end(), 0);
  TORCH_CHECK(sorted == dims, "empty_permuted: the physical layout ",
              c10::IntArrayRef(layout), " is no order of ", sizes.size(),
              " dimensions");
  require_sizes(sizes);
  for (size_t i = layout.size(); i-- > 0;) {
    strides[layout[i]] = next;
    next = times(next, sizes[layout[i]]);
  }
  call.returns(make_fake(sizes, strides,
                         dtype_or(arg(call, "dtype"), default_dtype()),
                         device_or(arg(call, "device"), c10::kCPU)));
  return true;
}

bool eye(RuleCall& call) {
  auto columns = find_arg(call, "m");
  SymInt n = call.sym_int(0);
  call.returns(
      made(call, {n, columns ? call.sym_int(*columns) : n}, default_dtype()));
  return true;
}

bool scalar_tensor(RuleCall& call) {
  // Unlike full(), integers too take the default dtype.
  call.returns(made(call, {}, default_dtype()));
  return true;
}

bool linspace(RuleCall& call) {
  call.returns(made(call, {to_sym(arg(call, "steps"))}, default_dtype()));
  return true;
}

// fftfreq(n) has n, rfftfreq(n) those that are not negative.
bool frequencies(RuleCall& call) {
  const SymInt n = call.sym_int(0);
  const bool all = op_name(call) == "fft_fftfreq";
  call.returns(made(call, {all ? n : floor_div(n, 2) + 1}, default_dtype()));
  return true;
}

bool randperm(RuleCall& call) {
  call.returns(made(call, {call.sym_int(0)}, ScalarType::Long));
  return true;
}

bool window(RuleCall& call) {
  call.returns(made(call, {call.sym_int(0)}, default_dtype()));
  return true;
}

// normal(mean, std), of which one is a tensor or both are.
bool normal_of_tensors(RuleCall& call) {
  const bool of_mean = call.args[0].isTensor();
  const Tensor& first = call.tensor(of_mean ? 0 : 1);
  if (!first.is_floating_point()) return false;
  Dims sizes = sizes_of(first);
  if (of_mean && call.args[1].isTensor())
    sizes = broadcast(sizes, sizes_of(call.tensor(1)));
  if (call.args[1].isDouble())
    TORCH_CHECK(call.args[1].toDouble() >= 0.0,
                "normal expects std >= 0.0, but found std ",
                call.args[1].toDouble());
  call.returns(fresh(sizes, first.scalar_type(), first.device()));
  return true;
}

// vander(x, N, increasing): the powers of each number.
bool vander(RuleCall& call) {
  const Tensor& x = call.tensor(0);
  TORCH_CHECK(x.dim() == 1, "x must be a one-dimensional tensor.");
  const SymInt powers = call.is_none(1) ? x.sym_size(0) : call.sym_int(1);
  PROVISO_REQUIRE(powers.sym_ge(0), "N must be non-negative.");
  call.returns(fresh({x.sym_size(0), powers},
                     c10::promoteTypes(x.scalar_type(), ScalarType::Long),
                     x.device()));
  return true;
}

// tril_indices(row, col, offset): needs the sizes.
// Of a matrix, the entries (r, c) with c - r <= offset: row after row one more
// than the last, within 0 and the columns.
Int entries_below(const Int& rows, const Int& columns, const Int& offset) {
  const auto within = [](const Int& low, const Int& n, const Int& high) {
    return std::min(std::max(n, low), high);
  };
  // Rows [first, full) grow, those from `full` on have all columns.
  const Int first = within(0, -offset, rows);
  const Int full = within(first, columns - offset - 1, rows);
  const Int from = first + offset + 1, grown = full - first;
  return grown * from + floor_div(grown * (grown - 1), 2) +
         (rows - full) * columns;
}

bool triangle_indices(RuleCall& call) {
  const Int rows = specialize(call.sym_int(0)),
            columns = specialize(call.sym_int(1)),
            offset = specialize(call.sym_int(2));
  TORCH_CHECK(rows >= 0 && columns >= 0, op_name(call),
              ": row and col must be non-negative");
  const Int count =
      op_name(call) == "triu_indices"
          ? rows * columns - entries_below(rows, columns, offset - 1)
          : entries_below(rows, columns, offset);
  const std::optional<int64_t> fits = count.to_int64();
  TORCH_CHECK(fits, op_name(call), ": ", count.to_string(),
              " indices are more than a tensor can have");
  call.returns(made(call, {SymInt(2), SymInt(*fits)}, ScalarType::Long));
  return true;
}

// --- arange

bool is_float(const IValue& number) {
  return number.isDouble() || number.isSymFloat();
}

c10::SymFloat to_sym_float_value(const IValue& number) {
  if (number.isSymFloat()) return number.toSymFloat();
  if (number.isDouble()) return c10::SymFloat(number.toDouble());
  return c10::SymFloat(to_sym(number));
}

std::optional<FloatRatio> ratio_of(RuleCall& call, const IValue& number) {
  if (!is_float(number)) return ratio_of(to_expr(call.env(), to_sym(number)));
  if (number.isDouble() && !std::isfinite(number.toDouble()))
    return std::nullopt;
  return ratio_of(to_expr(call.env(), to_sym_float_value(number)));
}

// ceil((end - start) / step) of constants, as eager computes it.
SymInt float_length(const IValue& start, const IValue& end,
                    const IValue& step) {
  double from = to_sym_float_value(start).guard_float(__FILE__, __LINE__);
  double to = to_sym_float_value(end).guard_float(__FILE__, __LINE__);
  double by = to_sym_float_value(step).guard_float(__FILE__, __LINE__);
  TORCH_CHECK(by != 0, "step must be nonzero");
  TORCH_CHECK(by > 0 ? to >= from : to <= from,
              "upper bound and lower bound inconsistent with step sign");
  const double length = std::ceil((to - from) / by);
  TORCH_CHECK(length < 0x1p63, "arange: ", length, " elements are more than ",
              "a tensor can have");
  return SymInt(static_cast<int64_t>(length));
}

SymInt int_length(const SymInt& start, const SymInt& end, const SymInt& step) {
  PROVISO_REQUIRE(step.sym_ne(0), "step must be nonzero");
  auto by = constant(step);
  bool upwards = by ? *by > 0 : step.sym_gt(0).guard_bool(__FILE__, __LINE__);
  SymInt span = upwards ? minus(end, start) : minus(start, end);
  PROVISO_REQUIRE(span.sym_ge(0),
                  "upper bound and lower bound inconsistent with step sign");
  return ceil_div(span, upwards ? step : minus(0, step));
}

// arange(n, 0, -1.0) has n elements, arange(0, n, 0.5) has 2*n and arange(n/2)
// (n + 1)//2: in whole numbers of halves, thirds, ... eager's difference and
// its quotient round to no integer that they are not.
std::optional<SymInt> exact_length(RuleCall& call, const IValue& start,
                                   const IValue& end, const IValue& step) {
  const auto from = ratio_of(call, start), to = ratio_of(call, end),
             by = ratio_of(call, step);
  if (!from || !to || !by) return std::nullopt;
  const int64_t parts =
      std::lcm(std::lcm(from->divisor, to->divisor), by->divisor);
  if (parts > kMostParts) return std::nullopt;
  // n/3 - k/3 is no integer where the difference is.
  if (!is_power_of_two(parts) &&
      (from->divisor != 1 || !is_power_of_two(by->divisor)))
    return std::nullopt;
  const auto in_parts = [&](const FloatRatio& ratio) {
    return to_sym_int(call.env(),
                      canonical(ratio.numerator * (parts / ratio.divisor)));
  };
  return int_length(in_parts(*from), in_parts(*to), in_parts(*by));
}

bool arange(RuleCall& call) {
  std::string_view kind = overload(call);
  IValue zero(int64_t{0}), one(int64_t{1});
  bool only_end = kind.empty();
  const IValue& start = only_end ? zero : call.args[0];
  const IValue& end = only_end ? call.args[0] : call.args[1];
  const IValue& step = kind == "start_step" ? call.args[2] : one;
  if (kind != "" && kind != "start" && kind != "start_step") return false;
  bool floats = is_float(start) || is_float(end) || is_float(step);
  const auto length = exact_length(call, start, end, step);
  call.returns(made(call, {length ? *length : float_length(start, end, step)},
                    floats ? default_dtype() : ScalarType::Long));
  return true;
}

// --- from another tensor

// How a copy of t lies in memory.
Dims strides_in(const Tensor& t, at::MemoryFormat format) {
  switch (format) {
    case at::MemoryFormat::Preserve: return like_strides(t);
    case at::MemoryFormat::ChannelsLast:
    case at::MemoryFormat::ChannelsLast3d:
      return channels_last_strides(sizes_of(t));
    default: return contiguous_strides(t.sym_sizes());
  }
}

bool make_like(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  auto format =
      format_or(arg(call, "memory_format"), at::MemoryFormat::Preserve);
  call.returns(make_fake(self.sym_sizes(), strides_in(self, format),
                         dtype_or(arg(call, "dtype"), self.scalar_type()),
                         device_or(arg(call, "device"), self.device())));
  return true;
}

bool make_new(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  Dims sizes = to_dims(arg(call, "size"));
  require_sizes(sizes);
  call.returns(fresh(sizes, dtype_or(arg(call, "dtype"), self.scalar_type()),
                     device_or(arg(call, "device"), self.device())));
  return true;
}

// A tangent of zeros: of the sizes of `other` after the first ones of self,
// which are those that jacfwd maps over.
bool new_zeros_of_tangent(RuleCall& call) {
  const Tensor &self = call.tensor(0), &other = call.tensor(1);
  const int64_t mapped = call.args[2].toInt();
  TORCH_CHECK(0 <= mapped && mapped <= self.dim(),
              "_new_zeros_with_same_feature_meta: self_num_batch_dims is ",
              mapped, ", and self has ", self.dim(), " dimensions");
  Dims sizes(self.sym_sizes().begin(), self.sym_sizes().begin() + mapped);
  sizes.insert(sizes.end(), other.sym_sizes().begin(), other.sym_sizes().end());
  const Dims strides =
      mapped == 0 ? Dims(other.sym_strides().begin(), other.sym_strides().end())
                  : Dims(contiguous_strides(sizes));
  call.returns(make_fake(sizes, strides, self.scalar_type(), self.device()));
  return true;
}

bool new_empty_strided(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  call.returns(make_fake(call.sym_ints(1), call.sym_ints(2),
                         dtype_or(arg(call, "dtype"), self.scalar_type()),
                         device_or(arg(call, "device"), self.device())));
  return true;
}

bool clone(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  auto format =
      format_or(arg(call, "memory_format"), at::MemoryFormat::Preserve);
  call.returns(make_fake(self.sym_sizes(), strides_in(self, format),
                         self.scalar_type(), self.device()));
  return true;
}

bool contiguous(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  auto format =
      format_or(arg(call, "memory_format"), at::MemoryFormat::Contiguous);
  TORCH_CHECK(
      format != at::MemoryFormat::Preserve,
      "preserve memory format is unsupported by the contiguous operator");
  if (is_contiguous(self, format)) return return_self(call);
  call.returns(
      fresh(sizes_of(self), self.scalar_type(), self.device(), format));
  return true;
}

// --- to(...): self when nothing changes, else a copy

bool converted(RuleCall& call, const Tensor& self, ScalarType dtype,
               c10::Device device, bool must_copy, at::MemoryFormat format) {
  bool keeps_layout =
      format == at::MemoryFormat::Preserve || suggested_format(self) == format;
  if (!must_copy && keeps_layout && dtype == self.scalar_type() &&
      device == self.device()) {
    return return_self(call);
  }
  call.returns(
      make_fake(self.sym_sizes(), strides_in(self, format), dtype, device));
  return true;
}

bool to(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  ScalarType dtype = self.scalar_type();
  c10::Device device = self.device();
  if (overload(call) == "other") {
    const Tensor other = arg(call, "other").toTensor();
    dtype = other.scalar_type();
    device = other.device();
  } else {
    dtype = dtype_or(arg(call, "dtype"), dtype);
    device = device_or(arg(call, "device"), device);
  }
  return converted(
      call, self, dtype, device, flag_or(arg(call, "copy"), false),
      format_or(arg(call, "memory_format"), at::MemoryFormat::Preserve));
}

bool to_copy(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  return converted(
      call, self, dtype_or(arg(call, "dtype"), self.scalar_type()),
      device_or(arg(call, "device"), self.device()), true,
      format_or(arg(call, "memory_format"), at::MemoryFormat::Preserve));
}

bool type_as(RuleCall& call) {
  const Tensor& other = call.tensor(1);
  return converted(call, call.tensor(0), other.scalar_type(), other.device(),
                   false, at::MemoryFormat::Preserve);
}

bool lift_copy(RuleCall& call) { return return_like_self(call); }

const RuleEntry kFactoryRules[] = {
    {"aten::arange", arange, "factory"},
    {"aten::bartlett_window", window, "factory"},
    {"aten::blackman_window", window, "factory"},
    {"aten::empty.memory_format", from_sizes, "factory"},
    {"aten::_efficientzerotensor", from_sizes, "factory"},
    {"aten::empty_permuted", empty_permuted, "factory"},
    {"aten::empty_strided", empty_strided, "factory"},
    {"aten::eye", eye, "factory"},
    {"aten::fft_fftfreq", frequencies, "factory"},
    {"aten::fft_rfftfreq", frequencies, "factory"},
    {"aten::full", full, "factory"},
    {"aten::hamming_window", window, "factory"},
    {"aten::hann_window", window, "factory"},
    {"aten::kaiser_window", window, "factory"},
    {"aten::vander", vander, "factory"},
    {"aten::linspace", linspace, "factory"},
    {"aten::logspace", linspace, "factory"},
    {"aten::ones", from_sizes, "factory"},
    {"aten::rand", from_sizes, "factory"},
    {"aten::randint", from_sizes_long, "factory"},
    {"aten::randn", from_sizes, "factory"},
    {"aten::normal.Tensor_Tensor", normal_of_tensors, "random"},
    {"aten::normal.Tensor_float", normal_of_tensors, "random"},
    {"aten::normal.float_Tensor", normal_of_tensors, "random"},
    {"aten::normal.float_float", from_sizes, "factory"},
    {"aten::randperm", randperm, "factory"},
    {"aten::scalar_tensor", scalar_tensor, "factory"},
    {"aten::tril_indices", triangle_indices, "factory"},
    {"aten::triu_indices", triangle_indices, "factory"},
    {"aten::zeros", from_sizes, "factory"},
    // like another tensor
    {"aten::empty_like", make_like, "factory"},
    {"aten::full_like", make_like, "factory"},
    {"aten::ones_like", make_like, "factory"},
    {"aten::rand_like", make_like, "factory"},
    {"aten::randint_like", make_like, "factory"},
    {"aten::randn_like", make_like, "factory"},
    {"aten::zeros_like", make_like, "factory"},
    {"aten::new_empty", make_new, "factory"},
    {"aten::new_empty_strided", new_empty_strided, "factory"},
    {"aten::new_full", make_new, "factory"},
    {"aten::new_ones", make_new, "factory"},
    {"aten::new_zeros", make_new, "factory"},
    {"aten::_new_zeros_with_same_feature_meta", new_zeros_of_tangent,
     "factory"},
    // copies
    {"aten::_to_copy", to_copy, "copy"},
    {"aten::clone", clone, "copy"},
    {"aten::contiguous", contiguous, "copy"},
    {"aten::lift", return_self, "copy"},
    {"aten::lift_fresh", return_self, "copy"},
    {"aten::lift_fresh_copy", lift_copy, "copy"},
    {"aten::to.device", to, "copy"},
    {"aten::to.dtype", to, "copy"},
    {"aten::to.dtype_layout", to, "copy"},
    {"aten::to.other", to, "copy"},
    {"aten::type_as", type_as, "copy"},
    {"aten::resolve_conj", return_self, "copy"},
    {"aten::resolve_neg", return_self, "copy"},
};

}  // namespace

void register_factory_rules() { register_rules(kFactoryRules); }

}  // namespace proviso::inline v0_2
