// The extension proviso._core.
#include "bindings/python/core/core.h"
#include "bindings/python/core/index_forms.h"

namespace proviso::python {
namespace {

// Never destroyed: exceptions may be translated until the interpreter ends.
py::object& error_type() {
  static auto* type = new py::object;
  return *type;
}

void translate_error(std::exception_ptr error) {
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    PyObject* type = error_type() ? error_type().ptr() : PyExc_RuntimeError;
    // What is no UTF-8 (a text that was cut) is replaced.
    const std::string_view what = e.what();
    const auto text = py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
        what.data(), static_cast<Py_ssize_t>(what.size()), "replace"));
    if (text) PyErr_SetObject(type, text.ptr());
  }
}

}  // namespace
}  // namespace proviso::python

PYBIND11_MODULE(_core, m) {
  using namespace proviso::python;
  m.doc() = "Proviso's solver without torch; use the package proviso.";
  m.attr("__version__") = PROVISO_VERSION;
  m.def("set_error_type", [](const py::object& type) {
    if (PyExceptionClass_Check(type.ptr()) == 0)
      refuse(type, "set_error_type", "type", "a class of exceptions");
    error_type() = type;
  });
  py::register_local_exception_translator(&translate_error);
  bind_expr(m);
  bind_context(m);
  bind_explain(m);
  bind_mirror(m);
  bind_index_forms(m);
  bind_joint_checks(m);
}
