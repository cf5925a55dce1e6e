// sym/not_null.h - what the public functions on expressions ask first.
#pragma once

#include <string>

#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

[[noreturn]] inline void fail_null(const char* call) {
  throw Error(std::string(call) +
              ": expected an expression, got a null one; build it with an "
              "ExprPool");
}

// e, which is an expression; a null one is an Error that names the call.
inline Expr not_null(Expr e, const char* call) {
  if (!e) fail_null(call);
  return e;
}

}  // namespace proviso::inline v0_2::internal
