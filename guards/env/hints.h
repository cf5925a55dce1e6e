// guards/env/hints.h - expressions at the example inputs.
//
//   Hints hints(facts, symbols, replacements, decider);
//   hints.value(s0 * 2);               // 16, where s0's example is 8
//   hints.value(u0);                   // nullopt: only the data decides it
//   hints.truth(ge(s0, 3), "guard_bool");   // true
//   hints.plausible(u0, 8192);         // 8192, or the next in u0's range
//
// The value of an expression at the examples is no knowledge: whoever takes it
// for an answer records a guard.
#pragma once

#include <optional>

#include "guards/env/decider.h"

namespace proviso::inline v0_2::internal {

class Hints {
 public:
  // All outlive it.
  Hints(SessionFacts& facts, Symbols& symbols, Replacements& replacements,
        Decider& decider)
      : facts_(facts),
        symbols_(symbols),
        replacements_(replacements),
        decider_(decider) {}

  // nullopt where it depends on data, or is undefined at the examples.
  std::optional<Value> value(Expr e);
  // The value of an expression that does not depend on data.  Throws
  // GuardError, with the name of the call, where it is undefined.
  Value defined_value(Expr e, const char* call);
  bool truth(Expr condition, const char* call) {
    return std::get<bool>(defined_value(condition, call));
  }
  // For choosing among correct plans: data takes the fallback, cut to its
  // range, and equal data gets equal values; past fixed::hint_units of work
  // the fallback.
  Int plausible(Expr e, const Int& fallback);

 private:
  std::optional<Value> likely_value(Expr e, const Int& fallback);

  SessionFacts& facts_;
  Symbols& symbols_;
  Replacements& replacements_;
  Decider& decider_;
};

}  // namespace proviso::inline v0_2::internal
