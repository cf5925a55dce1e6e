#include "tracer_adapter/run/executable.h"

#include <ATen/core/List.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include "tracer_adapter/ir/sym_functions.h"
#include "tracer_adapter/ir/value_kind.h"
#include "tracer_adapter/rerun/symbolic_functions.h"
#include "tracer_adapter/run/checked_calls.h"
#include "tracer_adapter/run/constants.h"
#include "tracer_adapter/run/control_flow.h"
#include "tracer_adapter/tracer.h"

namespace proviso::inline v0_2 {
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

const c10::Type& without_optional(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::OptionalType)
    return *type.containedTypes()[0];
  return type;
}

ArgumentPlan::Kind list_kind(const c10::Type& element) {
  switch (element.kind()) {
    case c10::TypeKind::TensorType: return ArgumentPlan::Kind::kTensors;
    case c10::TypeKind::OptionalType:
      return ArgumentPlan::Kind::kOptionalTensors;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: return ArgumentPlan::Kind::kInts;
    case c10::TypeKind::FloatType: return ArgumentPlan::Kind::kDoubles;
    case c10::TypeKind::BoolType: return ArgumentPlan::Kind::kBools;
    default: return ArgumentPlan::Kind::kMixed;
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
  if (v.isDouble()) return v.toDouble();
  if (v.isSymFloat()) return v.toSymFloat().guard_float(__FILE__, __LINE__);
  if (v.isBool()) return static_cast<double>(v.toBool());
  TORCH_CHECK_TYPE(v.isInt() || v.isSymInt(), "a real number is needed");
  return static_cast<double>(v.toInt());
}

// What eager makes of a number that is not known: its value is nowhere read.
at::Tensor symbolic_number_tensor(const c10::IValue& value) {
  const at::Tensor t = make_fake({}, {},
                                 value.isSymInt()     ? at::kLong
                                 : value.isSymFloat() ? at::kDouble
                                                      : at::kBool,
                                 c10::kCPU);
  t.unsafeGetTensorImpl()->set_wrapped_number(true);
  return t;
}

c10::IValue as_tensor(const c10::IValue& value) {
  if (value.isTensor()) return value;
  if (is_symbolic_number(value)) return symbolic_number_tensor(value);
  return number_tensor(value);
}

c10::IValue evaluate_sym_ints(const ArgumentPlan& plan, const Slots& slots) {
  c10::impl::GenericList list(c10::SymIntType::get());
  for (const ArgumentPlan& item : plan.items)
    list.push_back(evaluate_argument(item, slots).toSymInt());
  return list;
}

c10::IValue evaluate_ints(const ArgumentPlan& plan, const Slots& slots) {
  c10::List<int64_t> ints;
  ints.reserve(plan.items.size());
  for (const ArgumentPlan& item : plan.items) {
    const c10::IValue value = evaluate_argument(item, slots);
    if (value.isSymInt()) return evaluate_sym_ints(plan, slots);
    ints.push_back(value.toInt());
  }
  return ints;
}

c10::IValue evaluate_argument(const ArgumentPlan& plan, const Slots& slots) {
  using Kind = ArgumentPlan::Kind;
  switch (plan.kind) {
    case Kind::kConstant: return plan.constant;
    case Kind::kValue: return slots[plan.value];
    case Kind::kNumberTensor: return as_tensor(slots[plan.value]);
    case Kind::kDouble: return to_double(slots[plan.value]);
    case Kind::kTensors:
      return evaluate_list<at::Tensor>(
          plan, slots, [](const c10::IValue& v) { return v.toTensor(); });
    case Kind::kOptionalTensors:
      return evaluate_list<std::optional<at::Tensor>>(
          plan, slots, [](const c10::IValue& v) -> std::optional<at::Tensor> {
            if (v.isNone()) return std::nullopt;
            return v.toTensor();
          });
    case Kind::kInts: return evaluate_ints(plan, slots);
    case Kind::kDoubles: return evaluate_list<double>(plan, slots, to_double);
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

}  // namespace

// One node, ready to run.
struct Executable::Step {
  enum class Kind { kOperator, kFunction, kSize, kAssert, kHigherOrder };
  Kind kind = Kind::kOperator;
  std::optional<c10::OperatorHandle> op;
  SymFunction function = nullptr;
  std::string target;
  std::vector<ArgumentPlan> args;
  const std::vector<Node::Output>* outputs = nullptr;
  std::vector<ValueKind> kinds;  // by output that is no list
  std::vector<ValueId> reads;
  std::vector<ValueId> dead;  // not read after this step
  // kHigherOrder: its sub-graphs; `args` are the others, lists as kMixed.
  ControlFlow control = nullptr;
  std::vector<Executable> graphs;
};

namespace {

using Step = Executable::Step;

ArgumentPlan plan_list(std::span<const Argument> items) {
  ArgumentPlan plan;
  plan.kind = ArgumentPlan::Kind::kMixed;
  for (const Argument& item : items)
    plan.items.push_back(plan_argument(item, *c10::NumberType::get()));
  return plan;
}

void plan_higher_order(const Node& node, Step& step) {
  step.kind = Step::Kind::kHigherOrder;
  step.control = find_control_flow(node.target);
  TORCH_CHECK_NOT_IMPLEMENTED(step.control != nullptr,
                              "Proviso: Module: the graph calls ", node.target,
                              ", which module() cannot run");
  for (const Argument& a : node.args) {
    if (const GraphArgument* graph = a.get<GraphArgument>())
      step.graphs.emplace_back(*graph->graph);
    else if (const ListArgument* list = a.get<ListArgument>())
      step.args.push_back(plan_list(list->items));
    else if (!is_mode_block(node))
      step.args.push_back(plan_argument(a, *c10::NumberType::get()));
  }
  if (!is_mode_block(node)) return;
  // Two lists: the mode, and the operands.
  const auto body = std::find_if(
      node.args.begin(), node.args.end(),
      [](const Argument& a) { return a.get<GraphArgument>() != nullptr; });
  step.args = {plan_list({node.args.begin(), body}),
               plan_list({body + 1, node.args.end()})};
}

Step plan_node(const Graph& graph, const Node& node) {
  Step step;
  step.outputs = &node.outputs;
  step.target = node.target;
  for (const Node::Output& output : node.outputs)
    step.kinds.push_back(output.is_list || output.values.empty() ||
                                 output.values[0] == kNoOutput
                             ? ValueKind::kNone
                             : kind_of(graph.value(output.values[0])));
  if (node.kind == Node::Kind::kHigherOrder) {
    plan_higher_order(node, step);
    return step;
  }
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

std::string_view kind_name(const c10::IValue& value) {
  if (value.isTensor()) return "a tensor";
  if (value.isInt() || value.isSymInt()) return "an integer";
  if (value.isDouble() || value.isSymFloat()) return "a float";
  return value.isBool() || value.isSymBool() ? "a truth value" : "no number";
}

// The value as the graph says it is: what reads it counts on that.
c10::IValue as_declared(c10::IValue value, ValueKind kind) {
  const bool integer = value.isInt() || value.isSymInt();
  switch (kind) {
    case ValueKind::kTensor:
      if (value.isTensor()) return value;
      break;
    case ValueKind::kInt:
      if (integer) return value;
      if (value.isBool()) return static_cast<int64_t>(value.toBool());
      break;
    case ValueKind::kFloat:
      if (value.isDouble() || value.isSymFloat()) return value;
      if (value.isInt()) return static_cast<double>(value.toInt());
      if (value.isSymInt()) return c10::SymFloat(value.toSymInt());
      break;
    case ValueKind::kBool:
      if (value.isBool() || value.isSymBool()) return value;
      break;
    default: break;
  }
  TORCH_CHECK_TYPE(false, "it gives ", kind_name(value),
                   " where the program has ", name_of(kind));
}

void store_list(const Node::Output& output, const c10::IValue& result,
                Slots& slots) {
  TORCH_CHECK_TYPE(result.isTensorList(), "it gives ", kind_name(result),
                   " where the program has a list of tensors");
  const c10::List<at::Tensor> tensors = result.toTensorList();
  TORCH_CHECK_VALUE(tensors.size() >= output.values.size(), "it gives ",
                    tensors.size(), " tensors where the program has ",
                    output.values.size());
  for (size_t k = 0; k < output.values.size(); ++k)
    if (output.values[k] != kNoOutput) slots[output.values[k]] = tensors.get(k);
}

void store(const Step& step, c10::Stack& stack, Slots& slots) {
  TORCH_CHECK_VALUE(stack.size() >= step.outputs->size(), "it gives ",
                    stack.size(), " results where the program has ",
                    step.outputs->size());
  for (size_t i = 0; i < step.outputs->size(); ++i) {
    const Node::Output& output = (*step.outputs)[i];
    if (output.is_list) {
      store_list(output, stack[i], slots);
    } else if (!output.values.empty() && output.values[0] != kNoOutput) {
      slots[output.values[0]] = as_declared(std::move(stack[i]), step.kinds[i]);
    }
  }
}

std::vector<c10::IValue> evaluate_items(const ArgumentPlan& plan,
                                        const Slots& slots) {
  std::vector<c10::IValue> values;
  for (const ArgumentPlan& item : plan.items)
    values.push_back(evaluate_argument(item, slots));
  return values;
}

void run_higher_order(const Step& step, const Slots& slots, c10::Stack& stack) {
  ControlFlowCall call{step.graphs, {}, {}};
  for (const ArgumentPlan& arg : step.args) {
    if (arg.kind == ArgumentPlan::Kind::kMixed)
      call.lists.push_back(evaluate_items(arg, slots));
    else
      call.predicate = evaluate_argument(arg, slots);
  }
  stack = step.control(call);
}

bool any_symbolic(const c10::Stack& values) {
  return std::any_of(values.begin(), values.end(), is_symbolic_number);
}

// What a kernel's own std::vector throws becomes an error of PyTorch's.
void call_kernel(const c10::OperatorHandle& op, c10::Stack& stack) {
  try {
    CheckedCalls::call(op, stack);
  } catch (const std::length_error&) {
    TORCH_CHECK_VALUE(false,
                      "the operator asks for more memory than there "
                      "can be");
  } catch (const std::bad_alloc&) {
    TORCH_CHECK_WITH(OutOfMemoryError, false,
                     "the operator asks for more memory than there is");
  }
}

enum class Keep { kAll, kWhatIsRead };

void run_step(const Step& step, Slots& slots, c10::Stack& stack,
              Keep keep = Keep::kWhatIsRead) {
  stack.clear();
  if (step.kind == Step::Kind::kHigherOrder) {
    run_higher_order(step, slots, stack);
    store(step, stack, slots);
    for (ValueId id : step.dead) slots[id] = {};
    return;
  }
  for (const ArgumentPlan& arg : step.args)
    stack.push_back(evaluate_argument(arg, slots));
  switch (step.kind) {
    case Step::Kind::kOperator: call_kernel(*step.op, stack); break;
    case Step::Kind::kFunction: {
      c10::IValue result = any_symbolic(stack)
                               ? call_symbolic(step.target, stack)
                               : step.function(stack);
      stack.assign(1, std::move(result));
      break;
    }
    case Step::Kind::kSize: {
      const c10::SymInt size = stack[0].toTensor().sym_size(stack[1].toInt());
      stack.assign(1, size);
      break;
    }
    case Step::Kind::kAssert:
      if (is_symbolic_number(stack[0])) {
        step.op->callBoxed(stack);
        break;
      }
      TORCH_CHECK(to_double(stack[0]) != 0, stack[1].toStringRef());
      stack.clear();
      break;
    case Step::Kind::kHigherOrder: break;  // above
  }
  store(step, stack, slots);
  if (keep == Keep::kWhatIsRead)
    for (ValueId id : step.dead) slots[id] = {};
}

}  // namespace

struct Executable::Constants {
  std::vector<bool> nodes;  // those that run once
  std::once_flag computed;
  // False when computing them failed: they run every time, and say why.
  bool usable = false;
  caffe2::TypeMeta default_dtype;
  // What other nodes read of their results.
  std::vector<std::pair<ValueId, at::Tensor>> values;
};

Executable::Executable(const Graph& graph) {
  for (const InputSpec& input : graph.inputs) {
    const ValueRef* ref = input.arg.get<ValueRef>();
    inputs_.push_back(ref ? ref->id : kNoOutput);
  }
  for (const Node& node : graph.nodes) steps_.push_back(plan_node(graph, node));
  for (const OutputSpec& output : graph.outputs) outputs_.push_back(output.arg);
  value_count_ = graph.values.size();
  outputs_of_.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) outputs_of_.push_back(node.outputs);
  for (size_t i = 0; i < steps_.size(); ++i)
    steps_[i].outputs = &outputs_of_[i];
  find_dead_values(graph);
  std::vector<bool> constant = constant_nodes(graph);
  if (std::find(constant.begin(), constant.end(), true) != constant.end()) {
    constants_ = std::make_unique<Constants>();
    constants_->nodes = std::move(constant);
  }
}

Executable::Executable(Executable&&) noexcept = default;
Executable::~Executable() = default;

void Executable::find_dead_values(const Graph& graph) {
  std::vector<bool> read(graph.values.size(), false);
  for (const OutputSpec& output : graph.outputs)
    for_each_reference(output.arg, [&](ValueId id) { read[id] = true; });
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const auto note = [&](ValueId id) {
      if (!read[id]) steps_[i].dead.push_back(id);
      read[id] = true;
    };
    for_each_output(graph.nodes[i], note);
    for (const Argument& a : graph.nodes[i].args) {
      for_each_reference(a, note);
      for_each_reference(a, [&](ValueId id) { steps_[i].reads.push_back(id); });
    }
  }
}

void Executable::compute_constants() const {
  const c10::InferenceMode no_inference(false);  // its tensors stay in it
  const at::NoGradGuard no_grad;
  Constants& constants = *constants_;
  constants.default_dtype = c10::get_default_dtype();
  Slots slots(value_count_);
  std::vector<bool> made(value_count_, false);
  c10::Stack stack;
  try {
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!constants.nodes[i]) {
        // Its arguments that were made here are read when it runs.
        for (ValueId id : steps_[i].reads) {
          if (!made[id]) continue;
          constants.values.emplace_back(id, slots[id].toTensor());
          made[id] = false;  // once is enough
        }
        continue;
      }
      run_step(steps_[i], slots, stack, Keep::kAll);
      for (const Node::Output& output : outputs_of_[i])
        for (ValueId id : output.values)
          if (id != kNoOutput) made[id] = true;
    }
  } catch (const std::exception&) {
    constants.values.clear();
    return;
  }
  constants.usable = true;
}

