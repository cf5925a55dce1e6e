// sym/simplify.h - the canonical form of an expression.
//
//   simplify(parse("s0 + s0 - 2*s0"))          // 0
//   simplify(parse("Eq(2*s0 + 2, 4*u0)"))      // Eq(s0 + 1, 2*u0)
//   simplify(parse("Mod(6*s0 + 5, 3)"))        // 2
//
// Promise: where e is defined, simplify(e) is defined with the same value.  A
// rewrite may make an undefined point defined (u0//u0 is 1): whoever needs
// definedness asks it of the expression as it was written.
// simplify(simplify(e)) is simplify(e).  Numeric sums are polynomials over
// atoms with products of sums expanded while small; relations have their terms
// split by sign and are divided by the gcd of their coefficients with the
// constant rounded inward.
//
// An expression that takes more than kSimplifyUnits of work comes back as it
// is, and does so each time.
#pragma once

#include "sym/api.h"
#include "sym/expr.h"
#include "sym/facts.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

inline constexpr uint64_t kSimplifyUnits = 200'000;  // sym/budget.h

[[nodiscard]] Expr simplify(Expr e);
// As simplify(e), with divisors, Min, Max and relations decided by the facts.
[[nodiscard]] Expr simplify(Expr e, const Facts& facts);

}  // namespace proviso::inline v0_2
PROVISO_API_END
