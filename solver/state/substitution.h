// solver/state/substitution.h - equalities solved for an atom, which normal
// forms substitute everywhere.
//
//   substitution.set(x, forms.polys.id_of(2*t + 1), why);      // x == 2*t + 1
//   substitution.value_of(x);                             // 2*t + 1
//   substitution.dependents_of(t);                        // x
//
// Invariant: an atom is solved at most once, by a polynomial that it is not in;
// whoever solves sees to it that following the values ends.
#pragma once

#include "solver/state/atom_table.h"
#include "solver/state/trail.h"

namespace proviso::inline v0_2::internal {

class Substitution final : private Trail::Part {
 public:
  Substitution(FormPool& forms, AtomTable& atoms, Trail& trail)
      : Part(trail), forms_(forms), atoms_(atoms), trail_(trail) {}

  bool is_solved(AtomId a) const {
    const AtomRecord* known = atoms_.find(a);
    return known != nullptr && known->solved != kNoId;
  }
  struct Solved {
    PolyId value;
    Reason why;
  };
  // What a solved atom is solved to; the reference holds until a change.
  const Solved& solved(const AtomRecord& r) const { return solved_[r.solved]; }
  PolyId value_of(AtomId a) { return solved(atoms_.of(a)).value; }
  // Atoms whose value mentions it.
  const Ids& dependents_of(AtomId a) {
    return atoms_.mentions(atoms_.of(a)).dependents;
  }

  void set(AtomId x, PolyId value, Reason why) {
    for (AtomId a : forms_.occurrences.of_poly(value)) {
      atoms_.mentions_of(a).dependents.push_back(x);
    }
    atoms_.record(x).solved = static_cast<uint32_t>(solved_.size());
    solved_.push_back({value, why});
    trail_.note(*this, kSolved, x);
    trail_.advance();
  }

  // A variable that stands for something in the equality (or atom) `origin`.
  // It is named by that, so that equal work makes equal forms; twice in use, it
  // would be one variable for two things.
  AtomId fresh(uint32_t origin) {
    for (uint32_t copy = 0;; ++copy) {
      const AtomId a = forms_.atoms.fresh(origin, copy);
      AtomRecord& r = atoms_.record(a);
      if (r.is_in_use) continue;
      r.is_in_use = true;
      trail_.note(*this, kFresh, a);
      return a;
    }
  }

 private:
  enum What : uint8_t { kSolved, kFresh };

  void undo(uint8_t what, uint32_t index) override {
    AtomRecord& r = atoms_.record(index);
    if (what == kFresh) {
      r.is_in_use = false;
      return;
    }
    for (AtomId a : forms_.occurrences.of_poly(solved_.back().value)) {
      atoms_.mentions_of(a).dependents.pop_back();
    }
    r.solved = kNoId;
    solved_.pop_back();
  }

  FormPool& forms_;
  AtomTable& atoms_;
  Trail& trail_;
  StableVector<Solved> solved_;  // in the order in which they were
};

}  // namespace proviso::inline v0_2::internal
