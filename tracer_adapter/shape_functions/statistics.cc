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

// --- histogram

// torch names the general function in its messages.
void check_weight(const Tensor& self, const Tensor& weight) {
  if (!weight.defined()) return;
  TORCH_CHECK(weight.scalar_type() == self.scalar_type(),
              "torch.histogramdd: if weight tensor is provided, input tensor "
              "and weight tensor should have the same dtype, but got input(",
              c10::toString(self.scalar_type()), "), and weight(",
              c10::toString(weight.scalar_type()), ")");
  PROVISO_REQUIRE(
      weight.sym_numel().sym_eq(self.sym_numel()),
      "torch.histogramdd: if weight tensor is provided it should have the same "
      "shape as the input tensor excluding its innermost dimension, but got "
      "input with shape [",
      self.sym_numel(), ", 1] and weight with shape [", weight.sym_numel(),
      "]");
}

void check_histogram_dtype(const Tensor& self) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.scalar_type() == ScalarType::Float ||
                                  self.scalar_type() == ScalarType::Double,
                              "\"histogram_cpu\" not implemented for '",
                              c10::toString(self.scalar_type()), "'");
}

void return_histogram(RuleCall& call, const SymInt& edges) {
  const Tensor& self = call.tensor(0);
  PROVISO_REQUIRE(edges.sym_gt(1),
                  "torch.histogram(): bins must be > 0, but "
                  "got ",
                  edges - 1, " for dimension 0");
  for (const SymInt& size : {edges - 1, edges})
    call.returns(fresh({size}, self.scalar_type(), self.device()));
}

bool histogram_bins(RuleCall& call) {
  const Tensor &self = call.tensor(0), &bins = call.tensor(1);
  TORCH_CHECK(bins.scalar_type() == self.scalar_type(),
              "torch.histogramdd: input tensor and bins tensors should have "
              "the same dtype, but got input with dtype ",
              self.scalar_type(), " and bins for dimension 0 with dtype ",
              bins.scalar_type());
  TORCH_CHECK(bins.dim() == 1,
              "torch.histogramdd: bins tensor should have one dimension, but "
              "got ",
              bins.dim(), " dimensions in the bins tensor for dimension 0");
  check_weight(self, call.optional_tensor(2));
  check_histogram_dtype(self);
  return_histogram(call, bins.sym_size(0));
  return true;
}

bool histogram_count(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  if (!call.is_none(2)) {
    const std::vector<double> range = call.args[2].toDoubleVector();
    TORCH_CHECK(range.size() == 2,
                "torch.histogramdd: for a 1-dimensional histogram range should "
                "have 2 elements, but got ",
                range.size());
    TORCH_CHECK(range[0] <= range[1],
                "torch.histogramdd: min should not exceed max, but got min ",
                range[0], " max ", range[1], " for dimension 0");
  }
  check_weight(self, call.optional_tensor(3));
  check_histogram_dtype(self);
  return_histogram(call, plus(call.sym_int(1), 1));
  return true;
}

// --- histogramdd: of points of as many numbers as there are bins

void check_points(const Tensor& self, size_t bins, const Tensor& weight) {
  TORCH_CHECK(
      self.dim() >= 2,
      "torch.histogramdd: input tensor should have at least 2 dimensions");
  PROVISO_REQUIRE(self.sym_size(-1).sym_eq(static_cast<int64_t>(bins)),
                  "histogramdd: The size of bins must be equal to the "
                  "innermost dimension of the input.");
  if (weight.defined()) {
    TORCH_CHECK(weight.scalar_type() == self.scalar_type(),
                "torch.histogramdd: if weight tensor is provided, input tensor "
                "and weight tensor should have the same dtype, but got input(",
                self.scalar_type(), "), and weight(", weight.scalar_type(),
                ")");
    bool fits = weight.dim() == self.dim() - 1;
    for (int64_t d = 0; fits && d < weight.dim(); ++d)
      fits = expect(weight.sym_size(d).sym_eq(self.sym_size(d)));
    TORCH_CHECK(fits,
                "torch.histogramdd: if weight tensor is provided it should "
                "have the same shape as the input tensor excluding its "
                "innermost dimension, but got input with shape ",
                self.sym_sizes(), " and weight with shape ",
                weight.sym_sizes());
  }
  TORCH_CHECK_NOT_IMPLEMENTED(self.scalar_type() == ScalarType::Float ||
                                  self.scalar_type() == ScalarType::Double,
                              "\"histogramdd\" not implemented for '",
                              c10::toString(self.scalar_type()), "'");
}

