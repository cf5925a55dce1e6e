// tracer_adapter/shape_functions/data_dependent.cc - results whose size or
// value depends on data: fresh symbols; and the checks that speak about them.
#include <limits>

#include "tracer_adapter/fake/sym_node.h"
#include "tracer_adapter/shape_functions/found_before.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

using namespace shapes;

// --- values

// The value of a tensor of one element: known for constants, else a symbol.
bool item(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  PROVISO_REQUIRE(self.sym_numel().sym_eq(1), "a Tensor with ",
                  self.sym_numel(), " elements cannot be converted to Scalar");
  ScalarType dtype = self.scalar_type();
  TORCH_CHECK(!c10::isComplexType(dtype),
              "item(): complex values cannot be traced; take .real or .imag");
  ShapeEnv& env = call.env();
  if (std::optional<at::Scalar> value = constant_number(self)) {
    call.returns(*value);
  } else if (IValue known = known_item(call, self); !known.isNone()) {
    call.returns(known);
  } else if (dtype == ScalarType::Bool) {
    call.returns(to_sym_bool(env, env.create_unbacked_bool()));
  } else if (c10::isIntegralType(dtype, /*includeBool=*/false)) {
    call.returns(to_sym_int(env, env.create_unbacked_int()));
  } else {
    call.returns(to_sym_float(env, env.create_unbacked_float()));
  }
  return true;
}

// A Python `if` on a tensor: only what is known has an answer while tracing.
// What is recorded is its item(), so that another reading is the same number.
bool is_nonzero(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  PROVISO_REQUIRE(self.sym_numel().sym_eq(1), "Boolean value of Tensor with ",
                  self.sym_numel(), " values is ambiguous");
  const at::Scalar value = self.item();
  bool answer = false;
  if (value.isSymBool()) {
    answer = value.toSymBool().guard_bool(__FILE__, __LINE__);
  } else if (value.isSymInt()) {
    answer = value.toSymInt().sym_ne(0).guard_bool(__FILE__, __LINE__);
  } else if (value.isSymFloat()) {
    answer = value.toSymFloat().guard_float(__FILE__, __LINE__) != 0;
  } else {
    answer = value.toBool();
  }
  call.returns(answer);
  return true;
}

// equal(a, b) and allclose: one bool for all elements.
bool same_values(RuleCall& call) {
  ShapeEnv& env = call.env();
  call.returns(to_sym_bool(env, env.create_unbacked_bool())
                   .guard_bool(__FILE__, __LINE__));
  return true;
}

// --- sizes

bool nonzero(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  SymInt count = count_of_true(call, self, self.sym_numel());
  call.returns(
      fresh({count, SymInt(self.dim())}, ScalarType::Long, self.device()));
  return true;
}

// where(condition) and nonzero_numpy: one vector a dimension, columns of
// nonzero()'s result.
bool nonzero_by_dim(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  int64_t rank = std::max<int64_t>(self.dim(), 1);
  SymInt count = count_of_true(call, self, self.sym_numel());
  Tensor all = fresh({count, SymInt(rank)}, ScalarType::Long, self.device());
  std::vector<Tensor> columns;
  for (int64_t d = 0; d < rank; ++d) {
    columns.push_back(view_of(all, {count}, {SymInt(rank)}, SymInt(d)));
  }
  call.returns(columns);
  return true;
}

bool argwhere(RuleCall& call) { return nonzero(call); }

bool nonzero_static(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  call.returns(fresh({to_sym(arg(call, "size")), SymInt(self.dim())},
                     ScalarType::Long, self.device()));
  return true;
}

// Written alike: nothing is asked.
bool is_known_same(ShapeEnv& env, const Dims& a, const Dims& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const SymInt& x, const SymInt& y) {
                      return to_expr(env, x) == to_expr(env, y);
                    });
}

bool masked_select(RuleCall& call) {
  const Tensor &self = call.tensor(0), &mask = call.tensor(1);
  TORCH_CHECK(mask.scalar_type() == ScalarType::Bool,
              "masked_select: expected BoolTensor for mask");
  Dims shape = broadcast(sizes_of(self), sizes_of(mask));
  SymInt count = is_known_same(call.env(), shape, sizes_of(mask))
                     ? count_of_true(call, mask, product(shape))
                     : fresh_size(call, product(shape));
  call.returns(fresh({count}, self.scalar_type(), self.device()));
  return true;
}

