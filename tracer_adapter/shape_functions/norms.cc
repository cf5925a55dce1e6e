// tracer_adapter/shape_functions/norms.cc - what is shifted and scaled to have
// a mean, a variance or a norm: by channel, by layer, by group, by row.
#include <string_view>

#include "tracer_adapter/shape_functions/common.h"
#include "tracer_adapter/shape_functions/output_mask.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

void require_channels(const IValue& values, const SymInt& channels,
                      const char* name) {
  if (values.isNone() || !values.toTensor().defined()) return;
  const Tensor t = values.toTensor();
  if (known_equal(t.sym_numel(), channels)) return;
  PROVISO_REQUIRE(t.sym_numel().sym_eq(channels), name, " should contain ",
                  channels, " elements not ", t.sym_numel());
}

// Some overloads have no running statistics.
constexpr const char* kPerChannel[] = {"weight", "bias", "running_mean",
                                       "running_var"};

// Those that update the running statistics train, and have no flag.
bool is_training(const RuleCall& call) {
  return op_name(call).find("_with_update") != std::string_view::npos ||
         flag_or(arg(call, "training"), flag_or(arg(call, "train"), false));
}

// Eager looks at none of them where the input has no elements.
void require_per_channel(const RuleCall& call, const Tensor& input) {
  const SymInt channels = input.sym_size(1);
  for (const char* name : kPerChannel) {
    const IValue& values = arg(call, name);
    if (values.isNone() || !values.toTensor().defined()) continue;
    const SymInt count = values.toTensor().sym_numel();
    if (!known_equal(count, channels) && !expect(count.sym_eq(channels)) &&
        !expect(input.sym_numel().sym_eq(0)))
      require_channels(values, channels, name);
  }
}

// batch_norm(input, weight, bias, running_mean, running_var, training, ...)
bool batch_norm(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  TORCH_CHECK(input.dim() >= 2, "expected 2D or higher input (got ",
              input.dim(), "D input)");
  for (const char* name : {"running_mean", "running_var"})
    TORCH_CHECK(is_training(call) || !arg(call, name).isNone(), op_name(call),
                ": ", name, " must be defined in evaluation mode");
  require_per_channel(call, input);
  Tensor result = fresh(sizes_of(input), input.scalar_type(), input.device(),
                        suggested_format(input));
  call.returns(result);
  return true;
}

// Each sample by itself; its kernel repeats weights and statistics for each.
bool instance_norm(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  TORCH_CHECK(input.dim() >= 2, "expected 2D or higher input (got ",
              input.dim(), "D input)");
  TORCH_CHECK(arg(call, "use_input_stats").toBool() ||
                  (!call.is_none(3) && !call.is_none(4)),
              "Expected running_mean and running_var to be defined when "
              "use_input_stats is false");
  require_per_channel(call, input);
  call.returns(fresh(sizes_of(input), input.scalar_type(), input.device()));
  return true;
}

// Of inputs of 16 bits the statistics are kept as the first of weight, bias and
// running statistics is.
ScalarType statistics_dtype(const RuleCall& call) {
  const ScalarType dtype = call.tensor(0).scalar_type();
  if (!c10::isReducedFloatingType(dtype)) return dtype;
  for (const char* name : kPerChannel) {
    const IValue& t = arg(call, name);
    if (t.isTensor() && t.toTensor().defined())
      return t.toTensor().scalar_type();
  }
  return dtype;
}

// The result, and of a training the mean and the inverse deviation.
void return_normalised(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  batch_norm(call);
  const SymInt kept = is_training(call) ? input.sym_size(1) : SymInt(0);
  for (int i = 0; i < 2; ++i)
    call.returns(fresh({kept}, statistics_dtype(call), input.device()));
}

// What CUDA's kernels reserve, nothing here.
void return_reserve(RuleCall& call) {
  call.returns(fresh({SymInt(0)}, ScalarType::Byte, call.tensor(0).device()));
}

bool batch_norm_impl_index(RuleCall& call) {
  return_normalised(call);
  return_reserve(call);
  call.returns(int64_t{0});
  return true;
}

// native_batch_norm and its kin: none has a mean of nothing.
bool native_batch_norm(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  return_normalised(call);
  if (is_training(call))
    PROVISO_REQUIRE(input.sym_numel().sym_ge(1),
                    "input tensor must have at least one element, but got "
                    "input_sizes = ",
                    to_text(input.sym_sizes()));
  const size_t returns = return_count(call);
  if (returns == 4 || returns == 6) return_reserve(call);
  return true;
}

// Also returns the new running statistics, which it does not write.
bool native_batch_norm_functional(RuleCall& call) {
  native_batch_norm(call);
  for (const char* name : {"running_mean", "running_var"})
    call.returns(fresh_like(arg(call, name).toTensor()));
  return true;
}

