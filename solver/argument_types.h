// solver/argument_types.h - what calls take, and what they say of anything
// else.
//
//   require_bool(condition, "assume");      // Error: Context::assume: expected
//                                           // a boolean, got s0 + 1 (integer)
//
// For the files that implement the calls, and for callers that look before the
// context does: what was made of an argument can then be taken out of the pool
// again (PoolUndo of sym/pool_stores.h).
#pragma once

#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

// `call` is the context's.
[[noreturn]] void fail_bool(Expr e, const char* call);
inline void require_bool(Expr e, const char* call) {
  if (!e.is_bool()) [[unlikely]]
    fail_bool(e, call);
}

// Of Context::equivalent().
void require_alike(Expr a, Expr b);
// Of Context::declare(): a symbol, of integers where the range has a stride.
void require_declarable(Expr symbol, bool is_strided);

// Of solve(): an integer symbol, and Eq, Le or Lt of integers, which may be
// negated, or what is defined by those.
void require_unknown(Expr symbol);
void require_solvable(Expr relation);

}  // namespace proviso::inline v0_2::internal
