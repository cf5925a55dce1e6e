// bindings/python/bindings.h - the parts of the extension proviso._proviso.
//
//   symbols.cc   SymNode, Expr and ShapeEnv: what torch.SymInt holds
//   session.cc   Session (a Tracer that Python drives) and the tracer's hooks
//   control_flow.cc  sub-graphs of cond, map, while_loop and scan
//   program.cc   ExportedProgram and its module
//   suggestions.cc   Question: what a trace refused, and checks for it
//   caught_errors.cc  errors that a program catches and eager does not raise
//   frames.cc    the Python stack as the tracer's source locations
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/utils/pybind.h>

#include "bindings/python/values.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::python {

void bind_symbols(py::module_& m);
void bind_session(py::module_& m);
void bind_control_flow(py::module_& m);
void bind_program(py::module_& m);
void bind_suggestions(py::module_& m);
void bind_errors(py::module_& m);
void bind_caught_errors(py::module_& m);

// The user's frames now, outermost first; files of torch and proviso are left
// out unless there is nothing else.
uint32_t current_python_stack(Tracer& tracer);
// Where torch and proviso live.  Called once, when the package is imported.
void set_package_folders(const std::string& torch, const std::string& proviso);

// The Question that the trace refused last, or None.
py::object open_question(Tracer& tracer);

// A tensor, number, string or None.  `what` names the value in the error.
c10::IValue to_ivalue(py::handle value, const std::string& what);
py::object from_ivalue(const c10::IValue& value);
// The same as a recorded constant.
Argument to_constant(py::handle value, const std::string& what);

}  // namespace proviso::python
