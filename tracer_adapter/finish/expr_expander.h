// tracer_adapter/finish/expr_expander.h - an expression as nodes that compute
// it, as LLVM's SCEVExpander makes instructions of its expressions.
//
//   ExprExpander expander(env.pool(), builder);
//   expander.define(s0, sym_size_int);      // a value gives s0
//   expander.can_expand(s0*2 + s1);         // false: none gives s1
//   expander.expand(s0*2 - 1);              // mul = sym_size_int * 2
//                                           // sub = mul - 1; returned
//   expander.expand(s0*2);                  // mul: no node is made twice
//
// Protocol: symbols are given by define() alone (symbol_bindings.h says by
// which values); expand() what can_expand() allows.
#pragma once

#include <string_view>
#include <unordered_map>

#include "sym/expr.h"
#include "tracer_adapter/finish/node_builder.h"

namespace proviso::inline v0_2 {

class ExprExpander {
 public:
  // Both outlive it.
  ExprExpander(ExprPool& pool, NodeBuilder& builder)
      : pool_(pool), builder_(builder) {}
  ExprExpander(const ExprExpander&) = delete;
  ExprExpander& operator=(const ExprExpander&) = delete;

  // The value is e; the first that is said counts.
  void define(Expr e, ValueId id) { values_.emplace(e, id); }
  bool is_defined(Expr e) const { return values_.contains(e); }

  bool can_expand(Expr e) const;
  // A value, or a constant.
  Argument expand(Expr e);
  // 1 where the condition, which means so much, holds, else 0.
  Argument one_if(Argument condition, Expr meaning);

 private:
  Argument make(Expr e);
  Argument chain(Expr e, std::string_view target);
  Argument sum(Expr e);
  Argument product(Expr e);
  Argument relation(Expr e);
  Argument choice(Expr e);
  Argument round_float(Expr e);
  Argument bit_xor(Expr e);

  ExprPool& pool_;
  NodeBuilder& builder_;
  std::unordered_map<Expr, ValueId, ExprHash> values_;
};

}  // namespace proviso::inline v0_2
