// What errors about shapes ask for: proviso.explain.
#include "bindings/python/core/core.h"
#include "guards/errors/diagnosis_html.h"
#include "guards/errors/diagnosis_text.h"

namespace proviso::python {
using namespace internal;

// Each takes the text of a log or a traceback, and gives bytes: texts are cut
// where a character may go on.
void bind_explain(py::module_& m) {
  m.def("explain_json", [](const py::object& log) {
    const std::string text = bytes_of(log, "explain_json", "text");
    return py::bytes(to_json(diagnose(read_errors(text)), /*all=*/true));
  });
  m.def("explain_text", [](const py::object& log, const py::object& coloured) {
    const std::string text = bytes_of(log, "explain_text", "text");
    const bool colour = truth_of(coloured, "explain_text", "colour");
    const ErrorText errors = read_errors(text);
    std::string report = to_text(diagnose(errors), colour);
    const std::string note = unread_note(errors);
    return py::bytes(note.empty() ? report : report + note + "\n");
  });
  m.def("explain_html", [](const py::object& log) {
    const std::string text = bytes_of(log, "explain_html", "text");
    return py::bytes(to_html(diagnose(read_errors(text))));
  });
}

}  // namespace proviso::python
