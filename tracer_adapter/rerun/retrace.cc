#include "tracer_adapter/rerun/retrace.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "sym/canonical.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "tracer_adapter/ir/owned_tensors.h"
#include "tracer_adapter/run/arguments.h"
#include "tracer_adapter/run/executable.h"
#include "tracer_adapter/run/int64_at.h"
#include "tracer_adapter/trace/error_text.h"
#include "tracer_adapter/trace/sources.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

// Names that both pools know, whatever their symbols are called.
using Names = std::map<std::string, std::string>;

std::string renamed(Expr e, const Names& names) {
  return to_python(e, [&](Expr symbol) {
    const std::string& name = symbol.symbol().name;
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  });
}

bool is_contiguous(const TensorMeta& meta) {
  Expr expected;  // null: 1
  for (size_t d = meta.sizes.size(); d-- > 0;) {
    const Expr stride = meta.strides[d];
    if (expected ? canonical(expected) != stride : stride.maybe_int64() != 1)
      return false;
    expected = expected ? expected * meta.sizes[d] : meta.sizes[d];
  }
  return true;
}

ShapeEnvOptions options() {
  ShapeEnvOptions options;
  options.specialize_zero_one = false;
  return options;
}

// The sizes are so large that no tensor has them.
class NoSuchTensor : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One run of a program on fakes, while it lives.
class Run {
 public:
  // With sizes: those alone.
  Run(const ExportedProgram& program, const Assignment* sizes)
      : program_(program),
        owned_(program),
        sizes_(sizes),
        executable_(program.graph),
        tracer_(options()) {
    tracer_.set_recording(false);
    for (const InputDim& dim : program.env->input_dims())
      dims_.emplace(dim.source, &dim);
  }

  // The fakes to run on, made first.
  void make_inputs();
  // Throws what an operator throws; stopped_at() says which.
  std::vector<c10::IValue> operator()();
  std::string stopped_at() const;
  std::vector<NeededCondition> requirements();
  std::vector<Expr> asserted() const;

 private:
  int64_t size_of(const InputDim& dim) const;
  Expr create(const std::string& source, const InputDim& dim, bool is_size);
  c10::IValue input(const InputSpec& spec);
  at::Tensor fake(const InputSpec& spec, const TensorMeta& meta);
  c10::SymInt stride(Expr e);
  Expr in_program(Expr e) const;
  void enter(size_t node);

  const ExportedProgram& program_;
  const OwnedTensors owned_;
  const Assignment* sizes_;
  Executable executable_;
  Tracer tracer_;
  std::map<std::string, const InputDim*> dims_;  // the program's, by source
  Names ours_;                                   // of the program's symbols
  Names theirs_;                                 // of ours
  std::vector<Expr> made_;
  std::vector<c10::IValue> inputs_;
  std::optional<size_t> node_;
};

int64_t Run::size_of(const InputDim& dim) const {
  if (sizes_ == nullptr) return dim.hint.to_int64().value_or(2);
  const std::optional<int64_t> size = internal::int64_at(dim.expr, *sizes_);
  TORCH_CHECK(size, "Proviso: try_sizes: ", dim.source,
              " is not among the sizes that were given");
  return *size;
}

Expr Run::create(const std::string& source, const InputDim& dim, bool is_size) {
  ShapeEnv& env = tracer_.env();
  DimConstraint constraint;
  if (sizes_ != nullptr || dim.expr.is_constant())
    constraint.policy = DimPolicy::kStatic;
  if (!is_size) {
    if (sizes_ != nullptr) return env.pool().integer(size_of(dim));
    const Expr e = env.create_backed_int(size_of(dim), source, constraint);
    if (e.is_constant()) return e;
    made_.push_back(e);
    theirs_[to_string(e)] = to_string(dim.expr);
    return e;
  }
  const Expr e = env.create_size(size_of(dim), source, constraint);
  if (e.is_constant()) return e;
  made_.push_back(e);
  theirs_[to_string(e)] = to_string(dim.expr);
  if (dim.expr.is_symbol()) ours_.emplace(to_string(dim.expr), to_string(e));
  return e;
}

