// guards/env/arguments.h - what a public call asks of its arguments.
//
//   require_type(pool, condition, Type::kBool, "guard_bool");
//       // Error: guard_bool: expected a boolean expression, got s0 + 1 (int)
#pragma once

#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

// Throws Error, which names the call, unless `e` is an expression of this pool;
// and of this type.
void require_own(const ExprPool& pool, Expr e, const char* call);
void require_type(const ExprPool& pool, Expr e, Type type, const char* call);

}  // namespace proviso::inline v0_2::internal
