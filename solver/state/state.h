// solver/state/state.h - what is known at one time, as parts that each keep an
// invariant of their own and take their changes back.
//
//   State state(forms, reasons, Interval::all());
//   state.bounds.set(x, true, 2, why);
//   state.constraints.add(forms.formulas.ge(x - y), why);
//
// Nothing here reasons: Ranges, NormalForm and Propagation (solver/domain.h)
// read the parts.  Propagation alone changes what they hold; whoever reads of
// an atom makes its record, and NormalForm marks those that it is in the midst
// of.
#pragma once

#include <utility>

#include "solver/state/assertions.h"
#include "solver/state/atom_table.h"
#include "solver/state/bounds.h"
#include "solver/state/constraints.h"
#include "solver/state/differences.h"
#include "solver/state/meter.h"
#include "solver/state/substitution.h"
#include "solver/state/trail.h"

namespace proviso::inline v0_2::internal {

struct State {
  State(FormPool& pool, ReasonArena& arena, Interval symbols)
      : forms(pool),
        reasons(arena),
        atoms(pool, std::move(symbols)),
        bounds(atoms, trail),
        substitution(pool, atoms, trail),
        constraints(pool, atoms, trail),
        differences(pool, arena, atoms, constraints, trail, meter),
        assertions(arena, trail) {}

  FormPool& forms;
  ReasonArena& reasons;
  Meter meter;
  Trail trail;
  AtomTable atoms;
  Bounds bounds;
  Substitution substitution;
  Constraints constraints;
  DifferenceGraph differences;
  Assertions assertions;
};

}  // namespace proviso::inline v0_2::internal
