// tracer_adapter/trace/open_control_flow.h - operators that take sub-graphs, on
// fakes.
//
//   if (runs_on_fakes()) return open_scan(call);
//
// Nobody knows which branch is taken, or how often a body runs.  Each runs
// once, and asks what every run of it asks; what comes out has the sizes of all
// that may come out, as when the program was traced (proviso/_control_flow.py).
#pragma once

#include <ATen/core/ivalue.h>

#include <vector>

#include "tracer_adapter/run/control_flow.h"

namespace proviso::inline v0_2 {

// Whether a program of this thread runs to see what it asks, unrecorded.
bool runs_on_fakes();

using OpenResult = std::vector<c10::IValue>;
OpenResult open_cond(const ControlFlowCall& call);
OpenResult open_while_loop(const ControlFlowCall& call);
OpenResult open_map(const ControlFlowCall& call);
OpenResult open_scan(const ControlFlowCall& call);
OpenResult open_associative_scan(const ControlFlowCall& call);

}  // namespace proviso::inline v0_2
