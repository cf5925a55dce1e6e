// What makes an integer of a real number, and what a real number divided by 1
// or raised to the power 1 is, in canonical form: a table of rules each.
//
//   math.floor(x/4)                 floor_of_ratio, x//4
//   math.trunc(x/4), x >= 0         trunc_of_nonneg, x//4
//   x/1                             divided_by_one, ToFloat(x)
//
// A number is rounded where it is a fraction of integer polynomials over a
// number (sym/fractions.h) and the program's arithmetic gives what the exact
// number would (sym/doubles.h).  A call costs a division of polynomials.
#include "sym/canonicalizer.h"
#include "sym/doubles.h"

namespace proviso::inline v0_2::internal {
namespace {

// op of x.
struct Rounding {
  Canonicalizer& s;
  const Op op;
  const Canonicalizer::Fraction x;
  Expr value = {};
  bool is_done = false;

  bool is_truncation_of_nonneg(const Polynomial& p) {
    return op == Op::kTruncToInt && s.known_nonneg(p);
  }
  bool down() {
    value = s.floor_div(x.num, x.den);
    return is_done = true;
  }
  bool up() {
    const Expr opposite = s.floor_div(x.num * Int(-1), x.den);
    value = s.expr(to_polynomial(opposite) * Int(-1));
    return is_done = true;
  }
};

bool floor_of_ratio(Rounding& c) { return c.op == Op::kFloorToInt && c.down(); }

bool ceil_of_ratio(Rounding& c) { return c.op == Op::kCeilToInt && c.up(); }

bool of_integer(Rounding& c) {
  return c.x.den == Polynomial(Int(1)) && c.down();
}

bool trunc_of_nonneg(Rounding& c) {
  return c.is_truncation_of_nonneg(c.x.num) && c.down();
}

bool trunc_of_nonpos(Rounding& c) {
  return c.is_truncation_of_nonneg(c.x.num * Int(-1)) && c.up();
}

constinit RuleTable kRoundingRules({
    RewriteRow<Rounding>{{"floor_of_ratio", "math.floor(a/k)", "a//k", "",
                          "math.floor(x/4)", "math.ceil(x/4)"},
                         floor_of_ratio},
    {{"ceil_of_ratio", "math.ceil(a/k)", "-((-a)//k)", "", "math.ceil(x/4)",
      "math.floor(x/4)"},
     ceil_of_ratio},
    {{"of_integer", "round(float(a))", "a", "", "round(float(x))",
      "round(x/4)"},
     of_integer},
    {{"trunc_of_nonneg", "math.trunc(a/k)", "a//k", "(0 <= a) & (0 < k)",
      "math.trunc(y/4)", "math.trunc(x/4)", "y in [0, 9]"},
     trunc_of_nonneg},
    {{"trunc_of_nonpos", "math.trunc(a/k)", "-((-a)//k)", "(a <= 0) & (0 < k)",
      "math.trunc(y/4)", "math.trunc(x/4)", "y in [-9, -1]"},
     trunc_of_nonpos},
});

// a/b or a**b of a real result.
struct RealOperation {
  Canonicalizer& s;
  const Op op;
  Expr a, b;
  bool is_done = false;

  bool is_by_one() const {
    if (b.is(Op::kInteger)) return b.integer().is_one();
    return b.is(Op::kRational) && b.rational() == Rational(1);
  }
  bool becomes_a() {
    if (!a.is_float()) a = s.pool().make(Op::kToFloat, {a});
    return is_done = true;
  }
};

bool divided_by_one(RealOperation& c) {
  const bool divides = c.op == Op::kIntTrueDiv || c.op == Op::kFloatTrueDiv;
  return divides && c.is_by_one() && c.becomes_a();
}

bool power_of_one(RealOperation& c) {
  return c.op == Op::kPow && c.b.is(Op::kInteger) && c.is_by_one() &&
         c.becomes_a();
}

constinit RuleTable kRealOperationRules({
    RewriteRow<RealOperation>{
        {"divided_by_one", "a/1", "float(a)", "", "x/1", "x/2"},
        divided_by_one},
    {{"power_of_one", "Pow(ToFloat(a), 1)", "ToFloat(a)", "",
      "Pow(ToFloat(x), 1)", "Pow(ToFloat(x), 2)"},
     power_of_one},
});

}  // namespace

std::vector<RewriteRuleCount> rounding_rule_counts() {
  return kRoundingRules.counts();
}
std::vector<RewriteRuleCount> real_operation_rule_counts() {
  return kRealOperationRules.counts();
}

Expr Canonicalizer::round(Op op, Expr a) {
  const Expr raw = pool_.make(op, {a});
  const auto x = fraction(a);
  if (!x || !rounds_exactly(a)) return raw;
  Rounding call{.s = *this, .op = op, .x = *x};
  kRoundingRules.run(call);
  return call.is_done ? call.value : raw;
}

Expr Canonicalizer::real_operation(Op op, Expr a, Expr b) {
  RealOperation call{.s = *this, .op = op, .a = a, .b = b};
  kRealOperationRules.run(call);
  return call.is_done ? call.a : pool_.make(op, {a, b});
}

}  // namespace proviso::inline v0_2::internal