// The unique elements (or slices along dim), the place of each of self's among
// them, and how often each occurs.
void return_unique(RuleCall& call, const Dims& sizes, const SymInt& count,
                   const Dims& inverse) {
  const Tensor& self = call.tensor(0);
  bool wants_inverse = flag_or(arg(call, "return_inverse"), false);
  bool wants_counts = flag_or(arg(call, "return_counts"), false);
  Dims none{SymInt(0)};
  call.returns(fresh(sizes, self.scalar_type(), self.device()));
  call.returns(
      fresh(wants_inverse ? inverse : none, ScalarType::Long, self.device()));
  if (return_count(call) == 3) {
    call.returns(fresh(wants_counts ? Dims{count} : none, ScalarType::Long,
                       self.device()));
  }
}

bool unique_elements(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const bool is_whole = op_name(call).starts_with("_unique");
  SymInt count = is_whole ? count_of_unique(call, self, self.sym_numel())
                          : fresh_size(call, self.sym_numel());
  return_unique(call, {count}, count, sizes_of(self));
  return true;
}

bool unique_slices(RuleCall& call) {
  const IValue& dim_arg = arg(call, "dim");
  if (dim_arg.isNone()) return unique_elements(call);
  const Tensor& self = call.tensor(0);
  int64_t dim = dim_of(self, dim_arg.toInt());
  Dims sizes = sizes_of(self);
  SymInt count = fresh_size(call, sizes[dim]);
  SymInt before = sizes[dim];
  sizes[dim] = count;
  return_unique(call, sizes, count, {before});
  return true;
}

bool bincount(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.dim() == 1,
              "bincount only supports 1-d non-negative integral inputs.");
  SymInt count = fresh_size(call, std::numeric_limits<int64_t>::max());
  SymInt least = call.sym_int(2);
  PROVISO_REQUIRE(least.sym_ge(0), "minlength should be >= 0");
  ShapeEnv& env = call.env();
  if (const std::optional<int64_t> number = constant(least); !number)
    env.know(le(to_expr(env, least), to_expr(env, count)),
             "bincount counts minlength numbers at the least");
  else if (*number != 0)
    env.constrain_range(to_expr(env, count), Int(*number), std::nullopt);
  ScalarType dtype = ScalarType::Long;
  if (!call.is_none(1)) {
    dtype = call.tensor(1).scalar_type() == ScalarType::Float
                ? ScalarType::Float
                : ScalarType::Double;
  }
  call.returns(fresh({count}, dtype, self.device()));
  return true;
}

bool histc(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  call.returns(fresh({call.sym_int(1)}, self.scalar_type(), self.device()));
  return true;
}

bool multinomial(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2,
              "prob_dist must be 1 or 2 dim");
  Dims sizes = sizes_of(self);
  sizes.back() = call.sym_int(1);
  call.returns(fresh(sizes, ScalarType::Long, self.device()));
  return true;
}

// --- metadata as values

bool sym_size(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  if (call.args.size() < 2) return false;
  call.returns(self.sym_size(wrap_dim(call.args[1].toInt(), self.dim())));
  return true;
}

bool sym_stride(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  if (call.args.size() < 2) return false;
  call.returns(self.sym_stride(wrap_dim(call.args[1].toInt(), self.dim())));
  return true;
}

bool sym_numel(RuleCall& call) {
  call.returns(call.tensor(0).sym_numel());
  return true;
}

bool sym_storage_offset(RuleCall& call) {
  call.returns(call.tensor(0).sym_storage_offset());
  return true;
}

// Asked of a tangent and its base (jvp): "no" makes a copy of the tangent,
// which is right of any.
bool has_same_storage_numel(RuleCall& call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  const auto is_dense = [](const Tensor& t) {
    return known_dense(t.sym_sizes(), tracer_strides(t));
  };
  call.returns(is_dense(a) && is_dense(b) &&
               known_equal(a.sym_numel(), b.sym_numel()));
  return true;
}

// --- checks

bool speaks_of_data(Expr e) {
  for (Expr symbol : free_symbols(e))
    if (is_unbacked(symbol.symbol().kind)) return true;
  return false;
}

// A condition on sizes of inputs alone is no guard: the program checks it when
// it runs, and no Dim promises less for it.
bool holds_at_run(RuleCall& call, const c10::SymBool& condition,
                  const std::string& message) {
  const Expr e = to_expr(call.env(), condition);
  if (speaks_of_data(e)) return expect(condition);
  if (call.env().hint(e) == Value(false)) return false;
  call.tracer.add_check({e, current_location(), message});
  return true;
}

