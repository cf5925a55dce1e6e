// sym/translate.h - expressions of one pool in another.
//
//   ExprPool mine, yours;
//   Expr e = parse(yours, "2*n + 1");
//   translate(e, mine);   // 2*n + 1 over mine's n
#pragma once

#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// e in another pool, with symbols of the same names, kinds and sources.  Reads
// e's pool and changes `to` alone.  Throws Error when `to` has a symbol of the
// same name and another kind.
[[nodiscard]] Expr translate(Expr e, ExprPool& to);

}  // namespace proviso::inline v0_2
PROVISO_API_END
