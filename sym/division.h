// sym/division.h - the rules of a // b and a % b that hold for polynomials of
// any kind (sym/polynomial_ring.h).  Not for callers of the library.
//
//   (8*x*y + 12*y) // (4*y)
//     cancel_factor            (8*x + 12) // 4
//     pull_out_number          2*x + 3 + 0 // 4
//     small_constant           2*x + 3
//
// Three tables are made of them: the canonical form's
// (sym/canonical_division.cc), that of floors by numbers in the solver's forms
// (solver/forms/floors.cc), and that of floors under facts
// (solver/normal/quotients.cc).  Each has rules of its own beside them, of what
// it alone knows: bounds of expressions, remainders, reasons.
//
// A rule rewrites a State and says whether it did.  The State says what is done
// with what a rule finds:
//
//   Ring, ring, num, den    the division
//   take_out(q)             num was den*q + num: q stands outside of a floor
//   take_factor(f, g, c)    num and den were g*f*num + c and g*f*den, where
//                           0 <= c < g
//   finish()                0 <= num < den: the floor is 0, the remainder num
//   is_nonzero(p)           whether p is not 0, as is known, or as num/den
//                           would else be undefined
//   is_nonzero_atom(a)      the same of an atom
//   merges()                whether a floor of floors is wanted, den > 0
//   merges(m)               of one with x // m in it
//   kWholeCoefficients      whether 3*y // (2*y) keeps its 3
//   spend(n)                the work of n terms
//
// The statements are about floors; of remainders the rules hold by
// a % b == a - b*(a // b).
#pragma once

#include <optional>
#include <utility>

#include "sym/polynomial_ring.h"
#include "sym/rewrite_rule.h"

