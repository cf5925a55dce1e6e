// tracer_adapter/finish/node_builder.h - the nodes of a rewritten graph:
// the recorded ones in their order, and between them nodes of arithmetic.
//
//   NodeBuilder builder(graph);
//   builder.move_to(view);                       // what is made now is for it
//   Argument n = builder.sym_size(x, 0, s0);     // sym_size.int(x, 0)
//   Argument m = builder.call("_operator.mul", {n, {int64_t{2}}}, s0 * 2);
//   builder.append(std::move(view));
//   graph.nodes = builder.take();
//
// A node that is made has one value, whose metadata is its meaning.  It is of
// the line and the modules of the recorded node that it is made for.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

class NodeBuilder {
 public:
  explicit NodeBuilder(Graph& graph) : graph_(graph) {}  // which outlives it
  NodeBuilder(const NodeBuilder&) = delete;
  NodeBuilder& operator=(const NodeBuilder&) = delete;

  const Graph& graph() const { return graph_; }

  void move_to(const Node& recorded);
  // So many recorded ones are appended.
  void reserve(size_t count) { nodes_.reserve(nodes_.size() + count); }
  void append(Node&& recorded) { nodes_.push_back(std::move(recorded)); }

  // A function of numbers: "_operator.mul", "torch.sym_max".
  Argument call(std::string_view target, std::vector<Argument> args,
                Expr meaning);
  Argument sym_size(ValueId tensor, size_t dim, Expr meaning);
  // The place of the node, which has no value.
  size_t assert_scalar(Argument condition, std::string message);
  // A scalar tensor of truth of a number, and its assertion's place.
  Argument truth(Argument number, Expr zero);
  size_t assert_tensor(Argument truth, std::string message);

  std::vector<Node> take() { return std::move(nodes_); }

 private:
  Argument add(Node node, std::variant<TensorMeta, Expr> meaning);
  // A node without a value, and its place.
  size_t add_check(const c10::OperatorHandle& op, Argument truth,
                   std::string message);
  void place(Node node);

  Graph& graph_;
  std::vector<Node> nodes_;
  uint32_t location_ = 0;
  uint32_t modules_ = 0;
};

}  // namespace proviso::inline v0_2
