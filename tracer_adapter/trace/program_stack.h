// tracer_adapter/trace/program_stack.h - where a C++ program stands, by its
// debug information.
//
//   std::vector<Frame> frames = program_stack();   // {..., "model.cc:12"}
//
// The machine's stack, without what is LibTorch's, Proviso's or the standard
// library's, and with functions that the compiler inlined.  A program compiled
// without -g has no lines: nothing is looked for in it, and PROVISO_LINE
// (tracer_adapter/export.h) says them.  addr2line of binutils reads the lines,
// one process for each library that has some; where it is not there, there are
// none.
#pragma once

#include <vector>

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2::internal {

// Outermost first, as in a traceback.
std::vector<Frame> program_stack();

}  // namespace proviso::inline v0_2::internal
