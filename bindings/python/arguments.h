// bindings/python/arguments.h - what a caller gave, as C++ has it, or an error
// that names the call, the argument, the value and what would be right.
//
//   int_of(step, "Context.declare", "step")
//   // TypeError: Context.declare: step is 1.5; give an int
//
// Calls take py::object and read it by these: what pybind11 says of a wrong
// argument repeats all of them, however long.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <vector>

#include "sym/integer.h"

namespace proviso::python {

namespace py = pybind11;

// Its repr, or how that begins; for what has none its class.
std::string shown(py::handle given);

[[noreturn]] void refuse(py::handle given, const char* call,
                         const char* argument, const char* wanted);

// A str, as UTF-8.
std::string text_of(py::handle given, const char* call, const char* argument);
std::optional<std::string> text_or_none(py::handle given, const char* call,
                                        const char* argument);
// A str, as UTF-8, or bytes as they are.
std::string bytes_of(py::handle given, const char* call, const char* argument);
// The exact number that this int is.
Int int_of(py::handle given, const char* call, const char* argument);
// An int from 0 to what C++ counts.
size_t count_of(py::handle given, const char* call, const char* argument);
bool truth_of(py::handle given, const char* call, const char* argument);
py::dict dict_of(py::handle given, const char* call, const char* argument);
py::tuple tuple_of(py::handle given, const char* call, const char* argument);
// A list or a tuple.
std::vector<py::object> items_of(py::handle given, const char* call,
                                 const char* argument);

}  // namespace proviso::python
