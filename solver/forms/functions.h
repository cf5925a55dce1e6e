// solver/forms/functions.h - powers, shifts and bit operations: what they are
// at every point.
//
//   function_of(terms, kPow, x + 1, 2)        x*x + 2*x + 1
//   function_of(terms, kBitAnd, x, 7)         x - 8*floor(x/8), x % 8
//   function_of(terms, kBitOr, x, y)          x + y - (x & y)
//   function_of(terms, kLShift, x, n)         x * 2**n
//
// The rules are rows of a table (sym/rewrite_rule.h), those of bits and shifts
// from sym/bits.h.  What no rule says is an atom, of a power or of x & y:
// solver/normal/functions.h asks again where facts change its parts.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "solver/fixed_limits.h"
#include "solver/forms/term_pool.h"
#include "sym/rewrite_rule.h"

namespace proviso::inline v0_2::internal {

// Constant exponents n up to which x**n is multiplied out, and b**n computed of
// a number b, where that has no more bits than sym/integer.h allows.
struct Exponents {
  int64_t expanded = fixed::lowered_exponent;
  int64_t of_numbers = std::numeric_limits<int64_t>::max();
};

// a op b.  `op` is kPow, kLShift, kRShift, kBitAnd, kBitOr or kBitXor.
Poly function_of(TermPool& terms, Op op, const Poly& a, const Poly& b,
                 const Exponents& most = {});

// The rules, with how often each was used.
std::vector<RewriteRuleCount> number_function_rule_counts();

}  // namespace proviso::inline v0_2::internal
