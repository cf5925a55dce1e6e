// Question: what a trace refused to answer, for proviso/_suggest.py.
#include <torch/csrc/utils/python_symnode.h>

#include <algorithm>

#include "bindings/python/bindings.h"
#include "guards/requirements.h"
#include "guards/source_text.h"
#include "guards/suggest.h"
#include "guards/torch_form.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso::python {
namespace {

struct PyQuestion {
  std::shared_ptr<ShapeEnv> env;
  OpenQuestion question;
  size_t symbols;  // of the trace when it was asked
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

// Of symbols that were there when it was asked.
bool is_old(const PyQuestion& q, Expr e) {
  const std::vector<Expr> symbols = free_symbols(e);
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](Expr s) { return s.symbol().index < q.symbols; });
}

// Of [(text, number)].
std::vector<Word> vocabulary_of(const PyQuestion& q, const py::list& words) {
  std::vector<Word> vocabulary;
  for (const py::handle& item : words) {
    const auto pair = item.cast<py::tuple>();
    if (Expr value = number_of(*q.env, pair[1]); value && is_old(q, value))
      vocabulary.push_back({value, pair[0].cast<std::string>()});
  }
  return vocabulary;
}

// words: [(text, number)]; values: {symbol: integer}.
// [(code, condition, excludes)]
py::list suggestions(const PyQuestion& q, const py::list& words,
                     const py::dict& values) {
  const Assignment example = example_of(q, values);
  py::list result;
  for (const Suggestion& s :
       suggest(*q.env, q.question, vocabulary_of(q, words), example))
    result.append(py::make_tuple(s.code, s.condition, s.excludes));
  return result;
}

// What the example takes, over symbols; None where it does not tell.
py::object side_at(const PyQuestion& q, const py::dict& values) {
  const auto side =
      side_of_example(*q.env, q.question.condition, example_of(q, values));
  return side ? py::cast(to_string(*side)) : py::none();
}

Expr no_symbol(ExprPool&, std::string_view) { return {}; }

// sides: as side_at() gives them, of traces that are alike up to this question.
// (code, condition); None where the words, or this trace's symbols, do not say
// them.
py::object suggestion_together(const PyQuestion& q, const py::list& words,
                               const std::vector<std::string>& sides) {
  ShapeEnv& env = *q.env;
  std::vector<Expr> all;
  for (const std::string& text : sides) {
    try {
      all.push_back(parse(env.pool(), text, {.make_symbol = no_symbol}));
    } catch (const Error&) {
      return py::none();  // of symbols that came later
    }
    if (!is_old(q, all.back())) return py::none();
  }
  const auto said = suggest_together(env, all, vocabulary_of(q, words));
  return said ? py::object(py::make_tuple(said->code, said->condition))
              : py::none();
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

using SourceTexts = std::vector<std::pair<std::string, std::string>>;

std::vector<Word> words_of(const ShapeEnv& env, const SourceTexts& texts) {
  std::vector<Word> words;
  for (const auto& [source, text] : texts)
    for (const InputDim& dim : env.input_dims())
      if (dim.source == source) words.push_back({dim.expr, text});
  return words;
}

// words: [(source, text)].  (conditions, questions, pinned, torch's form):
//   [(text, over sources, counterexample)], [(text, places, follows from)],
//   [(size, value, follows from)], as torch_parts() gives it
py::tuple requirements_of(const ExportedProgram& program,
                          const SourceTexts& texts) {
  ShapeEnv& env = *program.env;
  const std::vector<Word> words = words_of(env, texts);
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

// What PyTorch is told where it asks `question`, a text over sources:
// [(text, rule, is stronger)], the plainest first; empty where the example has
// no value for it.
py::list torch_answers(const ExportedProgram& program,
                       const std::string& question, const SourceTexts& texts) {
  ShapeEnv& env = *program.env;
  SourceValues by_source;
  for (const InputDim& dim : env.input_dims())
    by_source.add(dim.source, dim.expr);
  const std::vector<Word> words = words_of(env, texts);
  py::list result;
  for (const TorchCondition& answer :
       answers_to_torch(env, requirements(env, words),
                        parse_over(env.pool(), question, by_source)))
    result.append(py::make_tuple(in_words(env, answer.condition, words),
                                 std::string(answer.rule), answer.is_stronger));
  return result;
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
                answer_at(*q.env, q.question.condition, example_of(q, values));
            return answer ? to_python(Value(*answer)) : py::none();
          },
          py::arg("values"))
      .def("side_at", &side_at, py::arg("values"))
      .def("suggest", &suggestions, py::arg("words"), py::arg("values"))
      .def("suggest_together", &suggestion_together, py::arg("words"),
           py::arg("sides"));
  m.def("facts_against", &facts_against);
  m.def("requirements", &requirements_of);
  m.def("torch_answers", &torch_answers);
}

py::object open_question(Tracer& tracer) {
  const OpenQuestion* question = last_refused(tracer.env());
  if (question == nullptr) return py::none();
  return py::cast(PyQuestion{tracer.shared_env(), *question,
                             tracer.env().pool().symbols().size()});
}

}  // namespace proviso::python
