// tracer_adapter/shape_functions/statistics.cc - composites that look at their
// data to check it: what they return does not depend on it.
#include "tracer_adapter/shape_functions/view_layout.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

// --- quantile, nanquantile

void check_quantile(const RuleCall& call, const Tensor& self,
                    const IValue& wanted) {
  const std::string_view op = op_name(call);
  TORCH_CHECK(self.scalar_type() == ScalarType::Float ||
                  self.scalar_type() == ScalarType::Double,
              op, "() input tensor must be either float or double dtype");
  PROVISO_REQUIRE(self.sym_numel().sym_ne(0), op,
                  "() input tensor must be non-empty");
  if (!wanted.isTensor()) {
    const double q = wanted.toDouble();
    TORCH_CHECK(q >= 0 && q <= 1, op,
                "() q must be in the range [0, 1] but got ", q);
    return;
  }
  const Tensor& q = wanted.toTensor();
  TORCH_CHECK(q.dim() <= 1, op, "() q must be a scalar or 1D tensor");
  TORCH_CHECK(q.scalar_type() == self.scalar_type(), op,
              "() q tensor must be same dtype as the input tensor");
}

// The reduced sizes, after one for a list of quantiles; that one was last in
// memory and comes to the front.
bool quantile(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  check_quantile(call, self, call.args[1]);
  const IValue& dim = arg(call, "dim");
  const bool keepdim = flag_or(arg(call, "keepdim"), false);
  const int64_t gone = dim.isNone() ? -1 : wrap_dim(dim.toInt(), self.dim());
  Dims sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!dim.isNone() && d != gone)
      sizes.push_back(self.sym_size(d));
    else if (keepdim)
      sizes.push_back(1);
  }
  Dims strides = contiguous_strides(sizes);
  if (call.args[1].isTensor() && call.tensor(1).dim() == 1) {
    const SymInt count = call.tensor(1).sym_size(0);
    for (SymInt& stride : strides) stride = stride * at_least_one(count);
    sizes.insert(sizes.begin(), count);
    strides.insert(strides.begin(), SymInt(1));
  }
  call.returns(make_fake(sizes, strides, self.scalar_type(), self.device()));
  return true;
}

// --- cov, corrcoef

bool covariance(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  Promotion promotion;
  promotion.add(self);
  for (const char* weights : {"fweights", "aweights"})
    if (const IValue& w = arg(call, weights); !w.isNone())
      promotion.add(w.toTensor());
  TORCH_CHECK(
      self.dim() <= 2,
      "cov(): expected input to have two or fewer dimensions but got an "
      "input with ",
      self.dim(), " dimensions");
  TORCH_CHECK(self.scalar_type() != ScalarType::Bool,
              "cov(): bool dtype is not supported for input");
  Dims sizes;
  const bool is_one = self.dim() < 2 || branches_on(self.sym_size(0).sym_eq(1));
  if (!is_one) sizes = {self.sym_size(0), self.sym_size(0)};
  call.returns(fresh(sizes, as_float(promotion.result()), self.device()));
  return true;
}

// --- tensor_split at places that are data

bool tensor_split_indices(RuleCall& call) {
  const Tensor &self = call.tensor(0), &places = call.tensor(1);
  TORCH_CHECK(
      self.dim() > 0,
      "tensor_split expected at least a 1-dimensional tensor, but got a "
      "tensor with 0 dims");
  TORCH_CHECK(
      places.scalar_type() == ScalarType::Long,
      "tensor_split expected tensor_indices_or_sections to have dtype of "
      "long, but got ",
      c10::toString(places.scalar_type()));
  TORCH_CHECK(
      places.dim() <= 1,
      "tensor_split expected tensor_indices_or_sections to be a "
      "zero-dimensional or one-dimensional tensor, but got a tensor with ",
      places.dim(), " dims");
  TORCH_CHECK_NOT_IMPLEMENTED(
      places.dim() == 1,
      "Proviso: tensor_split: the number of sections is read from a tensor; "
      "give an int, or a one-dimensional tensor of places");
  const int64_t dim = wrap_dim(call.args[2].toInt(), self.dim());
  const int64_t count = specialize(places.sym_size(0)) + 1;
  const SymInt &size = self.sym_size(dim), stride = self.sym_stride(dim);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < count; ++i) {
    Dims sizes = sizes_of(self);
    sizes[dim] = fresh_size(call, size);
    SymInt offset = self.sym_storage_offset();
    if (i > 0) offset = offset + fresh_size(call, size) * stride;
    parts.push_back(view_of(self, sizes, strides_of(self), offset));
  }
  call.returns(parts);
  return true;
}

const RuleEntry kRules[] = {
    {"aten::corrcoef", covariance, "statistics"},
    {"aten::cov", covariance, "statistics"},
    {"aten::nanquantile", quantile, "statistics"},
    {"aten::quantile", quantile, "statistics"},
    {"aten::tensor_split.tensor_indices_or_sections", tensor_split_indices,
     "view"},
};

}  // namespace

void register_statistics_rules() { register_rules(kRules); }

}  // namespace proviso::inline v0_2
