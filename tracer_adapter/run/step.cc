#include "tracer_adapter/run/step.h"

#include <ATen/core/List.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "tracer_adapter/run/checked_calls.h"
#include "tracer_adapter/run/symbolic_functions.h"

namespace proviso::inline v0_2 {

using Step = Executable::Step;

// --- from a node

namespace {

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

}  // namespace

Step plan_step(const Graph& graph, const Node& node) {
  Step step;
  step.outputs = node.outputs;
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

// --- its results

namespace {

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
  TORCH_CHECK_VALUE(stack.size() >= step.outputs.size(), "it gives ",
                    stack.size(), " results where the program has ",
                    step.outputs.size());
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    const Node::Output& output = step.outputs[i];
    if (output.is_list) {
      store_list(output, stack[i], slots);
    } else if (!output.values.empty() && output.values[0] != kNoOutput) {
      slots[output.values[0]] = as_declared(std::move(stack[i]), step.kinds[i]);
    }
  }
}

}  // namespace

// --- its run

namespace {

void run_higher_order(const Step& step, const Slots& slots, c10::Stack& stack) {
  ControlFlowCall call{step.graphs, {}, {}};
  for (const ArgumentPlan& arg : step.args) {
    if (arg.kind == ArgumentPlan::Kind::kMixed)
      call.lists.push_back(evaluate_items(arg, slots));
    else
      call.predicate = evaluate(arg, slots);
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

}  // namespace

void run_step(const Step& step, Slots& slots, c10::Stack& stack, Keep keep) {
  stack.clear();
  if (step.kind == Step::Kind::kHigherOrder) {
    run_higher_order(step, slots, stack);
    store(step, stack, slots);
    for (ValueId id : step.dead) slots[id] = {};
    return;
  }
  for (const ArgumentPlan& arg : step.args)
    stack.push_back(evaluate(arg, slots));
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

}  // namespace proviso::inline v0_2
