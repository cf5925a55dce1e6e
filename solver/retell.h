// solver/retell.h - facts and a question as a set, without the order in which
// they were told.
//
//   ExprPool fresh;
//   Retold r = retell(conditions, question, {.number = 0}, fresh);
//   // r.conditions[i] is conditions[r.from[i]], built in `fresh`
//
// Symbols are made and conditions listed in an order that depends on structure
// alone: not on names, not on the order told, not on what the old pool holds.
// Symbols are told apart by colour refinement (Weisfeiler and Leman): the
// colour of a symbol is refined by the places it stands at until no more are
// told apart.  Those that are left alike are, but for rare cases, symmetric,
// and keep the order they have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sym/expr.h"

namespace proviso {

struct Retold {
  std::vector<Expr> conditions;
  std::vector<uint32_t> from;  // their places as told
  Expr question;
};

// There are many orders.  In each odd one, of any two symbols that one comes
// first which comes last in the even one before it; facts likewise, but for what
// bounds one symbol: that comes before all else, or after it.
struct TellingOrder {
  unsigned number;
  bool bounds_last = false;
};
Retold retell(std::span<const Expr> conditions, Expr question,
              TellingOrder order, ExprPool& into);

}  // namespace proviso
