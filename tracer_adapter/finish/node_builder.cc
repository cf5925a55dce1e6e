#include "tracer_adapter/finish/node_builder.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace proviso::inline v0_2 {
namespace {

Node operator_node(const c10::OperatorHandle& op) {
  Node node;
  node.op = op;
  node.target = target_name(op);
  return node;
}

c10::OperatorHandle find_op(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

}  // namespace

void NodeBuilder::move_to(const Node& recorded) {
  location_ = recorded.location;
  modules_ = recorded.modules;
}

void NodeBuilder::place(Node node) {
  node.location = location_;
  node.modules = modules_;
  nodes_.push_back(std::move(node));
}

Argument NodeBuilder::add(Node node, std::variant<TensorMeta, Expr> meaning) {
  const ValueId id = graph_.add_value(std::move(meaning));
  node.outputs = {{false, {id}}};
  place(std::move(node));
  return {ValueRef{id}};
}

Argument NodeBuilder::call(std::string_view target, std::vector<Argument> args,
                           Expr meaning) {
  Node node;
  node.kind = Node::Kind::kSymbolic;
  node.target = target;
  node.args = std::move(args);
  return add(std::move(node), meaning);
}

Argument NodeBuilder::sym_size(ValueId tensor, size_t dim, Expr meaning) {
  static const c10::OperatorHandle op = find_op("aten::sym_size", "int");
  Node node = operator_node(op);
  node.args = {{ValueRef{tensor}}, {static_cast<int64_t>(dim)}};
  return add(std::move(node), meaning);
}

size_t NodeBuilder::add_check(const c10::OperatorHandle& op, Argument truth,
                              std::string message) {
  Node node = operator_node(op);
  node.args = {std::move(truth), {std::move(message)}};
  place(std::move(node));
  return nodes_.size() - 1;
}

size_t NodeBuilder::assert_scalar(Argument condition, std::string message) {
  static const c10::OperatorHandle op = find_op("aten::_assert_scalar", "");
  return add_check(op, std::move(condition), std::move(message));
}

Argument NodeBuilder::truth(Argument number, Expr zero) {
  static const c10::OperatorHandle op = find_op("aten::scalar_tensor", "");
  Node node = operator_node(op);
  node.args = {std::move(number),
               {c10::ScalarType::Bool},
               {NoneArgument{}},
               {c10::Device(c10::kCPU)},
               {NoneArgument{}}};
  TensorMeta meta;
  meta.dtype = c10::ScalarType::Bool;
  meta.offset = zero;
  return add(std::move(node), std::move(meta));
}

size_t NodeBuilder::assert_tensor(Argument truth, std::string message) {
  static const c10::OperatorHandle op = find_op("aten::_assert_async", "msg");
  return add_check(op, std::move(truth), std::move(message));
}

}  // namespace proviso::inline v0_2
