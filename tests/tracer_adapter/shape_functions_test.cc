// Shape functions against the truth: the operator itself, run on real tensors.
//
// Each row names an operator and its arguments.  It runs eagerly; then its rule
// runs on fakes of the same sizes and strides, once as constants and once with
// a symbol for each size of an input (compared at the example sizes).  Dtype,
// shape and those strides that matter (not of dimensions of size 1, nor of
// empty tensors) must agree; what eager refuses for its shapes, the rule must
// refuse too.
#include <ATen/Functions.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "sym/print.h"
#include "tracer_adapter/export.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso {
namespace {

using at::Tensor;
using c10::IValue;
using Args = std::vector<IValue>;
using Named = std::map<std::string, IValue>;

struct Row {
  std::string op;  // "aten::add.Tensor"
  Args args;       // the others take their defaults
  Named named = {};
};

c10::OperatorHandle find_op(const std::string& name) {
  size_t dot = name.find('.');
  return c10::Dispatcher::singleton().findSchemaOrThrow(
      name.substr(0, dot).c_str(),
      dot == std::string::npos ? "" : name.substr(dot + 1).c_str());
}

c10::Stack stack_of(const Row& row, const c10::OperatorHandle& op) {
  c10::Stack stack = row.args;
  const auto& arguments = op.schema().arguments();
  for (size_t i = stack.size(); i < arguments.size(); ++i) {
    auto named = row.named.find(arguments[i].name());
    stack.push_back(named != row.named.end() ? named->second
                    : arguments[i].default_value()
                        ? *arguments[i].default_value()
                        : IValue());
  }
  return stack;
}

// --- a result as text: "Float [2, 3] strides [3, 1]"

using Measure = std::function<int64_t(const c10::SymInt&)>;

std::string describe(const Tensor& t, const Measure& measure) {
  if (!t.defined()) return "undefined";
  std::ostringstream text;
  text << c10::toString(t.scalar_type()) << " [";
  bool empty = false;
  for (int64_t d = 0; d < t.dim(); ++d) {
    int64_t size = measure(t.sym_size(d));
    empty |= size == 0;
    text << (d ? ", " : "") << size;
  }
  text << "] strides [";
  for (int64_t d = 0; d < t.dim(); ++d) {
    bool matters = !empty && measure(t.sym_size(d)) != 1;
    text << (d ? ", " : "");
    if (matters) {
      text << measure(t.sym_stride(d));
    } else {
      text << "_";
    }
  }
  text << "]";
  return text.str();
}

std::string describe(const c10::Stack& results, const Measure& measure) {
  std::string text;
  for (const IValue& result : results) {
    if (result.isTensor()) {
      text += describe(result.toTensor(), measure) + "; ";
    } else if (result.isTensorList()) {
      for (const Tensor& t : result.toTensorVector()) {
        text += describe(t, measure) + "; ";
      }
    } else {
      text += "value; ";
    }
  }
  return text;
}

int64_t plain(const c10::SymInt& value) { return value.expect_int(); }

// Eager's answer, or nullopt and its complaint.
struct Truth {
  std::optional<std::string> result;
  std::string error;
};

Tensor copy_of(const Tensor& t) {
  Tensor storage =
      t.storage().nbytes() == 0
          ? at::empty({0}, t.options())
          : at::empty(
                {static_cast<int64_t>(t.storage().nbytes() / t.element_size())},
                t.options())
                .zero_();
  return storage.as_strided(t.sizes(), t.strides(), t.storage_offset())
      .copy_(t.expand(t.sizes()).clone());
}

Truth run_eagerly(const Row& row) {
  at::NoGradGuard no_grad;
  auto op = find_op(row.op);
  c10::Stack stack = stack_of(row, op);
  if (op.schema()
          .is_mutable()) {  // the rule's run needs the inputs as they were
    for (IValue& value : stack) {
      if (value.isTensor() && value.toTensor().defined()) {
        try {
          value = copy_of(value.toTensor());
        } catch (const c10::Error&) {
        }
      }
    }
  }
  try {
    op.callBoxed(stack);
    return {describe(stack, plain), ""};
  } catch (const c10::Error& error) {
    return {std::nullopt, error.what_without_backtrace()};
  }
}

enum class Mode { kStatic, kSymbolic };

Tensor fake_of(Tracer& tracer, const Tensor& t, Mode mode, int& inputs) {
  if (!t.defined()) return t;
  if (mode == Mode::kSymbolic && t.storage_offset() == 0) {
    return tracer.add_input("x" + std::to_string(inputs++), t);
  }
  std::vector<c10::SymInt> sizes, strides;
  for (int64_t v : t.sizes()) sizes.emplace_back(v);
  for (int64_t v : t.strides()) strides.emplace_back(v);
  Tensor fake = make_fake(sizes, strides, t.scalar_type(), t.device());
  fake.unsafeGetTensorImpl()->set_requires_grad(t.requires_grad());
  tracer.fresh(fake);
  return fake;
}

IValue with_fakes(Tracer& tracer, const IValue& value, Mode mode, int& inputs) {
  if (value.isTensor()) {
    const Tensor t = value.toTensor();
    if (t.defined() && t.unsafeGetTensorImpl()->is_wrapped_number()) return t;
    return fake_of(tracer, t, mode, inputs);
  }
  if (value.isTensorList()) {
    std::vector<Tensor> fakes;
    for (const Tensor& t : value.toTensorVector()) {
      fakes.push_back(fake_of(tracer, t, mode, inputs));
    }
    return fakes;
  }
  if (value.isList() &&
      value.toList().elementType()->kind() == c10::TypeKind::OptionalType) {
    c10::List<std::optional<Tensor>> fakes;
    for (const IValue& item : value.toListRef()) {
      fakes.push_back(item.isNone()
                          ? std::optional<Tensor>()
                          : fake_of(tracer, item.toTensor(), mode, inputs));
    }
    return fakes;
  }
  return value;
}

Truth run_on_fakes(const Row& row, Mode mode) {
  auto op = find_op(row.op);
  c10::Stack stack = stack_of(row, op);
  Tracer tracer;
  int inputs = 0;
  for (IValue& value : stack) value = with_fakes(tracer, value, mode, inputs);
  try {
    op.callBoxed(stack);
  } catch (const c10::Error& error) {
    return {std::nullopt, error.what_without_backtrace()};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
  ShapeEnv& env = tracer.env();
  Measure measure = [&](const c10::SymInt& value) -> int64_t {
    if (auto constant = value.maybe_as_int()) return *constant;
    Expr e = to_expr(env, value);
    std::optional<Value> hint = env.hint(e);
    if (!hint) return -1;
    return *std::get<Int>(*hint).to_int64();
  };
  return {describe(stack, measure), ""};
}

bool has_rule(const std::string& op) {
  static const std::set<std::string> names = [] {
    std::set<std::string> result;
    register_all_rules();
    for (const RuleEntry& rule : registered_rules()) result.insert(rule.op);
    return result;
  }();
  return names.contains(op) || names.contains(op.substr(0, op.find('.'))) ||
         names.contains(op + ".");
}

std::string to_text(const Row& row) {
  std::string text = row.op + "(";
  for (const IValue& value : row.args) {
    if (value.isTensor() || value.isTensorList()) {
      text += describe(c10::Stack{value}, plain);
    } else {
      std::ostringstream out;
      out << value;
      text += out.str() + ", ";
    }
  }
  for (const auto& [name, value] : row.named) {
    std::ostringstream out;
    out << value;
    text += name + "=" + out.str() + ", ";
  }
  return text + ")";
}

// The rule agrees with eager, or both refuse.
void check(const Row& row) {
  SCOPED_TRACE(to_text(row));
  ASSERT_TRUE(has_rule(row.op)) << "no rule";
  Truth truth = run_eagerly(row);
  for (Mode mode : {Mode::kStatic, Mode::kSymbolic}) {
    SCOPED_TRACE(mode == Mode::kStatic ? "constant sizes" : "symbolic sizes");
    Truth rule = run_on_fakes(row, mode);
    if (!truth.result) {
      EXPECT_FALSE(rule.result) << "eager refuses: " << truth.error
                                << "\nthe rule says " << *rule.result;
      continue;
    }
    EXPECT_TRUE(rule.result) << rule.error;
    if (rule.result) {
      EXPECT_EQ(*rule.result, *truth.result);
    }
  }
}

// What the kernel would trust: the rule refuses, and nothing runs.
void check_refused(const Row& row, std::initializer_list<Mode> modes = {
                                       Mode::kStatic, Mode::kSymbolic}) {
  SCOPED_TRACE(to_text(row));
  for (Mode mode : modes) EXPECT_FALSE(run_on_fakes(row, mode).result);
}

// As check(), but silent where eager refuses (a dtype without a kernel).
void check_if_valid(const Row& row) {
  if (run_eagerly(row).result) check(row);
}

void check_all(const std::vector<Row>& rows) {
  for (const Row& row : rows) check(row);
}

// --- sample tensors

Tensor make(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) {
  return at::ones(sizes, at::TensorOptions().dtype(dtype));
}

Tensor indices(at::IntArrayRef sizes) {
  return at::zeros(sizes, at::TensorOptions().dtype(at::kLong));
}

Tensor reversed(const Tensor& t) {
  std::vector<int64_t> order;
  for (int64_t d = t.dim(); d-- > 0;) order.push_back(d);
  return t.permute(order).contiguous().permute(order);
}

// The same shape in several layouts.
std::vector<Tensor> layouts(at::IntArrayRef sizes,
                            at::ScalarType dtype = at::kFloat) {
  Tensor t = make(sizes, dtype);
  std::vector<Tensor> result{t};
  if (t.dim() >= 2) {
    result.push_back(reversed(t));
    result.push_back(t.transpose(-1, -2).contiguous().transpose(-1, -2));
  }
  if (t.dim() == 4) {
    result.push_back(t.contiguous(at::MemoryFormat::ChannelsLast));
  }
  if (t.dim() >= 1 && t.size(0) > 0) {
    result.push_back(t.select(0, 0).unsqueeze(0).expand(sizes));
    std::vector<int64_t> twice(sizes.begin(), sizes.end());
    twice.back() *= 2;
    result.push_back(make(twice, dtype).slice(-1, 0, twice.back(), 2));
  }
  return result;
}

const std::vector<std::vector<int64_t>> kShapes = {
    {},           {0},          {1},         {3},       {2, 3},
    {1, 4},       {3, 0},       {2, 3, 4},   {2, 1, 3}, {2, 3, 4, 5},
    {1, 3, 2, 2}, {2, 1, 3, 3}, {2, 3, 1, 1}};

// --- elementwise

std::vector<std::string> rules_of(const std::string& family) {
  register_all_rules();
  std::vector<std::string> names;
  for (const RuleEntry& rule : registered_rules()) {
    if (rule.family == family) names.push_back(rule.op);
  }
  return names;
}

// The overloads a row of the rule table stands for.
std::vector<std::string> overloads_of(const std::string& row) {
  if (row.find('.') != std::string::npos) return {row};
  std::vector<std::string> result;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name != row) continue;
    auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op) continue;
    bool is_out = false;
    for (const auto& argument : op->schema().arguments()) {
      is_out |= argument.is_out();
    }
    if (is_out) continue;
    result.push_back(
        name.overload_name.empty() ? row : row + "." + name.overload_name);
  }
  return result;
}

