// tracer_adapter/known_operators.h - the operators whose calls the tracer
// understands.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace proviso {

// It has a rule, which looks at its arguments before a kernel does, or it is
// composed of operators.
bool is_known(const c10::OperatorHandle& op);

}  // namespace proviso
