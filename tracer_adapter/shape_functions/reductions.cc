// tracer_adapter/shape_functions/reductions.cc - sums, extrema, norms, scans
// and sorts: dimensions go away, become 1, or stay.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "tracer_adapter/shape_functions/common.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

// What the result's dtype is, when no dtype is asked for.
enum class Reduced {
  kSame,      // amax
  kSum,       // integers become kLong
  kFloat,     // integers become the default float
  kFloating,  // integers are refused
  kBool,      // bool (uint8 stays)
  kLong,      // indices
};

ScalarType dtype_of(Reduced kind, ScalarType dtype, std::string_view op) {
  switch (kind) {
    case Reduced::kSum:
      return c10::isIntegralType(dtype, true) ? ScalarType::Long : dtype;
    case Reduced::kFloat: return as_float(dtype);
    case Reduced::kFloating:
      TORCH_CHECK(
          c10::isFloatingType(dtype) || c10::isComplexType(dtype), op,
          "(): could not infer output dtype. Input dtype must be either "
          "a floating point or complex dtype. Got: ",
          c10::toString(dtype));
      return dtype;
    case Reduced::kBool:
      return dtype == ScalarType::Byte ? dtype : ScalarType::Bool;
    case Reduced::kLong: return ScalarType::Long;
    case Reduced::kSame: break;
  }
  return dtype;
}

// Which dimensions go: those listed; all when the list is absent or empty.
std::vector<bool> reduced_dims(const IValue& dim, int64_t rank,
                               bool empty_means_all = true) {
  std::vector<bool> reduced(std::max<int64_t>(rank, 1), false);
  std::vector<int64_t> dims =
      dim.isNone() ? std::vector<int64_t>{} : to_ints(dim);
  if (dim.isNone() || (dims.empty() && empty_means_all)) {
    return std::vector<bool>(rank, true);
  }
  for (int64_t d : dims) {
    d = wrap_dim(d, rank);
    TORCH_CHECK(!reduced[d], "dim ", d,
                " appears multiple times in the list of dims");
    reduced[d] = true;
  }
  reduced.resize(rank);
  return reduced;
}

Dims reduced_sizes(const Tensor& self, const std::vector<bool>& reduced,
                   bool keepdim) {
  Dims sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!reduced[d]) {
      sizes.push_back(self.sym_size(d));
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  return sizes;
}

Tensor reduced(RuleCall& call, ScalarType dtype) {
  const Tensor& self = call.tensor(0);
  auto dims = reduced_dims(arg(call, "dim"), self.dim());
  Dims sizes = reduced_sizes(self, dims, flag_or(arg(call, "keepdim"), false));
  return fresh(sizes, dtype_or(arg(call, "dtype"), dtype), self.device());
}

template <Reduced kKind>
bool reduce(RuleCall& call) {
  const IValue& wanted = arg(call, "dtype");
  ScalarType dtype =
      wanted.isNone()
          ? dtype_of(kKind, call.tensor(0).scalar_type(), op_name(call))
          : wanted.toScalarType();
  call.returns(reduced(call, dtype));
  return true;
}

// An extremum of no elements is an error in eager.
void require_elements(const Tensor& self, const std::vector<bool>& dims,
                      std::string_view op) {
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!dims[d]) continue;
    PROVISO_REQUIRE(self.sym_size(d).sym_ne(0), op,
                    "(): Expected reduction dim ", d,
                    " to have non-zero size.");
  }
}

// hash_tensor(self, dim, keepdim, mode): the bits of what is reduced, xor'ed.
bool hash_tensor(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(),
                              "\"xor_sum_cpu\" not implemented for '",
                              c10::toString(self.scalar_type()), "'");
  TORCH_CHECK(arg(call, "mode").toInt() == 0,
              "Unknown hash_tensor mode: ", arg(call, "mode").toInt());
  require_elements(self, reduced_dims(arg(call, "dim"), self.dim()),
                   op_name(call));
  call.returns(reduced(call, ScalarType::UInt64));
  return true;
}

template <Reduced kKind>
bool extremum(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(kKind != Reduced::kLong || self.scalar_type() != ScalarType::Bool,
              op_name(call), "(): does not support bool input");
  require_elements(self, reduced_dims(arg(call, "dim"), self.dim()),
                   op_name(call));
  return reduce<kKind>(call);
}

// max.dim, min.dim, median.dim, ...: values and their indices.
bool extremum_with_indices(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  require_elements(self, reduced_dims(arg(call, "dim"), self.dim()),
                   op_name(call));
  call.returns(reduced(call, self.scalar_type()));
  call.returns(reduced(call, ScalarType::Long));
  return true;
}

bool aminmax(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  require_elements(self, reduced_dims(arg(call, "dim"), self.dim()), "aminmax");
  for (int i = 0; i < 2; ++i) call.returns(reduced(call, self.scalar_type()));
  return true;
}

bool moments(RuleCall& call) {  // var_mean, std_mean
  for (int i = 0; i < 2; ++i) {
    call.returns(reduced(call, call.tensor(0).scalar_type()));
  }
  return true;
}

