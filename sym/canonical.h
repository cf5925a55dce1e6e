// sym/canonical.h - the canonical form of an expression.
//
//   canonical(parse("s0 + s0 - 2*s0"))          // 0
//   canonical(parse("Eq(2*s0 + 2, 4*u0)"))      // Eq(s0 + 1, 2*u0)
//   canonical(parse("Mod(6*s0 + 5, 3)"))        // 2
//
// Promise: where e is defined, canonical(e) is defined with the same value.  A
// rewrite may make an undefined point defined (u0//u0 is 1): whoever needs
// definedness asks it of the expression as it was written.
// canonical(canonical(e)) is canonical(e).  Numeric sums are polynomials over
// atoms with products of sums expanded while small; relations have their terms
// split by sign and are divided by the gcd of their coefficients with the
// constant rounded inward.
//
// An expression that takes more than 200,000 units of work (sym/budget.h) comes
// back as it is, and does so each time.
#pragma once

#include "sym/api.h"
#include "sym/expr.h"
#include "sym/facts.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

[[nodiscard]] Expr canonical(Expr e);
// As canonical(e), with divisors, Min, Max and relations decided by the facts.
[[nodiscard]] Expr canonical(Expr e, const Facts& facts);

}  // namespace proviso::inline v0_2
PROVISO_API_END
