// Module: runs an exported program on real tensors through the dispatcher.
#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/scalar_tensor.h>

#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>

#include "guards/input_check.h"
#include "tracer_adapter/exported_program.h"
#include "tracer_adapter/sym_functions.h"

namespace proviso {
namespace {

using Slots = std::vector<c10::IValue>;  // by ValueId

// How one argument is put on the stack.
struct ArgumentPlan {
  enum class Kind {
    kConstant,      // as it stands
    kValue,         // slots[value]
    kNumberTensor,  // a number where the schema wants a tensor
    kDouble,        // a number where the schema wants a float
    kTensors,
    kOptionalTensors,
    kInts,
    kDoubles,
    kBools,
    kMixed,
  };
  Kind kind = Kind::kConstant;
  c10::IValue constant;
  ValueId value = kNoOutput;
  std::vector<ArgumentPlan> items;
};

at::Tensor number_tensor(const c10::IValue& value) {
  const at::Scalar scalar = value.toScalar();
  at::Tensor t = at::scalar_tensor(
      scalar,
      at::TensorOptions().dtype(scalar.isFloatingPoint() ? at::kDouble
                                : scalar.isComplex()     ? at::kComplexDouble
                                : scalar.isBoolean()     ? at::kBool
                                                         : at::kLong));
  t.unsafeGetTensorImpl()->set_wrapped_number(true);
  return t;
}

c10::IValue to_ivalue(const Argument& a) {
  if (auto v = a.get<int64_t>()) return *v;
  if (auto v = a.get<double>()) return *v;
  if (auto v = a.get<bool>()) return *v;
  if (auto v = a.get<std::string>()) return *v;
  if (auto v = a.get<c10::ScalarType>()) return static_cast<int64_t>(*v);
  if (auto v = a.get<c10::Layout>()) return static_cast<int64_t>(*v);
  if (auto v = a.get<c10::MemoryFormat>()) return static_cast<int64_t>(*v);
  if (auto v = a.get<c10::Device>()) return *v;
  if (auto v = a.get<c10::complex<double>>()) return *v;
  if (auto v = a.get<ExprArgument>())
    if (auto number = v->expr.maybe_int64()) return *number;
  TORCH_CHECK(a.is_none(), "Proviso: an argument of this graph cannot be run");
  return {};
}

const c10::Type& without_optional(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::OptionalType)
    return *type.containedTypes()[0];
  return type;
}

ArgumentPlan::Kind list_kind(const c10::Type& element) {
  switch (element.kind()) {
    case c10::TypeKind::TensorType:
      return ArgumentPlan::Kind::kTensors;
    case c10::TypeKind::OptionalType:
      return ArgumentPlan::Kind::kOptionalTensors;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return ArgumentPlan::Kind::kInts;
    case c10::TypeKind::FloatType:
      return ArgumentPlan::Kind::kDoubles;
    case c10::TypeKind::BoolType:
      return ArgumentPlan::Kind::kBools;
    default:
      return ArgumentPlan::Kind::kMixed;
  }
}

ArgumentPlan plan_argument(const Argument& a, const c10::Type& formal) {
  const c10::Type& type = without_optional(formal);
  ArgumentPlan plan;
  if (const ListArgument* list = a.get<ListArgument>()) {
    const c10::Type& element = *type.containedTypes().at(0);
    plan.kind = list_kind(element);
    bool fixed = plan.kind == ArgumentPlan::Kind::kInts;
    for (const Argument& item : list->items) {
      plan.items.push_back(plan_argument(item, element));
      fixed &= plan.items.back().kind == ArgumentPlan::Kind::kConstant;
    }
    if (fixed) {  // the common [0, 2, 1]: made once
      c10::List<int64_t> ints;
      for (const ArgumentPlan& item : plan.items)
        ints.push_back(item.constant.toInt());
      plan = {.kind = ArgumentPlan::Kind::kConstant,
              .constant = ints,
              .value = kNoOutput,
              .items = {}};
    }
    return plan;
  }
  const bool wants_tensor = type.kind() == c10::TypeKind::TensorType;
  if (const ValueRef* ref = a.get<ValueRef>()) {
    plan.value = ref->id;
    plan.kind = wants_tensor ? ArgumentPlan::Kind::kNumberTensor
                : type.kind() == c10::TypeKind::FloatType
                    ? ArgumentPlan::Kind::kDouble
                    : ArgumentPlan::Kind::kValue;
    return plan;
  }
  plan.constant = to_ivalue(a);
  if (wants_tensor && !plan.constant.isNone())
    plan.constant = number_tensor(plan.constant);
  if (type.kind() == c10::TypeKind::FloatType && plan.constant.isInt())
    plan.constant = static_cast<double>(plan.constant.toInt());
  return plan;
}

c10::IValue evaluate_argument(const ArgumentPlan& plan, const Slots& slots);

template <typename T, typename Convert>
c10::IValue evaluate_list(const ArgumentPlan& plan, const Slots& slots,
                          const Convert& convert) {
  c10::List<T> list;
  list.reserve(plan.items.size());
  for (const ArgumentPlan& item : plan.items)
    list.push_back(convert(evaluate_argument(item, slots)));
  return list;
}

double to_double(const c10::IValue& v) {
  return v.isDouble() ? v.toDouble()
         : v.isBool() ? static_cast<double>(v.toBool())
                      : static_cast<double>(v.toInt());
}

c10::IValue evaluate_argument(const ArgumentPlan& plan, const Slots& slots) {
  using Kind = ArgumentPlan::Kind;
  switch (plan.kind) {
    case Kind::kConstant:
      return plan.constant;
    case Kind::kValue:
      return slots[plan.value];
    case Kind::kNumberTensor: {
      const c10::IValue& v = slots[plan.value];
      return v.isTensor() ? v : c10::IValue(number_tensor(v));
    }
    case Kind::kDouble:
      return to_double(slots[plan.value]);
    case Kind::kTensors:
      return evaluate_list<at::Tensor>(
          plan, slots, [](const c10::IValue& v) { return v.toTensor(); });
    case Kind::kOptionalTensors:
      return evaluate_list<std::optional<at::Tensor>>(
          plan, slots, [](const c10::IValue& v) -> std::optional<at::Tensor> {
            if (v.isNone()) return std::nullopt;
            return v.toTensor();
          });
    case Kind::kInts:
      return evaluate_list<int64_t>(
          plan, slots, [](const c10::IValue& v) { return v.toInt(); });
    case Kind::kDoubles:
      return evaluate_list<double>(plan, slots, to_double);
    case Kind::kBools:
      return evaluate_list<bool>(
          plan, slots, [](const c10::IValue& v) { return v.toBool(); });
    case Kind::kMixed: {
      c10::impl::GenericList list(c10::NumberType::get());
      for (const ArgumentPlan& item : plan.items)
        list.push_back(evaluate_argument(item, slots));
      return list;
    }
  }
  return {};
}

// One node, ready to run.
struct Step {
  enum class Kind { kOperator, kFunction, kSize, kAssert };
  Kind kind = Kind::kOperator;
  std::optional<c10::OperatorHandle> op;
  SymFunction function = nullptr;
  std::vector<ArgumentPlan> args;
  const std::vector<Node::Output>* outputs = nullptr;
  std::vector<ValueId> dead;  // not read after this step
};

Step plan_node(const Node& node) {
  Step step;
  step.outputs = &node.outputs;
  TORCH_CHECK_NOT_IMPLEMENTED(
      node.kind != Node::Kind::kHigherOrder, "Proviso: Module: ", node.target,
      " takes sub-graphs, which module() does not run yet; save the program "
      "and run it with torch.export.load");
  if (node.kind == Node::Kind::kSymbolic) {
    step.kind = Step::Kind::kFunction;
    step.function = find_sym_function(node.target);
    TORCH_CHECK(step.function != nullptr, "Proviso: Module: the graph calls ",
                node.target, ", which is no known function of numbers");
    for (const Argument& a : node.args)
      step.args.push_back(plan_argument(a, *c10::NumberType::get()));
    return step;
  }
  step.op = node.op;
  if (node.target == "aten.sym_size.int") step.kind = Step::Kind::kSize;
  if (node.target == "aten._assert_scalar.default")
    step.kind = Step::Kind::kAssert;
  const auto& formals = node.op->schema().arguments();
  for (size_t i = 0; i < node.args.size(); ++i)
    step.args.push_back(plan_argument(node.args[i], *formals[i].type()));
  return step;
}

void store(const Step& step, c10::Stack& stack, Slots& slots) {
  for (size_t i = 0; i < step.outputs->size(); ++i) {
    const Node::Output& output = (*step.outputs)[i];
    if (output.is_list) {
      size_t k = 0;
      for (const at::Tensor& t : stack[i].toTensorList()) {
        if (k < output.values.size() && output.values[k] != kNoOutput)
          slots[output.values[k]] = t;
        ++k;
      }
    } else if (!output.values.empty() && output.values[0] != kNoOutput) {
      slots[output.values[0]] = std::move(stack[i]);
    }
  }
}

void run_step(const Step& step, Slots& slots, c10::Stack& stack) {
  stack.clear();
  for (const ArgumentPlan& arg : step.args)
    stack.push_back(evaluate_argument(arg, slots));
  switch (step.kind) {
    case Step::Kind::kOperator:
      step.op->callBoxed(stack);
      break;
    case Step::Kind::kFunction: {
      c10::IValue result = step.function(stack);
      stack.assign(1, std::move(result));
      break;
    }
    case Step::Kind::kSize: {
      const int64_t size = stack[0].toTensor().size(stack[1].toInt());
      stack.assign(1, size);
      break;
    }
    case Step::Kind::kAssert:
      TORCH_CHECK(to_double(stack[0]) != 0, stack[1].toStringRef());
      stack.clear();
      break;
  }
  store(step, stack, slots);
  for (ValueId id : step.dead) slots[id] = {};
}

// Where an input dimension's value is found.
struct InputPlace {
  size_t input = 0;
  std::optional<size_t> dim;  // none: the input is the number itself
};

std::string shown(const c10::IValue& value) {
  if (value.isTensor()) return "a tensor";
  if (value.isNone()) return "None";
  std::ostringstream out;
  if (value.isBool())
    out << (value.toBool() ? "True" : "False");
  else
    out << value;
  return out.str();
}

bool same_value(const c10::IValue& a, const c10::IValue& b) {
  if (a.isNone() || b.isNone()) return a.isNone() && b.isNone();
  if (a.isString() && b.isString()) return a.toStringRef() == b.toStringRef();
  if (a.isDevice() && b.isDevice()) return a.toDevice() == b.toDevice();
  if (a.isInt() && b.isInt()) return a.toInt() == b.toInt();
  if (a.isBool() && b.isBool()) return a.toBool() == b.toBool();
  return a.isDouble() && b.isDouble() && a.toDouble() == b.toDouble();
}

}  // namespace

