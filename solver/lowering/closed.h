// solver/lowering/closed.h - what mentions no symbol has a value.
//
//   value_without_symbols(parse("Max(3.0, 0.5) <= 2"))    false
//   value_without_symbols(parse("u0 <= 2"))               nothing
//
// Where an expression has no form, its value is one.  Undefined is a result as
// well: see Evaluation.
#pragma once

#include <optional>

#include "sym/evaluate.h"

namespace proviso::inline v0_2::internal {

// Nothing where e mentions a symbol, or where its value takes too much work.
std::optional<Evaluation> value_without_symbols(Expr e);

}  // namespace proviso::inline v0_2::internal
