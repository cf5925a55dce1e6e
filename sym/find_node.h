// sym/find_node.h - the nodes of an expression, one after the other.
//
//   find_node(e, [](Expr x) { return x.is(Op::kMod); })   // null: none
//   operands((a & b) & c, Op::kAnd)                       // {a, b, c}
//
// What is shared is looked at once, and depth is no concern of the stack.  Most
// expressions are small, and quicker walked as the trees that they are written
// as (visit_few).
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "sym/budget.h"
#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

// The first node within e, arguments first, that `is_it` is true of; else none.
template <typename IsIt>
Expr find_node(Expr e, IsIt is_it) {
  Expr found;
  std::unordered_set<uint32_t> seen;
  visit_arguments_first(
      e, [&](Expr x) { return found || seen.contains(x.id()); },
      [&](Expr x) {
        Budget::charge(1);
        seen.insert(x.id());
        if (!found && is_it(x)) found = x;
      });
  return found;
}

// The most nodes of a small expression, leaves not counted.
inline constexpr int kFewNodes = 32;

// The nodes of e that are no leaves, each before its arguments, a shared one as
// often as it is used.  False, in the midst of them, where they are more than
// `most`, which is counted down.
template <typename Visit>
bool visit_few(Expr e, int& most, const Visit& visit) {
  if (is_leaf(e.op())) return true;
  if (--most < 0) return false;
  visit(e);
  for (Expr arg : e.args()) {
    if (!visit_few(arg, most, visit)) return false;
  }
  return true;
}

// Calls visit(x) for each operand that `op` joins in e, from left to right, and
// ends where it returns false, as then does this.  What is another node, or of
// another type, is its own only operand.  A part that is shared is opened once:
// again it is nothing new for And, Or, Min and Max, and one operand of a sum.
template <typename Visit>
bool visit_operands(Expr e, Op op, const Visit& visit) {
  if (!e.is(op)) return visit(e);
  const auto is_joined = [&](Expr x) {
    return x.is(op) && x.type() == e.type();
  };
  if (std::none_of(e.args().begin(), e.args().end(), is_joined)) {
    return std::all_of(e.args().begin(), e.args().end(), visit);
  }
  const bool counts = op == Op::kAdd || op == Op::kMul;
  std::unordered_set<uint32_t> seen;
  std::vector<Expr> stack{e};
  while (!stack.empty()) {
    const Expr next = stack.back();
    stack.pop_back();
    if (is_joined(next) && seen.insert(next.id()).second) {
      Budget::charge(next.arity());
      for (size_t i = next.arity(); i-- > 0;) stack.push_back(next.arg(i));
    } else if (!is_joined(next) || counts) {
      if (!visit(next)) return false;
    }
  }
  return true;
}

inline std::vector<Expr> operands(Expr e, Op op) {
  std::vector<Expr> all;
  visit_operands(e, op, [&all](Expr x) {
    all.push_back(x);
    return true;
  });
  return all;
}

}  // namespace proviso::inline v0_2::internal