// norm.ScalarOpt_dim and linalg_vector_norm: the dtype may be asked for.
bool norm(RuleCall& call) {
  ScalarType dtype = call.tensor(0).scalar_type();
  call.returns(reduced(call, c10::toRealValueType(as_float(dtype))));
  return true;
}

bool count_nonzero(RuleCall& call) {
  call.returns(reduced(call, ScalarType::Long));
  return true;
}

// --- scans keep the shape

template <Reduced kKind>
bool scan(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  wrap_dim(arg(call, "dim").toInt(), self.dim());
  ScalarType dtype =
      dtype_or(arg(call, "dtype"), dtype_of(kKind, self.scalar_type(), ""));
  call.returns(fresh(sizes_of(self), dtype, self.device()));
  return true;
}

bool scan_with_indices(RuleCall& call) {  // cummax, cummin
  const Tensor& self = call.tensor(0);
  wrap_dim(arg(call, "dim").toInt(), self.dim());
  call.returns(fresh(sizes_of(self), self.scalar_type(), self.device()));
  call.returns(fresh(sizes_of(self), ScalarType::Long, self.device()));
  return true;
}

bool softmax(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  wrap_dim(call.args[1].toInt(), self.dim());
  ScalarType dtype = dtype_or(arg(call, "dtype"), self.scalar_type());
  TORCH_CHECK(c10::isFloatingType(dtype), "\"softmax\" not implemented for '",
              dtype, "'");
  call.returns(fresh(sizes_of(self), dtype, self.device()));
  return true;
}

// (gradient, output, dim, dtype of the input)
bool softmax_backward(RuleCall& call) {
  const Tensor& gradient = call.tensor(0);
  wrap_dim(call.args[2].toInt(), gradient.dim());
  call.returns(fresh(sizes_of(gradient),
                     dtype_or(call.args[3], gradient.scalar_type()),
                     gradient.device()));
  return true;
}

// --- segments

// segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe,
// initial): axis is cut into segments of those lengths, or at those offsets.
// What lengths and offsets say is looked at when the program runs.
bool segment_reduce(RuleCall& call) {
  const Tensor& data = call.tensor(0);
  const std::string& reduce = call.args[1].toStringRef();
  const Tensor lengths = arg(call, "lengths").isNone()
                             ? Tensor()
                             : arg(call, "lengths").toTensor();
  const Tensor offsets = arg(call, "offsets").isNone()
                             ? Tensor()
                             : arg(call, "offsets").toTensor();
  TORCH_CHECK(
      arg(call, "indices").isNone(),
      "segment_reduce(): indices based reduction is not supported yet.");
  TORCH_CHECK(lengths.defined() || offsets.defined(),
              "segment_reduce(): Either lengths or offsets must be defined.");
  constexpr std::string_view kReductions[] = {"sum", "prod", "mean", "max",
                                              "min", "amax", "amin"};
  TORCH_CHECK(std::find(std::begin(kReductions), std::end(kReductions),
                        reduce) != std::end(kReductions),
              "reduce argument must be either sum, prod, mean, amax or amin, "
              "got ",
              reduce);
  TORCH_CHECK_NOT_IMPLEMENTED(data.is_floating_point(),
                              "\"_segment_reduce_cpu\" not implemented for '",
                              c10::toString(data.scalar_type()), "'");
  const int64_t axis = wrap_dim(arg(call, "axis").toInt(), data.dim());
  for (const Tensor* t : {&lengths, &offsets}) {
    if (!t->defined()) continue;
    const char* name = t == &lengths ? "lengths" : "offsets";
    TORCH_CHECK(data.dim() >= t->dim(), "segment_reduce(): data has ",
                data.dim(), " dimensions and ", name, " ", t->dim());
    TORCH_CHECK(axis == t->dim() - 1,
                "segment_reduce(): Expected axis to be the last dimension of ",
                name, " but got ", axis, ".");
    TORCH_CHECK_NOT_IMPLEMENTED(
        t->scalar_type() == at::kLong || t->scalar_type() == at::kInt,
        "\"_segment_reduce_", name, "_cpu_kernel1\" not implemented for '",
        c10::toString(t->scalar_type()), "'");
    // The kernel takes a row of them for each place before the axis.
    for (int64_t d = 0; d < axis; ++d)
      PROVISO_REQUIRE(t->sym_size(d).sym_eq(data.sym_size(d)),
                      "segment_reduce(): ", name, " of sizes ",
                      to_text(t->sym_sizes()), " for data of sizes ",
                      to_text(data.sym_sizes()));
  }
  Dims sizes = sizes_of(data);
  if (offsets.defined()) {
    PROVISO_REQUIRE(offsets.sym_size(axis).sym_ge(1),
                    "segment_reduce(): offsets must hold one number at least");
    sizes[axis] = offsets.sym_size(axis) - 1;
  } else {
    PROVISO_REQUIRE(arg(call, "unsafe").toBool()
                        ? c10::SymBool(true)
                        : lengths.sym_numel().sym_ge(1),
                    "min(): Expected reduction dim to be specified for "
                    "input.numel() == 0. Specify the reduction dim with the "
                    "'dim' argument.");
    sizes[axis] = lengths.sym_size(axis);
  }
  call.returns(fresh(sizes, data.scalar_type(), data.device()));
  return true;
}

