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

  // How far a pool has come; undo() takes out what was made since.
  struct Mark {
    size_t nodes, slots;  // of the index
    size_t blocks, left, block;
    Expr* next;  // of the arguments
  };
  PROVISO_HIDDEN static Mark mark(const ExprPool& pool);
  PROVISO_HIDDEN static void undo(ExprPool& pool, const Mark& mark);
};

// Takes out of a pool what is made in it while this lives, unless it is kept:
// a call that fails leaves no symbol behind.
//
//   PoolUndo undo(pool);
//   Expr e = ...;    // may throw
//   undo.keep();
//
// Nobody else may have what is taken out: it is for code that makes nodes and
// has neither canonical() nor a context look at them.
class PoolUndo {
 public:
  explicit PoolUndo(ExprPool& pool)
      : pool_(pool), mark_(PoolStores::mark(pool)) {}
  ~PoolUndo() {
    if (!is_kept_) PoolStores::undo(pool_, mark_);
  }
  PoolUndo(const PoolUndo&) = delete;
  PoolUndo& operator=(const PoolUndo&) = delete;

  void keep() { is_kept_ = true; }

 private:
  ExprPool& pool_;
  const PoolStores::Mark mark_;
  bool is_kept_ = false;
};

}  // namespace proviso::inline v0_2::internal