// Fills an elementwise operator's arguments: tensors in turn from `tensors`,
// numbers with 2; nullopt when an argument is of another kind without default.
std::optional<Row> elementwise_row(const std::string& name,
                                   std::vector<Tensor> tensors) {
  auto op = find_op(name);
  Row row{name, {}};
  size_t next = 0;
  for (const auto& argument : op.schema().arguments()) {
    auto kind = argument.type()->kind();
    if (kind == c10::TypeKind::TensorType) {
      if (next == tensors.size()) return std::nullopt;
      row.args.push_back(tensors[next++]);
    } else if (argument.default_value()) {
      bool limit = argument.name() == "min" || argument.name() == "max";
      row.args.push_back(limit ? IValue(1) : *argument.default_value());
    } else if (kind == c10::TypeKind::NumberType) {
      row.args.push_back(at::Scalar(2));
    } else if (kind == c10::TypeKind::FloatType) {
      row.args.push_back(0.5);
    } else if (kind == c10::TypeKind::OptionalType) {
      row.args.push_back(IValue());
    } else {
      return std::nullopt;
    }
  }
  if (next != tensors.size()) return std::nullopt;
  return row;
}

void check_elementwise(const std::string& name,
                       const std::vector<Tensor>& tensors) {
  if (auto row = elementwise_row(name, tensors)) check_if_valid(*row);
}

std::vector<std::string> elementwise_operators() {
  std::vector<std::string> names;
  for (const std::string& row : rules_of("elementwise")) {
    for (const std::string& name : overloads_of(row)) names.push_back(name);
  }
  return names;
}

TEST(ShapeFunctions, OneOperandKeepsShapeLayoutAndDtype) {
  for (const std::string& name : elementwise_operators()) {
    for (const auto& shape : kShapes) {
      for (const Tensor& t : layouts(shape)) check_elementwise(name, {t});
    }
    for (auto dtype : {at::kLong, at::kBool, at::kDouble, at::kInt}) {
      check_elementwise(name, {make({2, 3}, dtype)});
    }
  }
}

TEST(ShapeFunctions, TwoOperandsBroadcastAndPromote) {
  // Shapes on the left and right; those that do not fit must be refused.
  const std::vector<std::vector<int64_t>> shapes = {
      {}, {1}, {3}, {2, 3}, {2, 1}, {0}, {4, 2, 3}, {4, 1, 3}, {2, 3, 4, 5}};
  for (const char* name : {"aten::add.Tensor", "aten::div.Tensor",
                           "aten::eq.Tensor", "aten::maximum"}) {
    for (const auto& a : shapes) {
      for (const auto& b : shapes) {
        for (const Tensor& x : layouts(a)) {
          for (const Tensor& y : layouts(b)) {
            check(*elementwise_row(name, {x, y}));
          }
        }
      }
    }
  }
}

TEST(ShapeFunctions, EveryPairOfDtypesPromotesAsEager) {
  const at::ScalarType dtypes[] = {at::kBool,   at::kByte,    at::kInt,
                                   at::kLong,   at::kHalf,    at::kFloat,
                                   at::kDouble, at::kBFloat16};
  for (const std::string& name : elementwise_operators()) {
    for (auto a : dtypes) {
      for (auto b : dtypes) {
        check_elementwise(name, {make({2, 3}, a), make({2, 3}, b)});
        check_elementwise(name, {make({2, 3}, a), make({}, b)});
      }
      check_elementwise(name, {make({2, 3}, a), make({3}, a)});
      check_elementwise(name, {make({2, 3}, a), make({3}, a), make({2, 1}, a)});
      check_elementwise(name, {make({2, 3}, a)});
    }
  }
}

TEST(ShapeFunctions, InPlaceOperandsMustFit) {
  for (const std::string& row : rules_of("in place")) {
    for (const std::string& name : overloads_of(row)) {
      check_elementwise(name, {make({2, 3})});
      check_elementwise(name, {make({2, 3}, at::kLong)});
      check_elementwise(name, {make({2, 3}), make({3})});
      check_elementwise(name, {make({2, 3}), make({3}, at::kBool)});
    }
  }
  check({"aten::add_.Tensor", {make({3}), make({2, 3}), 1}});
  check({"aten::add_.Tensor", {make({1}), make({3}), 1}});
  check({"aten::add_.Tensor", {make({2}), make({3}), 1}});
  check({"aten::add_.Tensor", {make({3}, at::kLong), make({3}), 1}});
  check({"aten::div_.Tensor", {make({3}, at::kLong), make({3}, at::kLong)}});
  check({"aten::copy_", {make({3}), make({2, 3})}});
}

TEST(ShapeFunctions, WhereTakesTheDtypeOfTheChoices) {
  Tensor mask = make({2, 1}, at::kBool);
  for (const Tensor& x : layouts({2, 3})) {
    for (const Tensor& y : layouts({3})) {
      check({"aten::where.self", {mask, x, y}});
      check({"aten::where.self", {mask, x, make({}, at::kDouble)}});
      check({"aten::where.ScalarOther", {mask, x, 2.0}});
      check({"aten::where.ScalarSelf", {mask, 1, x}});
    }
  }
  check({"aten::where.Scalar", {mask, 1, 2.5}});
  check({"aten::where.Scalar", {mask, 1, 2}});
}

// --- views

std::vector<int64_t> ints(std::initializer_list<int64_t> values) {
  return values;
}

TEST(ShapeFunctions, ReshapeViewsWhereItCan) {
  for (const Tensor& t : layouts({2, 3, 4})) {
    for (const auto& sizes :
         {ints({24}), ints({-1}), ints({6, 4}), ints({2, 12}), ints({2, -1, 2}),
          ints({2, 3, 2, 2}), ints({2, 3, 4, 1}), ints({1, 2, 3, 4}),
          ints({4, 6}), ints({5, -1}), ints({-1, -1}), ints({7}),
          ints({0, -1})}) {
      check({"aten::reshape", {t, sizes}});
      check({"aten::view", {t, sizes}});
    }
    check({"aten::flatten.using_ints", {t, 0, -1}});
    check({"aten::flatten.using_ints", {t, 1, 2}});
    check({"aten::flatten.using_ints", {t, 0, 1}});
    check({"aten::flatten.using_ints", {t, 2, 2}});
    check({"aten::flatten.using_ints", {t, 2, 1}});
    check({"aten::unflatten.int", {t, 2, ints({2, -1})}});
    check({"aten::unflatten.int", {t, 1, ints({2, -1})}});
    check({"aten::ravel", {t}});
  }
  check({"aten::reshape", {make({}), ints({1, 1})}});
  check({"aten::reshape", {make({1}), ints({})}});
  check({"aten::flatten.using_ints", {make({}), 0, -1}});
  check({"aten::reshape", {make({0, 3}), ints({0})}});
  check({"aten::reshape", {make({0, 3}), ints({3, -1})}});
  check({"aten::view", {make({2, 0}), ints({0, 5})}});
  check({"aten::view_as", {make({6}), make({2, 3})}});
  check({"aten::reshape_as", {make({6}), make({2, 3})}});
}

TEST(ShapeFunctions, ViewsMoveSizesAndStrides) {
  for (const Tensor& t : layouts({2, 3, 4, 5})) {
    check_all({
        {"aten::permute", {t, ints({0, 2, 3, 1})}},
        {"aten::permute", {t, ints({3, -2, 0, 1})}},
        {"aten::permute", {t, ints({0, 0, 1, 2})}},
        {"aten::transpose.int", {t, 1, -1}},
        {"aten::transpose.int", {t, 1, 4}},
        {"aten::mT", {t}},
        {"aten::movedim.int", {t, 1, -1}},
        {"aten::movedim.intlist", {t, ints({1, 0}), ints({0, 3})}},
        {"aten::unsqueeze", {t, 0}},
        {"aten::unsqueeze", {t, -1}},
        {"aten::unsqueeze", {t, 2}},
        {"aten::squeeze", {t}},
        {"aten::select.int", {t, 1, 2}},
        {"aten::select.int", {t, 1, -1}},
        {"aten::select.int", {t, 1, 3}},
        {"aten::select.int", {t, 1, -4}},
        {"aten::expand", {t, ints({7, 2, 3, 4, 5})}},
        {"aten::expand", {t, ints({-1, 3, -1, 5})}},
        {"aten::expand", {t, ints({2, 4, 4, 5})}},
        {"aten::diagonal", {t, 0, 0, 1}},
        {"aten::diagonal", {t, 1, 3, 1}},
        {"aten::diagonal", {t, -2, 0, -1}},
        {"aten::unfold", {t, 3, 2, 2}},
        {"aten::unfold", {t, 3, 6, 1}},
        {"aten::unbind.int", {t, 2}},
        {"aten::numpy_T", {t.select(0, 0).select(0, 0)}},
        {"aten::narrow", {t, 3, 1, 3}},
        {"aten::narrow", {t, 3, -2, 2}},
        {"aten::narrow", {t, 3, 3, 3}},
        {"aten::detach", {t}},
        {"aten::alias", {t}},
        {"aten::t", {t.select(0, 0).select(0, 0)}},
    });
  }
  for (const Tensor& t : layouts({1, 3, 1})) {
    check({"aten::squeeze", {t}});
    check({"aten::squeeze.dim", {t, 0}});
    check({"aten::squeeze.dim", {t, 1}});
    check({"aten::squeeze.dims", {t, ints({0, 2})}});
    check({"aten::expand", {t, ints({2, 3, 5})}});
    check({"aten::expand", {t, ints({3, 5})}});
    check({"aten::broadcast_to", {t, ints({2, 3, 5})}});
  }
  check({"aten::t", {make({3})}});
  check({"aten::view.dtype", {make({2, 4}), at::kInt}});
  check({"aten::view.dtype", {make({2, 4}), at::kHalf}});
  check({"aten::view.dtype", {make({2, 4}), at::kDouble}});
  check({"aten::view.dtype", {make({2, 3}), at::kDouble}});
}

