// tracer_adapter/trace/plain_tensor.h - which real tensors a program can read.
//
//   require_plain("buffer 'w'", w);   // ValueError: it is sparse, quantized,
//   .. require_memory("buffer 'w'", w);  // ValueError: its storage was resized
//
// A kernel trusts that the storage of a strided tensor holds every element that
// sizes, strides and offset reach.  `w.untyped_storage().resize_(0)` leaves a
// tensor of which that is false, and reading it ends the process.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace proviso::inline v0_2 {

// Throws unless t is strided memory alone: no layout, type or subclass whose
// operators mean something else.
void require_plain(const std::string& what, const at::Tensor& t);

// Whether the storage of a strided tensor holds all of its elements.  A tensor
// on the meta device has none to hold, nor has a traced one.
bool has_memory(const at::Tensor& t);
// Throws unless it does.
void require_memory(const std::string& what, const at::Tensor& t);

}  // namespace proviso::inline v0_2
