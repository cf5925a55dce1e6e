// sym/relations.h - the rules of relations between integers that hold for
// polynomials of any kind (sym/polynomial_ring.h).  Not for callers of the
// library.
//
//   2*x + 4 <= 2*y + 7       2*y - 2*x + 3 >= 0, which is said of the gap
//     round_down             y - x + 1 >= 0
//   2*x == 4*y + 1           4*y - 2*x + 1 == 0
//     no_multiple            False
//   y % 4 + 2 >= 0
//     always_nonneg          True, by the ends of y % 4 + 2
//
// A relation says of its gap, what stands right less what stands left, that it
// is >= 0 or that it is 0.  Two tables each are made of the rules: the
// canonical form's (sym/canonical_relations.cc), which know ends of expressions
// from the facts, and the solver's forms' (solver/forms/formula_pool.cc), which
// know those of sums of remainders, whatever the facts.  What ranges with
// reasons say of a literal is no rewrite, and stands in
// solver/normal/literals.h: it has been through these rules before.
//
// The rules look at a State, p >= 0 or p == 0 of a p that is no constant:
//
//   Ring, p()               the polynomial
//   content                 the gcd of p's coefficients, without the constant's
//   leads_negative()        whether its first coefficient is below 0
//   becomes(q)              the question is that of q
//   lower(), upper()        p's ends, where they are known
//   is(value)               the answer; true
#pragma once

#include "sym/integer.h"
#include "sym/op.h"
#include "sym/polynomial_ring.h"
#include "sym/rewrite_rule.h"

namespace proviso::inline v0_2::internal::relations {

// a <= b and a < b of integers: b - a is at least this.  Of a == b and a != b
// it is 0, with which the gap is compared.
inline int least_gap(Op op) { return op == Op::kLt ? 1 : 0; }

// --- p >= 0

inline constexpr RewriteRule kRoundDown{"round_down",    "0 <= k*a + c",
                                        "0 <= a + c//k", "0 < k",
                                        "0 <= 2*x + 3",  "0 <= 2*x + 3*y + 1"};
template <typename State>
bool round_down(State& d) {
  if (d.content.is_one()) return false;
  d.becomes(divided_by<typename State::Ring>(d.p(), d.content));
  return true;
}

inline constexpr RewriteRule kAlwaysNonneg{"always_nonneg", "0 <= a", "True",
                                           "0 <= a",        "0 <= y", "0 <= x",
                                           "y in [0, 7]"};
template <typename State>
bool always_nonneg(State& d) {
  const auto low = d.lower();
  return low && low->sign() >= 0 && d.is(true);
}

inline constexpr RewriteRule kAlwaysNegative{
    "always_negative", "0 <= a - b", "False",        "a < b",
    "0 <= y",          "0 <= x",     "y in [-7, -1]"};
template <typename State>
bool always_negative(State& d) {
  const auto high = d.upper();
  return high && high->sign() < 0 && d.is(false);
}

// --- p == 0

// p == 0 and -p == 0 are one: the first coefficient is positive.  Before rules.
template <typename State>
void positive_first(State& d) {
  if (!d.leads_negative()) return;
  d.becomes(divided_by<typename State::Ring>(d.p(), -1));
}

inline constexpr RewriteRule kNoMultiple{"no_multiple", "Eq(k*a, c)",
                                         "False",       "Ne(Mod(c, k), 0)",
                                         "Eq(2*x, 3)",  "Eq(2*x, 4)"};
template <typename State>
bool no_multiple(State& d) {
  return !floor_mod(State::Ring::constant(d.p()), d.content).is_zero() &&
         d.is(false);
}

inline constexpr RewriteRule kDivide{"divide",       "Eq(k*a, k*b)",
                                     "Eq(a, b)",     "Ne(k, 0)",
                                     "Eq(2*x, 4*y)", "Eq(2*x, 3*y)"};
template <typename State>
bool divide(State& d) {
  return round_down(d);  // nothing is left over: no_multiple comes first
}

inline constexpr RewriteRule kNeverZero{"never_zero", "Eq(a, 0)", "False",
                                        "Ne(a, 0)",   "Eq(y, 0)", "Eq(x, 0)",
                                        "y in [1, 7]"};
template <typename State>
bool never_zero(State& d) {
  const auto low = d.lower(), high = d.upper();
  const bool apart = (low && low->sign() > 0) || (high && high->sign() < 0);
  return apart && d.is(false);
}

}  // namespace proviso::inline v0_2::internal::relations