void require_normalized(const Tensor& input, const Dims& shape,
                        std::string_view op) {
  size_t rank = static_cast<size_t>(input.dim());
  bool fits = rank >= shape.size() && !shape.empty();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    const SymInt& size = input.sym_sizes()[rank - shape.size() + i];
    fits = known_equal(size, shape[i]) || expect(size.sym_eq(shape[i]));
  }
  TORCH_CHECK(fits, op, ": Given normalized_shape=", to_text(shape),
              ", expected input with shape [*, ", to_text(shape),
              "], but got input of size", to_text(input.sym_sizes()));
}

bool layer_norm(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  require_normalized(input, call.sym_ints(1), op_name(call));
  call.returns(fresh(sizes_of(input), input.scalar_type(), input.device()));
  return true;
}

bool native_layer_norm(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  Dims shape = call.sym_ints(1), sizes = sizes_of(input);
  layer_norm(call);
  for (size_t i = 0; i < shape.size(); ++i) sizes[sizes.size() - 1 - i] = 1;
  for (int i = 0; i < 2; ++i) {
    call.returns(fresh(sizes, input.scalar_type(), input.device()));
  }
  return true;
}

bool group_norm(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  int64_t groups = call.args[1].toInt();
  TORCH_CHECK(input.dim() >= 2,
              "Expected at least 2 dimensions for input "
              "tensor but received ",
              input.dim());
  TORCH_CHECK(groups > 0, "Expected num groups to be greater than 0, got ",
              groups);
  SymInt channels = input.sym_size(1);
  PROVISO_REQUIRE((channels % groups).sym_eq(0),
                  "Expected number of channels "
                  "in input to be divisible by num_groups, but got input of "
                  "shape ",
                  to_text(input.sym_sizes()), " and num_groups=", groups);
  require_channels(call.args[2], channels, "weight");
  require_channels(call.args[3], channels, "bias");
  call.returns(fresh(sizes_of(input), input.scalar_type(), input.device(),
                     suggested_format(input)));
  return true;
}

bool native_group_norm(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  call.returns(fresh(sizes_of(input), input.scalar_type(), input.device(),
                     suggested_format(input)));
  for (int i = 0; i < 2; ++i) {
    call.returns(fresh({call.sym_int(3), call.sym_int(6)}, input.scalar_type(),
                       input.device()));
  }
  return true;
}

bool rms_norm(RuleCall& call) {
  const Tensor& input = call.tensor(0);
  require_normalized(input, call.sym_ints(1), op_name(call));
  call.returns(fresh(sizes_of(input), input.scalar_type(), input.device(),
                     suggested_format(input)));
  return true;
}

// --- gradients

bool native_layer_norm_backward(RuleCall& call) {
  const Tensor& input = call.tensor(1);
  const Dims shape = call.sym_ints(2);
  const auto contiguous = [&](const Dims& sizes) {
    return fresh(sizes, input.scalar_type(), input.device());
  };
  return_if_wanted(call, 0, contiguous(sizes_of(input)));
  for (size_t i : {1, 2}) return_if_wanted(call, i, contiguous(shape));
  return true;
}

bool native_group_norm_backward(RuleCall& call) {
  const Tensor& input = call.tensor(1);
  const SymInt channels = to_sym(arg(call, "C"));
  return_if_wanted(call, 0, fresh_like(input));
  for (size_t i : {1, 2})
    return_if_wanted(call, i,
                     fresh({channels}, input.scalar_type(), input.device()));
  return true;
}

// --- of rows

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

const RuleEntry kNormRules[] = {
    {"aten::_batch_norm_impl_index", batch_norm_impl_index, "normalisation"},
    {"aten::_batch_norm_no_update", native_batch_norm, "normalisation"},
    {"aten::_batch_norm_with_update", native_batch_norm, "normalisation"},
    {"aten::_batch_norm_with_update_functional", native_batch_norm_functional,
     "normalisation"},
    {"aten::_native_batch_norm_legit", native_batch_norm, "normalisation"},
    {"aten::_native_batch_norm_legit_functional", native_batch_norm_functional,
     "normalisation"},
    {"aten::_native_batch_norm_legit_no_training", native_batch_norm,
     "normalisation"},
    {"aten::batch_norm", batch_norm, "normalisation"},
    {"aten::instance_norm", instance_norm, "normalisation"},
    {"aten::group_norm", group_norm, "normalisation"},
    {"aten::layer_norm", layer_norm, "normalisation"},
    {"aten::native_batch_norm", native_batch_norm, "normalisation"},
    {"aten::native_group_norm", native_group_norm, "normalisation"},
    {"aten::native_layer_norm", native_layer_norm, "normalisation"},
    {"aten::rms_norm", rms_norm, "normalisation"},
    {"aten::native_layer_norm_backward", native_layer_norm_backward,
     "gradient"},
    {"aten::native_group_norm_backward", native_group_norm_backward,
     "gradient"},
    {"aten::_weight_norm_interface", weight_norm_interface, "normalisation"},
    {"aten::renorm", renorm, "normalisation"},
};

}  // namespace

void register_norm_rules() { register_rules(kNormRules); }

}  // namespace proviso::inline v0_2
