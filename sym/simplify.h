// sym/simplify.h - of the forms of an expression that rules lead to, the one
// that costs least (sym/cost.h).
//
//   simplify(parse("8*(x//8) + Mod(x, 8)"))      // x
//   simplify(parse("Min(x + y, x + z)"))         // x + Min(y, z)
//   simplify(parse("(x < 20) | (x >= 19)"))      // True
//
// canonical() makes equal things the same; this makes them short.  The
// canonical form is where the search starts; each rule says other forms of a
// node, those are made canonical, and the cheapest few are looked at further.
// Sums are written with common factors taken out and numerators gathered.
//
// Promise: where e is defined and the facts hold, the result is defined with
// the same value.  It is never costlier than e.  What is found is searched
// again until nothing cheaper is found, so that the cheapest form of the result
// is the result itself, unless 300,000 units of work end the search: what it
// has not come to by then stays as it is.
#pragma once

#include "sym/api.h"
#include "sym/expr.h"
#include "sym/facts.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

[[nodiscard]] Expr simplify(Expr e);
// The cheapest form wherever the facts hold.
[[nodiscard]] Expr simplify(Expr e, const Facts& facts);

}  // namespace proviso::inline v0_2
PROVISO_API_END
