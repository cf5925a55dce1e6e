// tracer_adapter/rerun/no_ops.h - calls that change nothing at some sizes.
//
//   SizedGraph graph(first.graph, pool, [&](Expr e) { return at_one(e); });
//   graph.given_back(node, true)
//       // expand(p, [n, -1]) with n == 1: p
//       // cat([zeros(n, 0), x], -1), pad(x, [0, 0]), clone(x): x
//
// A view gives its argument back where it has its argument's sizes, and a copy
// where it has its strides, too.  Who copies for nothing must know that nobody
// writes to either, and that an output which is an input is to be seen.
#pragma once

#include <functional>
#include <set>
#include <utility>

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

// The value of an argument that is a number or a condition; null of others.
Expr number_of(const Graph& graph, const Argument& a, ExprPool& pool);

// A graph at sizes that some symbols have.
class SizedGraph {
 public:
  using Said = std::function<Expr(Expr)>;  // at the sizes; null if not known

  SizedGraph(const Graph& graph, ExprPool& pool, Said said)
      : graph_(graph), pool_(pool), said_(std::move(said)) {}

  // The argument whose elements the result has, at the same places; kNoOutput
  // of other calls.
  ValueId given_back(const Node& node, bool with_copies) const;
  // Whether the call makes an empty tensor of numbers alone, or of the type of
  // another tensor.
  bool makes_nothing(const Node& node) const;

 private:
  bool has_same_sizes(const TensorMeta& a, const TensorMeta& b) const;
  bool lies_alike(const TensorMeta& a, const TensorMeta& b) const;
  bool is_empty(const TensorMeta& meta) const;
  bool pads_nothing(const Node& node) const;
  ValueId joined_with_nothing(const Node& node) const;

  const Graph& graph_;
  ExprPool& pool_;
  Said said_;
};

bool is_copy(const Node& node);
bool is_one_of(const std::set<ValueId>& values, const Argument& a);
// Adds the node's results to `of`, where they are views of such values.
void add_views(const Node& node, std::set<ValueId>& of);
// Whether an operator of the graph, or of one in it, writes to a tensor.
bool writes(const Graph& graph);

}  // namespace proviso::inline v0_2
