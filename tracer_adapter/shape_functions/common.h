// tracer_adapter/shape_functions/common.h - what the shape functions share:
// questions about symbolic sizes, broadcasting, dtype promotion, layouts.
//
//   Dims shape = broadcast(sizes_of(a), sizes_of(b));
//   Promotion promotion;
//   promotion.add(a);
//   promotion.add(b);
//   call.returns(make_fake(shape, elementwise_strides(shape, {a, b}),
//                          promotion.result(), a.device()));
//
// `known(...)` answers from what is proved and never records a guard; layouts
// (contiguous, dense, order of strides) are decided by it alone.  `require_*`
// is for what eager would reject: it records a guard or a runtime assertion and
// throws eager's text when the condition is false.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/TypeProperties.h>
#include <c10/core/ScalarType.h>
#include <c10/core/SymBool.h>
#include <c10/core/SymInt.h>

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tracer_adapter/fake/fake_tensor.h"
#include "tracer_adapter/trace/rule.h"

namespace proviso::inline v0_2::shapes {

using at::ScalarType;
using at::Tensor;
using c10::IValue;
using c10::SymInt;
using Dims = std::vector<SymInt>;

// --- questions about sizes
bool known(const c10::SymBool& condition);
bool known_equal(const SymInt& a, const SymInt& b);
// Whether a is 1 or b, whatever the sizes are: min(n, 1) is 1 or n.
bool known_one_or(const SymInt& a, const SymInt& b);
bool same_dims(c10::SymIntArrayRef a, c10::SymIntArrayRef b);  // known equal
bool known_one(const SymInt& a);
bool known_zero(const SymInt& a);
bool known_less_equal(const SymInt& a, const SymInt& b);
std::optional<int64_t> constant(const SymInt& a);
// While it lives, the questions choose strides and nothing else.
struct LayoutScope {
  LayoutScope();
  LayoutQuestions questions;
};
// A layout was chosen as the condition holds at the examples.
void add_layout_condition(const c10::SymBool& condition);
// The program sees the layouts chosen so far (see ShapeEnv).
void keep_layout_answers();
// Eager would throw when the condition is false: a guard, or an assertion.
bool expect(const c10::SymBool& condition);
// The value at the example inputs; nullopt when it depends on data.
std::optional<int64_t> hint_of(const SymInt& a);
// The value itself; a guard when it is symbolic.
int64_t specialize(const SymInt& a);

#define PROVISO_REQUIRE(condition, ...) \
  TORCH_CHECK(::proviso::shapes::expect(condition), __VA_ARGS__)

// --- arithmetic
// Of constants exact, or an error: an argument of an operator may be as large
// as 2^63 - 1, and a sum that wrapped around would look like a small size.
SymInt plus(const SymInt& a, const SymInt& b);
SymInt minus(const SymInt& a, const SymInt& b);
SymInt times(const SymInt& a, const SymInt& b);
SymInt product(c10::SymIntArrayRef values);
// floor(a / b) for b > 0, also of negative a.
SymInt floor_div(const SymInt& a, const SymInt& b);
SymInt ceil_div(const SymInt& a, const SymInt& b);
SymInt at_least_one(const SymInt& a);

// --- shapes
inline Dims sizes_of(const Tensor& t) { return t.sym_sizes().vec(); }
inline Dims strides_of(const Tensor& t) { return t.sym_strides().vec(); }
// In [0, rank), 0 for no dimensions; throws eager's "Dimension out of range".
int64_t wrap_dim(int64_t dim, int64_t rank);
// A dimension that the tensor has; throws for a tensor without dimensions, too.
int64_t dim_of(const Tensor& t, int64_t dim);
// The offset of a diagonal: its opposite and its sum with a size do not
// overflow.
int64_t diagonal_offset(const IValue& offset);
// The common shape.  Sizes that are neither known equal nor known to be 1 are
// required to be equal.
Dims broadcast(const Dims& a, const Dims& b);
std::string to_text(c10::SymIntArrayRef sizes);  // "[s0, 4]"

// --- layouts
// What TensorIterator gives a fresh result of `shape` from these operands.
Dims elementwise_strides(const Dims& shape, std::span<const Tensor> operands);
// Strides of at::empty_like(t): t's own when dense, else dense in t's order.
Dims like_strides(const Tensor& t);
Dims channels_last_strides(const Dims& sizes);  // of rank 4 or 5
// What t.suggest_memory_format() says, from what is known.
at::MemoryFormat suggested_format(const Tensor& t);
bool is_contiguous(const Tensor& t,
                   at::MemoryFormat format = at::MemoryFormat::Contiguous);
// Fresh tensors.
Tensor fresh(const Dims& sizes, ScalarType dtype, c10::Device device);
Tensor fresh(const Dims& sizes, ScalarType dtype, c10::Device device,
             at::MemoryFormat format);
Tensor fresh_like(const Tensor& t);
Tensor fresh_like(const Tensor& t, ScalarType dtype);
Tensor view_of(const Tensor& base, const Dims& sizes, const Dims& strides,
               const SymInt& offset);
Tensor view_of(const Tensor& base, const Dims& sizes, const Dims& strides);

// --- dtypes
// The common dtype of tensors and scalars, by PyTorch's categories.
class Promotion {
 public:
  void add(const Tensor& t);
  void add(const IValue& operand);  // a tensor or a number
  ScalarType result() const;

 private:
  at::native::ResultTypeState state_;
};
// Integers become the default float type.
ScalarType as_float(ScalarType dtype);
ScalarType default_dtype();
// The dtype that a constant has by itself: kLong, kBool or the default float.
ScalarType dtype_of_number(const IValue& number);
void require_castable(ScalarType from, ScalarType to);

// --- arguments
bool is_number(const IValue& value);
// The position of the argument called `name`, if the overload has one.
std::optional<size_t> find_arg(const RuleCall& call, const char* name);
// The argument, or None when the overload has no such argument.
const IValue& arg(const RuleCall& call, const char* name);
std::string_view op_name(const RuleCall& call);  // "add_", without "aten::"
std::string_view overload(const RuleCall& call);
size_t return_count(const RuleCall& call);  // of the schema
SymInt to_sym(const IValue& value);
Dims to_dims(const IValue& value);                  // a list, or one number
std::vector<int64_t> to_ints(const IValue& value);  // specialised
std::vector<Tensor> to_tensors(const IValue& value);
ScalarType dtype_or(const IValue& value, ScalarType otherwise);
c10::Device device_or(const IValue& value, c10::Device otherwise);
bool flag_or(const IValue& value, bool otherwise);
// Of the first tensor with dimensions, else of the first tensor.
c10::Device common_device(std::span<const Tensor> tensors);
// Fresh symbols for results that depend on data.
SymInt fresh_size(RuleCall& call, const SymInt& at_most);
// What is written is as large as the part that it is written to.
void require_part(const Tensor& source, const Dims& part);
// `name` of the operator for messages.
void require_rank(const Tensor& t, int64_t least, int64_t most,
                  const char* what);

// --- rules used by several families
bool return_self(RuleCall& call);  // the first argument itself
bool return_nothing(RuleCall& call);
bool return_like_self(RuleCall& call);   // at::empty_like(self)
bool return_contiguous(RuleCall& call);  // of self's sizes and dtype

}  // namespace proviso::inline v0_2::shapes
