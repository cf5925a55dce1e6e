// tracer_adapter/run/checked_calls.h - every call of a program is looked at
// before a kernel of PyTorch is, which may trust its arguments.
//
//   const CheckedCalls checked;
//   module.run(inputs);  // an operator's shape function throws first
//
// The shape functions see fakes of the very tensors of the call, so that what
// follows from data (a branch, an item(), a nonzero()) is looked at as well.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "tracer_adapter/pt2/allowed_operators.h"

namespace proviso::inline v0_2 {

// Of what this thread interprets while it lives.
class CheckedCalls {
 public:
  // Operators of PyTorch whose arguments nothing looks at are called where they
  // are among those that `allowed` was asked for, and an error otherwise.
  explicit CheckedCalls(
      pt2::AllowedOperators allowed = pt2::AllowedOperators());
  ~CheckedCalls();
  CheckedCalls(const CheckedCalls&) = delete;
  CheckedCalls& operator=(const CheckedCalls&) = delete;

  // Calls the operator, whose arguments are the stack, once its shape function
  // let them pass; throws what that throws.  Where the data decide what an
  // operator does, each that it is composed of is looked at.  Outside of a
  // CheckedCalls and inside a trace nothing is looked at.
  static void call(const c10::OperatorHandle& op, c10::Stack& stack);

 private:
  const pt2::AllowedOperators allowed_;
  const pt2::AllowedOperators* const outer_;
};

}  // namespace proviso::inline v0_2
