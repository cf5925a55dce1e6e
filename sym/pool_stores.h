// sym/pool_stores.h - what other parts keep in a pool, so that it dies with it.
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
};

}  // namespace proviso::inline v0_2::internal
