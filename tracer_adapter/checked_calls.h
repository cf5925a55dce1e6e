// tracer_adapter/checked_calls.h - every call of a program is looked at before
// a kernel of PyTorch is, which may trust its arguments.
//
//   const CheckedCalls checked;
//   module.run(inputs);  // an operator's shape function throws first
//
// The shape functions see fakes of the very tensors of the call, so that what
// follows from data (a branch, an item(), a nonzero()) is looked at as well.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace proviso::inline v0_2 {

// Of what this thread interprets while it lives.
class CheckedCalls {
 public:
  CheckedCalls();
  ~CheckedCalls();
  CheckedCalls(const CheckedCalls&) = delete;
  CheckedCalls& operator=(const CheckedCalls&) = delete;

  // Throws what the operator's shape function throws; does nothing outside of
  // a CheckedCalls, inside a trace, or where no shape function can tell.
  static void look_at(const c10::OperatorHandle& op, const c10::Stack& stack);

 private:
  const bool outer_;
};

}  // namespace proviso::inline v0_2
