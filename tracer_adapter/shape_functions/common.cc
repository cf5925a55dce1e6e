#include "tracer_adapter/shape_functions/common.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "sym/canonical.h"
#include "tracer_adapter/fake/sym_node.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2::shapes {

// --- questions about sizes

bool known(const c10::SymBool& condition) {
  if (auto value = condition.maybe_as_bool()) return *value;
  return condition.statically_known_true(__FILE__, __LINE__);
}

std::optional<int64_t> constant(const SymInt& a) { return a.maybe_as_int(); }

bool known_equal(const SymInt& a, const SymInt& b) {
  if (a.is_same(b)) return true;
  auto x = constant(a), y = constant(b);
  if (x && y) return *x == *y;
  SymNode* node = as_sym_node((x ? b : a).toSymNodeImplUnowned());
  if (node == nullptr) return known(a.sym_eq(b));
  // No node is made for the question, and none is asked of one expression.
  ShapeEnv& env = node->env();
  const Expr left = to_expr(env, a), right = to_expr(env, b);
  return left == right || env.statically_known_true(canonical(eq(left, right)));
}

bool known_one_or(const SymInt& a, const SymInt& b) {
  const SymNode* node =
      constant(a) ? nullptr : as_sym_node(a.toSymNodeImplUnowned());
  return node != nullptr && !node->expr().is_symbol() &&
         known(a.sym_eq(1).sym_or(a.sym_eq(b)));
}

bool same_dims(c10::SymIntArrayRef a, c10::SymIntArrayRef b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), known_equal);
}

bool known_one(const SymInt& a) { return known_equal(a, 1); }
bool known_zero(const SymInt& a) { return known_equal(a, 0); }

bool known_less_equal(const SymInt& a, const SymInt& b) {
  auto x = constant(a), y = constant(b);
  if (x && y) return *x <= *y;
  return known(a.sym_le(b));
}

LayoutScope::LayoutScope() : questions(Tracer::current()->env()) {}

void add_layout_condition(const c10::SymBool& condition) {
  if (condition.maybe_as_bool()) return;
  ShapeEnv& env = Tracer::current()->env();
  env.add_layout_condition(to_expr(env, condition));
}

void keep_layout_answers() {
  Tracer& tracer = *Tracer::current();
  tracer.env().keep_layout_answers(tracer.location());
}

bool expect(const c10::SymBool& condition) {
  if (auto value = condition.maybe_as_bool()) return *value;
  return condition.expect_true(__FILE__, __LINE__);
}

std::optional<int64_t> hint_of(const SymInt& a) {
  if (auto value = constant(a)) return value;
  SymNode* node = as_sym_node(a.toSymNodeImplUnowned());
  if (node == nullptr) return std::nullopt;
  auto hint = node->env().hint(node->expr());
  if (!hint || !std::holds_alternative<Int>(*hint)) return std::nullopt;
  return std::get<Int>(*hint).to_int64();
}

int64_t specialize(const SymInt& a) {
  if (auto value = constant(a)) return *value;
  return a.guard_int(__FILE__, __LINE__);
}

// --- arithmetic

SymInt plus(const SymInt& a, const SymInt& b) {
  const std::optional<int64_t> x = constant(a), y = constant(b);
  if (!x || !y) return a + b;
  int64_t sum = 0;
  TORCH_CHECK(!__builtin_add_overflow(*x, *y, &sum), "the size ", *x, " + ", *y,
              " does not fit into 64 bits");
  return sum;
}

SymInt minus(const SymInt& a, const SymInt& b) {
  const std::optional<int64_t> x = constant(a), y = constant(b);
  if (!x || !y) return a - b;
  int64_t difference = 0;
  TORCH_CHECK(!__builtin_sub_overflow(*x, *y, &difference), "the size ", *x,
              " - ", *y, " does not fit into 64 bits");
  return difference;
}

SymInt times(const SymInt& a, const SymInt& b) {
  if (constant(a) == 1) return b;
  if (constant(b) == 1) return a;
  return constant(a) && constant(b) ? product({a, b}) : a * b;
}

SymInt product(c10::SymIntArrayRef values) {
  SizeProduct result;
  for (const SymInt& v : values) result *= v;
  return result.value();
}

SymInt floor_div(const SymInt& a, const SymInt& b) {
  auto x = constant(a), y = constant(b);
  if (y && *y == 1) return a;
  TORCH_CHECK(!y || *y != 0,
              "a size is divided by 0: no stride, step or factor "
              "of an operator is 0");
  if (y && *y == -1) return a * -1;
  if (!x || !y) return a / b;
  int64_t q = *x / *y;
  return SymInt(*x % *y != 0 && (*x < 0) != (*y < 0) ? q - 1 : q);
}

