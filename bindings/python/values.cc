#include "bindings/python/values.h"

#include <span>
#include <string>
#include <vector>

#include "sym/integer_bytes.h"

namespace proviso::python {

namespace {

// Python's own int, whatever a subclass has in place of its methods.
py::handle int_type() { return reinterpret_cast<PyObject*>(&PyLong_Type); }

py::object from_bytes(const Int& value) {
  const std::vector<unsigned char> bytes = internal::magnitude_bytes(value);
  const py::bytes given(reinterpret_cast<const char*>(bytes.data()),
                        bytes.size());
  const py::object magnitude = int_type().attr("from_bytes")(given, "little");
  return value.sign() < 0 ? py::object(-magnitude) : magnitude;
}

Int to_int(py::handle number) {
  const py::object magnitude = int_type().attr("__abs__")(number);
  const auto bits = magnitude.attr("bit_length")().cast<size_t>();
  const py::bytes bytes = magnitude.attr("to_bytes")(bits / 8 + 1, "little");
  const std::string_view view = bytes;
  const auto* first = reinterpret_cast<const unsigned char*>(view.data());
  const bool is_negative =
      int_type().attr("__lt__")(number, py::int_(0)).cast<bool>();
  return internal::from_magnitude({first, view.size()}, is_negative);
}

}  // namespace

py::object to_python_int(const OptionalInt& value) {
  if (!value) return py::none();
  if (const auto small = value->to_int64()) return py::int_(*small);
  return from_bytes(*value);
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
  return to_int(value);
}

}  // namespace proviso::python
