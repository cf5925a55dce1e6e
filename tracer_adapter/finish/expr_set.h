// tracer_adapter/finish/expr_set.h - sets of expressions, with and without an
// order.
#pragma once

#include <set>
#include <unordered_set>

#include "sym/expr.h"

namespace proviso::inline v0_2 {

using ExprSet = std::unordered_set<Expr, ExprHash>;
// In order of creation, the same in every run.
using ExprOrder = std::set<Expr, ExprLess>;

}  // namespace proviso::inline v0_2
