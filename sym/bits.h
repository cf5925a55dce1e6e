// sym/bits.h - the rules of bit operations and shifts that hold for polynomials
// of any kind (sym/polynomial_ring.h).  Not for callers of the library.
//
//   x & 7      low_bits       x % 8
//   x & -8     high_bits      x - x % 8
//   x | 7      low_bits       x + 7 - x % 8
//   x << 3     shift_left     8*x
//
// A rule says what both operands have, a & b; a | b and a ^ b follow from that.
// Two tables are made of them: the canonical form's (sym/canonical_bits.cc) and
// that of functions by numbers in the solver's forms
// (solver/forms/functions.cc).  The rules look at a State, which says what is
// done with what they find:
//
//   Ring, ring, op, a, b    the operation; where one operand is a number, b is
//   inner()                 where a is `op` of something and a number, the two
//   low(k)                  a % k, for a number k > 0
//   opens(low, is_and)      whether a & b is wanted as a sum with `low` in it;
//                           is_and: as `low` alone
//   scale()                 2**b, where that is wanted
//   quotient(k)             a // k
//   finish(p)               the operation is p
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "sym/fixed_limits.h"
#include "sym/integer.h"
#include "sym/op.h"
#include "sym/rewrite_rule.h"

namespace proviso::inline v0_2::internal::bits {

inline bool is_bitwise(Op op) {
  return op == Op::kBitAnd || op == Op::kBitOr || op == Op::kBitXor;
}

inline bool is_power_of_two(const Int& n) {
  return n.sign() > 0 && bit_and(n, n - Int(1)).is_zero();
}

inline Int of_numbers(Op op, const Int& a, const Int& b) {
  if (op == Op::kBitAnd) return bit_and(a, b);
  return op == Op::kBitOr ? bit_or(a, b) : bit_xor(a, b);
}

// 2**count, for counts that are opened: not negative, and not past this.
inline std::optional<Int> scale_of(const Int& count) {
  const auto n = count.to_int64();
  if (!n || *n < 0 || *n > fixed::shift) return std::nullopt;
  return pow(Int(2), static_cast<uint64_t>(*n));
}

// The operation, where `both` is a & b: a + b counts common bits twice, a | b
// keeps them once, a ^ b drops them.
template <typename Ring>
typename Ring::Poly from_common(const Ring& ring, Op op,
                                const typename Ring::Poly& a,
                                const typename Ring::Poly& b,
                                const typename Ring::Poly& both) {
  if (op == Op::kBitAnd) return both;
  return ring.add(ring.add(a, b, 1), both, op == Op::kBitOr ? -1 : -2);
}

template <typename State>
bool finish_from_common(State& d, const typename State::Ring::Poly& both) {
  d.finish(from_common(d.ring, d.op, d.a, d.b, both));
  return true;
}

inline constexpr RewriteRule kOfItself{"of_itself", "a & a", "a",
                                       "",          "x & x", "x & y"};
template <typename State>
bool of_itself(State& d) {
  return is_bitwise(d.op) && d.a == d.b && finish_from_common(d, d.a);
}

inline constexpr RewriteRule kMergeMasks{"merge_masks",   "(a & b) & c",
                                         "a & (b & c)",   "",
                                         "(x & 13) & 11", "(x & y) & 11"};
template <typename State>
bool merge_masks(State& d) {
  if (!is_bitwise(d.op) || !d.b.is_constant()) return false;
  auto inner = d.inner();
  if (!inner) return false;
  d.a = std::move(inner->first);
  d.b = d.ring.number(of_numbers(d.op, inner->second, d.ring.constant(d.b)));
  return true;
}

inline constexpr RewriteRule kLowBits{
    "low_bits", "a & (2**k - 1)", "Mod(a, 2**k)", "k >= 0", "x & 7", "x & 5"};
template <typename State>
bool low_bits(State& d) {
  if (!is_bitwise(d.op) || !d.b.is_constant()) return false;
  const Int period = d.ring.constant(d.b) + Int(1);
  if (!is_power_of_two(period)) return false;
  const auto low = d.low(period);
  return d.opens(low, true) && finish_from_common(d, low);
}

inline constexpr RewriteRule kHighBits{"high_bits",        "a & -(2**k)",
                                       "a - Mod(a, 2**k)", "k >= 0",
                                       "x & -8",           "x & -7"};
template <typename State>
bool high_bits(State& d) {
  if (!is_bitwise(d.op) || !d.b.is_constant()) return false;
  const Int period = -d.ring.constant(d.b);
  if (!is_power_of_two(period)) return false;
  const auto low = d.low(period);
  return d.opens(low, false) && finish_from_common(d, d.ring.add(d.a, low, -1));
}

inline constexpr RewriteRule kShiftLeft{"shift_left",   "LShift(a, k)",
                                        "a*2**k",       "k >= 0",
                                        "LShift(x, 3)", "RShift(x, 3)"};
template <typename State>
bool shift_left(State& d) {
  if (d.op != Op::kLShift) return false;
  const auto scale = d.scale();
  if (!scale) return false;
  d.finish(d.ring.mul(d.a, *scale));
  return true;
}

inline constexpr RewriteRule kShiftRight{"shift_right",  "RShift(a, k)",
                                         "a//2**k",      "k >= 0",
                                         "RShift(x, 3)", "LShift(x, 3)"};
template <typename State>
bool shift_right(State& d) {
  if (d.op != Op::kRShift) return false;
  const auto scale = d.scale();
  if (!scale) return false;
  d.finish(d.quotient(*scale));
  return true;
}

}  // namespace proviso::inline v0_2::internal::bits
