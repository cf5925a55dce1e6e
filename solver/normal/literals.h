// solver/normal/literals.h - what assertions and ranges decide of a literal,
// as it is written.
//
//   x in [2, 5], y - x >= 3 asserted
//   literals.decide(x - 1 >= 0)          yes, by the range of x
//   literals.decide(y - x - 1 >= 0)      yes, by the inequality's form
//   literals.decide(y - 4 >= 0)          no answer: nothing is put together
//
// Two ways: `decide_fast` looks at the formula, its form and ranges of its
// atoms; `decide_slowly` at potentials and paths of differences, and at ranges
// of sums whose terms move together.  Sound; complete for difference
// constraints.
#pragma once

#include <optional>

#include "solver/normal/ranges.h"

namespace proviso::inline v0_2::internal {

struct Decision {
  std::optional<bool> value;
  Reason why = 0;
  bool used_equalities = false;
  bool used_cases = false;
};

class Literals {
 public:
  Literals(State& state, Ranges& ranges)
      : state_(state),
        forms_(state.forms),
        reasons_(state.reasons),
        ranges_(ranges) {}

  // Each is true where it decides, and sets `d` then alone.
  bool is_asserted(FormulaId f, Decision& d) const {
    const auto known = state_.assertions.find(f);
    if (!known) return false;
    d.value = known->value;
    d.why = known->why;
    return true;
  }
  bool decide(FormulaId f, Decision& d) {
    Range r;
    return decide_fast(f, r, d) || decide_slowly(f, r, d);
  }
  // `r` is then what this says of the polynomial, and what it may narrow.
  bool decide_fast(FormulaId f, Range& r, Decision& d);
  bool decide_slowly(FormulaId f, Range& r, Decision& d);

  // Whether p is never 0, or always.
  Decision is_nonzero(const Poly& p);

 private:
  // Whether the range alone decides p >= 0, p == 0 or p != 0.
  static bool decides(FormulaKind kind, const Range& r, Decision& d);
  bool decides_at_point(FormulaKind kind, const Range& r, Decision& d);

  State& state_;
  FormPool& forms_;
  ReasonArena& reasons_;
  Ranges& ranges_;
};

}  // namespace proviso::inline v0_2::internal
