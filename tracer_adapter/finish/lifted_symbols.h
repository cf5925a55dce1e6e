// tracer_adapter/finish/lifted_symbols.h - the symbols that a sub-graph reads
// and cannot get itself: they are lifted out of it, to operands of its node.
//
//   cond(pred, true_graph, false_graph, [x])    // both read u0, which no size
//                                               // of x is
//   LiftedSymbols lifted(env, asserts);
//   lifted.of(*true_graph);                     // {u0}
//   lifted.lift(node, expander);
//   cond(pred, true_graph, false_graph, [x, u0])    // and each graph has one
//                                                   // more input: u0
//
// A graph gets a symbol where an input or a node gives it, bare, before it is
// read: a node that makes a tensor of u0 rows does not say what u0 is.
#pragma once

#include "guards/shape_env.h"
#include "tracer_adapter/finish/expr_expander.h"
#include "tracer_adapter/finish/expr_set.h"
#include "tracer_adapter/ir/graph.h"
#include "tracer_adapter/trace/trace_asserts.h"

namespace proviso::inline v0_2 {

class LiftedSymbols {
 public:
  // Both outlive it.
  LiftedSymbols(ShapeEnv& env, const TraceAsserts& asserts)
      : env_(env), asserts_(asserts) {}

  // What a recorded graph, with the graphs inside it, needs from outside.
  ExprOrder of(const Graph& graph) const;
  // Gives the graphs of a higher-order node what they need, as far as it can be
  // given here; a symbol that is made inside is not, and the graph will say so.
  void lift(Node& node, const ExprExpander& expander) const;

 private:
  void add_given(const GraphValue& value, ExprSet& given) const;
  void add_missing(const Argument& a, const ExprSet& given,
                   ExprOrder& missing) const;
  void add_missing(Expr e, const ExprSet& given, ExprOrder& missing) const;

  ShapeEnv& env_;
  const TraceAsserts& asserts_;
};

}  // namespace proviso::inline v0_2
