// tracer_adapter/fake/sym_node.h - an Expr as the c10::SymNodeImpl that
// LibTorch and Python compute with.
//
//   c10::SymInt n = to_sym_int(env, s0);   // prints as s0
//   c10::SymInt m = n * 2 + 1;             // an expression: 2*s0 + 1
//   Expr e = to_expr(env, m);
//   if (m > 4) ...                         // a guard in env, where needed
//
// Constants become plain ints, bools and doubles; no node ever holds one that
// c10 would take for symbolic.  Floats are expressions (ToFloat, IntTrueDiv),
// never their examples.
#pragma once

#include <c10/core/SymBool.h>
#include <c10/core/SymFloat.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/core/SymNodeImpl.h>

#include <functional>
#include <memory>
#include <string>

#include "guards/shape_env.h"

namespace proviso::inline v0_2 {

class SymNode final : public c10::SymNodeImpl {
 public:
  SymNode(std::shared_ptr<ShapeEnv> env, Expr expr);

  ShapeEnv& env() const { return *env_; }
  const std::shared_ptr<ShapeEnv>& shared_env() const { return env_; }
  // The canonical expression, with what was learnt since applied.
  Expr expr() const;

  bool is_int() override { return raw_.is_int(); }
  bool is_bool() override { return raw_.is_bool(); }
  bool is_float() override { return raw_.is_float(); }
  bool is_nested_int() const override { return false; }

#define PROVISO_BINARY(name) c10::SymNode name(const c10::SymNode&) override;
  PROVISO_BINARY(add)
  PROVISO_BINARY(sub)
  PROVISO_BINARY(mul)
  PROVISO_BINARY(truediv)
  PROVISO_BINARY(float_truediv)
  PROVISO_BINARY(int_truediv)
  PROVISO_BINARY(pow)
  PROVISO_BINARY(float_pow)
  PROVISO_BINARY(pow_by_natural)
  PROVISO_BINARY(floordiv)
  PROVISO_BINARY(int_floordiv)
  PROVISO_BINARY(mod)
  PROVISO_BINARY(eq)
  PROVISO_BINARY(ne)
  PROVISO_BINARY(gt)
  PROVISO_BINARY(lt)
  PROVISO_BINARY(le)
  PROVISO_BINARY(ge)
  PROVISO_BINARY(sym_min)
  PROVISO_BINARY(sym_max)
  PROVISO_BINARY(sym_or)
  PROVISO_BINARY(sym_and)
#undef PROVISO_BINARY
  c10::SymNode sym_not() override;
  c10::SymNode ceil() override;
  c10::SymNode floor() override;
  c10::SymNode neg() override;
  c10::SymNode sym_float() override;
  c10::SymNode clone() override;
  c10::SymNode sym_ite(const c10::SymNode& then_value,
                       const c10::SymNode& else_value) override;
#define PROVISO_LAYOUT(name)                           \
  c10::SymNode name(c10::ArrayRef<c10::SymNode> sizes, \
                    c10::ArrayRef<c10::SymNode> strides) override;
  PROVISO_LAYOUT(is_contiguous)
  PROVISO_LAYOUT(is_channels_last_contiguous_2d)
  PROVISO_LAYOUT(is_channels_last_contiguous_3d)
  PROVISO_LAYOUT(is_channels_last_strides_2d)
  PROVISO_LAYOUT(is_channels_last_strides_3d)
  PROVISO_LAYOUT(is_non_overlapping_and_dense)
#undef PROVISO_LAYOUT
  c10::SymNode wrap_int(int64_t value) override;
  c10::SymNode wrap_float(double value) override;
  c10::SymNode wrap_bool(bool value) override;

  int64_t guard_int(const char* file, int64_t line) override;
  bool guard_bool(const char* file, int64_t line) override;
  double guard_float(const char* file, int64_t line) override;
  bool guard_size_oblivious(const char* file, int64_t line) override;
  bool guard_or_false(const char* file, int64_t line) override;
  bool guard_or_true(const char* file, int64_t line) override;
  bool statically_known_true(const char* file, int64_t line) override;
  bool expect_true(const char* file, int64_t line) override;
  int64_t int_() override { return guard_int("", 0); }
  bool bool_() override { return guard_bool("", 0); }

  bool has_hint() override;
  std::string str() override;
  std::string _graph_repr() override { return str(); }
  std::optional<int64_t> constant_int() override;
  std::optional<bool> constant_bool() override;
  std::optional<int64_t> maybe_as_int() override { return constant_int(); }
  bool is_constant() override { return raw_.is_constant(); }
  bool is_symbolic() override { return !is_constant(); }

  // For bindings: op(this, others) simplified, on this node's environment.
  c10::SymNode apply(Op op, std::initializer_list<Expr> args) const;
  c10::SymNode wrap(Expr e) const;
  // The operand's expression.  Throws when it belongs to another environment
  // or is no node of ours.
  Expr operand(const c10::SymNode& other) const;

 private:
  std::shared_ptr<ShapeEnv> env_;
  Expr raw_;  // as computed, canonical
  // raw_ under the first version_ replacements of the environment.
  mutable Expr current_;
  mutable size_t version_ = 0;
};

// LibTorch's Python accepts symbolic floats and booleans only inside a node
// class of its own: the extension says how to put ours in and take it out.
struct SymNodeHooks {
  c10::SymNode (*wrap)(c10::SymNode) = nullptr;
  SymNode* (*unwrap)(c10::SymNodeImpl*) = nullptr;  // null when not ours
};
SymNodeHooks& sym_node_hooks();  // of this process; set before tracing

// Null when the node is not one of ours.
SymNode* as_sym_node(c10::SymNodeImpl* node);

c10::SymNode make_sym_node(ShapeEnv& env, Expr e);
c10::SymInt to_sym_int(ShapeEnv& env, Expr e);
c10::SymBool to_sym_bool(ShapeEnv& env, Expr e);
c10::SymFloat to_sym_float(ShapeEnv& env, Expr e);
Expr to_expr(ShapeEnv& env, const c10::SymInt& value);
Expr to_expr(ShapeEnv& env, const c10::SymBool& value);
Expr to_expr(ShapeEnv& env, const c10::SymFloat& value);
// {..} as Exprs.
std::vector<Expr> to_exprs(ShapeEnv& env, c10::SymIntArrayRef values);

// A product of sizes that grows without making a node a step.
class SizeProduct {
 public:
  void operator*=(const c10::SymInt& factor);
  // Known to be this number, without a guard.
  bool is(const c10::SymInt& number) const;
  c10::SymInt value() const;

 private:
  int64_t times_ = 1;
  ShapeEnv* env_ = nullptr;  // of the symbolic factors; null for none
  Expr symbols_;             // the product of those
};

// Where the program stands, for guards and recorded operators.  The C++ default
// is PROVISO_LINE's, else debug information's; Python installs its frames.
using LocationHook = std::function<SourceLocation()>;
// Of this thread; returns the one before.
LocationHook set_location_hook(LocationHook hook);
SourceLocation current_location(const char* file = "", int64_t line = 0);

// e with the lengths of slices in it settled: s0 - 1 for Max(0, s0 - 1), and a
// guard excludes the sizes at which it is not.  Lengths from data stay.
Expr settled_lengths(ShapeEnv& env, Expr e, const SourceLocation& where);

}  // namespace proviso::inline v0_2