// Of an input that is not contiguous, told in the program's symbols.
c10::SymInt Run::stride(Expr e) {
  ShapeEnv& env = tracer_.env();
  if (sizes_ == nullptr)
    return to_sym_int(env, canonical(parse(env.pool(), renamed(e, ours_))));
  const std::optional<int64_t> stride = internal::int64_at(e, *sizes_);
  TORCH_CHECK(stride, "Proviso: the stride ", to_string(e),
              " of an input is no 64-bit integer for these sizes");
  return *stride;
}

at::Tensor Run::fake(const InputSpec& spec, const TensorMeta& meta) {
  std::vector<c10::SymInt> sizes, strides;
  for (size_t d = 0; d < meta.sizes.size(); ++d) {
    const auto dim = dims_.find(size_source(spec.source, d));
    TORCH_CHECK(dim != dims_.end(),
                "Proviso: no input dimension has the "
                "source ",
                size_source(spec.source, d));
    sizes.push_back(
        to_sym_int(tracer_.env(), create(dim->first, *dim->second, true)));
  }
  try {
    if (is_contiguous(meta)) {
      strides = contiguous_strides(sizes);
    } else {
      for (Expr e : meta.strides) strides.push_back(stride(e));
    }
    return make_fake(sizes, strides, meta.dtype, meta.device);
  } catch (const c10::Error& error) {
    if (sizes_ == nullptr) throw;
    throw NoSuchTensor(error.what_without_backtrace());
  }
}

c10::IValue Run::input(const InputSpec& spec) {
  if (spec.kind != InputKind::kUserInput) return owned_.of(spec);
  const ValueRef* ref = spec.arg.get<ValueRef>();
  if (ref == nullptr) return to_ivalue(spec.arg);
  const GraphValue& value = program_.graph.value(ref->id);
  if (value.is_tensor()) return fake(spec, value.tensor());
  ShapeEnv& env = tracer_.env();
  if (!value.expr().is_int())
    return to_sym_float(env, env.create_backed_float(1.0, spec.source));
  const auto dim = dims_.find(spec.source);
  TORCH_CHECK(dim != dims_.end(), "Proviso: no input has the source ",
              spec.source);
  return to_sym_int(env, create(spec.source, *dim->second, false));
}

void Run::enter(size_t node) {
  node_ = node;
  const Graph& graph = program_.graph;
  const std::vector<Frame>& frames = graph.stacks[graph.nodes[node].location];
  if (frames.empty()) {
    tracer_.set_line("", 0, "", graph.nodes[node].target.c_str());
  } else {
    const Frame& frame = frames.back();
    tracer_.set_line(frame.file.c_str(), frame.line, frame.function.c_str(),
                     frame.code.c_str());
  }
}

void Run::make_inputs() {
  for (const InputSpec& spec : program_.graph.inputs)
    inputs_.push_back(input(spec));
}

std::vector<c10::IValue> Run::operator()() {
  return executable_.run(inputs_, [&](size_t i) { enter(i); });
}

std::string Run::stopped_at() const {
  TORCH_INTERNAL_ASSERT(node_, "no operator ran");
  const Node& node = program_.graph.nodes[*node_];
  return "node " + std::to_string(*node_) + " (" + node.target + ")";
}

Expr Run::in_program(Expr e) const {
  return canonical(parse(program_.env->pool(), renamed(e, theirs_)));
}

std::vector<NeededCondition> Run::requirements() {
  ShapeEnv& env = tracer_.env();
  std::vector<NeededCondition> found;
  for (const Guard& guard : env.minimal_guards())
    found.push_back({in_program(guard.condition), guard.origins});
  for (Expr symbol : made_) {
    const Interval range = env.enforced_range(symbol);
    const auto origins = env.assumption_origins(symbol);
    const bool is_size = symbol.symbol().kind == SymbolKind::kBackedSize;
    ExprPool& pool = env.pool();
    if (range.lower() && !(is_size && *range.lower() <= Int(0)))
      found.push_back(
          {in_program(ge(symbol, pool.integer(*range.lower()))), origins});
    if (range.upper())
      found.push_back(
          {in_program(le(symbol, pool.integer(*range.upper()))), origins});
  }
  std::erase_if(found,
                [](const NeededCondition& r) { return r.condition.is_true(); });
  return found;
}

