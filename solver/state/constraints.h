// solver/state/constraints.h - what was asserted and is not said by bounds and
// solved equalities alone: inequalities, disequalities, clauses.
//
//   const uint32_t i = constraints.add(forms.formulas.ge(x - y), why);
//   constraints.of(x);                   // ..., i: those that mention x
//   constraints.deactivate(i);           // something that says more came
//
// Constraints are numbered as they come and never move.  An inactive one says
// nothing; it stays in the lists, so that undoing is popping.
#pragma once

#include "solver/state/atom_table.h"
#include "solver/state/trail.h"

namespace proviso::inline v0_2::internal {

struct Constraint {
  FormulaId formula;  // a literal or a disjunction
  Reason why;
  bool is_active = true;
  // Rewritten since, but it bounds what it is about.
  bool is_original = false;
};

class Constraints final : private Trail::Part {
 public:
  Constraints(FormPool& forms, AtomTable& atoms, Trail& trail)
      : Part(trail), forms_(forms), atoms_(atoms), trail_(trail) {}

  size_t size() const { return all_.size(); }
  const Constraint& operator[](uint32_t i) const { return all_[i]; }
  // The constraints that mention the atom, active or not.
  const Ids& of(AtomId a) { return atoms_.mentions(atoms_.of(a)).constraints; }
  // The constraints that bounds of the form may decide; nullptr for none.
  const Ids* watching(PolyId form) const {
    const uint32_t slot = slot_of_form_.get(form);
    return slot == kNoId ? nullptr : &watchers_[slot];
  }

  uint32_t add(FormulaId f, Reason why, bool is_original = false);
  void deactivate(uint32_t i);

 private:
  enum What : uint8_t { kAdded, kDeactivated };

  void undo(uint8_t what, uint32_t index) override;
  void prepare_index(FormulaId f);
  void index(uint32_t i, bool add);
  Ids& watchers(PolyId form) {
    uint32_t& slot = slot_of_form_.at(form);
    if (slot != kNoId) return watchers_[slot];
    slot = static_cast<uint32_t>(watchers_.size());
    return watchers_.emplace_back();
  }

  FormPool& forms_;
  AtomTable& atoms_;
  Trail& trail_;
  StableVector<Constraint> all_;
  StableVector<Ids> watchers_;
  IdMap slot_of_form_{2};  // few forms are watched
};

}  // namespace proviso::inline v0_2::internal
