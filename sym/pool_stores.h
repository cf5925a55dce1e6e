// sym/pool_stores.h - what other parts keep in a pool, so that it dies with it,
// symbols that no text names among it.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "sym/api.h"
#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

struct PoolStores {
  // canonical()'s memo: from node to canonical node.
  PROVISO_HIDDEN static std::unordered_map<uint32_t, Expr>& canonical_memo(
      ExprPool& pool);
  // What the solver derives from nodes and shares among its contexts.
  PROVISO_HIDDEN static std::shared_ptr<void>& companion(ExprPool& pool);
  // ExprPool::symbol() of any name.  One that is no word ("input:0") is no
  // caller's, and no text comes by it.
  PROVISO_HIDDEN static Expr symbol_of_any_name(ExprPool& pool,
                                                std::string_view name,
                                                SymbolKind kind,
                                                std::string_view source = "");
  // The constant or symbol that the leaf of another pool is in this one.
  PROVISO_HIDDEN static Expr leaf_in(ExprPool& pool, Expr leaf);
};

}  // namespace proviso::inline v0_2::internal
