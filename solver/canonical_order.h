// solver/canonical_order.h - facts and a question as a set, without the order
// in which they were assumed.
//
//   ExprPool fresh;
//   Reordered r = reorder(conditions, question, {.number = 0}, fresh);
//   // r.conditions[i] is conditions[r.from[i]], built in `fresh`
//
// Symbols are made and conditions listed in an order that depends on structure
// alone: not on names, not on the given order, not on what the old pool holds.
// Symbols are distinguished by colour refinement (Weisfeiler and Leman): the
// colour of a symbol is refined by the places it stands at until no more are
// distinguished.  Those that are left alike are, but for rare cases, symmetric,
// and keep the order they have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

struct Reordered {
  std::vector<Expr> conditions;
  std::vector<uint32_t> from;  // their places as given
  Expr question;
};

// There are many orders: number 2k + 1 is the reverse of number 2k, of symbols
// and of facts, but for what bounds one symbol: that comes before all else, or
// after it.
struct FactOrder {
  unsigned number;
  bool bounds_last = false;
};
Reordered reorder(std::span<const Expr> conditions, Expr question,
                  FactOrder order, ExprPool& into);

}  // namespace proviso::inline v0_2::internal
