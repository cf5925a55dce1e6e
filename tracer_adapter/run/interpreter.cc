// Module: checks the inputs of an exported program, then runs it.
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>

#include "guards/input_check.h"
#include "sym/print.h"
#include "tracer_adapter/exported_program.h"
#include "tracer_adapter/ir/owned_tensors.h"
#include "tracer_adapter/rerun/replay.h"
#include "tracer_adapter/run/arguments.h"
#include "tracer_adapter/run/executable.h"
#include "tracer_adapter/trace/plain_tensor.h"
#include "tracer_adapter/trace/sources.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {
namespace {

// Where an input dimension's value is found.
struct InputPlace {
  size_t input = 0;
  std::optional<size_t> dim;  // none: the input is the number itself
};

std::string shown(const c10::IValue& value) {
  if (value.isTensor()) return "a tensor";
  if (value.isNone()) return "None";
  std::ostringstream out;
  if (value.isBool())
    out << (value.toBool() ? "True" : "False");
  else
    out << value;
  return out.str();
}

bool same_value(const c10::IValue& a, const c10::IValue& b) {
  if (a.isNone() || b.isNone()) return a.isNone() && b.isNone();
  if (a.isString() && b.isString()) return a.toStringRef() == b.toStringRef();
  if (a.isDevice() && b.isDevice()) return a.toDevice() == b.toDevice();
  if (a.isInt() && b.isInt()) return a.toInt() == b.toInt();
  if (a.isBool() && b.isBool()) return a.toBool() == b.toBool();
  if (!a.isDouble() || !b.isDouble()) return false;
  const double x = a.toDouble(), y = b.toDouble();
  return std::isnan(x) ? std::isnan(y)
                       : x == y && std::signbit(x) == std::signbit(y);
}

bool is_traced(const c10::IValue& value) {
  return value.isTensor()
             ? value.toTensor().defined() && is_fake(value.toTensor())
             : value.isSymInt() || value.isSymFloat();
}

bool is_called_by_trace(const std::vector<c10::IValue>& inputs) {
  return Tracer::current() != nullptr &&
         std::any_of(inputs.begin(), inputs.end(), is_traced);
}

int64_t example_of(ShapeEnv& env, Expr size) {
  const std::optional<Value> value = env.hint(size);
  const Int* number = value ? std::get_if<Int>(&*value) : nullptr;
  return number ? number->to_int64().value_or(0) : 0;
}

}  // namespace

struct Module::Impl {
  explicit Impl(ExportedProgram p);
  void find_places();
  void find_mutations();
  void check_tensor(const InputSpec& input, const TensorMeta& meta,
                    const c10::IValue& value) const;
  void check_input(const InputSpec& input, const c10::IValue& value) const;
  void check_count(size_t count) const;
  void check(const std::vector<c10::IValue>& inputs) const;
  void check_traced(Tracer& tracer,
                    const std::vector<c10::IValue>& inputs) const;
  std::vector<c10::IValue> call(std::vector<c10::IValue> values) const;
  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs) const;

  ExportedProgram program;
  InputCheck input_check;
  Executable executable;
  std::vector<const InputSpec*> user_inputs;
  // By input of the graph: the program's own tensor; undefined for the user's.
  std::vector<at::Tensor> owned;
  // By output: the input of the graph that it is the new value of.  Empty when
  // no output is one.
  std::vector<std::optional<size_t>> mutations;
  std::vector<InputPlace> places;  // of env.input_dims()
};

Module::Impl::Impl(ExportedProgram p)
    : program(std::move(p)),
      input_check(*program.env),
      executable(program.graph) {
  const OwnedTensors tensors(program);
  for (const InputSpec& input : program.graph.inputs) {
    const bool is_user = input.kind == InputKind::kUserInput;
    if (is_user) user_inputs.push_back(&input);
    owned.push_back(is_user ? at::Tensor() : tensors.of(input));
  }
  find_mutations();
  find_places();
}

