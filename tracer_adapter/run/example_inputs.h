// tracer_adapter/run/example_inputs.h - inputs to run a program on when there
// are none.
//
//   program.module().run(example_inputs(program));
#pragma once

#include <ATen/core/ivalue.h>

#include <vector>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2 {

// Of the sizes that the program was exported with.  Floating point: uniform in
// [0, 1]; integers: zero, a legal index of what is not empty.  Throws where a
// tensor would have more than `most` elements.
std::vector<c10::IValue> example_inputs(const ExportedProgram& program,
                                        int64_t most = int64_t{1} << 28);

}  // namespace proviso::inline v0_2