struct Module::Impl {
  explicit Impl(ExportedProgram p);
  void find_dead_values();
  void find_places();
  void check_tensor(const InputSpec& input, const TensorMeta& meta,
                    const c10::IValue& value) const;
  void check_input(const InputSpec& input, const c10::IValue& value) const;
  void check(const std::vector<c10::IValue>& inputs) const;
  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs) const;

  ExportedProgram program;
  InputCheck input_check;
  std::vector<Step> steps;
  std::vector<const InputSpec*> user_inputs;
  std::vector<std::pair<ValueId, at::Tensor>> owned;
  std::vector<InputPlace> places;  // of env.input_dims()
};

Module::Impl::Impl(ExportedProgram p)
    : program(std::move(p)), input_check(*program.env) {
  for (const InputSpec& input : program.graph.inputs) {
    if (input.kind == InputKind::kUserInput)
      user_inputs.push_back(&input);
    else
      owned.emplace_back(input.arg.get<ValueRef>()->id,
                         program.tensor_of(input));
  }
  for (const Node& node : program.graph.nodes) steps.push_back(plan_node(node));
  find_dead_values();
  find_places();
}

void Module::Impl::find_dead_values() {
  const Graph& graph = program.graph;
  std::vector<bool> read(graph.values.size(), false);
  for (const OutputSpec& output : graph.outputs)
    for_each_reference(output.arg, [&](ValueId id) { read[id] = true; });
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const auto note = [&](ValueId id) {
      if (!read[id]) steps[i].dead.push_back(id);
      read[id] = true;
    };
    for_each_output(graph.nodes[i], note);
    for (const Argument& a : graph.nodes[i].args) for_each_reference(a, note);
  }
}

