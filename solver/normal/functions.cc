// The rule and its table; value() runs it.
#include "solver/normal/functions.h"

#include <utility>

#include "solver/forms/functions.h"
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

  static bool pull_out_of_exponent(Call& c);
  static auto& rules();
};

bool Functions::Call::pull_out_of_exponent(Call& c) {
  if (c.op != Op::kPow || !c.x.is_constant() || c.y.is_constant()) return false;
  if (c.y.constant.sign() <= 0 ||
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
  c.value = func(forms, c.op, c.x, e) * *power;
  return c.is_done = true;
}

auto& Functions::Call::rules() {
  static constinit RuleTable table({
      RewriteRow<Call>{{"pull_out_of_exponent", "b**(e + c)", "b**c * b**e",
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
  if (call.is_done) return std::move(call.value);
  const Exponents most{.expanded = limits().expanded_exponent,
                       .of_numbers = limits().number_exponent};
  return function_of(forms_, op, x, y, most);
}

}  // namespace proviso::inline v0_2::internal
