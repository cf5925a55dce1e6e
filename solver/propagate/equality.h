// solver/propagate/equality.h - equalities solved for a variable.
//
//   2*s0 - s1 == 4              s1 is 2*s0 - 4 from here on
//   6*a + 10*b == 4             a and b by Euclid's steps in a fresh variable
//   s0 == 8*(s0//8)             s0 is 8*t, s0//8 is t
//
// A congruence is a solved equality too: s0 == 8*t + 3 makes every normal form
// show it.  Solving is complete for linear equalities with coprime
// coefficients; what else there is stays as inequalities.  It takes a pass over
// the terms for each symbol that is compared (limits().solved_candidates); the
// steps of Euclid are at most twice the bits of the least coefficient, and end
// at limits().derivation_depth.
#pragma once

#include <vector>

#include "solver/normal/normal_form.h"
#include "solver/propagate/consequences.h"

namespace proviso::inline v0_2::internal {

// Which equalities are solved for symbols: products of these symbols are then
// about others, and longer.  What has a value is always substituted.
enum class Solving { kNone, kWithoutFloors, kAll };

class EqualitySolver {
 public:
  EqualitySolver(State& state, Ranges& ranges, NormalForm& normal,
                 Consequences& to)
      : state_(state),
        forms_(state.forms),
        reasons_(state.reasons),
        ranges_(ranges),
        normal_(normal),
        to_(to) {}

  void set_solving(Solving which) { solving_ = which; }

  // Whether p == 0, in normal form, is said by a substitution from here on.
  bool solve(const Poly& p, Reason why);

 private:
  // Variables that occur once, alone and with power 1, and their coefficients.
  using LoneVariables = SmallVector<std::pair<AtomId, Int>, 4>;
  struct Inequality {  // poly >= 0
    Poly poly;
    Reason why;
  };

  bool solve_by_unit(const Poly& p, Reason why);
  bool solve_by_euclid(const Poly& p, Reason why);
  bool solve_by_floors(const Poly& p, Reason why);
  void solve_with_floors(AtomId x, const std::vector<AtomId>& floors,
                         const Poly& p, Reason why);
  LoneVariables lone_variables(const Poly& p);
  bool has_open_floor(const Poly& p) const;
  bool hidden_by_floors(AtomId x, const Poly& p, std::vector<AtomId>& floors);
  std::vector<Inequality> define_floors(const std::vector<AtomId>& floors);

  State& state_;
  FormPool& forms_;
  ReasonArena& reasons_;
  Ranges& ranges_;
  NormalForm& normal_;
  Consequences& to_;
  Solving solving_ = Solving::kAll;
};

}  // namespace proviso::inline v0_2::internal
