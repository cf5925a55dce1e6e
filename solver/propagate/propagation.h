// solver/propagate/propagation.h - what is asserted, until nothing new follows.
//
//   Propagation propagation(state, ranges, literals, normal);
//   propagation.assume(forms.formulas.ge(p), why);
//
// One loop over one queue (solver/propagate/consequences.h):
//   a formula     And: its parts.  Or: a clause.  A literal:
//   a literal     is brought into normal form, then
//     p >= 0        a bound, or a constraint that the propagators look at
//     p == 0        a substitution, or a constraint with two inequalities
//     p != 0        a constraint that waits for an end of p's range to be 0
//   a bound       the propagators that know what the atom is made of
//   a constraint  that was woken: what it says now
// After a conflict nothing more is derived.
//
// Cost: each propagator passes over the terms of a constraint once a visit;
// Consequences bounds how many visits there are.  Complete for nothing: what
// one constraint says of a variable is found, what takes several together is
// left to the strategies.
#pragma once

#include "solver/propagate/equality.h"
#include "solver/propagate/propagators.h"

namespace proviso::inline v0_2::internal {

class Propagation {
 public:
  Propagation(State& state, Ranges& ranges, Literals& literals,
              NormalForm& normal);

  void assume(FormulaId f, Reason why) {
    if (f != kTrue) assume_with_all(f, why);
  }
  // Assumes f, but derives nothing else from it.
  void assume_alone(FormulaId f, Reason why);
  void set_solving(Solving which) { equalities_.set_solving(which); }
  // The state was taken back, perhaps in the middle of assume().
  void reset() { to_.clear(); }

 private:
  using When = Propagator::When;

  Reason join(Reason a, Reason b) { return reasons_.join(a, b); }
  void assume_with_all(FormulaId f, Reason why);
  void assume_part(FormulaId f, Reason why);
  void take_waiting();
  void take_visits();
  void take(const Consequence& c);

  void assert_formula(FormulaId f, Reason why);
  // `known` is the formula itself where the caller has it.
  void assert_literal(FormulaKind kind, const Poly& p, Reason why,
                      FormulaId known = kNoId);
  // These require a literal in normal form that is not constant.
  void assert_ge(FormulaId f, Reason why);
  void assert_eq(FormulaId f, Reason why);
  void assert_ne(FormulaId f, Reason why);
  void keep_equality(FormulaId f, Reason why);

  uint32_t add(FormulaId f, Reason why, bool is_original = false) {
    return state_.constraints.add(f, why, is_original);
  }
  void keep_original(FormulaKind kind, const Poly& p, Reason why);
  bool original_says_more(const Poly& p) const;
  bool is_known_inequality(PolyId p);

  void revisit(uint32_t i);
  void revisit_original(const Formula& f, Reason why);
  void revisit_clause(uint32_t i, const Formula& f, Reason why);
  void revisit_disequality(uint32_t i, const Poly& p, Reason why);
  void revisit_inequality(uint32_t i, const Formula& f, Reason why);
  void look_for_cycle(uint32_t i);
  void call_on_inequality(const Poly& p, Reason why, When when);

  State& state_;
  FormPool& forms_;
  ReasonArena& reasons_;
  Ranges& ranges_;
  Literals& literals_;
  NormalForm& normal_;
  Consequences to_;
  EqualitySolver equalities_;
  Propagators propagators_;
};

}  // namespace proviso::inline v0_2::internal
