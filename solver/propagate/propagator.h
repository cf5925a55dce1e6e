// solver/propagate/propagator.h - one way in which constraints imply more.
//
//   linear     x + y <= 7, y >= 2            x <= 5
//   product    x*y >= 5, x <= 2, y >= 0      y >= 3
//   root       x*x <= 2*x + 35, x >= 0       x <= 7
//   maximum    y >= max(0, x)                y >= 0, y >= x
//   floor      y == x//4, y >= 2             x >= 8
//   divisor    x*y == 12                     -12 <= x <= 12
//   exponent   2**n <= 40                    n <= 5
//   power      x*x == y*y                    x == y or x == -y
//
// A propagator is called for what it may know something about and puts what
// follows into Consequences, each with its reason.  It keeps nothing: called
// again, it finds the same or more.  Each is sound; none has to be complete,
// for what it misses a proof may find.  The table is in propagators.h.
#pragma once

#include "solver/propagate/consequences.h"

namespace proviso::inline v0_2::internal {

class Propagator {
 public:
  // kNew: was asserted now.  kAgain: ranges of its parts have changed.
  // kOriginal: either of these, of an inequality that a rewritten one stands
  // for.
  enum class When { kNew, kAgain, kOriginal };

  Propagator(State& state, Ranges& ranges, Consequences& to)
      : state_(state),
        forms_(state.forms),
        reasons_(state.reasons),
        ranges_(ranges),
        to_(to) {}
  virtual ~Propagator() = default;

  // p >= 0; an equality is two of them.
  virtual void on_inequality(const Poly&, Reason, When) {}
  // p == 0, after its inequalities; p could not be solved for a variable.
  virtual void on_equality(const Poly&, Reason, When) {}
  // atom >= value, or <= where not `lower`; the atom is no variable.
  virtual void on_atom_bound(const Atom&, bool /*lower*/, const Int& /*value*/,
                             Reason) {}

 protected:
  Reason join(Reason a, Reason b) { return reasons_.join(a, b); }

  State& state_;
  FormPool& forms_;
  ReasonArena& reasons_;
  Ranges& ranges_;
  Consequences& to_;
};

}  // namespace proviso::inline v0_2::internal