void Module::Impl::find_mutations() {
  const Graph& graph = program.graph;
  bool any = false;
  for (const OutputSpec& output : graph.outputs) {
    mutations.emplace_back();
    if (!is_mutation(output.kind)) continue;
    any = true;
    const bool user = output.kind == OutputKind::kUserInputMutation;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const InputSpec& input = graph.inputs[i];
      const bool is_user = input.kind == InputKind::kUserInput;
      if (is_user == user &&
          (user ? input.name : input.target) == output.target)
        mutations.back() = i;
    }
    TORCH_CHECK(mutations.back(), "Proviso: Module: the program changes '",
                output.target, "', which is no input of it");
  }
  if (!any) mutations.clear();
}

void Module::Impl::find_places() {
  std::unordered_map<std::string, InputPlace> by_source;
  for (size_t i = 0; i < user_inputs.size(); ++i) {
    const ValueRef* ref = user_inputs[i]->arg.get<ValueRef>();
    if (ref == nullptr) continue;
    const GraphValue& value = program.graph.value(ref->id);
    const std::string& source = user_inputs[i]->source;
    if (!value.is_tensor()) {
      by_source[source] = {i, std::nullopt};
      continue;
    }
    for (size_t d = 0; d < value.tensor().sizes.size(); ++d)
      by_source[size_source(source, d)] = {i, d};
  }
  for (const InputDim& dim : program.env->input_dims()) {
    auto found = by_source.find(dim.source);
    TORCH_CHECK(found != by_source.end(),
                "Proviso: Module: no input has the "
                "source ",
                dim.source,
                "; inputs must keep the source they "
                "were traced with");
    places.push_back(found->second);
  }
}

void Module::Impl::check_tensor(const InputSpec& input, const TensorMeta& meta,
                                const c10::IValue& value) const {
  TORCH_CHECK_TYPE(value.isTensor() && value.toTensor().defined(),
                   "Guard failed: ", input.name, " is a tensor (", input.name,
                   " is ", shown(value), ")");
  const at::Tensor& t = value.toTensor();
  TORCH_CHECK(t.dim() == static_cast<int64_t>(meta.sizes.size()),
              "Guard failed: ", input.name, ".dim() == ", meta.sizes.size(),
              " (", input.name, ".dim() is ", t.dim(), ")");
  TORCH_CHECK(t.scalar_type() == meta.dtype, "Guard failed: ", input.name,
              ".dtype == ", python_name(meta.dtype), " (", input.name,
              ".dtype is ", python_name(t.scalar_type()), ")");
  TORCH_CHECK(t.device() == meta.device, "Guard failed: ", input.name,
              ".device == ", meta.device, " (", input.name, ".device is ",
              t.device(), ")");
  if (!has_memory(t)) require_memory("input " + input.name, t);
}

void Module::Impl::check_input(const InputSpec& input,
                               const c10::IValue& value) const {
  const ValueRef* ref = input.arg.get<ValueRef>();
  if (ref == nullptr) {
    TORCH_CHECK(same_value(to_ivalue(input.arg), value),
                "Guard failed: ", input.name,
                " == ", program.graph.to_string(input.arg), " (", input.name,
                " is ", shown(value), ")");
    return;
  }
  const GraphValue& expected = program.graph.value(ref->id);
  if (expected.is_tensor())
    return check_tensor(input, expected.tensor(), value);
  const bool fits = expected.expr().is_int()
                        ? value.isInt() || value.isSymInt()
                        : value.isDouble() || value.isSymFloat();
  TORCH_CHECK_TYPE(fits, "Guard failed: ", input.name, " is ",
                   expected.expr().is_int() ? "an integer" : "a float", " (",
                   input.name, " is ", shown(value), ")");
}

void Module::Impl::check_count(size_t count) const {
  TORCH_CHECK_VALUE(count == user_inputs.size(),
                    "Proviso: the exported program takes ", user_inputs.size(),
                    " inputs, but got ", count);
}