SymInt ceil_div(const SymInt& a, const SymInt& b) {
  const auto x = constant(a), y = constant(b);
  if (x && y && *x > 0 && *y > 0) return SymInt((*x - 1) / *y + 1);
  return floor_div(a + b - 1, b);
}

SymInt at_least_one(const SymInt& a) {
  if (auto value = constant(a)) return SymInt(std::max<int64_t>(*value, 1));
  return known(a.sym_ge(1)) ? a : a.max(1);
}

// --- shapes

int64_t wrap_dim(int64_t dim, int64_t rank) {
  return c10::maybe_wrap_dim(dim, rank);
}

int64_t dim_of(const Tensor& t, int64_t dim) {
  return c10::maybe_wrap_dim(dim, t.dim(), /*wrap_scalar=*/false);
}

int64_t diagonal_offset(const IValue& offset) {
  constexpr int64_t kLargest = int64_t{1} << 62;
  const int64_t value = offset.toInt();
  TORCH_CHECK(-kLargest <= value && value <= kLargest, "the offset ", value,
              " of a diagonal is not between -2^62 and 2^62");
  return value;
}

std::string to_text(c10::SymIntArrayRef sizes) {
  std::ostringstream text;
  text << sizes;
  return text.str();
}

namespace {

bool asked_one(const SymInt& a) {
  if (auto value = constant(a)) return *value == 1;
  return a.sym_eq(1).guard_or_false(__FILE__, __LINE__);
}

SymInt broadcast_size(const SymInt& a, const SymInt& b, size_t dim) {
  if (constant(a) == 1) return b;
  if (constant(b) == 1) return a;
  if (known_equal(a, b)) return constant(a) ? a : b;
  // Equal sizes are required to stay so, be they 1 or not.
  auto x = hint_of(a), y = hint_of(b);
  if (!x || x != y) {
    if (x.value_or(1) == 1 && known_one_or(a, b)) return b;
    if (y.value_or(1) == 1 && known_one_or(b, a)) return a;
    if (asked_one(a)) return b;
    if (asked_one(b)) return a;
  }
  PROVISO_REQUIRE(a.sym_eq(b), "The size of tensor a (", a,
                  ") must match the size of tensor b (", b,
                  ") at non-singleton dimension ", dim);
  return constant(a) ? a : constant(b) ? b : a;
}

}  // namespace

Dims broadcast(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  size_t gap_a = longer.size() - a.size(), gap_b = longer.size() - b.size();
  Dims result(longer);
  for (size_t i = longer.size(); i-- > std::max(gap_a, gap_b);) {
    result[i] = broadcast_size(a[i - gap_a], b[i - gap_b], i);
  }
  return result;
}

// --- layouts

namespace {

// Which dimension lies further inside: -1 keeps (inner, outer), 1 swaps them,
// 0 is undecided.  A dimension of stride 0 says nothing.
int compare_strides(const SymInt& inner, const SymInt& outer,
                    const SymInt& inner_size, const SymInt& outer_size) {
  if (constant(inner) == 0 || constant(outer) == 0) return 0;
  if (known_equal(inner, outer)) {
    // The dimension of smaller size goes inside.
    bool larger = !known_less_equal(inner_size, outer_size) &&
                  known_less_equal(outer_size, inner_size);
    return larger ? 1 : 0;
  }
  if (known_less_equal(inner, outer)) return -1;
  if (known_less_equal(outer, inner)) return 1;
  return 0;
}

// TensorIterator's insertion sort: dimensions from the innermost to the
// outermost.  `compare(inner, outer)` as above.
template <typename Compare>
std::vector<size_t> memory_order(size_t rank, Compare compare) {
  std::vector<size_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  for (size_t i = 1; i < rank; ++i) {
    size_t outer = i;
    for (size_t inner = i; inner-- > 0;) {
      int decision = compare(order[inner], order[outer]);
      if (decision < 0) break;
      if (decision == 0) continue;
      std::swap(order[inner], order[outer]);
      outer = inner;
    }
  }
  return order;
}

bool row_major(const std::vector<size_t>& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != order.size() - 1 - i) return false;
  }
  return true;
}

struct Operand {
  Dims strides;  // in the result's rank; 0 where broadcast
};

