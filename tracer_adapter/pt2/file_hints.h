// tracer_adapter/pt2/file_hints.h - the sizes that a file gives as hints.
//
//   x: f32[s0, 2] traced with 3 rows; x[3:]: f32[s0 - 3, 2]
//   file_hints(program);                                      // s0 = 6
//
// torch.export.load asks of every size in a file whether it is 0 or 1 and
// answers by the hints: at s0 = 3 it takes s0 - 3 to be 0, and s0 to be 3 for
// good.  So the hints are sizes that the program takes and at which as few of
// its sizes as can be are 0 or 1: those of the example where none is, else the
// best of some near them.
#pragma once

#include "sym/evaluate.h"
#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2::pt2 {

// Of the symbols that have an example.
Assignment file_hints(const ExportedProgram& program);

}  // namespace proviso::inline v0_2::pt2
