// Context for proviso/_context.py: facts and questions as text.
#include <memory>

#include "bindings/python/bindings.h"
#include "guards/context_text.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso::python {
namespace {

class PyContext {
 public:
  PyContext() : context_(pool_) {}
  explicit PyContext(const std::string& text)
      : context_(load_context(pool_, text)) {}

  std::string save() const { return save_context(context_); }

  void declare(const std::string& range) {
    const RangeDeclaration r = parse_range(range);
    context_.declare(parse(pool_, r.name), Interval::of(r.lower, r.upper),
                     {range});
  }
  void assume(const std::string& condition) {
    context_.assume(parse(pool_, condition), {condition});
  }

  // (verdict, [fact], counterexample, witness, reason, tier)
  py::tuple ask(const std::string& question) {
    const Answer answer = context_.ask(parse(pool_, question));
    py::list facts;
    for (FactId id : answer.facts) {
      const Fact& fact = context_.fact(id);
      facts.append(fact.origin.text.empty() ? to_string(fact.condition)
                                            : fact.origin.to_string());
    }
    return py::make_tuple(std::string(name_of(answer.verdict)), facts,
                          point(answer.counterexample), point(answer.witness),
                          answer.reason, std::string(name_of(answer.tier)));
  }
  py::tuple bounds(const std::string& text) {
    const Expr e = parse(pool_, text);
    if (!e.is_int()) {
      throw Error("Context.bounds: expected an integer expression, got " +
                  to_string(e) + " (" + std::string(name_of(e.type())) + ")");
    }
    const Interval range = context_.bounds(e);
    return py::make_tuple(to_python_int(range.lower()),
                          to_python_int(range.upper()));
  }
  std::string simplify(const std::string& text) {
    return to_string(context_.simplify(parse(pool_, text)));
  }

 private:
  static py::object point(const std::optional<Assignment>& at) {
    if (!at) return py::none();
    py::dict result;
    for (const auto& [symbol, value] : at->entries())
      result[symbol.symbol().name.c_str()] = to_python(value);
    return result;
  }

  ExprPool pool_;
  Context context_;
};

}  // namespace

void bind_context(py::module_& m) {
  py::class_<PyContext>(m, "Context")
      .def(py::init<>())
      .def(py::init<const std::string&>(), py::arg("text"))
      .def("save", &PyContext::save)
      .def("declare", &PyContext::declare)
      .def("assume", &PyContext::assume)
      .def("ask", &PyContext::ask)
      .def("bounds", &PyContext::bounds)
      .def("simplify", &PyContext::simplify);
}

}  // namespace proviso::python
