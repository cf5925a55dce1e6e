// solver/retell.h - facts and a question as a set, without the order in which
// they were told.
//
//   ExprPool fresh;
//   Retold r = retell(conditions, question, /*backwards=*/false, fresh);
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

// Backwards, of any two symbols the other comes first.
Retold retell(std::span<const Expr> conditions, Expr question, bool backwards,
              ExprPool& into);

}  // namespace proviso