void Module::Impl::check(const std::vector<c10::IValue>& inputs) const {
  check_count(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    check_input(*user_inputs[i], inputs[i]);
  if (is_called_by_trace(inputs))
    return check_traced(*Tracer::current(), inputs);
  c10::SmallVector<int64_t, 16> values;
  for (const InputPlace& place : places) {
    const c10::IValue& input = inputs[place.input];
    values.push_back(place.dim ? input.toTensor().size(*place.dim)
                               : input.toInt());
  }
  if (input_check.fits(values.data())) return;
  if (std::optional<std::string> problem = input_check.problem(values))
    TORCH_CHECK(false, *problem);
}

// Called by a program that is being traced: what is checked here is a guard of
// that program.
void Module::Impl::check_traced(Tracer& tracer,
                                const std::vector<c10::IValue>& inputs) const {
  ShapeEnv& env = tracer.env();
  std::vector<Expr> sizes;
  for (const InputPlace& place : places) {
    const c10::IValue& input = inputs[place.input];
    sizes.push_back(to_expr(env, place.dim
                                     ? input.toTensor().sym_size(*place.dim)
                                     : input.toSymInt()));
  }
  Translation now(env);
  for (size_t i = 0; i < sizes.size(); ++i)
    now.bind(input_check.symbols()[i], sizes[i]);
  for (Expr condition : input_check.program().conditions()) {
    if (env.expect_true(now(condition), tracer.location())) continue;
    std::vector<int64_t> values;
    for (Expr size : sizes) values.push_back(example_of(env, size));
    const std::optional<std::string> problem = input_check.problem(values);
    TORCH_CHECK(false,
                problem.value_or("Guard failed: " + to_python(condition)));
  }
}

// With a value for each input of the graph.
std::vector<c10::IValue> Module::Impl::call(
    std::vector<c10::IValue> values) const {
  if (is_called_by_trace(values))
    return Replay(*Tracer::current(), program).call(values);
  return executable.run(std::move(values));
}

std::vector<c10::IValue> Module::Impl::run(
    std::vector<c10::IValue> inputs) const {
  check_count(inputs.size());
  std::vector<c10::IValue> all;
  all.reserve(owned.size());
  auto next = inputs.begin();
  for (size_t i = 0; i < owned.size(); ++i) {
    if (!owned[i].defined()) {
      all.push_back(std::move(*next++));
      continue;
    }
    if (!has_memory(owned[i]))
      require_memory(
          "the program's tensor '" + program.graph.inputs[i].target + "'",
          owned[i]);
    all.emplace_back(owned[i]);
  }
  if (mutations.empty()) return call(std::move(all));
  std::vector<c10::IValue> results = call(all), returned;
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < results.size(); ++i) {
    if (mutations[i])
      all[*mutations[i]].toTensor().copy_(results[i].toTensor());
    else
      returned.push_back(std::move(results[i]));
  }
  return returned;
}

Module::Module(ExportedProgram program)
    : impl_(std::make_shared<const Impl>(std::move(program))) {}

const ExportedProgram& Module::program() const { return impl_->program; }

void Module::check(const std::vector<c10::IValue>& inputs) const {
  impl_->check(inputs);
}

std::vector<c10::IValue> Module::run_unchecked(
    std::vector<c10::IValue> inputs) const {
  return impl_->run(std::move(inputs));
}

std::vector<c10::IValue> Module::run(std::vector<c10::IValue> inputs) const {
  impl_->check(inputs);
  return impl_->run(std::move(inputs));
}

std::vector<at::Tensor> Module::operator()(
    std::vector<at::Tensor> inputs) const {
  std::vector<at::Tensor> outputs;
  for (c10::IValue& v : run({inputs.begin(), inputs.end()}))
    outputs.push_back(v.isTensor() ? v.toTensor() : number_tensor(v));
  return outputs;
}

}  // namespace proviso::inline v0_2
