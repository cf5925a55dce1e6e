#include <utility>

#include "bindings/python/bound_class.h"
#include "bindings/python/core/core.h"
#include "bindings/python/core/mirror.h"
#include "bindings/python/core/mirror_state.h"

namespace proviso::python {

namespace {

py::dict counts() {
  const MirrorCounts& c = mirror_counts();
  py::dict result;
  result["questions"] = c.questions;
  result["decided"] = c.decided;
  result["unknown"] = c.unknown;
  result["facts"] = c.facts;
  result["facts without a meaning here"] = c.unassumed;
  result["restarts"] = c.restarts;
  py::dict refused;
  for (const auto& [name, count] : c.refused) refused[name.c_str()] = count;
  result["refused"] = refused;
  return result;
}

}  // namespace

void bind_mirror(py::module_& m) {
  m.def("set_sympy", [](const py::dict& classes, py::object yes, py::object no,
                        py::object integer) {
    set_sympy_classes(classes);
    sympy_values() = {std::move(yes), std::move(no), std::move(integer)};
  });
  m.def("mirror_counts", &counts);
  m.def("reset_mirror_counts", [] { mirror_counts() = {}; });
  bound_class<Mirror>(m, "Mirror")
      .def(py::init<>())
      .def("ask", &Mirror::ask, py::arg("env"), py::arg("expr"),
           py::arg("axioms") = py::none(), py::arg("ranges") = py::none(),
           py::arg("size_oblivious") = false, py::arg("keep") = true)
      .def("bounds", &Mirror::bounds, py::arg("env"), py::arg("expr"),
           py::arg("ranges_alone") = false)
      .def("hint", &Mirror::hint)
      .def("is_backed", &Mirror::is_backed)
      .def("decided", &Mirror::decided)
      .def("remember", &Mirror::remember)
      .def("decided_by_loops", &Mirror::decided_by_loops)
      .def("remember_by_loop", &Mirror::remember_by_loop)
      .def("scopes", &Mirror::scopes)
      .def("project", &Mirror::project)
      .def("minimal", &Mirror::minimal)
      .def("only_value", &Mirror::only_value)
      .def("contradiction", &Mirror::contradiction);
}

}  // namespace proviso::python
