// tracer_adapter/fake/living_fakes.h - the fakes that outlive their trace.
//
//   note_new_fakes();
//   trace(program);
//   take_living_fakes();   // those that a cache of the program holds
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace proviso::inline v0_2 {

// From here on this thread remembers the fakes that it makes, without keeping
// them alive.
void note_new_fakes();
// Those that are alive, in the order in which they were made; none is
// remembered any more.
std::vector<at::Tensor> take_living_fakes();

}  // namespace proviso::inline v0_2
