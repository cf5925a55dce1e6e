// solver/state/bounds.h - the ends that were asserted of atoms, and of linear
// forms.
//
//   bounds.set(x, true, 2, why);              // x >= 2
//   bounds.set_form(3 * (x - y), -7, why, ..);   // 3*x - 3*y - 7 >= 0
//   bounds.of_form(2 * (x - y), 1, reasons);     // [7, int_oo]
//
// A form is kept as its primitive part (PolyPool::primitive_part), which stands
// for all its multiples, so that a bound is rounded to what whole numbers
// reach.  Invariant: an atom's asserted range is not empty, and ends only move
// inwards, until the trail takes that back.
#pragma once

#include <vector>

#include "solver/state/atom_table.h"
#include "solver/state/trail.h"

namespace proviso::inline v0_2::internal {

class Bounds final : private Trail::Part {
 public:
  struct End {
    OptionalInt value;
    Reason why = 0;
    // The constraint that says just this; kNoId where one with more terms does.
    uint32_t constraint = kNoId;
  };

  Bounds(AtomTable& atoms, Trail& trail)
      : Part(trail), atoms_(atoms), trail_(trail) {}

  // --- atoms
  const Range& own(AtomId a) { return atoms_.of(a).own; }
  // Requires a value inside the other end that says more than the present one.
  void set(AtomId a, bool lower, const Int& value, Reason why);

  // --- forms
  bool has_forms() const { return !forms_.empty(); }
  // The range of content * part + constant.
  Range of_form(const PrimitivePart& v, const Int& constant,
                ReasonArena& reasons) const;
  const End& end_of(PolyId form, bool lower) const;
  struct Ends {
    End low, high;
  };
  // Asserts content * part + constant >= 0.  Returns both ends of the part, or
  // nullptr where that says no more than was known.
  const Ends* set_form(const PrimitivePart& v, const Int& constant, Reason why,
                       uint32_t constraint);

 private:
  enum What : uint8_t { kAtom = 0, kForm = 4, kLower = 1, kHadValue = 2 };

  void undo(uint8_t what, uint32_t index) override;
  void note(uint8_t what, uint32_t index, const End& old);

  AtomTable& atoms_;
  Trail& trail_;
  StableVector<Ends> forms_;
  IdMap slot_of_form_;
  std::vector<End> replaced_;  // the values of noted ends that had one
};

}  // namespace proviso::inline v0_2::internal