// (self, bins, range, weight, density): the edges, or the counts between them
bool histogramdd_counts(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const std::vector<int64_t> bins = call.args[1].toIntVector();
  check_points(self, bins.size(), call.optional_tensor(3));
  if (!call.is_none(2)) {
    const std::vector<double> range = call.args[2].toDoubleVector();
    TORCH_CHECK(range.size() == 2 * bins.size(), "torch.histogramdd: for a ",
                bins.size(), "-dimensional histogram range should have ",
                2 * bins.size(), " elements, but got ", range.size());
    for (size_t d = 0; d < bins.size(); ++d)
      TORCH_CHECK(range[2 * d] <= range[2 * d + 1],
                  "torch.histogramdd: min should not exceed max, but got min ",
                  range[2 * d], " max ", range[2 * d + 1], " for dimension ",
                  d);
  }
  std::vector<Tensor> edges;
  Dims sizes;
  for (size_t d = 0; d < bins.size(); ++d) {
    TORCH_CHECK(bins[d] > 0, "torch.histogram(): bins must be > 0, but got ",
                bins[d], " for dimension ", d);
    sizes.emplace_back(bins[d]);
    edges.push_back(
        fresh({plus(bins[d], 1)}, self.scalar_type(), self.device()));
  }
  if (op_name(call) == "_histogramdd_bin_edges")
    call.returns(edges);
  else
    call.returns(fresh(sizes, self.scalar_type(), self.device()));
  return true;
}

// (self, bins, weight, density)
bool histogramdd_edges(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const std::vector<Tensor> bins = call.args[1].toTensorVector();
  check_points(self, bins.size(), call.optional_tensor(2));
  Dims sizes;
  for (size_t d = 0; d < bins.size(); ++d) {
    TORCH_CHECK(bins[d].scalar_type() == self.scalar_type(),
                "torch.histogramdd: input tensor and bins tensors should have "
                "the same dtype, but got input with dtype ",
                self.scalar_type(), " and bins for dimension ", d,
                " with dtype ", bins[d].scalar_type());
    TORCH_CHECK(bins[d].dim() == 1,
                "torch.histogramdd: bins tensor should have one dimension, but "
                "got ",
                bins[d].dim(), " dimensions in the bins tensor for dimension ",
                d);
    const SymInt edges = bins[d].sym_size(0);
    PROVISO_REQUIRE(edges.sym_gt(1),
                    "torch.histogram(): bins must be > 0, but got ", edges - 1,
                    " for dimension ", d);
    sizes.push_back(edges - 1);
  }
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
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

const RuleEntry kStatisticsRules[] = {
    {"aten::_histogramdd_bin_edges", histogramdd_counts, "statistics"},
    {"aten::_histogramdd_from_bin_cts", histogramdd_counts, "statistics"},
    {"aten::_histogramdd_from_bin_tensors", histogramdd_edges, "statistics"},
    {"aten::corrcoef", covariance, "statistics"},
    {"aten::cov", covariance, "statistics"},
    {"aten::histogram.bin_ct", histogram_count, "statistics"},
    {"aten::histogram.bins_tensor", histogram_bins, "statistics"},
    {"aten::nanquantile", quantile, "statistics"},
    {"aten::quantile", quantile, "statistics"},
    {"aten::tensor_split.tensor_indices_or_sections", tensor_split_indices,
     "view"},
};

}  // namespace

void register_statistics_rules() { register_rules(kStatisticsRules); }

}  // namespace proviso::inline v0_2
