// solver/canonical_order.h - facts and a question as a set, without the order
// in which they were assumed.
//
//   const CanonicalOrders orders(conditions, question);
//   ExprPool fresh;
//   Reordered r = orders.rebuild({.number = 0}, fresh);
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
#include <memory>
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

// What all orders of the same facts have in common is found once.
class CanonicalOrders {
 public:
  // The conditions are not copied.
  CanonicalOrders(std::span<const Expr> conditions, Expr question);
  ~CanonicalOrders();
  CanonicalOrders(const CanonicalOrders&) = delete;
  CanonicalOrders& operator=(const CanonicalOrders&) = delete;

  Reordered rebuild(FactOrder order, ExprPool& into) const;

 private:
  class Dag;
  const std::unique_ptr<Dag> dag_;
};

}  // namespace proviso::inline v0_2::internal
