// The rules come one after another and their table last; value() runs it.
#include "solver/normal/functions.h"

#include <utility>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {

// op(x, y), until a rule says what it is.
struct Functions::Call {
  Functions& within;
  const Op op;
  const Poly &x, &y;
  Poly value = {};
  Reason why = 0;
  bool is_done = false;

  bool is_bits() const { return op == Op::kBitAnd; }
  bool is_power() const { return op == Op::kPow; }
  bool finish(Poly v) {
    value = std::move(v);
    return is_done = true;
  }

  static bool bits_of_numbers(Call& c);
  static bool mask_of_ones(Call& c);
  static bool mask_of_low_bits(Call& c);
  static bool multiply_out(Call& c);
  static bool power_of_number(Call& c);
  static bool pull_out_of_exponent(Call& c);
  static auto& rules();
};

bool Functions::Call::bits_of_numbers(Call& c) {
  if (!c.is_bits() || !c.x.is_constant() || !c.y.is_constant()) return false;
  return c.finish(Poly::number(bit_and(c.x.constant, c.y.constant)));
}

bool Functions::Call::mask_of_ones(Call& c) {
  if (!c.is_bits()) return false;
  if (c.y == Poly::number(-1)) return c.finish(c.x);
  return c.x == Poly::number(-1) && c.finish(c.y);
}

// x & (2**k - 1), 0 among the masks.
bool Functions::Call::mask_of_low_bits(Call& c) {
  if (!c.is_bits() || c.x.is_constant() == c.y.is_constant()) return false;
  const Poly& other = c.x.is_constant() ? c.y : c.x;
  const Int period = (c.x.is_constant() ? c.x : c.y).constant + 1;
  if (period.sign() <= 0 || !bit_and(period, period - 1).is_zero()) {
    return false;
  }
  return c.finish(mod(c.within.forms_, other, Poly::number(period)));
}

bool Functions::Call::multiply_out(Call& c) {
  if (!c.is_power() || !c.y.is_constant()) return false;
  const int64_t n = c.y.constant.to_int64().value_or(-1);
  if (n < 0 || n > limits().expanded_exponent) return false;
  return c.finish(pow(c.within.forms_, c.x, static_cast<unsigned>(n)));
}

bool Functions::Call::power_of_number(Call& c) {
  if (!c.is_power() || !c.x.is_constant() || !c.y.is_constant()) return false;
  const int64_t n = c.y.constant.to_int64().value_or(-1);
  if (n < 0 || n > limits().number_exponent) return false;
  const auto power = pow(c.x.constant, static_cast<uint64_t>(n));
  return power && c.finish(Poly::number(*power));
}

bool Functions::Call::pull_out_of_exponent(Call& c) {
  if (!c.is_power() || !c.x.is_constant() || c.y.constant.sign() <= 0 ||
      c.y.constant > Int(limits().pulled_exponent)) {
    return false;
  }
  FormPool& forms = c.within.forms_;
  Poly e = c.y;
  e.constant = 0;
  const Range r = c.within.ranges_.of(e);
  const auto power =
      pow(c.x.constant, static_cast<uint64_t>(*c.y.constant.to_int64()));
  if (!power || !at_least(r, 0)) return false;
  c.why = c.within.reasons_.join(c.why, r.lower);
  return c.finish(func(forms, c.op, c.x, e) * *power);
}

auto& Functions::Call::rules() {
  static constinit RuleTable table({
      RewriteRow<Call>{{"bits_of_numbers", "a & b", "c", "Eq(a & b, c)",
                        "x & y", "x & z", "Eq(x, 6); Eq(y, 12)"},
                       bits_of_numbers},
      {{"mask_of_ones", "x & -1", "x", "", "x & y", "x & z", "Eq(y, -1)"},
       mask_of_ones},
      {{"mask_of_low_bits", "x & (2**k - 1)", "Mod(x, 2**k)", "k >= 0", "x & y",
        "x & z", "Eq(y, 7); Eq(z, 5)"},
       mask_of_low_bits},
      {{"multiply_out", "x**3", "x*x*x", "", "x**y", "x**z",
        "Eq(y, 3); z in [9, int_oo]"},
       multiply_out},
      {{"power_of_number", "b**n", "c", "Eq(b**n, c)", "x**y", "x**z",
        "Eq(x, 2); Eq(y, 12); z in [0, 20]"},
       power_of_number},
      {{"pull_out_of_exponent", "b**(e + c)", "b**c * b**e",
        "(e >= 0) & (c >= 0)", "2**(x + y)", "2**(x + z)",
        "x in [0, int_oo]; Eq(y, 3); z in [0, 5]"},
       pull_out_of_exponent},
  });
  return table;
}

std::vector<RewriteRuleCount> function_rule_counts() {
  return Functions::Call::rules().counts();
}

Poly Functions::value(Op op, const Poly& x, const Poly& y, Reason& why) {
  Call call{.within = *this, .op = op, .x = x, .y = y, .why = why};
  Call::rules().run(call);
  why = call.why;
  return call.is_done ? std::move(call.value) : func(forms_, op, x, y);
}

}  // namespace proviso::inline v0_2::internal
