// sym/traced_python.h - expressions as Python that a tracer can run: no
// symbolic number is asked for its truth.
//
//   to_traced_python(e)   (u0 == 0) | (u0 >= 8)     torch.sym_min(u0, 8)
//
// to_check() of sym/print.h is in this form.
#pragma once

#include <functional>
#include <string>

#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

std::string to_traced_python(
    Expr e, const std::function<std::string(Expr)>& name_of = {});

}  // namespace proviso::inline v0_2::internal
