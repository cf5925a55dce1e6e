// solver/state/range.h - an interval with a reason for each of its ends.
//
//   x in [2, 5], because of facts a and b; y in [1, 4], because of c and d
//   product(reasons, x, y)     [2, 20]: 2 because of a, c; 20 of a, b, c, d
//
// There is no congruence in it.  That of an atom is a solved equality
// (propagate/equality.h), such as x == 8*t + 3: every normal form shows it,
// forms are compared with 0 over their common factors, and a bound of x is one
// of t, so that of x <= 30 is left x <= 27.  An expression that is read as a
// whole has interval and congruence as one value, Strided (solver/strided.h):
// over boxes (engine/box.h), and for bounds(), values(), multiple_of() and
// simplify() (engine/range_reading.h).  Read so beside its normal form, 27 of
// 3,442 questions (corpora, peers, tests/regress) are decided that the state
// leaves open, four of them equalities, and strategies decide all of these.  An
// atom's record, which has a Range in it, is one line of the cache as it is
// (state/atom_table.h).
//
// Promise of each operation: the result's interval is that of interval.h, and
// the reason of an end names all facts that this end follows from.  An empty
// interval is so because of both reasons together.
#pragma once

#include <cstdint>

#include "solver/interval.h"
#include "solver/reason.h"

namespace proviso::inline v0_2::internal {

struct Range {
  Interval span;
  Reason lower = 0, upper = 0;
};

inline bool at_least(const Range& r, const Int& k) {
  return r.span.lower() && *r.span.lower() >= k;
}
inline bool at_most(const Range& r, const Int& k) {
  return r.span.upper() && *r.span.upper() <= k;
}
inline Range point(const Int& k) { return {Interval::point(k), 0, 0}; }

// { k*x : x in a } and { x + k : x in a }.
Range scaled(const Range& a, const Int& k);
inline Range shifted(Range a, const Int& k) {
  if (!k.is_zero()) a.span = a.span.shifted(k);
  return a;
}

// { x*y : x in a, y in b }, { x**n : x in a }, { floor(x / y) : ..., y != 0 }.
Range product(ReasonArena& reasons, const Range& a, const Range& b);
Range power(ReasonArena& reasons, const Range& a, unsigned n);
Range quotient(ReasonArena& reasons, const Range& a, const Range& b);
// { max(0, x) : x in a }.
Range nonnegative_part(const Range& a);
// What holds of a value that is in a or in b.
Range hull(ReasonArena& reasons, const Range& a, const Range& b);

// Intersects a with b, end by end; whether that changed a.
bool narrow_by(ReasonArena& reasons, Range& a, const Range& b);
inline bool narrow(ReasonArena& reasons, Range& a, const Range& b) {
  const bool says_nothing =
      !b.span.lower() && !b.span.upper() && !b.span.is_empty();
  return !says_nothing && narrow_by(reasons, a, b);
}

}  // namespace proviso::inline v0_2::internal
