#include "bindings/python/values.h"

#include <string>

namespace proviso::python {

py::object to_python_int(const OptionalInt& value) {
  if (!value) return py::none();
  if (const auto small = value->to_int64()) return py::int_(*small);
  const std::string digits = value->to_string();
  PyObject* number = PyLong_FromString(digits.c_str(), nullptr, 10);
  if (number == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(number);
}

py::object to_python(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return py::bool_(*b);
  if (const Int* i = std::get_if<Int>(&value)) return to_python_int(*i);
  if (const Rational* r = std::get_if<Rational>(&value))
    return py::float_(r->to_double());
  return py::float_(std::get<double>(value));
}

std::optional<Int> to_bound(py::handle value) {
  if (!PyLong_Check(value.ptr())) return std::nullopt;
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return Int(static_cast<int64_t>(small));
  return Int::parse(py::str(value).cast<std::string>());
}

}  // namespace proviso::python