void Module::Impl::find_places() {
  std::unordered_map<std::string, InputPlace> by_source;
  for (size_t i = 0; i < user_inputs.size(); ++i) {
    const ValueRef* ref = user_inputs[i]->arg.get<ValueRef>();
    if (ref == nullptr) continue;
    const GraphValue& value = program.graph.value(ref->id);
    const std::string& source = user_inputs[i]->source;
    if (!value.is_tensor()) {
      by_source[source] = {i, std::nullopt};
      continue;
    }
    for (size_t d = 0; d < value.tensor().sizes.size(); ++d)
      by_source[source + ".size()[" + std::to_string(d) + "]"] = {i, d};
  }
  for (const InputDim& dim : program.env->input_dims()) {
    auto found = by_source.find(dim.source);
    TORCH_CHECK(found != by_source.end(),
                "Proviso: Module: no input has the "
                "source ",
                dim.source,
                "; inputs must keep the source they "
                "were traced with");
    places.push_back(found->second);
  }
}

void Module::Impl::check_tensor(const InputSpec& input, const TensorMeta& meta,
                                const c10::IValue& value) const {
  TORCH_CHECK_TYPE(value.isTensor() && value.toTensor().defined(),
                   "Guard failed: ", input.name, " is a tensor (", input.name,
                   " is ", shown(value), ")");
  const at::Tensor& t = value.toTensor();
  TORCH_CHECK(t.dim() == static_cast<int64_t>(meta.sizes.size()),
              "Guard failed: ", input.name, ".dim() == ", meta.sizes.size(),
              " (", input.name, ".dim() is ", t.dim(), ")");
  TORCH_CHECK(t.scalar_type() == meta.dtype, "Guard failed: ", input.name,
              ".dtype == ", python_name(meta.dtype), " (", input.name,
              ".dtype is ", python_name(t.scalar_type()), ")");
  TORCH_CHECK(t.device() == meta.device, "Guard failed: ", input.name,
              ".device == ", meta.device, " (", input.name, ".device is ",
              t.device(), ")");
}

