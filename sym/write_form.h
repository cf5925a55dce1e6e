// sym/write_form.h - a canonical expression as it is written: the parts in
// their cheapest forms, sums with common factors taken out, the sides of a
// relation where they are shortest.  Not for callers of the library.
//
//   x*y + x*z - w <= 0     x*(y + z) <= w
//   (7*x) % 8              (-x) % 8
#pragma once

#include "sym/form_search.h"

namespace proviso::inline v0_2::internal {

// Requires a canonical expression that is no leaf.
Expr write_form(FormSearch& search, Expr canonical);

}  // namespace proviso::inline v0_2::internal
