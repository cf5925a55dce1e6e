// solver/state/differences.h - what inequalities x - y + c >= 0 say of the
// difference of two atoms.
//
//   b - a >= 2,  c - b >= 0                      a at 0, b at 2, c at 2
//   differences.by_potentials(c - a)             [2, int_oo], at once
//   differences.by_paths(c - a)                  the same, by a search
//
// Inequalities that come in the order of a path, as sizes and offsets do, give
// its atoms potentials, each the sum of the steps since the first one: two
// atoms of one component are compared in constant time.  Everything else is
// left to a longest path over all inequalities (Bellman and Ford's method; at
// most limits().relaxations steps), which is complete for difference
// constraints between the atoms of those inequalities.  Both read, and keep
// nothing that follows from other parts of the state.
#pragma once

#include <optional>
#include <utility>

#include "solver/state/constraints.h"
#include "solver/state/meter.h"

namespace proviso::inline v0_2::internal {

class DifferenceGraph final : private Trail::Part {
 public:
  DifferenceGraph(FormPool& forms, ReasonArena& reasons, AtomTable& atoms,
                  Constraints& constraints, Trail& trail, Meter& meter)
      : Part(trail),
        forms_(forms),
        reasons_(reasons),
        atoms_(atoms),
        constraints_(constraints),
        trail_(trail),
        meter_(meter) {}

  // inequality >= 0 was asserted; why it cannot be, where potentials say so.
  std::optional<Reason> add(const Poly& inequality, Reason why);

  // The range of p = k*(u - v) + c; unbounded where p is no such sum, or
  // nothing is known.
  Range by_potentials(const Poly& p) const;
  Range by_paths(const Poly& p);

  // Why the inequalities around k*(u - v) + c >= 0 contradict each other, where
  // bounds that they hand on grow without end: x < y, y < z, z < x.
  std::optional<Reason> find_cycle(const Poly& inequality);

 private:
  // An atom on a path of asserted steps, x' - x >= 2, x'' - x' >= 0, ..., which
  // grows at both ends: a later one less an earlier one is at least the
  // difference of their potentials.
  struct Node {
    AtomId component = kNoId;   // the atom that the path began with
    int32_t position = 0;       // on the path, 0 of that atom
    uint32_t neighbor = kNoId;  // the slot that this one was attached to
    bool has_next = false, has_previous = false;
    Reason why = 0;     // of the steps between it and the first atom
    Int potential = 0;  // the sum of these steps, negative before that atom
  };

  void undo(uint8_t what, uint32_t slot) override;
  void attach(uint32_t slot, uint32_t neighbor, bool after, const Int& step,
              Reason why);
  std::optional<std::pair<Int, Reason>> least_difference(
      AtomId x, AtomId y, std::optional<Reason>* cycle = nullptr);

  FormPool& forms_;
  ReasonArena& reasons_;
  AtomTable& atoms_;
  Constraints& constraints_;
  Trail& trail_;
  Meter& meter_;
  StableVector<Node> nodes_;  // by the atoms' slots
};

}  // namespace proviso::inline v0_2::internal