// Null where they may not be used.
const Executable::Constants* Executable::constants() const {
  if (constants_ == nullptr || !runs_plainly()) return nullptr;
  std::call_once(constants_->computed, [this] { compute_constants(); });
  return constants_->usable &&
                 constants_->default_dtype == c10::get_default_dtype()
             ? constants_.get()
             : nullptr;
}

std::vector<c10::IValue> Executable::run(std::vector<c10::IValue> inputs,
                                         const StepHook& before) const {
  TORCH_INTERNAL_ASSERT(inputs.size() == inputs_.size(), "a graph of ",
                        inputs_.size(), " inputs got ", inputs.size());
  Slots slots(value_count_);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs_[i] != kNoOutput) slots[inputs_[i]] = std::move(inputs[i]);
  const Constants* known = constants();
  if (known != nullptr)
    for (const auto& [id, value] : known->values) slots[id] = value;
  c10::Stack stack;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (known != nullptr && known->nodes[i]) continue;
    if (before) {
      before(i);
      run_step(steps_[i], slots, stack);
      continue;
    }
    try {
      run_step(steps_[i], slots, stack);
    } catch (c10::Error& error) {
      error.add_context("in node " + std::to_string(i) + ", " +
                        steps_[i].target);
      throw;
    }
  }
  std::vector<c10::IValue> outputs;
  for (const Argument& output : outputs_) {
    const ValueRef* ref = output.get<ValueRef>();
    outputs.push_back(ref ? slots[ref->id] : to_ivalue(output));
  }
  return outputs;
}

}  // namespace proviso::inline v0_2