TEST(ShapeFunctions, SlicesClampAsPython) {
  for (const Tensor& t : {make({5, 3}), reversed(make({5, 3}))}) {
    for (int64_t begin : {0, 1, -2, -7, 5, 9}) {
      for (int64_t end : {0, 2, 5, -1, -9, 100}) {
        for (int64_t step : {1, 2, 3}) {
          check({"aten::slice.Tensor", {t, 0, begin, end, step}});
        }
      }
    }
    check({"aten::slice.Tensor", {t, 1, IValue(), IValue(), 1}});
    check({"aten::slice.Tensor", {t, 0, 0, 3, 0}});
  }
}

TEST(ShapeFunctions, SplitsGiveEveryPiece) {
  for (int64_t size : {0, 1, 4, 5, 7}) {
    Tensor t = make({size, 3});
    for (int64_t n : {1, 2, 3, 8}) {
      check({"aten::chunk", {t, n, 0}});
      check({"aten::split.Tensor", {t, n, 0}});
      check({"aten::tensor_split.sections", {t, n, 0}});
    }
    check({"aten::split_with_sizes", {t, ints({1, 4}), 0}});
    check({"aten::unbind.int", {t, 0}});
  }
}

TEST(ShapeFunctions, CombinationsAreCounted) {
  for (int64_t size : {0, 1, 2, 5, 7})
    for (int64_t r : {0, 1, 2, 3, 4})
      for (bool again : {false, true})
        check({"aten::combinations", {make({size}), r, again}});
  check({"aten::combinations", {make({2, 3}), 2, false}});
  check({"aten::combinations", {make({2}), -1, false}});
}

TEST(ShapeFunctions, HistogramsHaveAnEdgeMoreThanBins) {
  const Tensor t = make({2, 3}), edges = at::arange(4.0).to(at::kFloat);
  for (int64_t size : {0, 1, 6}) {
    check({"aten::histogram.bin_ct", {make({size}), 5}});
    check({"aten::histogram.bins_tensor", {make({size}), edges}});
  }
  for (int64_t size : {0, 1, 2}) {
    check({"aten::histogram.bins_tensor", {t, edges.slice(0, 0, size)}});
    check({"aten::histogram.bin_ct", {t, size}});
  }
  check_all({
      {"aten::histogram.bins_tensor", {t, edges.to(at::kDouble)}},
      {"aten::histogram.bins_tensor", {t, edges.view({2, 2})}},
      {"aten::histogram.bin_ct", {t, 3}, {{"weight", make({2, 3})}}},
      {"aten::histogram.bin_ct", {t, 3}, {{"weight", make({5})}}},
      {"aten::histogram.bin_ct",
       {t, 3},
       {{"weight", make({2, 3}).to(at::kDouble)}}},
      {"aten::histogram.bin_ct", {t, 3}, {{"range", std::vector{2.0, 1.0}}}},
      {"aten::histogram.bin_ct", {t, 3}, {{"range", std::vector{1.0}}}},
      {"aten::histogram.bin_ct", {t.to(at::kInt), 3}},
  });
}

TEST(ShapeFunctions, ReflectionsAreKeptColumnByColumn) {
  check_all({
      {"aten::geqrf", {make({4, 3})}},
      {"aten::geqrf", {make({2, 3, 4})}},
      {"aten::geqrf", {make({0, 3})}},
      {"aten::geqrf", {make({3, 1})}},
      {"aten::geqrf", {make({3})}},
      {"aten::geqrf", {make({3, 4}).t()}},
  });
}

// --- factories and copies

TEST(ShapeFunctions, FactoriesTakeDtypeFromValueOrDefault) {
  check_all({
      {"aten::zeros", {ints({2, 3})}},
      {"aten::ones", {ints({2, 0})}, {{"dtype", at::kLong}}},
      {"aten::empty.memory_format",
       {ints({2, 3, 4, 5})},
       {{"memory_format", at::MemoryFormat::ChannelsLast}}},
      {"aten::full", {ints({2}), 1}},
      {"aten::full", {ints({2}), 1.5}},
      {"aten::full", {ints({2}), true}},
      {"aten::full", {ints({2}), 1}, {{"dtype", at::kDouble}}},
      {"aten::rand", {ints({2, 3})}},
      {"aten::randn", {ints({})}},
      {"aten::randint", {4, ints({2, 3})}},
      {"aten::randint.low", {1, 4, ints({2, 3})}},
      {"aten::randperm", {4}},
      {"aten::eye", {3}},
      {"aten::eye.m", {3, 4}},
      {"aten::linspace", {0, 1, 5}},
      {"aten::scalar_tensor", {2}},
      {"aten::scalar_tensor", {2.5}},
      {"aten::scalar_tensor", {2}, {{"dtype", at::kLong}}},
      {"aten::tril_indices", {3, 4, 0}},
      {"aten::tril_indices", {3, 2, -1}},
      {"aten::triu_indices", {3, 4, 1}},
      {"aten::triu_indices", {4, 2, -2}},
      {"aten::zeros", {ints({-1})}},
  });
}

TEST(ShapeFunctions, ArangeCountsAsEager) {
  for (int64_t start : {0, 2, 5}) {
    for (int64_t end : {0, 1, 5, 8}) {
      for (int64_t step : {1, 2, 3, -1, -2}) {
        check({"aten::arange.start_step", {start, end, step}});
      }
      check({"aten::arange.start", {start, end}});
      check({"aten::arange", {end}});
    }
  }
  check({"aten::arange.start_step", {0, 1, 0.3}});
  check({"aten::arange.start_step", {0, 5, 1}, {{"dtype", at::kFloat}}});
  check({"aten::arange", {4.5}});
  check({"aten::arange.start_step", {0, 5, 0}});
  // Whole floats count as integers do.
  for (double step : {1.0, -1.0, 2.0, 0.5}) {
    check({"aten::arange.start_step", {5, 0, step}});
    check({"aten::arange.start_step", {0.0, 7, step}});
  }
}

TEST(ShapeFunctions, CopiesKeepDenseLayouts) {
  for (const auto& shape : kShapes) {
    for (const Tensor& t : layouts(shape)) {
      check_all({
          {"aten::empty_like", {t}},
          {"aten::zeros_like", {t}, {{"dtype", at::kLong}}},
          {"aten::ones_like", {t}},
          {"aten::full_like", {t, 2}},
          {"aten::randn_like", {t}},
          {"aten::empty_like",
           {t},
           {{"memory_format", at::MemoryFormat::Contiguous}}},
          {"aten::clone", {t}},
          {"aten::contiguous", {t}},
          {"aten::to.dtype", {t, at::kDouble}},
          {"aten::to.dtype", {t, at::kFloat}},
          {"aten::to.dtype", {t, at::kFloat, false, true}},
          {"aten::to.dtype_layout", {t}, {{"dtype", at::kInt}}},
          {"aten::to.other", {t, make({1}, at::kLong)}},
          {"aten::type_as", {t, make({1}, at::kLong)}},
          {"aten::_to_copy", {t}, {{"dtype", at::kHalf}}},
          {"aten::new_zeros", {t, ints({2, 3})}},
          {"aten::new_ones", {t, ints({2})}, {{"dtype", at::kBool}}},
          {"aten::new_full", {t, ints({2}), 3}},
          {"aten::new_empty", {t, ints({2, 0})}},
      });
      if (t.dim() == 4) {
        check({"aten::clone", {t, at::MemoryFormat::ChannelsLast}});
        check({"aten::contiguous", {t, at::MemoryFormat::ChannelsLast}});
      }
    }
  }
}

// --- reductions

TEST(ShapeFunctions, ReductionsDropOrKeepDimensions) {
  for (const auto& shape :
       {ints({2, 3, 4}), ints({3}), ints({}), ints({2, 0}), ints({1, 3})}) {
    for (const Tensor& t : layouts(shape)) {
      for (int64_t dim : {0, -1, 1}) {
        for (bool keep : {false, true}) {
          check_all({
              {"aten::sum.dim_IntList", {t, ints({dim}), keep}},
              {"aten::mean.dim", {t, ints({dim}), keep}},
              {"aten::amax", {t, ints({dim}), keep}},
              {"aten::argmax", {t, dim, keep}},
              {"aten::max.dim", {t, dim, keep}},
              {"aten::any.dim", {t, dim, keep}},
              {"aten::all.dim", {t, dim, keep}},
              {"aten::prod.dim_int", {t, dim, keep}},
              {"aten::logsumexp", {t, ints({dim}), keep}},
              {"aten::var.correction", {t, ints({dim})}, {{"keepdim", keep}}},
              {"aten::std.dim", {t, ints({dim}), true, keep}},
              {"aten::linalg_vector_norm", {t, 2, ints({dim}), keep}},
              {"aten::median.dim", {t, dim, keep}},
              {"aten::aminmax", {t}, {{"dim", dim}, {"keepdim", keep}}},
              {"aten::var_mean.correction",
               {t, ints({dim})},
               {{"keepdim", keep}}},
          });
        }
        check_all({
            {"aten::cumsum", {t, dim}},
            {"aten::cumprod", {t, dim}},
            {"aten::cummax", {t, dim}},
            {"aten::logcumsumexp", {t, dim}},
            {"aten::softmax.int", {t, dim}},
            {"aten::log_softmax.int", {t, dim}},
            {"aten::_softmax", {t, dim, false}},
            {"aten::sort", {t, dim}},
            {"aten::argsort", {t, dim}},
            {"aten::topk", {t, 1, dim}},
            {"aten::topk", {t, 3, dim}},
            {"aten::flip", {t, ints({dim})}},
        });
      }
      check_all({
          {"aten::sum", {t}},
          {"aten::sum.dim_IntList", {t, IValue(), false}},
          {"aten::mean", {t}},
          {"aten::any", {t}},
          {"aten::all", {t}},
          {"aten::max", {t}},
          {"aten::min", {t}},
          {"aten::argmax", {t}},
          {"aten::prod", {t}},
          {"aten::var", {t}},
          {"aten::norm.ScalarOpt_dim", {t, 2, ints({0})}},
          {"aten::count_nonzero", {t}},
      });
    }
  }
  for (auto dtype : {at::kBool, at::kInt, at::kByte}) {
    Tensor t = make({2, 3}, dtype);
    check_all({
        {"aten::sum", {t}},
        {"aten::sum.dim_IntList", {t, ints({0}), false}},
        {"aten::sum", {t}, {{"dtype", at::kFloat}}},
        {"aten::mean", {t}},
        {"aten::mean", {t}, {{"dtype", at::kFloat}}},
        {"aten::prod", {t}},
        {"aten::any", {t}},
        {"aten::amax", {t, ints({0})}},
        {"aten::cumsum", {t, 0}},
        {"aten::argmax", {t, 0}},
    });
  }
}

