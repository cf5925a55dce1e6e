// solver/strategies/enumeration.h - few points in all: evaluate each.
//
//   u0, u1 in [0, 15]       (u0 ^ u1) + 2*(u0 & u1) <= 30, at 256 points
//
// The box is over the variables that equalities leave free; the others follow.
// Complete for what Point understands; it sees contradictory facts and
// questions that hold at some points and fail at others.
#pragma once

#include "solver/engine/search.h"

namespace proviso::inline v0_2::internal {

class Reasoner;

// Finishes the search unless there are more points than `most`, or a point at
// which a formula is not understood.
Decision enumerate(Reasoner& reasoner, Search& search, int64_t most);

}  // namespace proviso::inline v0_2::internal
