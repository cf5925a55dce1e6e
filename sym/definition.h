// sym/definition.h - operators that others define: CeilDiv(a, b) is -(-a // b).
//
// A visitor that has nothing of its own to say of such an operator handles its
// definition instead, so that a new one needs no case there.
#pragma once

#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// An expression of simpler operators with e's value, defined exactly where e
// is; e itself where its operator is not defined by others.
[[nodiscard]] Expr definition(Expr e);

}  // namespace proviso::inline v0_2
PROVISO_API_END