TEST(ShapeFunctions, LossesReduceAsAsked) {
  Tensor x = make({4, 3}), y = make({4, 3}), target = indices({4});
  for (int64_t reduction : {0, 1, 2}) {
    check_all({
        {"aten::mse_loss", {x, y, reduction}},
        {"aten::l1_loss", {x, y, reduction}},
        {"aten::smooth_l1_loss", {x, y, reduction}},
        {"aten::binary_cross_entropy", {x, y, IValue(), reduction}},
        {"aten::binary_cross_entropy_with_logits",
         {x, y, IValue(), IValue(), reduction}},
        {"aten::kl_div", {x, y, reduction}},
        {"aten::cross_entropy_loss", {x, target, IValue(), reduction}},
        {"aten::cross_entropy_loss", {x, y, IValue(), reduction}},
        {"aten::cross_entropy_loss",
         {make({4, 3, 5}), indices({4, 5}), IValue(), reduction}},
        {"aten::cross_entropy_loss",
         {make({3}), indices({}), IValue(), reduction}},
        {"aten::nll_loss_nd", {x, target, IValue(), reduction}},
        {"aten::nll_loss_forward", {x, target, IValue(), reduction, -100}},
        {"aten::cross_entropy_loss", {x, indices({5}), IValue(), reduction}},
    });
  }
}

// --- linear algebra

TEST(ShapeFunctions, ProductsOfMatrices) {
  for (const Tensor& x : layouts({3, 4})) {
    for (const Tensor& y : layouts({4, 5})) {
      check({"aten::mm", {x, y}});
      check({"aten::matmul", {x, y}});
      check({"aten::addmm", {make({5}), x, y}});
      check({"aten::addmm", {make({3, 1}), x, y}});
      check({"aten::linear", {x, y.t()}});
      check({"aten::linear", {x, y.t(), make({5})}});
      check({"aten::mm", {y, x}});
      check({"aten::matmul", {y, x}});
      check({"aten::linear", {x, y}});
    }
    check({"aten::mv", {x, make({4})}});
    check({"aten::linear", {x, make({4})}});
  }
  for (const Tensor& x : layouts({2, 3, 4})) {
    for (const Tensor& y : layouts({2, 4, 5})) {
      check({"aten::bmm", {x, y}});
      check({"aten::matmul", {x, y}});
      check({"aten::baddbmm", {make({1, 5}), x, y}});
    }
    check({"aten::matmul", {x, make({4})}});
    check({"aten::matmul", {x, make({4, 5})}});
    check({"aten::matmul", {make({3}), x}});
    check({"aten::matmul", {make({5, 3}), x}});
    check({"aten::matmul", {x, make({6, 1, 4, 5})}});
    check({"aten::matmul", {x, make({3, 4, 5})}});
    check({"aten::linear", {x, make({6, 4}), make({6})}});
    check({"aten::linear", {x, make({6, 5})}});
    check({"aten::bmm", {x, make({3, 4, 5})}});
  }
  check({"aten::dot", {make({3}), make({3})}});
  check({"aten::dot", {make({3}), make({4})}});
  check({"aten::matmul", {make({3}), make({3})}});
  check({"aten::matmul", {make({0, 3}), make({3, 0})}});
  check({"aten::matmul", {make({2, 3}), make({3, 2}, at::kDouble)}});
  check({"aten::bilinear",
         {make({2, 3}), make({2, 4}), make({5, 3, 4}), make({5})}});
  // What nn.Bilinear decomposes to, an outer product, and sums over all.
  for (int64_t rows : {0, 1, 2}) {
    for (int64_t unroll : {0, 1, 3}) {
      check({"aten::_trilinear",
             {make({rows, 3}), make({5, 3, 4}), make({rows, 4}), ints({1, 3}),
              ints({0}), ints({1, 2}), ints({2, 3}), unroll}});
    }
    check({"aten::_trilinear",
           {make({rows}), make({3}), make({4}), ints({1, 2}), ints({0, 2}),
            ints({0, 1}), ints({})}});
    check({"aten::_trilinear",
           {make({rows}), make({rows}), make({rows}), ints({}), ints({}),
            ints({}), ints({0}), 0}});
  }
  check({"aten::_trilinear",
         {make({2, 3}), make({5, 3, 4}), make({2, 4}), ints({1, 3}), ints({0}),
          ints({1, 2}), ints({2, 3}), 4}});
  check({"aten::_trilinear",
         {make({2, 3}), make({5, 2, 4}), make({2, 4}), ints({1, 3}), ints({0}),
          ints({1, 2}), ints({2, 3})}});
}

TEST(ShapeFunctions, Attention) {
  Tensor q = make({2, 3, 5, 4}), k = make({2, 3, 7, 4});
  Tensor by_length = make({2, 5, 3, 4}).transpose(1, 2);
  for (const Tensor& x : {q, by_length}) {
    check({"aten::scaled_dot_product_attention", {x, k, k}});
    check({"aten::scaled_dot_product_attention", {x, k, k, make({5, 7})}});
    check({"aten::scaled_dot_product_attention",
           {x, k, k, make({2, 1, 5, 7}, at::kBool)}});
    check({"aten::scaled_dot_product_attention",
           {x, k, k, make({2, 1, 5, 7}).requires_grad_()}});
    check({"aten::scaled_dot_product_attention", {x, k, k, make({3, 5, 7})}});
    check({"aten::scaled_dot_product_attention", {x, k, make({2, 3, 7, 6})}});
    check(
        {"aten::scaled_dot_product_attention", {x, x, x, IValue(), 0.0, true}});
  }
  check({"aten::scaled_dot_product_attention", {q[0], k[0], k[0]}});
  check({"aten::scaled_dot_product_attention", {q, k, k, IValue(), 0.5}});
  check({"aten::scaled_dot_product_attention", {q, make({2, 3, 7, 5}), k}});
  Tensor few = make({2, 1, 7, 4});
  check({"aten::scaled_dot_product_attention",
         {q, few, few},
         {{"enable_gqa", true}}});
}

TEST(ShapeFunctions, FourierLeavesDimensionsSorted) {
  Tensor x = make({2, 9, 8}, at::kComplexFloat), y = make({2, 3, 4, 5, 6});
  for (const Tensor& t : {x, x.transpose(0, 1), x.permute({2, 0, 1})})
    for (std::vector<int64_t> dims : {std::vector<int64_t>{2},
                                      {0},
                                      {1, 2},
                                      {2, 1},
                                      {1, 0},
                                      {0, 1, 2},
                                      {-1},
                                      {}})
      check({"aten::_fft_c2c", {t, dims, 0, true}});
  check({"aten::_fft_c2c",
         {y.to(at::kComplexFloat), std::vector<int64_t>{4, 0, 1, 2}, 0, true}});
  check({"aten::_fft_c2c",
         {y.to(at::kComplexFloat).permute({4, 2, 0, 1, 3}),
          std::vector<int64_t>{1, 0, 3, 2}, 0, true}});
  check({"aten::_fft_c2c", {y, std::vector<int64_t>{0}, 0, true}});
}

TEST(ShapeFunctions, FourierTransformsOfEverySort) {
  for (const Tensor& real : {make({4, 6, 8}), make({4, 6, 8}).transpose(0, 2)})
    for (const char* name : {"rfft", "ihfft", "fft", "ifft", "fftn", "rfftn",
                             "rfft2", "ihfft2", "fft2", "fftshift"})
      check({std::string("aten::fft_") + name, {real}});
  const Tensor c = make({4, 6, 8}, at::kComplexFloat);
  for (const Tensor& t : {c, c.permute({2, 0, 1})})
    for (const char* name : {"fft", "ifft", "irfft", "hfft", "irfftn", "ifftn",
                             "hfft2", "irfft2", "ifft2", "ifftshift"})
      check({std::string("aten::fft_") + name, {t}});
  check_all({
      {"aten::fft_fft", {c, 5, 1, "ortho"}},
      {"aten::fft_fftfreq", {8}},
      {"aten::fft_rfftfreq", {9}},
      {"aten::real", {c}},
      {"aten::imag", {c.transpose(0, 1)}},
      {"aten::conj", {c}},
      {"aten::polar", {make({2, 3}), make({3})}},
      {"aten::complex", {make({2, 3}), make({3})}},
  });
}

TEST(ShapeFunctions, WeightNorm) {
  for (const Tensor& v : {make({4, 3, 5}), make({5, 3, 4}).transpose(0, 2)}) {
    check({"aten::_weight_norm_interface", {v, make({4, 1, 1}), 0}});
    check({"aten::_weight_norm_interface", {v, make({1, 1, 5}), 2}});
  }
}

// --- layers

TEST(ShapeFunctions, ConvolutionsKeepChannelsLast) {
  Tensor w = make({6, 3, 3, 3}), w1 = make({6, 3, 1, 1});
  for (const Tensor& x : layouts({2, 3, 8, 9})) {
    for (const Tensor& weight :
         {w, w1, w.contiguous(at::MemoryFormat::ChannelsLast)}) {
      for (int64_t stride : {1, 2}) {
        for (int64_t padding : {0, 1}) {
          check({"aten::conv2d",
                 {x, weight, IValue(), ints({stride}), ints({padding})}});
        }
      }
      check({"aten::conv2d",
             {x, weight, make({6}), ints({1, 2}), ints({0, 1}), ints({2, 1})}});
      check({"aten::conv2d.padding", {x, weight, IValue(), ints({1}), "same"}});
      check(
          {"aten::conv2d.padding", {x, weight, IValue(), ints({2}), "valid"}});
      check({"aten::conv_transpose2d.input",
             {x, weight.transpose(0, 1).contiguous(), IValue(), ints({2}),
              ints({0}), ints({1})}});
    }
    check({"aten::conv2d", {x, make({6, 4, 3, 3})}});
    check({"aten::conv2d", {x, make({6, 3, 9, 3})}});
    check({"aten::conv2d",
           {x, make({6, 1, 3, 3}), IValue(), ints({1}), ints({0}), ints({1}),
            3}});
  }
  check({"aten::conv2d", {make({3, 8, 9}), w}});
  check({"aten::conv1d", {make({2, 3, 8}), make({6, 3, 3}), make({6})}});
  check({"aten::conv3d", {make({2, 3, 8, 8, 8}), make({6, 3, 3, 3, 3})}});
  check({"aten::conv2d", {make({0, 3, 8, 9}), w}});
  check({"aten::conv2d", {make({2, 3, 8, 9}), w, make({5})}});
}

