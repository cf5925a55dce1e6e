// solver/strategies/enumeration.h - few points in all: evaluate each.
//
//   u0, u1 in [0, 15]       (u0 ^ u1) + 2*(u0 & u1) <= 30, at 256 points
//   x                       (x % 6) % 3 == x % 3, at x from -6 to 5
//
// The box is over the variables that equalities leave free; the others follow.
// One variable without bounds has those of its periods (periodic.h), where it
// is the only one.  Complete for what Point understands; it sees contradictory
// facts and questions that hold at some points and fail at others.
#pragma once

#include "solver/engine/search.h"

namespace proviso::inline v0_2::internal {

class Reasoner;

// Finishes the search unless there are more points than `most`, or a point at
// which a formula is not understood.
Decision enumerate(Reasoner& reasoner, Search& search, int64_t most);

}  // namespace proviso::inline v0_2::internal
