// Bit operations and shifts of integers in canonical form: a table of rules,
// tried in their order on operands of which a constant stands right.
//
//   (x & 13) & 11     merge_masks, x & 9
//   x & 7             low_bits, Mod(x, 8)
//   8*x | 3           low_bits, 8*x + 3: what both have is the number 0
//   x << 3            shift_left, 8*x
//
// A rule that fires either ends the call or shortens the operands and begins
// the table again.  x & -8 and x | 7 stay as they are, unless x % 8 is a
// number: the sum with x % 8 in it that each is costs more.  open_bits() says
// it, and a rule of the search asks (open_masks in sym/rules_sums.cc).  Bits of
// two operands that are no numbers are left alone: what ranges and residues say
// of them is the solver's (solver/normal/ranges.cc).
#include "sym/bits.h"
#include "sym/canonicalizer.h"
#include "sym/polynomial_ring.h"

namespace proviso::inline v0_2::internal {
namespace {

struct BitOperation {
  using Ring = ExprRing;

  Canonicalizer& s;
  const Op op;  // kBitAnd, kBitOr, kBitXor, kLShift or kRShift
  Polynomial a, b;
  const bool opens_all;
  ExprRing ring = {};
  bool is_done = false;
  Polynomial value = {};

  std::optional<std::pair<Polynomial, Int>> inner() const {
    if (a.terms().size() != 1) return std::nullopt;
    const auto& [monomial, c] = *a.terms().begin();
    if (monomial.size() != 1 || !c.is_one()) return std::nullopt;
    const Expr e = monomial[0];
    if (!e.is(op) || !e.arg(1).is(Op::kInteger)) return std::nullopt;
    return std::pair(to_polynomial(e.arg(0)), e.arg(1).integer());
  }
  Polynomial low(const Int& k) {
    return to_polynomial(s.mod(a, Polynomial(k)));
  }
  bool opens(const Polynomial& sum, bool is_and) const {
    return opens_all || sum.is_constant() || (is_and && op == Op::kBitAnd);
  }
  std::optional<Polynomial> scale() const {
    if (!b.is_constant()) return std::nullopt;
    const std::optional<Int> scale = bits::scale_of(b.constant());
    return scale ? std::optional(Polynomial(*scale)) : std::nullopt;
  }
  Polynomial quotient(const Polynomial& k) {
    return to_polynomial(s.floor_div(a, k));
  }
  void finish(Polynomial p) {
    value = std::move(p);
    is_done = true;
  }
};

using namespace bits;
constinit RuleTable kBitRules({
    RewriteRow<BitOperation>{kOfItself, of_itself<BitOperation>},
    {kMergeMasks, merge_masks<BitOperation>},
    {kLowBits, low_bits<BitOperation>},
    {with_examples(kHighBits, "(8*x + 3) & -4", "(6*x + 3) & -4"),
     high_bits<BitOperation>},
    {kShiftLeft, shift_left<BitOperation>},
    {kShiftRight, shift_right<BitOperation>},
});

Expr operation(Canonicalizer& s, Op op, Expr a, Expr b, bool opens_all) {
  if (is_bitwise(op)) {
    if (compare(a, b) < 0) std::swap(a, b);
    if (a.is(Op::kInteger)) std::swap(a, b);
  }
  BitOperation call{.s = s,
                    .op = op,
                    .a = to_polynomial(a),
                    .b = to_polynomial(b),
                    .opens_all = opens_all};
  kBitRules.run(call);
  if (call.is_done) return s.expr(call.value);
  return s.pool().make(op, {s.expr(call.a), s.expr(call.b)});
}

}  // namespace

std::vector<RewriteRuleCount> bit_rule_counts() { return kBitRules.counts(); }

Expr Canonicalizer::bits(Op op, Expr a, Expr b) {
  return operation(*this, op, a, b, false);
}

Expr Canonicalizer::open_bits(Expr e) {
  return operation(*this, e.op(), e.arg(0), e.arg(1), true);
}

}  // namespace proviso::inline v0_2::internal