TEST(ShapeFunctions, PoolsCountWindowsAsEager) {
  for (int64_t size : {1, 4, 5, 6, 7, 8}) {
    Tensor x = make({2, 3, size, 9});
    for (int64_t kernel : {1, 2, 3}) {
      for (int64_t stride : {1, 2, 3}) {
        for (int64_t padding : {0, 1}) {
          for (bool ceil : {false, true}) {
            check({"aten::max_pool2d",
                   {x, ints({kernel}), ints({stride}), ints({padding}),
                    ints({1}), ceil}});
            check({"aten::avg_pool2d",
                   {x, ints({kernel}), ints({stride}), ints({padding}), ceil}});
          }
        }
      }
    }
  }
  for (const Tensor& x : layouts({2, 3, 8, 8})) {
    check({"aten::max_pool2d", {x, ints({2})}});
    check({"aten::max_pool2d_with_indices", {x, ints({2})}});
    check({"aten::avg_pool2d", {x, ints({2, 4})}});
    check({"aten::adaptive_avg_pool2d", {x, ints({1, 1})}});
    check({"aten::adaptive_avg_pool2d", {x, ints({3, 2})}});
    check({"aten::adaptive_max_pool2d", {x, ints({3, 2})}});
  }
  check({"aten::max_pool2d", {make({3, 8, 8}), ints({2})}});
  check({"aten::max_pool1d", {make({2, 3, 8}), ints({2})}});
  check({"aten::avg_pool1d", {make({2, 3, 8}), ints({2})}});
}

TEST(ShapeFunctions, NormalisationsOfBatchesKeepTheirStatistics) {
  const Tensor one = make({3}), half = make({3}, at::kBFloat16);
  const auto with_update = [](const Tensor& x, const IValue& w, const Tensor& s,
                              const char* op) {
    return Row{op, {x, w, w, s.clone(), s.clone(), 0.1, 1e-5}};
  };
  for (const char* op :
       {"aten::_batch_norm_with_update", "aten::_batch_norm_no_update",
        "aten::_batch_norm_with_update_functional"}) {
    for (const Tensor& x : layouts({2, 3, 4, 5})) {
      check(with_update(x, one, one, op));
      check(with_update(x, {}, one, op));
    }
    const Tensor x = make({2, 3, 4}, at::kBFloat16);
    check_all({with_update(x, one, one, op), with_update(x, {}, one, op),
               with_update(x, half, half, op),
               with_update(make({0, 3, 4}), one, one, op),
               with_update(make({3}), one, one, op)});
    for (const Tensor& wrong : {make({2}), make({4})}) {
      check_refused(with_update(x, wrong, one, op));
      check_refused(with_update(x, one, wrong, op));
    }
  }
  check({"aten::native_batch_norm",
         {make({2, 3}, at::kBFloat16),
          {},
          {},
          one.clone(),
          one.clone(),
          true,
          0.1,
          1e-5}});
  check({"aten::native_batch_norm",
         {make({0, 3}), one, one, one.clone(), one.clone(), true, 0.1, 1e-5}});
  check_refused({"aten::_batch_norm_no_update",
                 {make({2, 3}), one, one, {}, {}, 0.1, 1e-5}});
}

TEST(ShapeFunctions, GradientsOfDropout) {
  for (const Tensor& grad : layouts({2, 3, 4}))
    for (const Tensor& mask : layouts({2, 3, 4}, at::kBool))
      check({"aten::native_dropout_backward", {grad, mask, 2.0}});
  for (at::ScalarType dtype : {at::kHalf, at::kDouble, at::kInt})
    for (at::ScalarType other : {at::kBool, at::kDouble})
      check({"aten::native_dropout_backward",
             {make({3}, dtype), make({2, 3}, other), 2.0}});
}

TEST(ShapeFunctions, NormalisationsKeepTheShape) {
  Tensor c = make({3});
  for (const Tensor& x : layouts({2, 3, 4, 5})) {
    for (bool training : {false, true}) {
      check({"aten::batch_norm",
             {x, c, c, make({3}), make({3}), training, 0.1, 1e-5, true}});
    }
    check({"aten::group_norm", {x, 3, c, c}});
    check({"aten::group_norm", {x, 2, c, c}});
    check({"aten::instance_norm",
           {x, c, c, IValue(), IValue(), true, 0.1, 1e-5, true}});
    check({"aten::layer_norm", {x, ints({5}), make({5}), make({5})}});
    check({"aten::layer_norm", {x, ints({4, 5})}});
    check({"aten::layer_norm", {x, ints({4})}});
    check({"aten::native_layer_norm",
           {x, ints({4, 5}), IValue(), IValue(), 1e-5}});
    check({"aten::rms_norm", {x, ints({5}), make({5})}});
    check(
        {"aten::batch_norm", {x, make({4}), c, c, c, false, 0.1, 1e-5, true}});
    check({"aten::dropout", {x, 0.5, false}});
    check({"aten::dropout", {x, 0.5, true}});
    check({"aten::native_dropout", {x, 0.5, true}});
  }
  check(
      {"aten::batch_norm", {make({4, 3}), c, c, c, c, false, 0.1, 1e-5, true}});
}

TEST(ShapeFunctions, ResamplingAndPadding) {
  for (const Tensor& x : layouts({2, 4, 5, 6})) {
    check({"aten::upsample_nearest2d.vec",
           {x, IValue(), std::vector<double>{2.0, 2.0}}});
    check({"aten::upsample_nearest2d.vec",
           {x, IValue(), std::vector<double>{0.5, 1.5}}});
    check({"aten::upsample_nearest2d.vec",
           {x, IValue(), std::vector<double>{1.3, 0.7}}});
    check(
        {"aten::upsample_bilinear2d.vec", {x, ints({7, 3}), false, IValue()}});
    check({"aten::constant_pad_nd", {x, ints({1, 2, -1, 0})}});
    check({"aten::pad", {x, ints({1, 1})}});
    check({"aten::pad", {x, ints({1, 1, 2, 2}), "reflect"}});
    check({"aten::pad", {x, ints({1, 1, 2, 2}), "replicate"}});
    check({"aten::pad", {x, ints({1, 1, 2, 2}), "circular"}});
    check({"aten::pad", {x, ints({6, 1, 2, 2}), "reflect"}});
    check({"aten::pad", {x, ints({-4, -4})}});
    check({"aten::pixel_shuffle", {x, 2}});
    check({"aten::pixel_shuffle", {x, 3}});
    check({"aten::pixel_unshuffle", {x, 2}});
    check({"aten::im2col",
           {x, ints({2, 2}), ints({1, 1}), ints({0, 0}), ints({1, 1})}});
  }
}

// Of `layers` layers: states of `hidden` values, of `projected` where it is not
// 0.
std::vector<Tensor> recurrent_weights(int64_t gates, int64_t layers,
                                      int64_t ways, int64_t input,
                                      int64_t hidden, bool biases = true,
                                      int64_t projected = 0) {
  const int64_t state = projected != 0 ? projected : hidden;
  std::vector<Tensor> result;
  for (int64_t i = 0; i < layers * ways; ++i) {
    result.push_back(make({gates * hidden, i < ways ? input : state * ways}));
    result.push_back(make({gates * hidden, state}));
    if (biases) {
      result.push_back(make({gates * hidden}));
      result.push_back(make({gates * hidden}));
    }
    if (projected != 0) result.push_back(make({projected, hidden}));
  }
  return result;
}

TEST(ShapeFunctions, RecurrentLayers) {
  const int64_t kInput = 4, kHidden = 6, kProjected = 3;
  for (bool batch_first : {false, true})
    for (bool both_ways : {false, true})
      for (bool biases : {false, true})
        for (int64_t layers : {1, 2}) {
          const int64_t ways = both_ways ? 2 : 1;
          const Tensor x =
              batch_first ? make({2, 5, kInput}) : make({5, 2, kInput});
          const Tensor h = make({layers * ways, 2, kHidden}),
                       p = make({layers * ways, 2, kProjected});
          const auto weights = [&](int64_t gates, int64_t projected = 0) {
            return recurrent_weights(gates, layers, ways, kInput, kHidden,
                                     biases, projected);
          };
          check({"aten::lstm.input",
                 {x, std::vector<Tensor>{h, h}, weights(4), biases, layers, 0.0,
                  false, both_ways, batch_first}});
          check({"aten::lstm.input",
                 {x, std::vector<Tensor>{p, h}, weights(4, kProjected), biases,
                  layers, 0.0, false, both_ways, batch_first}});
          check({"aten::gru.input",
                 {x, h, weights(3), biases, layers, 0.0, false, both_ways,
                  batch_first}});
          check({"aten::rnn_tanh.input",
                 {x, h, weights(1), biases, layers, 0.0, false, both_ways,
                  batch_first}});
        }
}

TEST(ShapeFunctions, RecurrentCells) {
  const Tensor x = make({3, 4}), h = make({3, 6}), none;
  for (bool biases : {false, true}) {
    const auto call = [&](int64_t gates, IValue states) {
      const std::vector<Tensor> w =
          recurrent_weights(gates, 1, 1, 4, 6, biases);
      return std::vector<IValue>{x,
                                 states,
                                 w[0],
                                 w[1],
                                 biases ? IValue(w[2]) : IValue(),
                                 biases ? IValue(w[3]) : IValue()};
    };
    check({"aten::lstm_cell", call(4, std::vector<Tensor>{h, h})});
    check({"aten::gru_cell", call(3, h)});
  }
}

// (input, weights, hidden, cell, reverse, batch_sizes, mode, hidden_size,
// layers, biases, bidirectional, batch_first, train)
std::vector<IValue> lstm_layer(const Tensor& x, const Tensor& h,
                               const Tensor& c, std::vector<Tensor> w,
                               bool biases) {
  return {x,        w[0], w[1],       w[2], w[3],   h,     c,     false,
          ints({}), 2,    h.size(-1), 1,    biases, false, false, false};
}

// The kernel gives no fourth tensor where nothing is trained, and torch's meta
// function an empty one.
TEST(ShapeFunctions, LayersOfOneDnn) {
  const Tensor x = make({5, 2, 4}), h = make({1, 2, 6});
  for (bool biases : {false, true}) {
    const Row row{
        "aten::mkldnn_rnn_layer",
        lstm_layer(x, h, h, recurrent_weights(4, 1, 1, 4, 6), biases)};
    const std::string truth = run_eagerly(row).result.value();
    for (Mode mode : {Mode::kStatic, Mode::kSymbolic})
      EXPECT_EQ(
          run_on_fakes(row, mode).result.value(),
          truth.substr(0, truth.find("undefined")) + "Byte [0] strides [_]; ");
  }
}

