// bindings/python/values.h - numbers of any size between C++ and Python.  Both
// extensions use it; it knows pybind11 and not torch.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "sym/evaluate.h"

namespace proviso::python {

namespace py = pybind11;

py::object to_python(const Value& value);
// None for an infinite bound.
py::object to_python_int(const OptionalInt& value);
// nullopt for whatever is no int: infinities come as None or as SymPy's.
std::optional<Int> to_bound(py::handle value);

}  // namespace proviso::python
