// tracer_adapter/decompositions.h - a program said with fewer operators, and
// without writing in place.
//
//   ExportedProgram core = run_decompositions(ep);
//   core.graph_signature().buffers_to_mutate();  // {{"add", "count"}}
//
//   DecompositionTable table = default_decompositions();
//   table["aten.relu.default"] = [](const DecompositionArgs& args) {
//     return DecompositionArgs{at::clamp_min(args[0].toTensor(), 0)};
//   };
//   run_decompositions(ep, table);
//
// Composite operators outside the core that the table does not name are opened
// by their own kernels, but for the recurrent ones.  Writing to a tensor
// becomes a new value; the new values of inputs, buffers and parameters become
// outputs, before the results, and Module writes them back.  Blocks without
// gradients and under autocast are opened: casts are operators then.
#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2 {

using DecompositionArgs = std::vector<c10::IValue>;
// Gets one value an argument of the schema and gives one a return.
using Decomposition =
    std::function<DecompositionArgs(const DecompositionArgs&)>;
// By target: "aten.addmm.default".
using DecompositionTable = std::map<std::string, Decomposition>;

// A few common operators that are neither core ATen nor composite: t,
// transpose, silu and their like.  What is in neither stays as it is; verify()
// names it.
DecompositionTable default_decompositions();

// Throws NotImplementedError for what it cannot run again.
ExportedProgram run_decompositions(
    const ExportedProgram& program,
    const DecompositionTable& table = default_decompositions());

}  // namespace proviso::inline v0_2
