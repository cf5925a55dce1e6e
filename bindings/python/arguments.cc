#include "bindings/python/arguments.h"

#include "bindings/python/values.h"
#include "sym/excerpt.h"

namespace proviso::python {

namespace {

// UTF-8, with what has none as an escape.
std::string escaped(py::handle text) {
  const auto bytes = py::reinterpret_steal<py::object>(
      PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (bytes) return std::string(py::reinterpret_borrow<py::bytes>(bytes));
  PyErr_Clear();
  return "?";
}

std::string class_of(py::handle given) {
  return std::string("an object of class ") + Py_TYPE(given.ptr())->tp_name;
}

}  // namespace

std::string shown(py::handle given) {
  constexpr auto kMost =
      static_cast<Py_ssize_t>(proviso::internal::kArgumentLength);
  // A number with too many digits has no repr.
  if (PyLong_Check(given.ptr())) {
    const std::optional<Int> value = to_bound(given);
    if (value && !value->to_int64()) {
      return proviso::internal::excerpt(value->to_string(),
                                        proviso::internal::kArgumentLength);
    }
  }
  const auto text =
      py::reinterpret_steal<py::object>(PyObject_Repr(given.ptr()));
  if (!text) {
    PyErr_Clear();
    return class_of(given);
  }
  if (PyUnicode_GetLength(text.ptr()) <= kMost) return escaped(text);
  const auto begin = py::reinterpret_steal<py::object>(
      PyUnicode_Substring(text.ptr(), 0, kMost));
  return escaped(begin) + "...";
}

void refuse(py::handle given, const char* call, const char* argument,
            const char* wanted) {
  throw py::type_error(std::string(call) + ": " + argument + " is " +
                       shown(given) + "; give " + wanted);
}

std::string text_of(py::handle given, const char* call, const char* argument) {
  if (!PyUnicode_Check(given.ptr())) refuse(given, call, argument, "a str");
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    refuse(given, call, argument, "a str without surrogates");
  }
  return {text, static_cast<size_t>(size)};
}

std::optional<std::string> text_or_none(py::handle given, const char* call,
                                        const char* argument) {
  if (given.is_none()) return std::nullopt;
  if (!PyUnicode_Check(given.ptr()))
    refuse(given, call, argument, "a str or None");
  return text_of(given, call, argument);
}

std::string bytes_of(py::handle given, const char* call, const char* argument) {
  if (PyBytes_Check(given.ptr()))
    return std::string(py::reinterpret_borrow<py::bytes>(given));
  if (!PyUnicode_Check(given.ptr()))
    refuse(given, call, argument, "a str or bytes");
  return text_of(given, call, argument);
}

Int int_of(py::handle given, const char* call, const char* argument) {
  if (auto value = to_bound(given)) return *std::move(value);
  refuse(given, call, argument, "an int");
}

size_t count_of(py::handle given, const char* call, const char* argument) {
  if (PyLong_Check(given.ptr())) {
    const size_t count = PyLong_AsSize_t(given.ptr());
    if (PyErr_Occurred() == nullptr) return count;
    PyErr_Clear();
  }
  refuse(given, call, argument, "an int >= 0 of at most 64 bits");
}

bool truth_of(py::handle given, const char* call, const char* argument) {
  if (!PyBool_Check(given.ptr()))
    refuse(given, call, argument, "True or False");
  return given.ptr() == Py_True;
}

py::dict dict_of(py::handle given, const char* call, const char* argument) {
  if (!PyDict_Check(given.ptr())) refuse(given, call, argument, "a dict");
  return py::reinterpret_borrow<py::dict>(given);
}

py::tuple tuple_of(py::handle given, const char* call, const char* argument) {
  if (!PyTuple_Check(given.ptr())) refuse(given, call, argument, "a tuple");
  return py::reinterpret_borrow<py::tuple>(given);
}

std::vector<py::object> items_of(py::handle given, const char* call,
                                 const char* argument) {
  if (!PyList_Check(given.ptr()) && !PyTuple_Check(given.ptr()))
    refuse(given, call, argument, "a list or a tuple");
  std::vector<py::object> result;
  for (const py::handle& item : py::reinterpret_borrow<py::sequence>(given))
    result.push_back(py::reinterpret_borrow<py::object>(item));
  return result;
}

}  // namespace proviso::python
