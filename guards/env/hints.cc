#include "guards/env/hints.h"

#include <string>

#include "guards/fixed_limits.h"
#include "solver/interrupt_scope.h"
#include "sym/excerpt.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {
namespace {

// Another thread ends what takes long; what takes little has its value still.
Evaluation evaluated(Expr e, const Assignment& point) {
  auto found =
      InterruptScope::until_interrupted([&] { return evaluate(e, point); });
  if (found) return *std::move(found);
  Evaluation ended;
  ended.gave_up = true;
  ended.why = "the call was ended before its value was known";
  return ended;
}

}  // namespace

std::optional<Value> Hints::value(Expr e) {
  if (symbols_.depends_on_data(e)) {
    e = replacements_.apply(e);
    if (symbols_.depends_on_data(e)) return std::nullopt;
  }
  return evaluated(e, symbols_.hints()).value;
}

Value Hints::defined_value(Expr e, const char* call) {
  Evaluation r = evaluated(e, symbols_.hints());
  if (r.defined()) return *r.value;
  throw GuardError(std::string(call) + ": " + excerpt(e) +
                   " is undefined at the example inputs (" + r.why +
                   "); choose other example sizes");
}

Int Hints::plausible(Expr e, const Int& fallback) {
  const auto as_int = [&](const std::optional<Value>& v) -> Int {
    if (!v) return fallback;
    if (auto* truth = std::get_if<bool>(&*v)) return Int(*truth ? 1 : 0);
    if (auto* exact = std::get_if<Rational>(&*v)) return trunc(*exact);
    if (auto* integer = std::get_if<Int>(&*v)) return *integer;
    return fallback;
  };
  if (auto at_examples = value(e)) return as_int(at_examples);
  uint64_t units = fixed::hint_units;
  return InterruptScope::within(
             units, [&] { return as_int(likely_value(e, fallback)); })
      .value_or(fallback);
}

// Of data, at the values that its ranges have nearest to the fallback.
std::optional<Value> Hints::likely_value(Expr e, const Int& fallback) {
  const Expr r = replacements_.apply_equal_data(decider_.simplify(e));
  Assignment point = symbols_.hints();
  for (Expr s : symbols_.in(r)) {
    if (point.find(s)) continue;
    const Interval range = facts_.context().bounds_quick(s);
    Int value = fallback;
    if (range.lower() && value < *range.lower()) value = *range.lower();
    if (range.upper() && value > *range.upper()) value = *range.upper();
    point.set(s, value);
  }
  return evaluate(r, point).value;
}

}  // namespace proviso::inline v0_2::internal
