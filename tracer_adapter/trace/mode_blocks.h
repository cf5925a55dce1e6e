// tracer_adapter/trace/mode_blocks.h - `with torch.no_grad():` and `with
// torch.autocast(..):` in a recorded program.
//
// While tracing, each node notes the mode that it was recorded in.  At the end
// a run of nodes in another mode than the graph around becomes one node with a
// sub-graph, as in torch.export's programs:
//
//   out = torch.ops.higher_order.wrap_with_set_grad_enabled(
//       False, submod_0, linear)
//   out = torch.ops.higher_order.wrap_with_autocast(
//       'cpu', torch.bfloat16, True, True, submod_0, x, weight)
//
// so that the program stops gradients and casts where eager does.  Inside an
// autocast block operators are recorded as called: running them casts.
//
// A C++ autograd::Function turns gradients off for its forward as a block does,
// and is one here: its values are right, its own backward is not recorded.
#pragma once

#include <vector>

#include "tracer_adapter/ir/graph.h"
#include "tracer_adapter/trace/mode_stack.h"
#include "tracer_adapter/trace/module_stacks.h"

namespace proviso::inline v0_2 {

// What outlining needs of the trace.
struct TraceModes {
  const ModeStack& modes;
  // The program's conditions on what it reads: they are checked outside.
  const std::vector<RuntimeAssert>& asserts;
  ModuleStacks& modules;
};

// `around` is the mode that the graph itself runs in.
void outline_mode_blocks(Graph& graph, const Mode& around,
                         const TraceModes& trace);

}  // namespace proviso::inline v0_2
