// tracer_adapter/finish/legal_form.h - expressions in operators that a reader
// of a program has functions for.
//
//   legal_form(CeilToInt(a / b));      // -(-a // b), of integers
//   legal_form(RoundToInt(a / 2));     // by // and %, in integers alone
//   legal_form(CeilDiv(a, b));         // its definition
//   legal_form(Ne(p, q));              // sym_not(p == q), of conditions
//   legal_form(a + b);                 // nullopt: legal as it is
//
// The form has the value of the expression wherever that is defined.  Its own
// arguments may need one, too.
#pragma once

#include <optional>

#include "sym/expr.h"

namespace proviso::inline v0_2 {

std::optional<Expr> legal_form(Expr e);

}  // namespace proviso::inline v0_2