// Each has one size, dtype or layout that the kernel would trust.
TEST(ShapeFunctions, RecurrencesTrustNothing) {
  const Tensor x = make({5, 2, 4}), h = make({1, 2, 6});
  const std::vector<Tensor> w = recurrent_weights(4, 1, 1, 4, 6);
  for (size_t i = 0; i < w.size(); ++i)
    for (const Tensor& wrong : {w[i].narrow(0, 0, 3), w[i].to(at::kDouble)}) {
      std::vector<Tensor> weights = w;
      weights[i] = wrong;
      check_refused(
          {"aten::mkldnn_rnn_layer", lstm_layer(x, h, h, weights, true)});
      check_refused({"aten::lstm.input",
                     {x, std::vector<Tensor>{h, h}, weights, true, 1, 0.0,
                      false, false, false}});
    }
  for (const Tensor& wrong : {make({1, 1, 6}), make({1, 2, 5}), make({2, 2, 6}),
                              make({2, 6}), h.to(at::kDouble)}) {
    check_refused({"aten::mkldnn_rnn_layer", lstm_layer(x, h, wrong, w, true)});
  }
  // The layout of symbolic sizes is looked at when they are known.
  const auto one = {Mode::kStatic};
  check_refused({"aten::mkldnn_rnn_layer",
                 lstm_layer(x, h, make({1, 1, 1}).expand({1, 2, 6}), w, true)},
                one);
  check_refused({"aten::mkldnn_rnn_layer",
                 lstm_layer(make({2, 5, 4}).transpose(0, 1), h, h, w, true)},
                one);
  check_refused(
      {"aten::lstm.input",
       {x, std::vector<Tensor>{h, h}, w, true, 2, 0.0, false, false, false}});
}

// Eager keeps all losses; kernels do not agree about such numbers.
TEST(ShapeFunctions, LossesOfSequencesKnowTheirReductions) {
  const Tensor probs = make({4, 2, 3}), lengths = at::full({2}, 2, at::kLong);
  for (int64_t reduction : {-1, 3, 7})
    check_refused({"aten::ctc_loss.Tensor",
                   {probs, at::ones({2, 2}, at::kLong), lengths, lengths, 0,
                    reduction, false}});
}

TEST(ShapeFunctions, LeastSquaresLeaveResiduals) {
  for (const auto& [m, n] :
       std::vector<std::pair<int64_t, int64_t>>{{3, 4}, {4, 3}, {3, 3}, {3, 0}})
    for (int64_t sides : {0, 2})
      for (const char* driver : {"gels", "gelsy"}) {
        check({"aten::linalg_lstsq",
               {at::rand({m, n}), make({m, sides}), {}, std::string(driver)}});
        check({"aten::linalg_lstsq",
               {at::rand({2, m, n}),
                make({2, m, sides}),
                {},
                std::string(driver)}});
      }
}

// Eager ends the process.
TEST(ShapeFunctions, LeastSquaresOfNoRightHandSide) {
  check_refused({"aten::linalg_lstsq",
                 {make({2, 3}), make({2, 0}), {}, std::string("gelss")}});
}

TEST(ShapeFunctions, FactorsOfMatrices) {
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {3, 3}, {2, 3, 4}, {2, 4, 3}, {0, 3}, {3, 0}, {2, 2, 2, 2}}) {
    for (const Tensor& a : layouts(sizes)) {
      check({"aten::linalg_lu", {a}});
      check({"aten::linalg_ldl_factor_ex", {a}});
    }
    Tensor a = make(sizes);
    std::vector<int64_t> batch(sizes.begin(), sizes.end() - 1);
    batch.back() = std::min(*(sizes.end() - 1), *(sizes.end() - 2));
    const Tensor pivots = make(batch, at::kInt);
    for (bool data : {true, false})
      for (bool permutes : {true, false})
        check({"aten::lu_unpack", {a, pivots, data, permutes}});
    check({"aten::lu_unpack", {a.to(at::kLong), pivots}});
  }
  check_all({{"aten::linalg_lu", {make({3})}},
             {"aten::linalg_lu", {make({3, 3}, at::kInt)}},
             {"aten::linalg_lu", {make({3, 3}, at::kHalf)}},
             {"aten::linalg_lu", {make({3, 3}), false}},
             {"aten::linalg_ldl_factor_ex", {make({3, 3}, at::kHalf)}},
             {"aten::lu_unpack", {make({3}), make({3}, at::kInt)}},
             {"aten::lu_unpack", {make({3, 3}), indices({3})}}});
  // The kernel reads and writes past the end.
  const Tensor a = make({3, 4, 4});
  for (const Tensor& wrong :
       {make({3, 2}, at::kInt), make({3, 5}, at::kInt), make({5, 4}, at::kInt),
        make({4}, at::kInt), make({1, 3, 4}, at::kInt)})
    check_refused({"aten::lu_unpack", {a, wrong}});
}

TEST(ShapeFunctions, WhatIsSolvedByFactors) {
  const Tensor a = make({2, 3, 3}), one = make({3, 3});
  const Tensor pivots = make({2, 3}, at::kInt), one_pivots = pivots[0];
  for (const Tensor& b : {make({3, 2}), make({2, 3, 2}), make({4, 1, 3, 2}),
                          make({2, 3, 0}), make({3}), make({4, 2})})
    for (bool left : {true, false}) {
      check({"aten::linalg_lu_solve", {a, pivots, b}, {{"left", left}}});
      check({"aten::linalg_lu_solve",
             {one, one_pivots, b.transpose(0, -1)},
             {{"left", left}}});
    }
  for (const Tensor& b : {make({3, 2}), make({2, 3, 2}), make({4, 2, 3, 1})}) {
    check({"aten::linalg_ldl_solve", {one, one_pivots, b}});
    if (b.dim() < 4) check({"aten::linalg_ldl_solve", {a, pivots, b}});
  }
  for (const char* op : {"aten::linalg_lu_solve", "aten::linalg_ldl_solve"}) {
    const Tensor b = make({2, 3, 2});
    check_all({{op, {a, make({2, 2}, at::kInt), b}},
               {op, {a, one_pivots, b}},
               {op, {a, make({2, 3}), b}},
               {op, {a, pivots, b.to(at::kDouble)}},
               {op, {a, pivots, make({2, 4, 2})}},
               {op, {a.to(at::kHalf), pivots, b.to(at::kHalf)}},
               {op, {make({2, 3, 4}), pivots, b}}});
  }
  // The kernel takes more pivots than there are.
  check_refused({"aten::linalg_ldl_solve", {a, pivots, make({5, 1, 3, 2})}});
  check_refused({"aten::linalg_ldl_solve",
                 {a.slice(0, 0, 1), pivots.slice(0, 0, 1), make({5, 3, 2})}});
  check_refused({"aten::linalg_ldl_solve", {a, pivots, make({5, 2, 3, 2})}});
}

TEST(ShapeFunctions, ProductsWithReflections) {
  const Tensor a = make({2, 5, 3}), tau = make({2, 3});
  check_all({{"aten::ormqr", {a, tau, make({2, 5, 4})}},
             {"aten::ormqr", {a, tau, make({2, 4, 5}), false}},
             {"aten::ormqr", {a[0], tau[0], make({5, 0}), true, true}},
             {"aten::ormqr", {make({3, 5}), make({3}), make({3, 2})}},
             {"aten::ormqr", {make({0, 3}), make({0}), make({0, 2})}},
             {"aten::ormqr", {a[0], tau[0].slice(0, 0, 2), make({5, 4})}},
             {"aten::ormqr", {a, tau, make({5, 4})}},
             {"aten::ormqr", {a, tau, make({3, 5, 4})}},
             {"aten::ormqr", {a, tau.slice(0, 0, 1), make({2, 5, 4})}},
             {"aten::ormqr", {a, tau, make({2, 4, 5})}},
             {"aten::ormqr", {a, tau.to(at::kDouble), make({2, 5, 4})}},
             {"aten::ormqr", {a, tau, make({2, 5, 4}, at::kDouble)}}});
}

TEST(ShapeFunctions, LossesWithMargins) {
  for (int64_t reduction : {0, 1, 2}) {
    const auto margins = [&](const Tensor& self, const Tensor& target,
                             const IValue& weight = {}) {
      check(
          {"aten::multi_margin_loss", {self, target, 1, 1, weight, reduction}});
    };
    margins(make({3, 5}), indices({3}));
    margins(make({3, 5}), indices({3}), make({5}));
    margins(make({0, 5}), indices({0}));
    margins(make({5}), indices({}));
    margins(make({5}), indices({1}));
    margins(make({1, 5}), indices({}));
    margins(make({}), indices({}));
    margins(make({3, 0}), indices({3}));
    margins(make({3, 5, 2}), indices({3}));
    margins(make({3, 5}), indices({2}));
    margins(make({3, 5}), indices({3, 1}));
    margins(make({3, 5}), make({3}, at::kInt));
    margins(make({3, 5}, at::kHalf), indices({3}));
    margins(make({3, 5}), indices({3}), make({3}));
    margins(make({3, 5}), indices({3}), make({5, 1}));
    margins(make({3, 5}), indices({3}), make({5}, at::kDouble));
    for (const char* op : {"aten::multilabel_margin_loss",
                           "aten::multilabel_margin_loss_forward"}) {
      const auto labels = [&](const Tensor& self, const Tensor& target) {
        check({op, {self, target, reduction}});
      };
      for (const Tensor& target : layouts({3, 5}, at::kLong))
        labels(make({3, 5}), at::sub(target, 1));
      labels(make({0, 5}), indices({0, 5}));
      labels(make({5}), indices({5}));
      labels(make({1}), indices({}));
      labels(make({}), indices({1}));
      labels(make({3, 0}), indices({3, 0}));
      labels(make({3, 5}), indices({3, 4}));
      labels(make({1, 5}), indices({5}));
      labels(make({2, 3, 5}), indices({2, 3, 5}));
      labels(make({3, 5}), make({3, 5}, at::kInt));
      labels(make({3, 5}, at::kHalf), indices({3, 5}));
    }
  }
  check({"aten::multi_margin_loss", {make({3, 5}), indices({3}), 2}});
  check({"aten::multi_margin_loss", {make({3, 5}), indices({3}), 3}});
}

