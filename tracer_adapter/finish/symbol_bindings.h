// tracer_adapter/finish/symbol_bindings.h - which value of a graph gives a
// symbol.
//
//   value               gives   by
//   x: f32[s0, 3]       s0      sym_size.int(x, 0)
//   n: i64[u0, 2]       u0      sym_size.int(n, 0)       n = nonzero(x)
//   a: u1               u1      a                        a = item(y)
//   b: Eq(u2, 1)        u2      sym_ite(b, 1, 0)         b = item(z)
//   w: f32[2*s3 + 1]    s3      (sym_size.int(w, 0) - 1) // 2
//
// The last way is taken where no value has s3 bare; the guards have checked
// that the division is exact.
//
// Protocol: bind_inputs() before any node, bind(v) once the node of the value v
// is written.  Nodes are made of symbols that are needed, at the first value
// that gives them; ExprExpander knows them from then on.
#pragma once

#include "guards/shape_env.h"
#include "tracer_adapter/finish/expr_expander.h"
#include "tracer_adapter/finish/symbol_uses.h"

namespace proviso::inline v0_2 {

class SymbolBindings {
 public:
  // All outlive it.
  SymbolBindings(ShapeEnv& env, const SymbolUses& uses, NodeBuilder& builder,
                 ExprExpander& expander)
      : env_(env),
        uses_(uses),
        graph_(builder.graph()),
        builder_(builder),
        expander_(expander) {}
  SymbolBindings(const SymbolBindings&) = delete;
  SymbolBindings& operator=(const SymbolBindings&) = delete;

  void bind_inputs();
  void bind(ValueId id);

 private:
  bool is_wanted(Expr symbol) const {
    return uses_.needed.contains(symbol) && !expander_.is_defined(symbol);
  }
  void define(Expr symbol, const Argument& value);
  void bind_tensor(ValueId id);
  void bind_size(ValueId id, size_t dim, Expr symbol);
  void bind_truth_value(ValueId id, Expr e);
  void bind_derived_sizes();
  bool bind_derived_size(ValueId id, size_t dim);

  ShapeEnv& env_;
  const SymbolUses& uses_;
  const Graph& graph_;
  NodeBuilder& builder_;
  ExprExpander& expander_;
};

}  // namespace proviso::inline v0_2
