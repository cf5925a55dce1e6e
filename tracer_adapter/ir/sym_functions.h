// tracer_adapter/ir/sym_functions.h - arithmetic nodes of a graph on numbers.
//
//   SymFunction floordiv = find_sym_function("_operator.floordiv");
//   floordiv({-7, 2});   // -4, as in Python
#pragma once

#include <ATen/core/ivalue.h>

#include <span>
#include <string>

namespace proviso::inline v0_2 {

// Arguments and result are int64_t, double or bool.  Throws when a result does
// not fit in 64 bits, on a zero divisor, and where Python's math module raises.
using SymFunction = c10::IValue (*)(std::span<const c10::IValue>);

// nullptr when there is no such function.
SymFunction find_sym_function(const std::string& target);

}  // namespace proviso::inline v0_2