Operand operand_of(const Tensor& t, const Dims& shape) {
  Operand operand{Dims(shape.size(), SymInt(0))};
  size_t gap = shape.size() - static_cast<size_t>(t.dim());
  auto sizes = t.sym_sizes(), strides = t.sym_strides();
  for (size_t i = 0; i < sizes.size(); ++i) {
    bool stretched = known_one(sizes[i]) && !known_one(shape[gap + i]);
    if (!stretched) operand.strides[gap + i] = strides[i];
  }
  return operand;
}

// Of contiguous operands of this shape, beside numbers.
std::optional<Dims> strides_of_contiguous(const Dims& shape,
                                          std::span<const Tensor> operands) {
  const Tensor* of_shape = nullptr;
  for (const Tensor& t : operands) {
    if (t.dim() == 0) continue;
    if (!same_dims(t.sym_sizes(), shape) || !is_contiguous(t)) return {};
    of_shape = &t;
  }
  // They are unique but for dimensions of size 0 and 1.
  const bool unique = std::all_of(shape.begin(), shape.end(), [](auto& size) {
    return !constant(size) || *constant(size) > 1;
  });
  return unique && of_shape ? strides_of(*of_shape) : contiguous_strides(shape);
}

// The shortcuts that TensorIterator takes when no operand is broadcast.
std::optional<Dims> unbroadcast_strides(const Dims& shape,
                                        std::span<const Tensor> operands) {
  auto all = [&](auto test) {
    return std::all_of(operands.begin(), operands.end(), test);
  };
  if (!all([&](const Tensor& t) { return same_dims(t.sym_sizes(), shape); })) {
    return std::nullopt;
  }
  if (all([](const Tensor& t) {
        return is_contiguous(t, at::MemoryFormat::ChannelsLast);
      })) {
    return channels_last_strides(shape);
  }
  auto first = operands.front().sym_strides();
  if (all([&](const Tensor& t) {
        return same_dims(t.sym_strides(), first) &&
               known_dense(t.sym_sizes(), t.sym_strides());
      })) {
    return first.vec();
  }
  return std::nullopt;
}

}  // namespace

Dims elementwise_strides(const Dims& shape, std::span<const Tensor> operands) {
  if (operands.empty()) return contiguous_strides(shape);
  const LayoutScope layout;
  if (auto strides = strides_of_contiguous(shape, operands)) return *strides;
  if (auto strides = unbroadcast_strides(shape, operands)) return *strides;
  std::vector<Operand> inputs;
  for (const Tensor& t : operands) inputs.push_back(operand_of(t, shape));
  auto order = memory_order(shape.size(), [&](size_t inner, size_t outer) {
    for (const Operand& input : inputs) {
      int decision = compare_strides(input.strides[inner], input.strides[outer],
                                     shape[inner], shape[outer]);
      if (decision != 0) return decision;
    }
    return 0;
  });
  if (row_major(order)) return contiguous_strides(shape);
  Dims strides(shape.size());
  SymInt next(1);
  for (size_t dim : order) {
    strides[dim] = next;
    next = next * shape[dim];
  }
  return strides;
}

Dims like_strides(const Tensor& t) {
  const LayoutScope layout;
  auto sizes = t.sym_sizes(), strides = t.sym_strides();
  if (is_contiguous(t) || known_dense(sizes, strides)) return strides.vec();
  auto order = memory_order(sizes.size(), [&](size_t inner, size_t outer) {
    return compare_strides(strides[inner], strides[outer], sizes[inner],
                           sizes[outer]);
  });
  Dims result(sizes.size());
  SymInt next(1);
  for (size_t dim : order) {
    result[dim] = next;
    next = next * at_least_one(sizes[dim]);
  }
  return result;
}

Dims channels_last_strides(const Dims& sizes) {
  size_t rank = sizes.size();
  TORCH_CHECK(rank == 4 || rank == 5,
              "required rank 4 tensor to use channels_last format");
  Dims strides(rank);
  strides[1] = 1;
  SymInt next = sizes[1];
  for (size_t i = rank - 1; i > 1; --i) {
    strides[i] = next;
    next = times(next, sizes[i]);
  }
  strides[0] = next;
  return strides;
}

bool is_contiguous(const Tensor& t, at::MemoryFormat format) {
  if (format == at::MemoryFormat::ChannelsLast && t.dim() != 4) return false;
  if (format == at::MemoryFormat::ChannelsLast3d && t.dim() != 5) return false;
  const LayoutScope layout;
  if (known_contiguous(t.sym_sizes(), t.sym_strides(), format)) return true;
  // Without elements, or where what lies elsewhere has size 1, it may be.
  for (const SymInt& size : t.sym_sizes())
    if (!constant(size)) add_layout_condition(size.sym_ge(2));
  return false;
}