void Module::Impl::check_input(const InputSpec& input,
                               const c10::IValue& value) const {
  const ValueRef* ref = input.arg.get<ValueRef>();
  if (ref == nullptr) {
    TORCH_CHECK(same_value(to_ivalue(input.arg), value),
                "Guard failed: ", input.name,
                " == ", program.graph.to_string(input.arg), " (", input.name,
                " is ", shown(value), ")");
    return;
  }
  const GraphValue& expected = program.graph.value(ref->id);
  if (expected.is_tensor())
    return check_tensor(input, expected.tensor(), value);
  const bool fits = expected.expr().is_int() ? value.isInt() : value.isDouble();
  TORCH_CHECK_TYPE(fits, "Guard failed: ", input.name, " is ",
                   expected.expr().is_int() ? "an integer" : "a float", " (",
                   input.name, " is ", shown(value), ")");
}

void Module::Impl::check(const std::vector<c10::IValue>& inputs) const {
  TORCH_CHECK_VALUE(inputs.size() == user_inputs.size(),
                    "Proviso: the exported program takes ", user_inputs.size(),
                    " inputs, but got ", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    check_input(*user_inputs[i], inputs[i]);
  std::vector<int64_t> values;
  values.reserve(places.size());
  for (const InputPlace& place : places) {
    const c10::IValue& input = inputs[place.input];
    values.push_back(place.dim ? input.toTensor().size(*place.dim)
                               : input.toInt());
  }
  if (std::optional<std::string> problem = input_check.problem(values))
    TORCH_CHECK(false, *problem);
}

std::vector<c10::IValue> Module::Impl::run(
    std::vector<c10::IValue> inputs) const {
  const at::NoGradGuard no_grad;
  Slots slots(program.graph.values.size());
  for (const auto& [id, tensor] : owned) slots[id] = tensor;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const ValueRef* ref = user_inputs[i]->arg.get<ValueRef>())
      slots[ref->id] = std::move(inputs[i]);
  c10::Stack stack;
  for (const Step& step : steps) run_step(step, slots, stack);
  std::vector<c10::IValue> outputs;
  for (const OutputSpec& output : program.graph.outputs) {
    const ValueRef* ref = output.arg.get<ValueRef>();
    outputs.push_back(ref ? slots[ref->id] : to_ivalue(output.arg));
  }
  return outputs;
}

Module::Module(ExportedProgram program)
    : impl_(std::make_shared<const Impl>(std::move(program))) {}

const ExportedProgram& Module::program() const { return impl_->program; }

void Module::check(const std::vector<c10::IValue>& inputs) const {
  impl_->check(inputs);
}

std::vector<c10::IValue> Module::run_unchecked(
    std::vector<c10::IValue> inputs) const {
  return impl_->run(std::move(inputs));
}

std::vector<c10::IValue> Module::run(std::vector<c10::IValue> inputs) const {
  impl_->check(inputs);
  return impl_->run(std::move(inputs));
}

std::vector<at::Tensor> Module::operator()(
    std::vector<at::Tensor> inputs) const {
  std::vector<at::Tensor> outputs;
  for (c10::IValue& v : run({inputs.begin(), inputs.end()}))
    outputs.push_back(v.isTensor() ? v.toTensor() : number_tensor(v));
  return outputs;
}

}  // namespace proviso
