// Question: what a trace refused to answer, for proviso/_suggest.py.
#include <torch/csrc/utils/python_symnode.h>

#include "bindings/python/bindings.h"
#include "guards/requirements.h"
#include "guards/suggest.h"
#include "guards/torch_form.h"
#include "sym/print.h"

namespace proviso::python {
namespace {

struct PyQuestion {
  std::shared_ptr<ShapeEnv> env;
  OpenQuestion question;
};

// Null for what is no number of this trace.
Expr number_of(ShapeEnv& env, py::handle value) {
  try {
    if (torch::is_symint(value)) return to_expr(env, value.cast<c10::SymInt>());
    if (torch::is_symbool(value))
      return to_expr(env, value.cast<c10::SymBool>());
    if (torch::is_symfloat(value))
      return to_expr(env, value.cast<c10::SymFloat>());
  } catch (const std::exception&) {
    // Of another trace.
  }
  return {};
}

// [(name, source or "", number)] of what it is about.
py::list symbols_of(const PyQuestion& q) {
  py::list result;
  for (Expr s : free_symbols(q.question.condition)) {
    const Symbol& symbol = s.symbol();
    py::object number = py::none();
    if (s.is_int()) number = py::cast(to_sym_int(*q.env, s));
    result.append(py::make_tuple(symbol.name, symbol.source, number));
  }
  return result;
}

Assignment example_of(const PyQuestion& q, const py::dict& values) {
  Assignment example;
  for (const auto& [name, value] : values) {
    const auto symbol = q.env->pool().find_symbol(name.cast<std::string>());
    const auto number = to_bound(value);
    if (symbol && number) example.set(*symbol, *number);
  }
  return example;
}

// words: [(text, number)]; values: {symbol: integer}.
// [(code, condition, excludes)]
py::list suggestions(const PyQuestion& q, const py::list& words,
                     const py::dict& values) {
  std::vector<Word> vocabulary;
  for (const py::handle& item : words) {
    const auto pair = item.cast<py::tuple>();
    if (Expr value = number_of(*q.env, pair[1]))
      vocabulary.push_back({value, pair[0].cast<std::string>()});
  }
  const Assignment example = example_of(q, values);
  py::list result;
  for (const Suggestion& s : suggest(*q.env, q.question, vocabulary, example))
    result.append(py::make_tuple(s.code, s.condition, s.excludes));
  return result;
}

// The facts that refute a condition, with their lines; empty where none do.
std::vector<std::string> facts_against(const c10::SymBool& condition) {
  Tracer* tracer = Tracer::current();
  if (tracer == nullptr || !condition.is_heap_allocated()) return {};
  ShapeEnv& env = tracer->env();
  const Answer answer = env.context().ask(to_expr(env, condition));
  if (answer.verdict != Verdict::kNo) return {};
  std::vector<std::string> facts;
  for (FactId id : answer.facts) {
    const Fact fact = env.context().fact(id);
    facts.push_back(fact.origin.text.empty() ? to_string(fact.condition)
                                             : fact.origin.to_string());
  }
  return facts;
}

// --- requirements

py::list places(const std::vector<SourceLocation>& origins) {
  py::list result;
  for (const SourceLocation& where : origins)
    result.append(py::make_tuple(where.file, where.line, where.code));
  return result;
}

// {size: value} in the caller's words.
py::object point(ShapeEnv& env, const std::optional<Assignment>& at,
                 const std::vector<Word>& words) {
  if (!at) return py::none();
  py::dict result;
  for (const auto& [symbol, value] : at->entries())
    result[py::str(in_words(env, symbol, words))] = to_python(value);
  return result;
}

// [(text, rule, is stronger)], [(source, least, greatest, source of an equal)]
py::tuple torch_parts(ShapeEnv& env, const Requirements& found,
                      const std::vector<Word>& words) {
  const TorchForm form = torch_form(env, found);
  py::list conditions, sizes;
  for (const TorchCondition& c : form.conditions)
    conditions.append(py::make_tuple(in_words(env, c.condition, words),
                                     std::string(c.rule), c.is_stronger));
  for (const TorchSize& s : form.sizes)
    sizes.append(py::make_tuple(s.source, to_python_int(s.range.lower()),
                                to_python_int(s.range.upper()), s.equals));
  return py::make_tuple(conditions, sizes);
}

// words: [(source, text)].  (conditions, questions, pinned, torch's form):
//   [(text, over sources, counterexample)], [(text, places, follows from)],
//   [(size, value, follows from)], as torch_parts() gives it
py::tuple requirements_of(
    const ExportedProgram& program,
    const std::vector<std::pair<std::string, std::string>>& texts) {
  ShapeEnv& env = *program.env;
  std::vector<Word> words;
  for (const auto& [source, text] : texts)
    for (const InputDim& dim : env.input_dims())
      if (dim.source == source) words.push_back({dim.expr, text});
  const Requirements found = requirements(env, words);
  const auto by_source = [](Expr s) { return s.symbol().source; };
  py::list conditions, questions, pinned;
  for (const Requirement& r : found.conditions)
    conditions.append(py::make_tuple(r.text, to_python(r.condition, by_source),
                                     point(env, r.counterexample, words)));
  for (const AnsweredQuestion& q : found.questions)
    questions.append(
        py::make_tuple(q.text, places(q.origins), py::cast(q.follows_from)));
  for (const PinnedSize& p : found.pinned)
    pinned.append(
        py::make_tuple(p.text, to_python(Value(p.value)), p.follows_from));
  return py::make_tuple(conditions, questions, pinned,
                        torch_parts(env, found, words));
}

}  // namespace

void bind_suggestions(py::module_& m) {
  py::class_<PyQuestion>(m, "Question",
                         "What a trace was asked and could not answer.")
      .def_property_readonly(
          "text", [](const PyQuestion& q) { return q.question.text; })
      .def_property_readonly(
          "asked",
          [](const PyQuestion& q) { return to_string(q.question.condition); })
      .def("symbols", &symbols_of)
      .def(
          "answer_at",
          [](const PyQuestion& q, const py::dict& values) {
            const auto answer =
                answer_at(*q.env, q.question, example_of(q, values));
            return answer ? to_python(Value(*answer)) : py::none();
          },
          py::arg("values"))
      .def("suggest", &suggestions, py::arg("words"), py::arg("values"));
  m.def("facts_against", &facts_against);
  m.def("requirements", &requirements_of);
}

py::object open_question(Tracer& tracer) {
  const OpenQuestion* question = last_refused(tracer.env());
  if (question == nullptr) return py::none();
  return py::cast(PyQuestion{tracer.shared_env(), *question});
}

}  // namespace proviso::python