namespace {

// c10::is_channels_last_strides_2d/3d on what is known.
bool strides_like_channels_last(const Tensor& t) {
  auto sizes = t.sym_sizes(), strides = t.sym_strides();
  size_t rank = sizes.size();
  if (known_zero(strides[1])) return false;
  SymInt least(0);
  std::vector<size_t> order{1};
  for (size_t i = rank - 1; i > 1; --i) order.push_back(i);
  order.push_back(0);
  for (size_t dim : order) {
    if (known_zero(sizes[dim])) return false;
    if (!known_less_equal(least, strides[dim])) return false;
    // N111 with equal strides is ambiguous: contiguous wins.
    if (dim == 0 && known_equal(least, strides[1])) return false;
    least = times(strides[dim], at_least_one(sizes[dim]));
  }
  return true;
}

}  // namespace

at::MemoryFormat suggested_format(const Tensor& t) {
  const LayoutScope layout;
  if ((t.dim() != 4 && t.dim() != 5) || is_contiguous(t)) {
    return at::MemoryFormat::Contiguous;
  }
  if (!strides_like_channels_last(t)) return at::MemoryFormat::Contiguous;
  return t.dim() == 4 ? at::MemoryFormat::ChannelsLast
                      : at::MemoryFormat::ChannelsLast3d;
}

Tensor fresh(const Dims& sizes, ScalarType dtype, c10::Device device) {
  return make_contiguous(sizes, dtype, device);
}

Tensor fresh(const Dims& sizes, ScalarType dtype, c10::Device device,
             at::MemoryFormat format) {
  bool last = format == at::MemoryFormat::ChannelsLast ||
              format == at::MemoryFormat::ChannelsLast3d;
  if (!last) return make_contiguous(sizes, dtype, device);
  return make_fake(sizes, channels_last_strides(sizes), dtype, device);
}

Tensor fresh_like(const Tensor& t) { return fresh_like(t, t.scalar_type()); }

Tensor fresh_like(const Tensor& t, ScalarType dtype) {
  return make_fake(t.sym_sizes(), like_strides(t), dtype, t.device());
}

Tensor view_of(const Tensor& base, const Dims& sizes, const Dims& strides,
               const SymInt& offset) {
  return make_fake(sizes, strides, base.scalar_type(), base.device(),
                   base.storage(), offset);
}

Tensor view_of(const Tensor& base, const Dims& sizes, const Dims& strides) {
  return view_of(base, sizes, strides, base.sym_storage_offset());
}

// --- dtypes

void Promotion::add(const Tensor& t) {
  state_ = at::native::update_result_type_state(t, state_);
}

void Promotion::add(const IValue& operand) {
  if (operand.isTensor()) return add(operand.toTensor());
  if (!is_number(operand)) return;
  ScalarType dtype = dtype_of_number(operand);
  ScalarType& wrapped = state_.wrappedResult;
  wrapped = wrapped == ScalarType::Undefined
                ? dtype
                : c10::promoteTypes(wrapped, dtype);
}

ScalarType Promotion::result() const { return at::native::result_type(state_); }

ScalarType default_dtype() { return c10::get_default_dtype_as_scalartype(); }

ScalarType as_float(ScalarType dtype) {
  return c10::isIntegralType(dtype, /*includeBool=*/true) ? default_dtype()
                                                          : dtype;
}

ScalarType dtype_of_number(const IValue& number) {
  if (number.isBool() || number.isSymBool()) return ScalarType::Bool;
  if (number.isInt() || number.isSymInt()) return ScalarType::Long;
  if (number.isComplexDouble()) {
    return c10::toComplexType(default_dtype());
  }
  return default_dtype();
}

void require_castable(ScalarType from, ScalarType to) {
  TORCH_CHECK(c10::canCast(from, to), "result type ", from,
              " can't be cast to the desired output type ", to);
}

// --- arguments

bool is_number(const IValue& value) {
  return value.isScalar() || value.isSymInt() || value.isSymFloat() ||
         value.isSymBool();
}

std::optional<size_t> find_arg(const RuleCall& call, const char* name) {
  const auto& arguments = call.op.schema().arguments();
  for (size_t i = 0; i < arguments.size() && i < call.args.size(); ++i) {
    if (arguments[i].name() == name) return i;
  }
  return std::nullopt;
}

