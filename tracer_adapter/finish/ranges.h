// tracer_adapter/finish/ranges.h - the ranges that a program promises for its
// symbols: torch.export's range_constraints.
//
//   range_constraints(graph, env);   // {u0: VR[0, int_oo], s0: VR[2, 512]}
//
// Symbols read from data that the values still speak of, also those of
// sub-graphs, in order of creation; then the sizes of inputs in their order.
// The metadata is substituted before (metadata.h).
#pragma once

#include <vector>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2 {

std::vector<RangeConstraint> range_constraints(const Graph& graph,
                                               ShapeEnv& env);

}  // namespace proviso::inline v0_2
