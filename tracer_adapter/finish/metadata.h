// tracer_adapter/finish/metadata.h - what the values of a graph are, said by
// what is known at the end of the trace.
//
//   y: f32[s1, 3], and Eq(s1, s0) is a guard:   y: f32[s0, 3]
//
// Readers know no other symbols than those that the inputs and the results of
// operators still have.
#pragma once

#include "guards/shape_env.h"
#include "tracer_adapter/finish/expr_set.h"
#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

enum class GraphRole { kProgram, kSubGraph };

// `asserted`: the equalities that nodes of the graph assert.
void substitute_metadata(Graph& graph, GraphRole role, const ExprSet& asserted,
                         ShapeEnv& env);

}  // namespace proviso::inline v0_2
