// tracer_adapter/run/symbolic_functions.h - arithmetic nodes of a graph on
// numbers that are not known: what sym_functions.h computes, on symbols.
//
//   call_symbolic("_operator.mul", {s0, 2});   // the SymInt 2*s0
#pragma once

#include <ATen/core/ivalue.h>

#include <span>
#include <string>

namespace proviso::inline v0_2 {

// A SymInt, a SymFloat or a SymBool.
bool is_symbolic_number(const c10::IValue& value);

// At least one argument is symbolic and of the current trace.  A result that is
// known is a plain number.  Throws where the function has no symbolic form.
c10::IValue call_symbolic(const std::string& target,
                          std::span<const c10::IValue> args);

}  // namespace proviso::inline v0_2