// _assert_scalar(condition, message)
bool assert_scalar(RuleCall& call) {
  const IValue& condition = call.args[0];
  const std::string& message = call.args[1].toStringRef();
  bool holds = true;
  if (condition.isSymBool()) {
    holds = holds_at_run(call, condition.toSymBool(), message);
  } else if (condition.isSymInt()) {
    holds = expect(condition.toSymInt().sym_ne(0));
  } else if (!condition.isSymFloat()) {
    holds = condition.toScalar().toBool();
  }
  TORCH_CHECK(holds, message);
  return true;
}

// The condition is a tensor: known only when it is a constant.
bool assert_tensor(RuleCall& call) {
  std::optional<at::Scalar> value = constant_number(call.tensor(0));
  TORCH_CHECK(!value || value->toBool(),
              call.args.size() > 1 && call.args[1].isString()
                  ? call.args[1].toStringRef()
                  : std::string("Expected Tensor with single nonzero value"));
  return true;
}

bool assert_metadata(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  const IValue& dtype = arg(call, "dtype");
  TORCH_CHECK(dtype.isNone() || dtype.toScalarType() == self.scalar_type(),
              "Tensor dtype mismatch! Expected: ", dtype.toScalarType(),
              " Got: ", self.scalar_type());
  return true;
}

std::optional<Int> limit(const IValue& value) {
  if (value.isNone()) return std::nullopt;
  return Int(value.toInt());
}

// sym_constrain_range(size, min?, max?) and sym_constrain_range_for_size
bool constrain_range(RuleCall& call) {
  const IValue& size = call.args[0];
  auto low = limit(arg(call, "min")), high = limit(arg(call, "max"));
  bool is_size = op_name(call) == "sym_constrain_range_for_size";
  if (is_size && !low) low = Int(0);
  if (!size.isSymInt()) {
    Int value(size.toScalar().toLong());
    TORCH_CHECK((!low || *low <= value) && (!high || value <= *high),
                "Invalid value range for ", size.toScalar().toLong(),
                " between the limits asked for");
    return true;
  }
  Expr symbol = to_expr(call.env(), size.toSymInt());
  call.env().constrain_range(symbol, low, high, current_location());
  if (is_size) call.env().mark_size_like(symbol);
  return true;
}

const RuleEntry kDataDependentRules[] = {
    {"aten::_local_scalar_dense", item, "data dependent"},
    {"aten::allclose", same_values, "data dependent"},
    {"aten::equal", same_values, "data dependent"},
    {"aten::is_nonzero", is_nonzero, "data dependent"},
    {"aten::item", item, "data dependent"},
    {"aten::_unique", unique_elements, "data dependent"},
    {"aten::_unique2", unique_elements, "data dependent"},
    {"aten::argwhere", argwhere, "data dependent"},
    {"aten::bincount", bincount, "data dependent"},
    {"aten::histc", histc, "data dependent"},
    {"aten::masked_select", masked_select, "data dependent"},
    {"aten::multinomial", multinomial, "data dependent"},
    {"aten::nonzero", nonzero, "data dependent"},
    {"aten::nonzero_numpy", nonzero_by_dim, "data dependent"},
    {"aten::nonzero_static", nonzero_static, "data dependent"},
    {"aten::unique_consecutive", unique_slices, "data dependent"},
    {"aten::unique_dim", unique_slices, "data dependent"},
    {"aten::where", nonzero_by_dim, "data dependent"},
    {"aten::_has_same_storage_numel", has_same_storage_numel, "metadata"},
    {"aten::sym_numel", sym_numel, "metadata"},
    {"aten::sym_size.int", sym_size, "metadata"},
    {"aten::sym_storage_offset", sym_storage_offset, "metadata"},
    {"aten::sym_stride.int", sym_stride, "metadata"},
    {"aten::_assert_async", assert_tensor, "check"},
    {"aten::_assert_scalar", assert_scalar, "check"},
    {"aten::_assert_tensor_metadata", assert_metadata, "check"},
    {"aten::sym_constrain_range", constrain_range, "check"},
    {"aten::sym_constrain_range_for_size", constrain_range, "check"},
};

}  // namespace

void register_data_dependent_rules() { register_rules(kDataDependentRules); }

}  // namespace proviso::inline v0_2
