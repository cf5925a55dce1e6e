// a & b, a | b and a ^ b of integers in canonical form: a table of rules, tried
// in their order on operands of which a constant stands right.
//
//   (x & 13) & 11     merge_masks, x & 9
//   x & 7             low_bits, Mod(x, 8)
//
// A rule that fires either ends the call or shortens the operands and begins
// the table again.  Bits of two operands that are no numbers are left alone:
// what ranges and residues say of them is the solver's
// (solver/normal/functions.cc).
#include "sym/canonicalizer.h"

namespace proviso::inline v0_2::internal {
namespace {

struct BitOperation {
  Canonicalizer& s;
  const Op op;  // kBitAnd, kBitOr or kBitXor
  Expr a, b;
  Expr value = {};
  bool is_done = false;

  bool has_mask(int mask) const {
    return b.is(Op::kInteger) && b.integer() == Int(mask);
  }
  bool becomes(Expr e) {
    value = e;
    return is_done = true;
  }
};

bool of_itself(BitOperation& c) {
  return c.a == c.b && c.op != Op::kBitXor && c.becomes(c.a);
}

bool differs_from_itself(BitOperation& c) {
  return c.a == c.b && c.op == Op::kBitXor && c.becomes(c.s.integer(0));
}

bool and_zero(BitOperation& c) {
  return c.op == Op::kBitAnd && c.has_mask(0) && c.becomes(c.b);
}

bool or_zero(BitOperation& c) {
  return c.op != Op::kBitAnd && c.has_mask(0) && c.becomes(c.a);
}

bool and_ones(BitOperation& c) {
  return c.op == Op::kBitAnd && c.has_mask(-1) && c.becomes(c.a);
}

bool or_ones(BitOperation& c) {
  return c.op == Op::kBitOr && c.has_mask(-1) && c.becomes(c.b);
}

bool merge_masks(BitOperation& c) {
  if (!c.b.is(Op::kInteger) || !c.a.is(c.op)) return false;
  if (!c.a.arg(1).is(Op::kInteger)) return false;
  const Int &inner = c.a.arg(1).integer(), &outer = c.b.integer();
  c.b = c.s.integer(c.op == Op::kBitAnd  ? bit_and(inner, outer)
                    : c.op == Op::kBitOr ? bit_or(inner, outer)
                                         : bit_xor(inner, outer));
  c.a = c.a.arg(0);
  return true;
}

bool low_bits(BitOperation& c) {
  if (c.op != Op::kBitAnd || !c.b.is(Op::kInteger)) return false;
  const Int& mask = c.b.integer();
  if (mask.sign() <= 0 || !bit_and(mask, mask + Int(1)).is_zero()) return false;
  return c.becomes(c.s.mod(to_polynomial(c.a), Polynomial(mask + Int(1))));
}

constinit RuleTable kBitRules({
    RewriteRow<BitOperation>{{"of_itself", "a & a", "a", "", "x & x", "x & y"},
                             of_itself},
    {{"differs_from_itself", "BitwiseFn_bitwise_xor(a, a)", "0", "",
      "BitwiseFn_bitwise_xor(x, x)", "x & x"},
     differs_from_itself},
    {{"and_zero", "a & 0", "0", "", "x & 0", "x | 0"}, and_zero},
    {{"or_zero", "a | 0", "a", "", "x | 0", "x & 0"}, or_zero},
    {{"and_ones", "a & -1", "a", "", "x & -1", "x & -2"}, and_ones},
    {{"or_ones", "a | -1", "-1", "", "x | -1", "x | -2"}, or_ones},
    {{"merge_masks", "(a & b) & c", "a & (b & c)", "", "(x & 13) & 11",
      "(x & y) & 11"},
     merge_masks},
    {{"low_bits", "a & (2**k - 1)", "Mod(a, 2**k)", "k >= 0", "x & 7", "x & 5"},
     low_bits},
});

}  // namespace

std::vector<RewriteRuleCount> bit_rule_counts() { return kBitRules.counts(); }

Expr Canonicalizer::bits(Op op, Expr a, Expr b) {
  if (compare(a, b) < 0) std::swap(a, b);
  if (a.is(Op::kInteger)) std::swap(a, b);
  BitOperation call{.s = *this, .op = op, .a = a, .b = b};
  kBitRules.run(call);
  return call.is_done ? call.value : pool_.make(op, {call.a, call.b});
}

}  // namespace proviso::inline v0_2::internal
