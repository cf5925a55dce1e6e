// tracer_adapter/run/known_operators.h - the operators whose calls the tracer
// understands.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace proviso::inline v0_2 {

// A rule looks at an operator's arguments before a kernel does.
bool has_rule(const c10::OperatorHandle& op);
// PyTorch defines it by other operators.
bool is_composite(const c10::OperatorHandle& op);
// It has a rule, or it is composed of operators.
bool is_known(const c10::OperatorHandle& op);
// The process that traces has its meta function (in Python, torch's own).
bool has_meta_function(const c10::OperatorHandle& op);

}  // namespace proviso::inline v0_2
