#include "tracer_adapter/run/symbolic_functions.h"

#include <functional>
#include <unordered_map>
#include <vector>

#include "tracer_adapter/fake/sym_node.h"

namespace proviso::inline v0_2 {
namespace {

using Nodes = std::span<const c10::SymNode>;
using Function = std::function<c10::SymNode(SymNode&, Nodes)>;
using Method = c10::SymNode (c10::SymNodeImpl::*)(const c10::SymNode&);

Function method(Method method) {
  return
      [method](SymNode& self, Nodes args) { return (self.*method)(args[1]); };
}

// f(x): integers count as floats.
Function of_float(Op op) {
  return [op](SymNode& self, Nodes) {
    const c10::SymNode x = self.is_float() ? self.clone() : self.sym_float();
    return self.apply(op, {self.operand(x)});
  };
}

// f(x) of a float; an integer is its own value.
Function to_integer(Op op) {
  return [op](SymNode& self, Nodes) {
    return self.is_float() ? self.apply(op, {self.expr()}) : self.clone();
  };
}

Function of_integers(Op op) {
  return [op](SymNode& self, Nodes args) {
    return self.apply(op, {self.expr(), self.operand(args[1])});
  };
}

// & and | are logic on truth values.
Function bits_or_logic(Op bits, Method logic) {
  return [bits, logic](SymNode& self, Nodes args) {
    if (self.is_bool()) return (self.*logic)(args[1]);
    return self.apply(bits, {self.expr(), self.operand(args[1])});
  };
}

c10::SymNode floor_quotient(SymNode& self, Nodes args) {
  return self.floordiv(args[1]);
}

c10::SymNode sum(SymNode& self, Nodes args) {
  c10::SymNode total = self.clone();
  for (const c10::SymNode& term : args.subspan(1)) total = total->add(term);
  return total;
}

c10::SymNode rounded(SymNode& self, Nodes args) {
  if (self.is_int()) return self.clone();
  if (args.size() == 1) return self.apply(Op::kRoundToInt, {self.expr()});
  return self.apply(Op::kRoundDecimal, {self.expr(), self.operand(args[1])});
}

const std::unordered_map<std::string, Function>& functions() {
  using Impl = c10::SymNodeImpl;
  static const std::unordered_map<std::string, Function> kFunctions = {
      {"_operator.add", method(&Impl::add)},
      {"_operator.sub", method(&Impl::sub)},
      {"_operator.mul", method(&Impl::mul)},
      {"_operator.truediv", method(&Impl::truediv)},
      {"_operator.floordiv", floor_quotient},
      {"_operator.mod", method(&Impl::mod)},
      {"_operator.pow", method(&Impl::pow)},
      {"_operator.eq", method(&Impl::eq)},
      {"_operator.ne", method(&Impl::ne)},
      {"_operator.lt", method(&Impl::lt)},
      {"_operator.le", method(&Impl::le)},
      {"_operator.gt", method(&Impl::gt)},
      {"_operator.ge", method(&Impl::ge)},
      {"torch.sym_min", method(&Impl::sym_min)},
      {"torch.sym_max", method(&Impl::sym_max)},
      {"_operator.and_", bits_or_logic(Op::kBitAnd, &Impl::sym_and)},
      {"_operator.or_", bits_or_logic(Op::kBitOr, &Impl::sym_or)},
      {"_operator.xor", of_integers(Op::kBitXor)},
      {"_operator.lshift", of_integers(Op::kLShift)},
      {"_operator.rshift", of_integers(Op::kRShift)},
      {"_operator.neg", [](SymNode& self, Nodes) { return self.neg(); }},
      {"_operator.abs",
       [](SymNode& self, Nodes) {
         return self.apply(Op::kAbs, {self.expr()});
       }},
      {"_operator.not_", [](SymNode& self, Nodes) { return self.sym_not(); }},
      {"torch.sym_not", [](SymNode& self, Nodes) { return self.sym_not(); }},
      {"torch.sym_sqrt", of_float(Op::kSqrt)},
      {"torch.sym_sum", sum},
      {"torch.sym_ite",
       [](SymNode& self, Nodes args) {
         return self.sym_ite(args[1], args[2]);
       }},
      {"torch.sym_float",
       [](SymNode& self, Nodes) {
         return self.is_float() ? self.clone() : self.sym_float();
       }},
      {"torch.sym_int", to_integer(Op::kTruncToInt)},
      {"math.trunc", to_integer(Op::kTruncToInt)},
      {"math.floor", to_integer(Op::kFloorToInt)},
      {"math.ceil", to_integer(Op::kCeilToInt)},
      {"builtins.round", rounded},
      {"torch._sym_sqrt", of_float(Op::kSqrt)},
      {"torch._sym_cos", of_float(Op::kCos)},
      {"torch._sym_cosh", of_float(Op::kCosh)},
      {"torch._sym_sin", of_float(Op::kSin)},
      {"torch._sym_sinh", of_float(Op::kSinh)},
      {"torch._sym_tan", of_float(Op::kTan)},
      {"torch._sym_tanh", of_float(Op::kTanh)},
      {"torch._sym_asin", of_float(Op::kAsin)},
      {"torch._sym_acos", of_float(Op::kAcos)},
      {"torch._sym_atan", of_float(Op::kAtan)},
      {"torch._sym_log2", of_float(Op::kLog2)}};
  return kFunctions;
}

// Null for a plain number.
SymNode* node_of(const c10::IValue& value) {
  if (value.isSymInt())
    return as_sym_node(value.toSymInt().toSymNodeImplUnowned());
  if (value.isSymFloat())
    return as_sym_node(value.toSymFloat().toSymNodeImplUnowned());
  if (value.isSymBool())
    return as_sym_node(value.toSymBool().toSymNodeImplUnowned());
  return nullptr;
}

c10::SymNode as_node(SymNode& like, const c10::IValue& value) {
  if (SymNode* node = node_of(value)) return c10::SymNode::reclaim_copy(node);
  if (value.isBool()) return like.wrap_bool(value.toBool());
  if (value.isInt()) return like.wrap_int(value.toInt());
  return like.wrap_float(value.toDouble());
}

c10::IValue as_value(ShapeEnv& env, Expr e) {
  if (e.is_int()) {
    const c10::SymInt value = to_sym_int(env, e);
    if (const auto known = value.maybe_as_int()) return *known;
    return value;
  }
  if (e.is_bool()) {
    if (e.is_constant()) return e.is_true();
    return to_sym_bool(env, e);
  }
  if (e.is(Op::kRational)) return e.rational().to_double();
  return to_sym_float(env, e);
}

}  // namespace

bool is_symbolic_number(const c10::IValue& value) {
  return value.isSymInt() || value.isSymFloat() || value.isSymBool();
}

c10::IValue call_symbolic(const std::string& target,
                          std::span<const c10::IValue> args) {
  const auto found = functions().find(target);
  TORCH_CHECK_NOT_IMPLEMENTED(found != functions().end(), "Proviso: ", target,
                              " has no form for symbolic numbers");
  SymNode* some = nullptr;
  for (const c10::IValue& arg : args)
    if (some == nullptr) some = node_of(arg);
  TORCH_INTERNAL_ASSERT(some != nullptr, target, " got no symbolic number");
  std::vector<c10::SymNode> nodes;
  for (const c10::IValue& arg : args) nodes.push_back(as_node(*some, arg));
  SymNode& self = static_cast<SymNode&>(*nodes.front());
  const c10::SymNode result = found->second(self, nodes);
  return as_value(some->env(), as_sym_node(result.get())->expr());
}

}  // namespace proviso::inline v0_2