TEST(ShapeFunctions, SegmentsAlongADimension) {
  const auto segments = [](const Tensor& data, const char* by,
                           const Tensor& places, int64_t axis,
                           bool unsafe = false) {
    return Row{"aten::segment_reduce",
               {data, std::string("sum")},
               {{by, places}, {"axis", axis}, {"unsafe", unsafe}}};
  };
  const Tensor lengths = at::full({2}, 2, at::kLong);
  const Tensor offsets = at::arange(0, 5, 2, at::kLong);
  const Tensor rows = lengths.expand({3, 2});
  check_all({segments(make({4}), "lengths", lengths, 0),
             segments(make({4, 3}), "lengths", lengths.to(at::kInt), 0),
             segments(make({3, 4, 2}), "lengths", rows, 1),
             segments(make({3, 4, 2}), "lengths", rows, -2),
             segments(make({0}), "lengths", indices({2}), 0),
             segments(make({0}), "lengths", indices({0}), 0),
             segments(make({0}), "lengths", indices({0}), 0, true),
             segments(make({4}), "offsets", offsets, 0),
             segments(make({3, 4}), "offsets", offsets.expand({3, 3}), 1),
             segments(make({4}), "offsets", offsets.slice(0, 0, 1), 0),
             segments(make({4}), "offsets", offsets.slice(0, 0, 0), 0),
             segments(make({4, 4}), "lengths", lengths, 1),
             segments(make({4}), "lengths", rows, 0),
             segments(make({4}), "lengths", lengths.to(at::kFloat), 0),
             segments(make({4}, at::kInt), "lengths", lengths, 0),
             {"aten::segment_reduce", {make({4}), std::string("sum")}},
             {"aten::segment_reduce",
              {make({4}), std::string("first")},
              {{"lengths", lengths}}},
             {"aten::segment_reduce",
              {make({4}), std::string("sum")},
              {{"lengths", lengths}, {"offsets", offsets.slice(0, 0, 3, 2)}}},
             {"aten::segment_reduce",
              {make({4}), std::string("sum")},
              {{"indices", lengths}}}});
  // The kernel reads rows that are not there.
  check_refused(segments(make({50, 4, 2}), "lengths", rows, 1));
  check_refused(segments(make({50, 4}), "offsets", offsets.expand({3, 3}), 1));
}

TEST(ShapeFunctions, PlacesOfMaximaOfVolumes) {
  const auto row = [](const Tensor& self, const Tensor& places,
                      std::vector<int64_t> stride = {2, 2, 2},
                      std::vector<int64_t> out = {4, 4, 5}) {
    return Row{"aten::max_unpool3d",
               {self, places, out, stride, std::vector<int64_t>{0, 0, 0}}};
  };
  const Tensor places = indices({1, 2, 2, 2, 3});
  for (const Tensor& self : layouts({1, 2, 2, 2, 3})) check(row(self, places));
  check(row(make({1, 2, 2, 2, 3}).contiguous(at::MemoryFormat::ChannelsLast3d),
            places));
  for (const Tensor& self : layouts({2, 2, 2, 3}))
    check(row(self, indices({2, 2, 2, 3})));
  const Tensor self = make({1, 2, 2, 2, 3});
  check_all(
      {row(make({0, 2, 2, 2, 3}), indices({0, 2, 2, 2, 3})),
       row(make({1, 0, 2, 2, 3}), indices({1, 0, 2, 2, 3})),
       row(make({1, 2, 0, 2, 3}), indices({1, 2, 0, 2, 3})),
       row(self, indices({1, 2, 2, 2, 2})), row(self, places.to(at::kInt)),
       row(self.to(at::kInt), places), row(self, places, {0, 2, 2}),
       row(self, places, {2, 2}), row(self, places, {2, 2, 2}, {4, -4, -5}),
       row(self, places, {2, 2, 2}, {4, 4}), row(self[0][0], places[0][0])});
  check({"aten::max_unpool2d",
         {make({1, 2, 0, 3}), indices({1, 2, 0, 3}),
          std::vector<int64_t>{4, 4}}});
}

TEST(ShapeFunctions, EmbeddingAndOneHot) {
  for (const Tensor& i : layouts({2, 3}, at::kLong)) {
    check({"aten::embedding", {make({10, 4}), i}});
    check({"aten::one_hot", {i, 5}});
  }
  check({"aten::embedding", {make({10, 4}), indices({})}});
  check({"aten::embedding", {make({10, 4}), make({2})}});
}

// --- indexing

IValue optional_tensors(std::vector<Tensor> tensors) {
  c10::List<std::optional<Tensor>> list;
  for (const Tensor& t : tensors) {
    list.push_back(t.defined() ? std::optional<Tensor>(t) : std::nullopt);
  }
  return list;
}

TEST(ShapeFunctions, IndexPutsTheIndexShapeInPlace) {
  Tensor i = indices({4}), j = indices({2, 1}), none;
  for (const Tensor& x : layouts({3, 4, 5})) {
    for (const auto& index :
         std::vector<std::vector<Tensor>>{{i},
                                          {none, i},
                                          {none, none, j},
                                          {i, j},
                                          {i, none, j},
                                          {none, i, i},
                                          {j, j, j},
                                          {indices({})},
                                          {indices({0})},
                                          {i, none, none, i},
                                          {i, indices({3})}}) {
      check({"aten::index.Tensor", {x, optional_tensors(index)}});
      check({"aten::index_put", {x, optional_tensors(index), make({})}});
    }
  }
  check(
      {"aten::index_put", {make({3, 4}), optional_tensors({i}), make({4, 4})}});
  check(
      {"aten::index_put", {make({3, 4}), optional_tensors({i}), make({3, 4})}});
}

TEST(ShapeFunctions, GatherAndScatter) {
  for (const Tensor& x : layouts({3, 4})) {
    for (int64_t dim : {0, 1, -1}) {
      check({"aten::gather", {x, dim, indices({2, 3})}});
      check({"aten::gather", {x, dim, indices({5, 3})}});
      check({"aten::gather", {x, dim, indices({2})}});
      check({"aten::scatter.value", {x, dim, indices({2, 3}), 1}});
      check({"aten::scatter.src", {x, dim, indices({2, 3}), make({3, 3})}});
      check({"aten::scatter.src", {x, dim, indices({2, 3}), make({1, 3})}});
      check({"aten::scatter_add", {x, dim, indices({2, 3}), make({3, 3})}});
      check({"aten::index_select", {x, dim, indices({5})}});
      check({"aten::index_add",
             {x, dim, indices({2}),
              make(dim == 0 ? ints({2, 4}) : ints({3, 2}))}});
      check({"aten::take_along_dim", {x, indices({3, 1}), 1}});
    }
    check({"aten::take", {x, indices({2, 2})}});
    check({"aten::masked_fill.Scalar", {x, make({4}, at::kBool), 1}});
    check({"aten::masked_fill.Scalar", {x, make({2, 3, 4}, at::kBool), 1}});
    check({"aten::tril", {x}});
    check({"aten::triu", {x, 1}});
    check({"aten::roll", {x, ints({1}), ints({0})}});
    check({"aten::roll", {x, ints({1})}});
    check({"aten::flip", {x, ints({0, 1})}});
    check({"aten::repeat", {x, ints({2, 1})}});
    check({"aten::repeat", {x, ints({2, 1, 3})}});
    check({"aten::repeat", {x, ints({2})}});
    check({"aten::tile", {x, ints({2})}});
    check({"aten::repeat_interleave.self_int", {x, 2}});
    check({"aten::repeat_interleave.self_int", {x, 2, 0}});
    check({"aten::repeat_interleave.self_int", {x, 2, 1}});
    check({"aten::diff", {x}});
    check({"aten::diff", {x, 2, 0}});
    check({"aten::diff", {x, 5, 0}});
    check({"aten::diag_embed", {x}});
    check({"aten::bucketize.Tensor", {x, make({4})}});
    check({"aten::searchsorted.Tensor", {make({4}), x}});
    check({"aten::isin.Tensor_Tensor", {x, make({4})}});
    check({"aten::slice_scatter", {x, make({1, 4}), 0, 0, 1}});
    check({"aten::glu", {x, 1}});
    check({"aten::glu", {x, 0}});
  }
}

TEST(ShapeFunctions, CatSkipsLegacyEmptyTensors) {
  using Tensors = std::vector<Tensor>;
  for (const Tensor& x : layouts({2, 3, 4, 5})) {
    for (int64_t dim : {0, 1, -1}) {
      check({"aten::cat", {Tensors{x, x}, dim}});
      check({"aten::cat", {Tensors{x, make({2, 3, 4, 5})}, dim}});
      check({"aten::cat", {Tensors{make({0}), x}, dim}});
      check({"aten::cat", {Tensors{x, make({1, 3, 4, 5})}, dim}});
      check({"aten::stack", {Tensors{x, x}, dim}});
    }
  }
  check({"aten::cat", {Tensors{make({2}), make({3}, at::kLong)}}});
  check({"aten::cat", {Tensors{make({2, 3}), make({3})}}});
  check({"aten::cat", {Tensors{make({}), make({})}}});
  check({"aten::cat", {Tensors{make({0}), make({0})}}});
  check({"aten::stack", {Tensors{make({2}), make({3})}, 0}});
  check({"aten::stack", {Tensors{make({}), make({})}, 0}});
}

// --- composites, recorded whole

TEST(ShapeFunctions, CompositesComputeByTheirDefinition) {
  Tensor a = make({3, 4}), b = make({4, 5});
  using Tensors = std::vector<Tensor>;
  check_all({
      {"aten::einsum", {"ij,jk->ik", Tensors{a, b}, IValue()}},
      {"aten::einsum", {"ij->ji", Tensors{a}, IValue()}},
      {"aten::outer", {make({3}), make({4})}},
      {"aten::inner", {a, a}},
      {"aten::hstack", {Tensors{a, a}}},
      {"aten::vstack", {Tensors{a, a}}},
      {"aten::isclose", {a, a}},
      {"aten::float_power.Tensor_Scalar", {a, 2}},
      {"aten::tensordot", {a, b, ints({1}), ints({0})}},
      {"aten::cosine_similarity", {a, a}},
      {"aten::fliplr", {a}},
      {"aten::meshgrid.indexing", {Tensors{make({2}), make({3})}, "ij"}},
      {"aten::meshgrid.indexing", {Tensors{make({2}), make({3})}, "xy"}},
      {"aten::trapz.dx", {a}},
      {"aten::linalg_norm", {a}},
      {"aten::sum_to_size", {a, ints({1, 4})}},
      {"aten::kron", {make({2, 2}), make({3, 2})}},
      {"aten::cdist", {a, make({6, 4})}},
      {"aten::atleast_3d", {a}},
  });
}

// --- what is asked of symbols: guards, assertions, fresh symbols

IValue run(const std::string& op, Args args, Named named = {}) {
  Row row{op, std::move(args), std::move(named)};
  auto handle = find_op(op);
  c10::Stack stack = stack_of(row, handle);
  handle.callBoxed(stack);
  return stack.empty() ? IValue() : stack.front();
}

