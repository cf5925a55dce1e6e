// tracer_adapter/finish/symbol_uses.h - which symbols a recorded graph reads,
// so that no value is made of one that nobody needs.
//
//   view(x, [2*s0, 8])     reads s0
//   relu(x), x: f32[s1]    reads none
//
// An expression may be read as it was recorded or as what is learnt of it
// (ShapeEnv::simplify): the symbols of both count.
#pragma once

#include <vector>

#include "guards/shape_env.h"
#include "tracer_adapter/finish/expr_set.h"
#include "tracer_adapter/finish/lifted_symbols.h"
#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

struct SymbolUses {
  ExprSet needed;    // by nodes, outputs, sub-graphs or assertions
  ExprSet asserted;  // in assertions, as recorded
};

SymbolUses symbol_uses(const Graph& graph,
                       const std::vector<RuntimeAssert>& asserts, ShapeEnv& env,
                       const LiftedSymbols& lifted);

}  // namespace proviso::inline v0_2
