#include "solver/forms/functions.h"

#include <optional>
#include <utility>

#include "solver/forms/form_ring.h"
#include "solver/forms/operations.h"
#include "sym/bits.h"

namespace proviso::inline v0_2::internal {
namespace {

// a op b, until a rule says what it is.
struct FunctionByNumbers {
  using Ring = FormRing;

  FormRing ring;
  const Op op;
  Poly a, b;
  const Exponents& most;
  Poly value = {};
  bool is_done = false;

  std::optional<std::pair<Poly, Int>> inner() const {
    const std::optional<AtomId> atom = as_atom(ring.terms, a);
    if (!atom) return std::nullopt;
    const Atom& f = ring.terms.atoms[*atom];
    if (f.kind != AtomKind::kFunc || f.op != op) return std::nullopt;
    const Poly& mask = ring.terms.polys[f.b];
    if (!mask.is_constant()) return std::nullopt;
    return std::pair(ring.terms.polys[f.a], mask.constant);
  }
  Poly low(const Int& k) { return mod(ring.terms, a, Poly::number(k)); }
  static bool opens(const Poly&, bool) { return true; }
  std::optional<Poly> scale() {
    if (b.is_constant()) {
      if (const auto scale = bits::scale_of(b.constant)) {
        return Poly::number(*scale);
      }
    }
    return func(ring.terms, Op::kPow, Poly::number(2), b);
  }
  Poly quotient(const Poly& k) { return floor_div(ring.terms, a, k); }
  void finish(Poly p) {
    value = std::move(p);
    is_done = true;
  }
};

bool bits_of_numbers(FunctionByNumbers& c) {
  if (!bits::is_bitwise(c.op) || !c.a.is_constant() || !c.b.is_constant()) {
    return false;
  }
  c.finish(Poly::number(bits::of_numbers(c.op, c.a.constant, c.b.constant)));
  return true;
}

// The exponent where it is a number, not negative and at most `most`.
std::optional<uint64_t> exponent(const FunctionByNumbers& c, int64_t most) {
  if (c.op != Op::kPow || !c.b.is_constant()) return std::nullopt;
  const auto n = c.b.constant.to_int64();
  if (!n || *n < 0 || *n > most) return std::nullopt;
  return static_cast<uint64_t>(*n);
}

bool multiply_out(FunctionByNumbers& c) {
  const auto n = exponent(c, c.most.expanded);
  if (!n) return false;
  c.finish(pow(c.ring.terms, c.a, static_cast<unsigned>(*n)));
  return true;
}

bool power_of_number(FunctionByNumbers& c) {
  const auto n = exponent(c, c.most.of_numbers);
  if (!n || !c.a.is_constant()) return false;
  const auto power = pow(c.a.constant, *n);
  if (power) c.finish(Poly::number(*power));
  return power.has_value();
}

auto& function_rules() {
  using F = FunctionByNumbers;
  using namespace bits;
  static constinit RuleTable table({
      RewriteRow<F>{{"bits_of_numbers", "a & b", "c", "Eq(a & b, c)", "x & y",
                     "x & z", "Eq(x, 6); Eq(y, 12)"},
                    bits_of_numbers},
      {kOfItself, of_itself<F>},
      {kMergeMasks, merge_masks<F>},
      {with_examples(kLowBits, "x & y", "x & z", "Eq(y, 7); Eq(z, 5)"),
       low_bits<F>},
      {with_examples(kHighBits, "x & y", "x & z", "Eq(y, -8); Eq(z, -7)"),
       high_bits<F>},
      {kShiftLeft, shift_left<F>},
      {kShiftRight, shift_right<F>},
      {{"multiply_out", "x**3", "x*x*x", "", "x**y", "x**z",
        "Eq(y, 3); z in [9, int_oo]"},
       multiply_out},
      {{"power_of_number", "b**n", "c", "Eq(b**n, c)", "x**y", "x**z",
        "Eq(x, 2); Eq(y, 12); z in [0, 20]"},
       power_of_number},
  });
  return table;
}

}  // namespace

std::vector<RewriteRuleCount> number_function_rule_counts() {
  return function_rules().counts();
}

Poly function_of(TermPool& terms, Op op, const Poly& a, const Poly& b,
                 const Exponents& most) {
  FunctionByNumbers call{
      .ring = FormRing(terms), .op = op, .a = a, .b = b, .most = most};
  const bool is_bitwise = bits::is_bitwise(op);
  if (is_bitwise && a.is_constant()) std::swap(call.a, call.b);
  function_rules().run(call);
  if (call.is_done) return std::move(call.value);
  if (!is_bitwise) return func(terms, op, call.a, call.b);
  // one order of the operands, a number last
  const bool swaps = !call.b.is_constant() &&
                     terms.polys.id_of(call.b) < terms.polys.id_of(call.a);
  const Poly both = swaps ? func(terms, Op::kBitAnd, call.b, call.a)
                          : func(terms, Op::kBitAnd, call.a, call.b);
  return bits::from_common(call.ring, op, call.a, call.b, both);
}

}  // namespace proviso::inline v0_2::internal