// A contiguous input of these sizes; its example is made outside the trace.
Tensor input(Tracer& tracer, const std::string& name, at::IntArrayRef sizes) {
  Tensor example;
  {
    const c10::impl::ExcludeDispatchKeyGuard outside(kTraceKey);
    example = make(sizes);
  }
  return tracer.add_input(name, example);
}

std::vector<std::string> guards_of(Tracer& tracer) {
  std::vector<std::string> result;
  for (const Guard& guard : tracer.env().guards()) {
    result.push_back(to_string(guard.condition));
  }
  return result;
}

std::vector<std::string> asserts_of(Tracer& tracer) {
  std::vector<std::string> result;
  for (const RuntimeAssert& check : tracer.env().runtime_asserts()) {
    result.push_back(to_string(check.condition));
  }
  return result;
}

std::string sizes_of(const IValue& value) {
  std::ostringstream text;
  text << value.toTensor().sym_sizes();
  return text.str();
}

std::string strides_of(const IValue& value) {
  std::ostringstream text;
  text << value.toTensor().sym_strides();
  return text.str();
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ShapeGuards, TheTutorialModelNeedsThreeEqualities) {
  Tensor weight = make({3, 5}), bias = make({3});
  Tracer tracer;
  tracer.add_parameter("l.weight", weight);
  tracer.add_parameter("l.bias", bias);
  Tensor w = input(tracer, "w", {6, 5});
  Tensor x = input(tracer, "x", {4});
  Tensor y = input(tracer, "y", {8, 4});
  Tensor z = input(tracer, "z", {32});
  IValue x0 = run("aten::add.Tensor", {x, y});
  EXPECT_THAT(guards_of(tracer), ElementsAre("Eq(s2, s4)"));
  IValue x1 = run("aten::linear", {w, weight, bias});
  EXPECT_EQ(sizes_of(x1), "[s0, 3]");
  EXPECT_THAT(guards_of(tracer), ElementsAre("Eq(s2, s4)", "Eq(s1, 5)"));
  IValue x2 = run("aten::flatten.using_ints", {x0, 0, -1});
  EXPECT_EQ(guards_of(tracer).size(), 2u);
  IValue x3 = run("aten::add.Tensor", {x2, z});
  EXPECT_EQ(guards_of(tracer).size(), 3u);
  EXPECT_EQ(guards_of(tracer)[2], "Eq(s2*s3, s5)");
}

TEST(ShapeGuards, ConvolutionalNetWithDynamicSizesNeedsNone) {
  Tensor w1 = make({8, 3, 7, 7}), w2 = make({8, 8, 3, 3}), c = make({8});
  Tensor example = make({2, 3, 64, 48}), fc = make({10, 8});
  std::vector<int64_t> one{1}, two{2}, three{3};
  Tracer tracer;
  int n = 0;
  for (const Tensor& p : {w1, w2, c, fc}) {
    tracer.add_parameter("p" + std::to_string(n++), p);
  }
  TensorDims dims{Dim::automatic(), Dim::fixed(), Dim::automatic(),
                  Dim::automatic()};
  IValue x = tracer.add_input("x", example, dims);
  x = run("aten::conv2d", {x, w1, IValue(), two, three});
  x = run("aten::batch_norm", {x, c, c, c, c, false, 0.1, 1e-5, true});
  x = run("aten::relu", {x});
  x = run("aten::max_pool2d", {x, three, two, one});
  IValue shortcut = x;
  x = run("aten::conv2d", {x, w2, IValue(), one, one});
  x = run("aten::add.Tensor", {x, shortcut});
  x = run("aten::adaptive_avg_pool2d", {x, std::vector<int64_t>{1, 1}});
  x = run("aten::flatten.using_ints", {x, 1, -1});
  x = run("aten::linear", {x, fc});
  EXPECT_EQ(sizes_of(x), "[s0, 10]");
  EXPECT_THAT(guards_of(tracer), IsEmpty());
}

TEST(ShapeGuards, HeadsOfAttentionNeedNone) {
  Tensor example = make({2, 7, 32});
  Tracer tracer;
  TensorDims dims{Dim::automatic(), Dim::automatic(), Dim::fixed()};
  Tensor x = tracer.add_input("x", example, dims);
  auto heads = [&] {
    Tensor h = x.unflatten(-1, {4, 8});
    return h.transpose(1, 2);
  };
  IValue out =
      run("aten::scaled_dot_product_attention", {heads(), heads(), heads()});
  EXPECT_EQ(sizes_of(out), "[s0, 4, s1, 8]");
  EXPECT_EQ(strides_of(out), "[32*s1, 8, 32, 1]");
  IValue merged = run("aten::transpose.int", {out, 1, 2});
  merged = run("aten::flatten.using_ints", {merged, 2, 3});
  EXPECT_EQ(sizes_of(merged), "[s0, s1, 32]");
  EXPECT_EQ(strides_of(merged), "[32*s1, 32, 1]");
  EXPECT_THAT(guards_of(tracer), IsEmpty());
}

TEST(ShapeGuards, MismatchesSpeakEagersWords) {
  Tracer tracer;
  Tensor a = input(tracer, "a", {4});
  Tensor b = input(tracer, "b", {5});
  try {
    run("aten::add.Tensor", {a, b});
    FAIL() << "4 and 5 do not broadcast";
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what_without_backtrace(),
                 "The size of tensor a (s0) must match the size of tensor b "
                 "(s1) at non-singleton dimension 0");
  }
}

TEST(ShapeGuards, ViewsInferBySharingFactors) {
  Tracer tracer;
  Tensor x = input(tracer, "x", {6, 4, 10});
  IValue y = run("aten::view", {x, std::vector<int64_t>{-1, 5}});
  EXPECT_THAT(guards_of(tracer), ElementsAre(testing::HasSubstr("Mod(")));
  c10::List<IValue> wanted(c10::AnyType::get());
  c10::SymInt merged = x.sym_size(0) * x.sym_size(1);
  wanted.push_back(IValue(merged));
  wanted.push_back(IValue(-1));
  size_t before = guards_of(tracer).size();
  IValue z = run("aten::view", {x, wanted});
  EXPECT_EQ(sizes_of(z), "[s0*s1, s2]");
  EXPECT_EQ(guards_of(tracer).size(), before);
}

TEST(Unbacked, NonzeroFindsAtMostAll) {
  Tracer tracer;
  Tensor x = input(tracer, "x", {6, 5});
  IValue found = run("aten::nonzero", {x});
  EXPECT_EQ(sizes_of(found), "[u0, 2]");
  ShapeEnv& env = tracer.env();
  Expr u0 = to_expr(env, found.toTensor().sym_size(0));
  Expr all = to_expr(env, x.sym_numel());
  EXPECT_TRUE(env.statically_known_true(ge(u0, env.pool().integer(0))));
  EXPECT_TRUE(env.statically_known_true(le(u0, all)));
  EXPECT_THAT(guards_of(tracer), IsEmpty());
}

TEST(Unbacked, MasksChooseAndBroadcastAsOne) {
  Tracer tracer;
  Tensor x = input(tracer, "x", {6, 5});
  IValue mask = run("aten::gt.Scalar", {x, 0});
  IValue chosen =
      run("aten::index.Tensor", {x, optional_tensors({mask.toTensor()})});
  EXPECT_EQ(sizes_of(chosen), "[u0]");
  IValue doubled = run("aten::add.Tensor", {chosen, chosen});
  EXPECT_EQ(sizes_of(doubled), "[u0]");
  EXPECT_THAT(guards_of(tracer), IsEmpty());
  EXPECT_THAT(asserts_of(tracer), IsEmpty());
  // The same mask has the same count; another has one of its own.
  IValue same = run("aten::masked_select", {x, mask});
  EXPECT_EQ(sizes_of(same), "[u0]");
  run("aten::add.Tensor", {chosen, same});
  EXPECT_THAT(asserts_of(tracer), IsEmpty());
  IValue other =
      run("aten::masked_select", {x, run("aten::gt.Scalar", {x, 1})});
  EXPECT_EQ(sizes_of(other), "[u1]");
  run("aten::add.Tensor", {chosen, other});
  EXPECT_THAT(asserts_of(tracer), ElementsAre("Eq(u0, u1)"));
}

TEST(Unbacked, ItemIsASymbolOfItsKind) {
  Tensor number = at::ones({}, at::kLong), flag = at::ones({}, at::kBool);
  Tensor real = at::ones({});
  Tracer tracer;
  IValue i = run("aten::item", {tracer.add_input("i", number)});
  IValue b = run("aten::item", {tracer.add_input("b", flag)});
  IValue f = run("aten::item", {tracer.add_input("f", real)});
  EXPECT_TRUE(i.isSymInt());
  EXPECT_TRUE(b.isSymBool());
  EXPECT_TRUE(f.isSymFloat());
  EXPECT_THROW(run("aten::is_nonzero", {tracer.add_input("j", number)}),
               DataDependentError);
}

TEST(Unbacked, SlicesByDataAreClampedOrFresh) {
  Tensor number = at::ones({}, at::kLong);
  Tracer tracer;
  Tensor x = input(tracer, "x", {6, 5});
  c10::SymInt u = run("aten::item", {tracer.add_input("i", number)}).toSymInt();
  // From which end u0 counts is unknown: some length within the dimension.
  IValue unknown = run("aten::slice.Tensor", {x, 0, 0, u});
  EXPECT_EQ(sizes_of(unknown), "[u1, s1]");
  run("aten::sym_constrain_range_for_size", {u});
  IValue clamped = run("aten::slice.Tensor", {x, 0, 0, u});
  EXPECT_EQ(sizes_of(clamped), "[Min(s0, u0), s1]");
  tracer.env().expect_true(
      le(to_expr(tracer.env(), u), to_expr(tracer.env(), x.sym_size(0))));
  IValue known = run("aten::slice.Tensor", {x, 0, 0, u});
  EXPECT_EQ(sizes_of(known), "[u0, s1]");
}

TEST(Unbacked, ReshapeByDataIsAsserted) {
  Tensor number = at::ones({}, at::kLong);
  Tracer tracer;
  Tensor x = input(tracer, "x", {6});
  c10::SymInt u = run("aten::item", {tracer.add_input("i", number)}).toSymInt();
  run("aten::sym_constrain_range_for_size", {u});
  c10::List<IValue> size(c10::AnyType::get());
  size.push_back(IValue(u));
  // Once they are asserted equal, the input's name speaks for both.
  EXPECT_EQ(sizes_of(run("aten::view", {x, size})), "[s0]");
  EXPECT_THAT(asserts_of(tracer), testing::Contains("Eq(s0, u0)"));
}

}  // namespace
}  // namespace proviso
