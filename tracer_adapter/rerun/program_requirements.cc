// The first trace is begun again for each question about data: what was
// recorded up to it, run on the example, tells the answer.  Then the guards are
// said plainly, and a trace without example sizes is run with them as facts:
//
//   y = x.masked_select(..);  n = y.size(0);   // u0; 5 in the example
//   if (n > 2) ..                              // "u0 > 2": 1
//   if (x.size(1) != 1) ..                     // s1 != 1: "x.size(1) >= 2"
#include "tracer_adapter/rerun/program_requirements.h"

#include <algorithm>
#include <map>

#include "guards/open_question.h"
#include "guards/source_text.h"
#include "sym/print.h"
#include "tracer_adapter/trace/entry.h"
#include "tracer_adapter/trace/torch_state.h"

namespace proviso::inline v0_2 {

namespace {

// Questions about data, each of which costs a trace.
constexpr size_t kMostQuestions = 64;

using Answers = std::map<std::string, Int>;

struct Entry {
  const Program& program;
  const std::vector<OwnedTensor>& parameters;
  const std::vector<OwnedTensor>& buffers;
  const std::vector<at::Tensor>& examples;
};

// The options with every size that may vary under `policy`.
ExportOptions varying(ExportOptions options, DimPolicy policy,
                      const std::vector<at::Tensor>& examples) {
  options.dynamic_shapes.resize(examples.size());
  for (size_t i = 0; i < examples.size(); ++i) {
    TensorDims& dims = options.dynamic_shapes[i];
    if (dims.empty()) dims.resize(static_cast<size_t>(examples[i].dim()));
    for (DimConstraint& dim : dims) {
      if (dim.policy == DimPolicy::kStatic) continue;
      dim = {.policy = policy, .name = {}, .min = dim.min, .max = dim.max};
    }
  }
  options.shape_env.specialize_zero_one = false;
  options.shape_env.backed_size_oblivious = true;
  return options;
}

// A question that ended a trace, with what was recorded up to it.
struct Asked {
  std::shared_ptr<ShapeEnv> env;
  OpenQuestion question;
  std::vector<Expr> from_data;             // what of its symbols is data's
  std::optional<ExportedProgram> program;  // gives their values
};

// nullopt where the error is not that of a question of this trace.
std::optional<Asked> asked_by(Tracer& tracer, const std::string& what) {
  const OpenQuestion* question = last_refused(tracer.env());
  if (question == nullptr) return std::nullopt;
  const std::string first = question->text.substr(0, question->text.find('\n'));
  if (what.find(first) == std::string::npos) return std::nullopt;
  Asked asked{tracer.shared_env(), *question, {}, {}};
  std::vector<c10::IValue> outputs;
  for (Expr s : free_symbols(asked.question.condition)) {
    if (!s.is_int() || !s.symbol().source.empty()) continue;
    asked.from_data.push_back(s);
    outputs.emplace_back(to_sym_int(tracer.env(), s));
  }
  if (outputs.empty()) return asked;
  try {
    tracer.forget_refusal();  // the question, which ended the trace
    asked.program = tracer.finish(outputs);
  } catch (const std::exception&) {
    // What was recorded is no whole program: the example tells nothing.
  }
  return asked;
}

// As by the example; nullopt where it does not tell, and of a question about
// inputs alone, which are not data.
std::optional<Int> answer_of(const Asked& asked,
                             const std::vector<at::Tensor>& examples) {
  if (!asked.program) return std::nullopt;
  std::vector<c10::IValue> inputs;
  for (const at::Tensor& t : examples) inputs.emplace_back(t.clone());
  Assignment values;
  try {
    const auto found = asked.program->module().run_unchecked(inputs);
    for (size_t i = 0; i < found.size(); ++i)
      values.set(asked.from_data[i], Int(found[i].toInt()));
  } catch (const std::exception&) {
    return std::nullopt;  // an operator refuses the example
  }
  return answer_at(*asked.env, asked.question.condition, values);
}

struct TracedOnce {
  std::optional<ExportedProgram> program;
  std::optional<Asked> asked;  // where it ended with a question
  std::string what;            // and its error
};

// The conditions, as text over sources, hold of the inputs.
void assume(ShapeEnv& env, const std::vector<std::string>& conditions) {
  SourceValues by_source;
  for (const InputDim& dim : env.input_dims())
    by_source.add(dim.source, dim.expr);
  for (const std::string& text : conditions)
    env.expect_true(parse_over(env.pool(), text, by_source), {}, text);
}

TracedOnce trace(const Entry& entry, const ExportOptions& options,
                 const Answers& answers,
                 const std::vector<std::string>& conditions = {}) {
  const AssumedAnswers assumed(answers);
  const TorchState state;
  Tracer tracer(options.shape_env);
  std::vector<at::Tensor> fakes = add_inputs(
      tracer, entry.parameters, entry.buffers, entry.examples, options);
  assume(tracer.env(), conditions);
  std::vector<c10::IValue> outputs;
  try {
    outputs = run_program(entry.program, std::move(fakes));
  } catch (const std::exception& error) {
    auto asked = asked_by(tracer, error.what());
    if (!asked) throw;
    return {{}, std::move(asked), error.what()};
  }
  return {tracer.finish(outputs), {}, {}};
}

// Questions about data are answered as by the example, one a trace.
TracedOnce answered(const Entry& entry, const ExportOptions& options,
                    Answers& answers,
                    const std::vector<std::string>& conditions = {}) {
  for (;;) {
    TracedOnce found = trace(entry, options, answers, conditions);
    if (found.program || answers.size() >= kMostQuestions) return found;
    const auto answer = answer_of(*found.asked, entry.examples);
    const std::string text = to_string(found.asked->question.condition);
    if (!answer || !answers.emplace(text, *answer).second) return found;
  }
}

std::string over_sources(Expr condition) {
  return to_python(condition, [](Expr s) { return s.symbol().source; });
}

// The proof: what a trace asks that has no example sizes and knows the
// conditions; empty where it asks nothing.
std::string asked_beyond(const Entry& entry, const ExportOptions& options,
                         const std::vector<Requirement>& conditions) {
  std::vector<std::string> texts;
  for (const Requirement& r : conditions)
    texts.push_back(over_sources(r.condition));
  Answers answers;
  const TracedOnce found = answered(entry, options, answers, texts);
  return found.what;
}

// s >= 1 for s >= 2: there the layout alone may have been asked.
Expr from_one_on(Expr condition) {
  if (!condition.is(Op::kLe) || condition.arg(0).maybe_int64() != 2) return {};
  const Expr size = condition.arg(1);
  return size.is_symbol() ? ge(size, 1) : Expr();
}

void weaken(const Entry& entry, const ExportOptions& options,
            ProgramRequirements& found) {
  for (size_t i = 0; i < found.conditions.size(); ++i) {
    const Expr weaker = from_one_on(found.conditions[i].condition);
    if (!weaker) continue;
    std::vector<Requirement> trial = found.conditions;
    trial[i] = {weaker, trial[i].text, {}};
    trial[i].text.back() = '1';  // ">= 2"
    if (!asked_beyond(entry, options, trial).empty()) continue;
    found.conditions = trial;
    for (AnsweredQuestion& q : found.questions)
      if (q.follows_from &&
          std::count(q.follows_from->begin(), q.follows_from->end(), i) != 0)
        q.follows_from.reset();
  }
}

std::vector<Word> words_of(const ShapeEnv& env, const ExportOptions& options,
                           size_t count) {
  std::vector<Word> words;
  for (const InputDim& dim : env.input_dims())
    for (size_t i = 0; i < count; ++i) {
      const std::string name = input_name(options, i, count);
      const std::string before = name + ".size()[";
      if (!dim.display_name.starts_with(before)) continue;
      std::string text = dim.display_name.substr(before.size());
      text.back() = ')';
      words.push_back({dim.expr, name + ".size(" + text});
    }
  return words;
}

}  // namespace

ProgramRequirements program_requirements(
    const Program& program, const std::vector<OwnedTensor>& parameters,
    const std::vector<OwnedTensor>& buffers,
    const std::vector<at::Tensor>& examples, const ExportOptions& options) {
  check_entry("program_requirements", program, examples, options);
  const Entry entry{program, parameters, buffers, examples};
  Answers answers;
  TracedOnce first =
      answered(entry, varying(options, DimPolicy::kAuto, examples), answers);
  if (first.asked) throw DataDependentError(first.what, Expr());
  ShapeEnv& env = *first.program->env;

  ProgramRequirements found;
  static_cast<Requirements&>(found) =
      requirements(env, words_of(env, options, examples.size()));
  found.for_torch = torch_form(env, found);
  for (const auto& [text, answer] : answers)
    found.of_data.push_back({text, answer});
  for (const InputDim& dim : env.input_dims())
    if (dim.expr.is_symbol()) found.witness.set(dim.expr, dim.hint);
  const ExportOptions unbacked =
      varying(options, DimPolicy::kUnbacked, examples);
  found.why_not = asked_beyond(entry, unbacked, found.conditions);
  found.proved = found.why_not.empty();
  if (found.proved) weaken(entry, unbacked, found);
  found.program = std::move(*first.program);
  return found;
}

ProgramRequirements program_requirements(
    const Program& program, const std::vector<at::Tensor>& examples,
    const ExportOptions& options) {
  return program_requirements(program, {}, {}, examples, options);
}

}  // namespace proviso::inline v0_2
