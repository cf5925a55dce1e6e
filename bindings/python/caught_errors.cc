// bindings/python/caught_errors.cc - errors that Python's C code raises while a
// program is traced, where eager raises none: of a TypeError that names a
// SymBool nobody hears when the program catches it.
#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "bindings/python/bindings.h"

namespace proviso::python {
namespace {

using Init = int (*)(PyObject*, PyObject*, PyObject*);

// One of the types whose making is watched, and what it did before.
struct Watched {
  PyTypeObject* type;
  Init init;
};

// Called with each error; it outlives the interpreter's own objects.
PyObject* callback = nullptr;
std::array<Watched, 2> watched;

// What such errors say of a value or of an operation.
constexpr std::string_view kSaid[] = {
    "SymInt",          "SymFloat",
    "SymBool",         "symbolic sizes/strides",
    "is being traced", "this operator does not take it",
    "INTERNAL ASSERT"};

bool is_of_tracing(PyObject* args) {
  if (PyTuple_GET_SIZE(args) == 0) return false;
  PyObject* text = PyTuple_GET_ITEM(args, 0);
  if (!PyUnicode_Check(text)) return false;
  Py_ssize_t length = 0;
  const char* chars = PyUnicode_AsUTF8AndSize(text, &length);
  if (chars == nullptr) {
    PyErr_Clear();
    return false;
  }
  const std::string_view said(chars, static_cast<size_t>(length));
  return std::any_of(std::begin(kSaid), std::end(kSaid), [&](auto part) {
    return said.find(part) != std::string_view::npos;
  });
}

template <size_t which>
int init(PyObject* self, PyObject* args, PyObject* kwargs) {
  const int status = watched[which].init(self, args, kwargs);
  if (status != 0 || callback == nullptr || Tracer::current() == nullptr ||
      !is_of_tracing(args))
    return status;
  PyObject* result = PyObject_CallOneArg(callback, self);
  if (result == nullptr) return -1;
  Py_DECREF(result);
  return 0;
}

template <size_t which>
void watch(PyObject* type) {
  auto* kind = reinterpret_cast<PyTypeObject*>(type);
  watched[which] = {kind, kind->tp_init};
  kind->tp_init = &init<which>;
}

// C code makes an error when Python code is about to catch it; no Python code
// runs by then, and the type's own initializer alone sees it.
void watch_errors(const py::object& heard) {
  if (callback == nullptr) {
    watch<0>(PyExc_TypeError);
    watch<1>(PyExc_RuntimeError);
  }
  callback = heard.inc_ref().ptr();
}

}  // namespace

void bind_caught_errors(py::module_& m) {
  // callback(error) for each TypeError and RuntimeError that a trace meets and
  // that speaks of what is symbolic.  Called once, when the package is
  // imported.
  m.def("watch_errors", &watch_errors);
}

}  // namespace proviso::python
