// tracer_adapter/trace/out_overloads.h - operators that write their results to
// tensors that they are given.
//
//   functional_of(op);                     // aten::div.out -> aten::div.Tensor
//   run_with_outs(op, functional, stack);  // out.copy_(div(a, b))
//
// So readers of the program need not know the overload, and what writes is one
// operator.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <optional>

namespace proviso::inline v0_2 {

// The overload with the same arguments but `out`, if the operator is not
// random.
std::optional<c10::OperatorHandle> functional_of(const c10::OperatorHandle& op);

// The stack has `op`'s arguments, then its results.  Throws where eager does,
// and where eager would resize a tensor, or compute in its dtype.
void run_with_outs(const c10::OperatorHandle& op,
                   const c10::OperatorHandle& functional, c10::Stack& stack);

}  // namespace proviso::inline v0_2
