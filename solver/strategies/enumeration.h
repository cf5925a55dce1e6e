// solver/strategies/enumeration.h - few points in all: evaluate each.
//
//   u0, u1 in [0, 15]       (u0 ^ u1)*(u0 & u1) <= 56, at 256 points
//
// The box is over the variables that equalities leave free; the others follow.
// Variables take values one after another, and a fact is looked at as soon as
// all in it has a value: where it fails, the variables that are left take none
// (backtracking, Golomb and Baumert, Backtrack programming, 1965).  The fact
// that the fewest points meet comes first (Haralick and Elliott, 1980).  One
// variable without bounds has the values of its periods (periodic.h), where it
// is the only one.
//
// The cost is an evaluation of the facts that are complete for each value
// given, which PointLimits bounds.  Complete for boxes within them and what
// Point understands: it decides, sees facts that contradict each other, and
// sees questions that hold at some points and fail at others.
#pragma once

#include "solver/engine/search.h"

namespace proviso::inline v0_2::internal {

class Reasoner;

struct PointLimits {
  int64_t box;               // points in all
  int64_t visits = 2 * box;  // values given, one after another
};

// Finishes the search unless a limit ends it, or a point at which a formula is
// not understood.
Decision enumerate(Reasoner& reasoner, Search& search, PointLimits limits);

// Rules out answers by the points of a box of few values each, near zero or
// near an end of what is known of a variable:
//
//   n != 0, x < n*n         x//(n*n) + x%n >= 0 fails at n = -2, x = 3
//
// Its cost is that of so many points at most, at which no fact is assumed.
void rule_out_by_small_points(Reasoner& reasoner, Search& search,
                              int64_t points);

}  // namespace proviso::inline v0_2::internal
