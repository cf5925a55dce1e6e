// guards/source_text.h - text that speaks of inputs, as an expression.
//
//   const std::map<std::string, Expr> values = {{"L['x'].size()[0]", s0},
//                                               {"s77", s1}};
//   parse_over(pool, "L['x'].size()[0] <= 2*s77", values);  // s0 <= 2*s1
//
// Guards are written so in .pt2 files, theirs and ours; an argument of *xs is
// L['xs_0'] or L['xs'][0].  Nothing is evaluated: what is no such text is an
// Error that shows it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sym/expr.h"

namespace proviso {

// `values` are of `pool`; keys are names, or sources that begin with L[.
Expr parse_over(ExprPool& pool, std::string_view text,
                const std::map<std::string, Expr>& values);

}  // namespace proviso