std::vector<Expr> Run::asserted() const {
  std::vector<Expr> found;
  for (const RuntimeAssert& check : tracer_.checks())
    found.push_back(in_program(check.condition));
  return found;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string sentence_of(const std::exception& error) {
  return first_line(error_text(error));
}

bool are_given(Expr e, const Assignment& sizes) {
  const std::vector<Expr>& symbols = free_symbols(e);
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](Expr s) { return sizes.find(s) != nullptr; });
}

// "output 0 has sizes [5], the program says [s0]"; empty when they agree.
std::string differing_output(const ExportedProgram& program,
                             const std::vector<c10::IValue>& outputs,
                             const Assignment& sizes) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueRef* ref = program.graph.outputs[i].arg.get<ValueRef>();
    if (ref == nullptr || !outputs[i].isTensor()) continue;
    const at::Tensor& t = outputs[i].toTensor();
    const std::vector<Expr>& said = program.graph.value(ref->id).tensor().sizes;
    bool same = t.dim() == static_cast<int64_t>(said.size());
    for (size_t d = 0; same && d < said.size(); ++d) {
      const auto size = t.sym_size(static_cast<int64_t>(d)).maybe_as_int();
      if (!size || !are_given(said[d], sizes)) continue;  // read from data
      const Evaluation expected = evaluate(said[d], sizes);
      same = expected.defined() && std::get<Int>(*expected.value) == Int(*size);
    }
    if (same) continue;
    std::ostringstream text;
    text << "output " << i << " has the sizes " << t.sym_sizes()
         << ", the program says [";
    const char* separator = "";
    for (Expr e : said) text << std::exchange(separator, ", ") << to_string(e);
    return text.str() + "]";
  }
  return "";
}

}  // namespace

Retrace retrace(const ExportedProgram& program) {
  Run run(program, nullptr);
  run.make_inputs();
  Retrace result;
  try {
    run();
  } catch (const std::exception& error) {
    result.problem = run.stopped_at() + ": " + sentence_of(error);
  }
  result.requirements = run.requirements();
  result.asserted = run.asserted();
  return result;
}

Trial try_sizes(const ExportedProgram& program, const Assignment& sizes) {
  Run run(program, &sizes);
  try {
    run.make_inputs();
  } catch (const NoSuchTensor& error) {
    return {Trial::Kind::kOpen, "no tensor has them: " + sentence_of(error)};
  }
  try {
    const std::string differs = differing_output(program, run(), sizes);
    if (differs.empty()) return {Trial::Kind::kRuns, ""};
    return {Trial::Kind::kRefused, differs};
  } catch (const DataDependentError& error) {
    return {Trial::Kind::kOpen, first_line(error.what())};
  } catch (const c10::NotImplementedError& error) {
    return {Trial::Kind::kOpen, sentence_of(error)};
  } catch (const std::exception& error) {
    return {Trial::Kind::kRefused,
            run.stopped_at() + ": " + sentence_of(error)};
  }
}

Trial try_inputs(const ExportedProgram& program,
                 const std::vector<c10::IValue>& inputs) {
  std::map<std::string, int64_t> by_source;
  size_t next = 0;
  for (const InputSpec& input : program.graph.inputs) {
    if (input.kind != InputKind::kUserInput) continue;
    const c10::IValue& value = inputs.at(next++);
    if (value.isInt()) by_source[input.source] = value.toInt();
    if (!value.isTensor()) continue;
    for (int64_t d = 0; d < value.toTensor().dim(); ++d)
      by_source[size_source(input.source, d)] = value.toTensor().size(d);
  }
  Assignment sizes;
  for (const InputDim& dim : program.env->input_dims())
    if (const auto found = by_source.find(dim.source);
        found != by_source.end() && dim.expr.is_symbol())
      sizes.set(dim.expr, Int(found->second));
  return try_sizes(program, sizes);
}

}  // namespace proviso::inline v0_2
