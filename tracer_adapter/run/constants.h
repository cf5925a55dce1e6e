// tracer_adapter/run/constants.h - which nodes of a program give the same every
// time, so that they need to run once.
//
//   std::vector<bool> once = constant_nodes(graph);   // arange(5), its sin()
//
// Such a node is fed by literals and by others like it, draws no random
// numbers, and has small results on the CPU.  Nothing may come to share their
// memory and write to it or leave the program: operators that write, control
// flow, custom operators and the program's outputs are kept away from them by
// following what may alias what.  An operator's results are taken for new only
// where PyTorch says so: no alias in its schema, no composite, and a `core` or
// `pointwise` tag (`_unsafe_view`, say, aliases without saying so and has
// neither).
#pragma once

#include <vector>

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

// Bytes of one result, and of all of a program's, that are worth keeping.
inline constexpr int64_t kLargestConstant = 1 << 20;
inline constexpr int64_t kAllConstants = 1 << 24;

std::vector<bool> constant_nodes(const Graph& graph);

// What a result depends on beside its arguments is as it is by default: no
// tracer, no dispatch mode, no autocast.  (The default dtype is another matter:
// remember with which one results were computed.)
bool runs_plainly();

}  // namespace proviso::inline v0_2
