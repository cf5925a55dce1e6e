// solver/domain.h - what the facts imply, as far as ranges and solved
// equalities show it.
//
//   Domain domain(forms, reasons);
//   const Domain::Mark mark = domain.mark();
//   domain.assume(forms.formulas.ge(p), why);  // p >= 0 from here on
//   domain.decide(forms.formulas.ge(q));       // by normal form, ranges alone
//   domain.undo(mark);
//
// The parts, each in a header of its own, and who reads whom:
//
//   State         bounds, substitution, constraints, differences, assertions,
//                 and the trail that takes their changes back     state/
//   Ranges        intervals of atoms and polynomials         <- State
//   Literals      what ranges and assertions decide          <- Ranges
//   Quotients     floors under facts                         <- Literals
//   Functions     powers and bits under facts                <- Ranges
//   NormalForm    polynomials with equalities substituted    <- all of these
//   Propagation   asserts, and asserts what follows          <- all of these
//
// Propagation alone changes the state.  Everything that is derived carries a
// Reason: the facts that it follows from.
#pragma once

#include <optional>
#include <utility>

#include "solver/propagate/propagation.h"

namespace proviso::inline v0_2::internal {

class Domain {
 public:
  using Mark = Trail::Mark;

  // `symbols` is where every symbol lies without a reason.
  Domain(FormPool& forms, ReasonArena& reasons, Interval symbols = {})
      : state_(forms, reasons, std::move(symbols)),
        ranges_(state_),
        literals_(state_, ranges_),
        quotients_(state_, ranges_, literals_),
        functions_(state_, ranges_),
        normal_(state_, ranges_, literals_, quotients_, functions_),
        propagation_(state_, ranges_, literals_, normal_) {}

  FormPool& forms() { return state_.forms; }
  ReasonArena& reasons() { return state_.reasons; }

  // --- assuming
  void assume(FormulaId f, Reason why) { propagation_.assume(f, why); }
  // Assumes f, but derives nothing else from it.
  void assume_alone(FormulaId f, Reason why) {
    propagation_.assume_alone(f, why);
  }
  // Why the assumptions cannot hold together, where that has shown.
  const std::optional<Reason>& conflict() const {
    return state_.assertions.conflict();
  }
  void set_solving(Solving which) { propagation_.set_solving(which); }

  // A state to go back to.  What was derived in it is remembered there.
  Mark mark() const { return state_.trail.mark(); }
  void undo(const Mark& mark) {
    propagation_.reset();
    state_.trail.undo(mark);
  }
  // Cached ranges and normal forms are computed again, in outer states too.
  void forget_cached() { state_.trail.forget(); }

  // --- deciding, by structure, normal form and ranges
  Decision decide(FormulaId f) {
    Decision d;
    normal_.decide(f, d);
    return d;
  }
  Normal normal(const Poly& p) { return normal_.of(p); }
  Range range(const Poly& p) { return ranges_.of(p); }
  // The sum of the ranges of its terms.
  Range plain_range(const Poly& p) { return ranges_.plain(p); }
  // The range of p as a product; unbounded where p is none.
  Range factored_range(const Poly& p) { return ranges_.factored(p); }
  const Range& atom_range(AtomId a) {  // until the next change
    return ranges_.of_atom(a);
  }
  // While a prover is set, normal forms use it for quotients.
  void set_quotient_prover(QuotientProver* prover) {
    quotients_.set_prover(prover);
    state_.trail.advance();
  }

  // --- reading
  bool is_solved(AtomId a) const { return state_.substitution.is_solved(a); }
  // These require is_solved(a).  Other solved equalities are substituted in
  // the value; until the next change.
  PolyId solved_form(AtomId a) { return state_.substitution.value_of(a); }
  const Poly& solved_value(AtomId a) { return normal_.value_of(a); }
  // Atoms whose solved form mentions the atom.
  const Ids& dependents_of(AtomId a) {
    return state_.substitution.dependents_of(a);
  }
  const Constraints& constraints() const { return state_.constraints; }
  // The constraints that mention the atom, by number.
  const Ids& constraints_of(AtomId a) { return state_.constraints.of(a); }

  // --- work
  void spend(uint64_t units) { state_.meter.spend(units); }
  uint64_t work() const { return state_.meter.work(); }
  uint64_t units_left() const { return state_.meter.units_left(); }
  // Whether a limit ever ended something that more units might have found.
  bool has_run_out() const { return state_.meter.has_run_out(); }
  void note_run_out() { state_.meter.note_run_out(); }

  // What `attempt` returns; nothing where it takes more than so many units.
  // The state is then as before, whatever was assumed.  Attempts nest.
  template <typename Attempt>
  auto within(uint64_t units, Attempt attempt)
      -> std::optional<decltype(attempt())>;

 private:
  State state_;
  Ranges ranges_;
  Literals literals_;
  Quotients quotients_;
  Functions functions_;
  NormalForm normal_;
  Propagation propagation_;
};

template <typename Attempt>
auto Domain::within(uint64_t units, Attempt attempt)
    -> std::optional<decltype(attempt())> {
  const Mark before = mark();
  const Meter::Limit limit(state_.meter, units);
  std::optional<decltype(attempt())> result;
  try {
    result = attempt();
  } catch (const OutOfBudget&) {
    result.reset();
  }
  undo(before);
  return result;
}

}  // namespace proviso::inline v0_2::internal
