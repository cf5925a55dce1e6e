#include "tracer_adapter/pt2/outside_writes.h"

#include <algorithm>
#include <vector>

namespace proviso::inline v0_2::pt2 {
namespace {

using c10::SchemaArgType;

// Of a graph's values: whether their memory may be somebody else's.
using Outside = std::vector<bool>;

bool is_outside(const Argument& a, const Outside& outside) {
  if (const ValueRef* ref = a.get<ValueRef>()) return outside.at(ref->id);
  const ListArgument* list = a.get<ListArgument>();
  return list != nullptr &&
         std::ranges::any_of(list->items, [&](const Argument& item) {
           return is_outside(item, outside);
         });
}

void mark(const Node::Output& output, Outside& outside) {
  for (ValueId id : output.values)
    if (id != kNoOutput) outside.at(id) = true;
}

const Node* first_write(const Graph& graph, Outside& outside);

// A block that only sets a mode has its operands and results as they are.
const Node* write_in_block(const Node& node, Outside& outside) {
  const auto body = std::ranges::find_if(node.args, [](const Argument& a) {
    return a.get<GraphArgument>() != nullptr;
  });
  if (body == node.args.end()) return nullptr;
  const Graph& graph = *body->get<GraphArgument>()->graph;
  Outside inner(graph.values.size());
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    if (const ValueRef* ref = graph.inputs[i].arg.get<ValueRef>())
      inner.at(ref->id) = is_outside(*(body + 1 + i), outside);
  if (const Node* found = first_write(graph, inner)) return found;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (is_outside(graph.outputs.at(i).arg, inner))
      mark(node.outputs[i], outside);
  return nullptr;
}

const Node* first_write(const Graph& graph, Outside& outside) {
  for (const Node& node : graph.nodes) {
    if (is_mode_block(node)) {
      if (const Node* found = write_in_block(node, outside)) return found;
      continue;
    }
    if (node.kind != Node::Kind::kOperator) continue;
    const c10::FunctionSchema& schema = node.op->schema();
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (!is_outside(node.args[i], outside)) continue;
      if (schema.is_mutable({SchemaArgType::input, i})) return &node;
      for (size_t k = 0; k < node.outputs.size(); ++k)
        if (schema.may_contain_alias({SchemaArgType::input, i},
                                     {SchemaArgType::output, k}))
          mark(node.outputs[k], outside);
    }
  }
  return nullptr;
}

}  // namespace

const Node* find_outside_write(const Graph& graph) {
  Outside outside(graph.values.size());
  for (const InputSpec& input : graph.inputs)
    if (const ValueRef* ref = input.arg.get<ValueRef>())
      outside.at(ref->id) = graph.value(ref->id).is_tensor();
  return first_write(graph, outside);
}

}  // namespace proviso::inline v0_2::pt2
