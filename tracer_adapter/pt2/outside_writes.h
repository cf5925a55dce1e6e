// tracer_adapter/pt2/outside_writes.h - whether a sub-graph writes to what it
// is given.
#pragma once

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2::pt2 {

// The first node that writes to an input of the graph or to a view of one; null
// where a graph changes nothing but its own tensors.
const Node* find_outside_write(const Graph& graph);

}  // namespace proviso::inline v0_2::pt2
