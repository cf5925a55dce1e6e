// solver/propagate/consequences.h - what follows, and the one queue of it.
//
//   to.bound(x, true, 3, why);                  // x >= 3, at once
//   to.derive(FormulaKind::kGe, y - x, why);    // y >= x, when its turn comes
//
// Propagators queue what they find and never assert themselves, so that there
// is no recursion: a bound is entered at once, for ranges to see; everything
// else waits.  Literals and events are taken last in, first out, in batches:
// what one of them brings comes before what waited, in the order in which it
// was brought.  Constraints whose ranges have changed are woken; they come when
// nothing else is left, first in, first out.
//
// Everything ends: each knows how many derivations it is from an assertion,
// and limits().derivation_depth is the most; a constraint is visited
// limits().propagation_rounds times, and all of them limits().propagations.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "solver/normal/ranges.h"

namespace proviso::inline v0_2::internal {

struct Consequence {
  enum Kind : uint8_t { kFormula, kLiteral, kAtomBound, kProductBound };
  Kind kind = kFormula;
  FormulaKind literal = FormulaKind::kGe;  // of kLiteral: `poly` against 0
  bool lower = false;  // of the bounds: of `id`, by poly.constant
  int depth = 0;       // derivations since the assertion
  uint32_t id = 0;     // FormulaId, AtomId or MonoId
  Reason why = 0;
  Poly poly = {};
};

class Consequences {
 public:
  Consequences(State& state, Ranges& ranges)
      : state_(state),
        forms_(state.forms),
        reasons_(state.reasons),
        ranges_(ranges) {}

  // --- at once
  void conflict(Reason why) { state_.assertions.raise(why); }
  bool has_conflict() const { return state_.assertions.conflict().has_value(); }
  // An atom, or t + slack >= 0, or p >= 0 as a bound of p's form.
  void bound(AtomId a, bool lower, const Int& value, Reason why);
  void bound(const Term& t, const Int& slack, Reason why);
  void bound_form(const PrimitivePart& v, const Int& constant, Reason why,
                  uint32_t constraint);
  void bound_form(const Poly& p, Reason why) {
    if (is_single(forms_, p)) return;
    bound_form(forms_.polys.primitive_part(p), p.constant, why, kNoId);
  }
  // x is `value` from here on, in every normal form.
  void solve(AtomId x, const Poly& value, Reason why);

  // --- when its turn comes
  void derive(FormulaId f, Reason why) {
    post({Consequence::kFormula, {}, false, depth_ + 1, f, why, {}});
  }
  void derive(FormulaKind kind, Poly p, Reason why) {
    post(
        {Consequence::kLiteral, kind, false, depth_ + 1, 0, why, std::move(p)});
  }
  // Constraints that mention the atom are looked at again.
  void wake(AtomId a) { wake_all(state_.constraints.of(a)); }

  // --- the loop's side
  bool has_waiting() const { return !waiting_.empty(); }
  // Requires one.  What is queued from here on belongs to it.
  void next(Consequence& c);
  bool has_visits() const { return next_woken_ < woken_.size(); }
  // The next constraint that was woken, and whether it was visited as often as
  // it may be.  Requires !has_waiting().
  struct Visit {
    uint32_t constraint;
    bool is_last;
  };
  std::optional<Visit> next_visit();
  // Nothing waits any longer, and visits are counted from 0.
  void clear() {
    if (!waiting_.empty() || !woken_.empty()) forget_waiting();
    depth_ = 0;
  }

 private:
  void post(Consequence&& c);
  void forget_waiting();
  void wake_all(const Ids& constraints);
  void wake_solved_by(const Poly& form);

  State& state_;
  FormPool& forms_;
  ReasonArena& reasons_;
  Ranges& ranges_;
  std::vector<Consequence> waiting_;  // the last is next
  size_t batch_ = 0;  // where what the present consequence brought begins
  int depth_ = 0;     // of the present consequence
  std::vector<uint32_t> woken_;
  size_t next_woken_ = 0, visits_ = 0;
  std::vector<bool> is_woken_;   // by constraint
  std::vector<uint8_t> rounds_;  // visits of it
};

}  // namespace proviso::inline v0_2::internal
