// tracer_adapter/trace/interceptor.h - who sees an operator before the tracer
// does.
//
// A pass over a traced program runs it again, operator by operator, and says
// what is recorded instead: decompositions.cc is one.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace proviso::inline v0_2 {

// While it lives, this thread's operators come here first.  The innermost
// counts.
class Interceptor {
 public:
  Interceptor();
  virtual ~Interceptor();
  Interceptor(const Interceptor&) = delete;
  Interceptor& operator=(const Interceptor&) = delete;

  // True when the call is done: its results are on the stack in the place of
  // its arguments.
  virtual bool intercept(const c10::OperatorHandle& op, c10::Stack* stack) = 0;

  static Interceptor* current();

 private:
  Interceptor* outer_;
};

}  // namespace proviso::inline v0_2