namespace proviso::inline v0_2::internal::division {

inline constexpr RewriteRule kZeroNumerator{
    "zero_numerator",    "0//b", "0", "Ne(b, 0)", "(x - y)//z", "x//z",
    "Ne(z, 0); Eq(x, y)"};
template <typename State>
bool zero_numerator(State& d) {
  if (!d.num.is_zero() || d.den.is_zero() || !d.is_nonzero(d.den)) return false;
  d.finish();
  return true;
}

inline constexpr RewriteRule kNegativeConstant{
    "negative_constant", "a//(-k)", "(-a)//k", "", "x//(-3)", "x//3"};
template <typename State>
bool negative_constant(State& d) {
  if (!d.den.is_constant() || d.ring.constant(d.den).sign() >= 0) return false;
  d.num = d.ring.scaled(d.num, -1);
  d.den = d.ring.scaled(d.den, -1);
  d.take_factor({}, -1, 0);
  return true;
}

// What is left in num has coefficients in [0, k).
inline constexpr RewriteRule kPullOutNumber{"pull_out_number", "(k*q + r)//k",
                                            "q + r//k",        "",
                                            "(4*x + y)//4",    "(3*x + y)//4"};
template <typename State>
bool pull_out_number(State& d) {
  using Ring = typename State::Ring;
  if (!d.den.is_constant()) return false;
  const Int k = d.ring.constant(d.den);
  d.spend(d.ring.size(d.num));
  typename Ring::Poly q = divided_by<Ring>(d.num, k);
  if (q.is_zero()) return false;
  d.num = d.ring.add(d.num, q, -k);
  d.take_out(std::move(q));
  return true;
}

// What pull_out_number leaves of a constant.
inline constexpr RewriteRule kSmallConstant{
    "small_constant",     "r//k",         "0",
    "(0 <= r) & (r < k)", "(4*x + 3)//4", "(3*x + 3)//4"};
template <typename State>
bool small_constant(State& d) {
  if (!d.den.is_constant() || !d.num.is_constant()) return false;
  d.finish();
  return true;
}

inline constexpr RewriteRule kCancelGcd{"cancel_gcd",    "(g*x + c)//(g*k)",
                                        "(x + c//g)//k", "(g > 0) & (k > 0)",
                                        "(2*x + 3)//4",  "(3*x + 2)//4"};
template <typename State>
bool cancel_gcd(State& d) {
  using Ring = typename State::Ring;
  if (!d.den.is_constant() || d.num.is_constant()) return false;
  const Int k = d.ring.constant(d.den);
  const Int g = gcd(content_of<Ring>(d.num), k);
  if (g.is_one()) return false;
  d.spend(d.ring.size(d.num));
  Int c = floor_mod(d.ring.constant(d.num), g);
  d.num = divided_by<Ring>(d.num, g);
  d.den = d.ring.number(floor_div(k, g));
  d.take_factor({}, g, c);
  return true;
}

inline constexpr RewriteRule kMergeNested{
    "merge_nested", "(x//m + e)//k", "(x + m*e)//(m*k)",
    "k > 0",        "(x//3 + 1)//2", "(2*(x//3) + 1)//5"};
// Also where m < 0: the inner floor only drops what is less than one k-th.
template <typename State>
bool merge_nested(State& d) {
  using Ring = typename State::Ring;
  if (!d.merges()) return false;
  std::optional<typename Ring::Poly> num, m;
  d.ring.each(d.num, [&](const auto& monomial, const Int& c) {
    if (!c.is_one() || d.ring.is_one(monomial)) return true;
    const auto floor = d.ring.as_floor(monomial);
    if (!floor || !d.merges(floor->den)) return true;
    const auto rest =
        d.ring.add(d.num, d.ring.times(d.ring.number(1), monomial, 1), -1);
    d.spend(d.ring.size(floor->num) +
            d.ring.size(floor->den) * (d.ring.size(rest) + 1));
    m = floor->den;
    num = d.ring.add(floor->num, d.ring.mul(*m, rest), 1);
    return false;
  });
  if (!num) return false;
  d.num = *std::move(num);
  d.den = d.ring.mul(*m, d.den);
  return true;
}

// (b*t)//b -> t for sums b; of a single term pull_out_terms takes it.
inline constexpr RewriteRule kExact{"exact",
                                    "(b*t)//b",
                                    "t",
                                    "Ne(b, 0)",
                                    "(x*x - y*y)//(x + y)",
                                    "(x*x + y*y)//(x + y)",
                                    "x in [1, 9]; y in [1, 9]"};
template <typename State>
bool exact(State& d) {
  if (d.den.is_constant() || d.ring.size(d.den) < 2) return false;
  d.spend(d.ring.size(d.den) + d.ring.size(d.num));
  auto q = exact_quotient_of(d.ring, d.num, d.den);
  if (!q || !d.is_nonzero(d.den)) return false;
  d.num = {};
  d.take_out(*std::move(q));
  d.finish();
  return true;
}

inline constexpr RewriteRule kCancelFactor{
    "cancel_factor",
    "(f*a)//(f*b)",
    "a//b",
    "Ne(f, 0)",
    "(x*z)//(y*z)",
    "(x*z)//(y*w)",
    "y in [1, 9]; z in [1, 9]; w in [1, 9]"};
template <typename State>
bool cancel_factor(State& d) {
  if (!d.ring.constant(d.num).is_zero() || !d.ring.constant(d.den).is_zero()) {
    return false;
  }
  if (d.num.is_zero() || d.den.is_zero()) return false;
  const auto common = common_factors(d.ring, d.num, d.den);
  typename State::Ring::Factors nonzero;
  for (const auto& atom : common) {
    if (d.is_nonzero_atom(atom)) nonzero.push_back(atom);
  }
  if (nonzero.empty()) return false;
  const auto factor = d.ring.monomial(nonzero);
  d.num = *without_monomial(d.ring, d.num, factor);
  d.den = *without_monomial(d.ring, d.den, factor);
  d.take_factor(nonzero, 1, 0);
  return true;
}

inline constexpr RewriteRule kCancelContent{
    "cancel_content", "(g*a)//(g*b)", "a//b",       "g > 0",
    "(2*x)//(4*y)",   "(2*x)//(3*y)", "y in [1, 9]"};
template <typename State>
bool cancel_content(State& d) {
  using Ring = typename State::Ring;
  if (d.den.is_constant()) return false;
  const Int g = gcd(full_content_of<Ring>(d.num), full_content_of<Ring>(d.den));
  if (g.is_one() || g.is_zero()) return false;
  d.num = divided_by<Ring>(d.num, g);
  d.den = divided_by<Ring>(d.den, g);
  d.take_factor({}, g, 0);
  return true;
}

inline constexpr RewriteRule kPullOutTerms{
    "pull_out_terms", "(b*t + r)//b", "t + r//b",   "Ne(b, 0)",
    "(x*y + z)//y",   "(x*x + z)//y", "y in [1, 9]"};
// b is a single term.
template <typename State>
bool pull_out_terms(State& d) {
  if (d.den.is_constant() || d.ring.size(d.den) != 1) return false;
  const auto [m, k] = d.ring.leading(d.den);
  d.spend(d.ring.size(d.num));
  auto taken =
      multiples_of_term(d.ring, d.num, m, k, State::kWholeCoefficients);
  if (taken.outside.is_zero() || !d.is_nonzero(d.den)) return false;
  d.num = std::move(taken.rest);
  d.take_out(std::move(taken.outside));
  return true;
}

}  // namespace proviso::inline v0_2::internal::division
