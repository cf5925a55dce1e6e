// The extension proviso._proviso.
#include <c10/util/Exception.h>

#include "bindings/python/bindings.h"
#include "tracer_adapter/fake/zero_division.h"
#include "tracer_adapter/trace/error_text.h"

namespace proviso::python {
namespace {

// Never destroyed: exceptions may be translated until the interpreter ends.
struct ErrorTypes {
  py::object constraint_violation, data_dependent, base;
};
ErrorTypes& error_types() {
  static auto* types = new ErrorTypes;
  return *types;
}

void raise(const py::object& type, const char* text) {
  PyErr_SetString(type.ptr(), text);
}

void translate_torch(const c10::Error& error) {
  PyObject* type = PyExc_RuntimeError;
  if (dynamic_cast<const ZeroDivisionError*>(&error))
    type = PyExc_ZeroDivisionError;
  else if (dynamic_cast<const c10::NotImplementedError*>(&error))
    type = PyExc_NotImplementedError;
  else if (dynamic_cast<const c10::IndexError*>(&error))
    type = PyExc_IndexError;
  else if (dynamic_cast<const c10::ValueError*>(&error))
    type = PyExc_ValueError;
  else if (dynamic_cast<const c10::TypeError*>(&error))
    type = PyExc_TypeError;
  PyErr_SetString(type, error_text(error).c_str());
}

void translate(std::exception_ptr error) {
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (const ConstraintViolationError& e) {
    raise(error_types().constraint_violation, e.what());
  } catch (const DataDependentError& e) {
    raise(error_types().data_dependent, e.what());
  } catch (const Error& e) {
    raise(error_types().base, e.what());
  } catch (const c10::Error& e) {
    translate_torch(e);
  }
}

}  // namespace

// The exception classes are written in Python (proviso/_errors.py).
void bind_errors(py::module_& m) {
  m.def("set_error_types", [](py::object base, py::object constraint_violation,
                              py::object data_dependent) {
    error_types() = {std::move(constraint_violation), std::move(data_dependent),
                     std::move(base)};
  });
  py::register_local_exception_translator(&translate);
}

}  // namespace proviso::python

PYBIND11_MODULE(_proviso, m) {
  m.doc() = "Proviso's tracer over LibTorch; use the package proviso.";
  proviso::python::bind_errors(m);
  proviso::python::bind_symbols(m);
  proviso::python::bind_session(m);
  proviso::python::bind_control_flow(m);
  proviso::python::bind_program(m);
  proviso::python::bind_suggestions(m);
  proviso::python::bind_caught_errors(m);
}