// --- sorts

bool sort(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  wrap_dim(arg(call, "dim").toInt(), self.dim());
  call.returns(fresh_like(self));
  call.returns(fresh_like(self, ScalarType::Long));
  return true;
}

bool argsort(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  wrap_dim(arg(call, "dim").toInt(), self.dim());
  call.returns(fresh_like(self, ScalarType::Long));
  return true;
}

bool topk(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t dim = wrap_dim(call.args[2].toInt(), self.dim());
  SymInt k = call.sym_int(1);
  SymInt size = self.dim() == 0 ? SymInt(1) : self.sym_size(dim);
  PROVISO_REQUIRE(k.sym_ge(0), "selected index k out of range");
  PROVISO_REQUIRE(k.sym_le(size), "selected index k out of range");
  Dims sizes = sizes_of(self);
  if (self.dim() > 0) sizes[dim] = k;
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  call.returns(fresh(sizes, ScalarType::Long, self.device()));
  return true;
}

const RuleEntry kReductionRules[] = {
    {"aten::all", reduce<Reduced::kBool>, "reduction"},
    {"aten::amax", extremum<Reduced::kSame>, "reduction"},
    {"aten::amin", extremum<Reduced::kSame>, "reduction"},
    {"aten::aminmax", aminmax, "reduction"},
    {"aten::any", reduce<Reduced::kBool>, "reduction"},
    {"aten::argmax", extremum<Reduced::kLong>, "reduction"},
    {"aten::argmin", extremum<Reduced::kLong>, "reduction"},
    {"aten::count_nonzero", count_nonzero, "reduction"},
    {"aten::hash_tensor", hash_tensor, "reduction"},
    {"aten::linalg_vector_norm", norm, "reduction"},
    {"aten::logsumexp", reduce<Reduced::kFloat>, "reduction"},
    {"aten::max", extremum<Reduced::kSame>, "reduction"},
    {"aten::max.dim", extremum_with_indices, "reduction"},
    {"aten::mean", reduce<Reduced::kFloating>, "reduction"},
    {"aten::mean.dim", reduce<Reduced::kFloating>, "reduction"},
    {"aten::median", reduce<Reduced::kSame>, "reduction"},
    {"aten::median.dim", extremum_with_indices, "reduction"},
    {"aten::min", extremum<Reduced::kSame>, "reduction"},
    {"aten::min.dim", extremum_with_indices, "reduction"},
    {"aten::mode", extremum_with_indices, "reduction"},
    {"aten::kthvalue", extremum_with_indices, "reduction"},
    {"aten::nanmedian", reduce<Reduced::kSame>, "reduction"},
    {"aten::nanmedian.dim", extremum_with_indices, "reduction"},
    {"aten::nansum", reduce<Reduced::kSum>, "reduction"},
    {"aten::norm", norm, "reduction"},
    {"aten::prod", reduce<Reduced::kSum>, "reduction"},
    {"aten::prod.dim_int", reduce<Reduced::kSum>, "reduction"},
    {"aten::std", reduce<Reduced::kSame>, "reduction"},
    {"aten::std_mean", moments, "reduction"},
    {"aten::sum", reduce<Reduced::kSum>, "reduction"},
    {"aten::sum.dim_IntList", reduce<Reduced::kSum>, "reduction"},
    {"aten::var", reduce<Reduced::kSame>, "reduction"},
    {"aten::var_mean", moments, "reduction"},
    // scans
    {"aten::cummax", scan_with_indices, "scan"},
    {"aten::cummin", scan_with_indices, "scan"},
    {"aten::cumprod", scan<Reduced::kSum>, "scan"},
    {"aten::cumsum", scan<Reduced::kSum>, "scan"},
    {"aten::logcumsumexp", scan<Reduced::kSame>, "scan"},
    {"aten::cumsum_", return_self, "scan"},
    {"aten::cumprod_", return_self, "scan"},
    {"aten::_log_softmax", softmax, "scan"},
    {"aten::_safe_softmax", softmax, "scan"},
    {"aten::_softmax", softmax, "scan"},
    {"aten::log_softmax.int", softmax, "scan"},
    {"aten::softmax.int", softmax, "scan"},
    {"aten::special_log_softmax", softmax, "scan"},
    {"aten::special_softmax", softmax, "scan"},
    {"aten::segment_reduce", segment_reduce, "reduction"},
    // sorts
    {"aten::argsort", argsort, "sort"},
    {"aten::msort", return_like_self, "sort"},
    {"aten::sort", sort, "sort"},
    {"aten::topk", topk, "sort"},
    {"aten::_softmax_backward_data", softmax_backward, "gradient"},
    {"aten::_log_softmax_backward_data", softmax_backward, "gradient"},
};

}  // namespace

void register_reduction_rules() { register_rules(kReductionRules); }

}  // namespace proviso::inline v0_2
