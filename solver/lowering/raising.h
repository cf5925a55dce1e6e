// solver/lowering/raising.h - back from a normal form to an expression.
//
//   x - 4*floor(x/4)      x - 4*(x//4)
//   x + pos(y - x)        x + Max(0, y - x)
#pragma once

#include <optional>

#include "solver/forms/form_pool.h"

namespace proviso::inline v0_2::internal {

// The expression that a polynomial is the form of; nullopt when it mentions a
// variable that an equality introduced.
std::optional<Expr> to_expr(ExprPool& pool, FormPool& forms, const Poly& p);

}  // namespace proviso::inline v0_2::internal