const IValue& arg(const RuleCall& call, const char* name) {
  static const IValue none;
  auto i = find_arg(call, name);
  return i ? call.args[*i] : none;
}

std::string_view op_name(const RuleCall& call) {
  std::string_view name = call.op.operator_name().name;
  return name.substr(name.find("::") + 2);
}

std::string_view overload(const RuleCall& call) {
  return call.op.operator_name().overload_name;
}

size_t return_count(const RuleCall& call) {
  return call.op.schema().returns().size();
}

SymInt to_sym(const IValue& value) {
  if (value.isBool()) return SymInt(static_cast<int64_t>(value.toBool()));
  return value.isSymInt() ? value.toSymInt() : SymInt(value.toInt());
}

Dims to_dims(const IValue& value) {
  Dims dims;
  if (value.isInt() || value.isSymInt()) return {to_sym(value)};
  if (value.isIntList()) {
    for (int64_t v : value.toIntVector()) dims.emplace_back(v);
    return dims;
  }
  if (value.isNone()) return dims;
  for (const IValue& v : value.toListRef()) dims.push_back(to_sym(v));
  return dims;
}

std::vector<int64_t> to_ints(const IValue& value) {
  std::vector<int64_t> ints;
  for (const SymInt& v : to_dims(value)) ints.push_back(specialize(v));
  return ints;
}

std::vector<Tensor> to_tensors(const IValue& value) {
  if (value.isTensorList()) return value.toTensorVector();
  std::vector<Tensor> tensors;
  if (value.isNone()) return tensors;
  for (const IValue& v : value.toListRef()) {
    tensors.push_back(v.isTensor() ? v.toTensor() : Tensor());
  }
  return tensors;
}

ScalarType dtype_or(const IValue& value, ScalarType otherwise) {
  return value.isNone() ? otherwise : value.toScalarType();
}

c10::Device device_or(const IValue& value, c10::Device otherwise) {
  return value.isNone() ? otherwise : value.toDevice();
}

bool flag_or(const IValue& value, bool otherwise) {
  return value.isNone() ? otherwise : value.toBool();
}

c10::Device common_device(std::span<const Tensor> tensors) {
  for (const Tensor& t : tensors) {
    if (t.defined() && t.dim() > 0) return t.device();
  }
  for (const Tensor& t : tensors) {
    if (t.defined() && !t.is_cpu()) return t.device();
  }
  for (const Tensor& t : tensors) {
    if (t.defined()) return t.device();
  }
  return c10::kCPU;
}

SymInt fresh_size(RuleCall& call, const SymInt& at_most) {
  // A constant limit becomes the range; a symbolic one is told as a fact: it
  // holds by construction, so nothing is to be asserted.
  ShapeEnv& env = call.env();
  auto limit = constant(at_most);
  Expr size = env.create_unbacked_int(limit ? Interval(0, *limit)
                                            : Interval::at_least(0));
  env.mark_size_like(size);
  if (!limit) {
    env.know(le(size, to_expr(env, at_most)),
             std::string(op_name(call)) + " finds at most all elements");
  }
  return to_sym_int(env, size);
}

void require_part(const Tensor& source, const Dims& part) {
  bool same = source.dim() == static_cast<int64_t>(part.size());
  for (size_t d = 0; same && d < part.size(); ++d)
    same = expect(source.sym_size(d).sym_eq(part[d]));
  TORCH_CHECK(same,
              "expected src to have a size equal to the slice of self. src "
              "size = ",
              to_text(source.sym_sizes()), ", slice size = ", to_text(part));
}

void require_rank(const Tensor& t, int64_t least, int64_t most,
                  const char* what) {
  TORCH_CHECK(t.dim() >= least && t.dim() <= most, what, ": expected ", least,
              least == most ? "" : " to " + std::to_string(most),
              " dimensions, but got input of size: ", t.sym_sizes());
}

// --- rules used by several families

bool return_self(RuleCall& call) {
  call.returns(call.args[0]);
  return true;
}

bool return_nothing(RuleCall&) { return true; }

bool return_contiguous(RuleCall& call) {
  const Tensor& self = call.tensor(0);
  call.returns(fresh(sizes_of(self), self.scalar_type(), self.device()));
  return true;
}

bool return_like_self(RuleCall& call) {
  call.returns(fresh_like(call.tensor(0)));
  return true;
}

}  // namespace proviso::inline v0_2::shapes
