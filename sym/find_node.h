// sym/find_node.h - whether an expression has a part of a kind.
//
//   find_node(e, [](Expr x) { return x.is(Op::kMod); })   // null: none
//
// What is shared is looked at once, and depth is no concern of the stack.
#pragma once

#include <cstdint>
#include <unordered_set>

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

}  // namespace proviso::inline v0_2::internal
