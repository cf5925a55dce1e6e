#include "tracer_adapter/exported_program.h"

#include <c10/util/Exception.h>

#include <map>
#include <utility>

#include "sym/budget.h"
#include "sym/print.h"
#include "tracer_adapter/ir/owned_tensors.h"
#include "tracer_adapter/trace/sources.h"

namespace proviso::inline v0_2 {
namespace {

// torch prints blank lines of the program with the margin of the class.
std::string with_blank_margin(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '\n' && i + 1 < text.size() && text[i + 1] == '\n')
      out += "    ";
  }
  return out;
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

// "TensorArgument(name='x')"
std::string argument_repr(const Graph& graph, const Argument& arg,
                          const std::string& name) {
  const ValueRef* ref = arg.get<ValueRef>();
  if (ref == nullptr)
    return "ConstantArgument(name=" + quoted(name) +
           ", value=" + graph.to_string(arg) + ")";
  const GraphValue& value = graph.value(ref->id);
  std::string kind = "TensorArgument";
  if (!value.is_tensor())
    kind = value.expr().is_int()    ? "SymIntArgument"
           : value.expr().is_bool() ? "SymBoolArgument"
                                    : "SymFloatArgument";
  return kind + "(name=" + quoted(value.name) + ")";
}

std::string input_repr(const Graph& graph, const InputSpec& input) {
  std::string out = "InputSpec(kind=<InputKind." +
                    std::string(name_of(input.kind)) + ": " +
                    std::to_string(static_cast<int>(input.kind)) + ">, arg=";
  out += argument_repr(graph, input.arg, input.name);
  out += ", target=" +
         (input.kind == InputKind::kUserInput ? "None" : quoted(input.target));
  out += ", persistent=";
  out += !input.persistent ? "None" : *input.persistent ? "True" : "False";
  return out + ")";
}

std::string output_repr(const Graph& graph, const OutputSpec& output) {
  return "OutputSpec(kind=<OutputKind." + std::string(name_of(output.kind)) +
         ": " + std::to_string(static_cast<int>(output.kind)) +
         ">, arg=" + argument_repr(graph, output.arg, "") + ", target=" +
         (output.target.empty() ? "None" : quoted(output.target)) + ")";
}

std::vector<at::Tensor> tensors(const NamedTensors& named) {
  std::vector<at::Tensor> result;
  for (const auto& [name, tensor] : named) result.push_back(tensor);
  return result;
}

std::string output_name(const Graph& graph, const OutputSpec& output) {
  const ValueRef* ref = output.arg.get<ValueRef>();
  return ref ? graph.value(ref->id).name : "";
}

}  // namespace

std::vector<std::string> ExportedProgram::guards_code() const {
  std::vector<std::string> result;
  for (const Guard& guard : guards_)
    result.push_back(to_python(guard.condition, source_or_name));
  return result;
}

std::vector<std::string> ExportedProgram::conditions_code() const {
  std::vector<std::string> result;
  std::map<std::string, std::string> first;  // source, by symbol
  for (const InputDim& dim : env->input_dims()) {
    const auto [same, is_new] =
        first.emplace(proviso::to_string(dim.expr), dim.source);
    if (dim.expr.is_constant())
      result.push_back(dim.source + " == " + proviso::to_string(dim.expr));
    else if (!is_new)
      result.push_back(dim.source + " == " + same->second);
    else
      add_range_code(dim, env->enforced_range(dim.expr), &result);
  }
  for (std::string& guard : guards_code()) result.push_back(std::move(guard));
  return result;
}

ExportGraphSignature ExportedProgram::graph_signature() const {
  return ExportGraphSignature(graph);
}

NamedTensors ExportedProgram::owned(InputKind kind) const {
  NamedTensors result;
  const OwnedTensors tensors(*this);
  for (const InputSpec& input : graph.inputs)
    if (input.kind == kind)
      result.emplace_back(input.target, tensors.of(input));
  return result;
}

NamedTensors ExportedProgram::named_parameters() const {
  return owned(InputKind::kParameter);
}

NamedTensors ExportedProgram::named_buffers() const {
  return owned(InputKind::kBuffer);
}

std::vector<at::Tensor> ExportedProgram::parameters() const {
  return tensors(named_parameters());
}

std::vector<at::Tensor> ExportedProgram::buffers() const {
  return tensors(named_buffers());
}

const at::Tensor& ExportedProgram::tensor_of(const InputSpec& input) const {
  return OwnedTensors(*this).of(input);
}

OwnedTensors::ByName OwnedTensors::by_name(const NamedTensors& tensors) {
  ByName result;
  for (const auto& [name, tensor] : tensors) {
    Budget::charge(1);
    result.emplace(name, &tensor);  // the first of that name
  }
  return result;
}

OwnedTensors::OwnedTensors(const ExportedProgram& program)
    : state_(by_name(program.state_dict)),
      constants_(by_name(program.constants)) {}

const at::Tensor& OwnedTensors::of(const InputSpec& input) const {
  for (const ByName* place : {&state_, &constants_})
    if (const auto found = place->find(input.target); found != place->end())
      return *found->second;
  TORCH_CHECK(false, "Proviso: ExportedProgram: there is no tensor '",
              input.target, "' for input ", input.name,
              "; state_dict and constants must keep the names of the "
              "signature");
}

std::string ExportedProgram::signature_to_string() const {
  std::string out = "# inputs\n";
  for (const InputSpec& input : graph.inputs) {
    out += input.name + ": " + std::string(name_of(input.kind));
    if (input.kind != InputKind::kUserInput)
      out += " target=" + quoted(input.target);
    if (input.persistent)
      out +=
          std::string(" persistent=") + (*input.persistent ? "True" : "False");
    out += "\n";
  }
  out += "\n# outputs\n";
  for (const OutputSpec& output : graph.outputs) {
    out +=
        output_name(graph, output) + ": " + std::string(name_of(output.kind));
    if (!output.target.empty()) out += " target=" + quoted(output.target);
    out += "\n";
  }
  return out;
}

std::string ExportedProgram::signature_repr() const {
  std::string inputs, outputs;
  for (const InputSpec& input : graph.inputs)
    inputs += (inputs.empty() ? "" : ", ") + input_repr(graph, input);
  for (const OutputSpec& output : graph.outputs)
    outputs += (outputs.empty() ? "" : ", ") + output_repr(graph, output);
  return "ExportGraphSignature(input_specs=[" + inputs + "], output_specs=[" +
         outputs + "])";
}

std::string ExportedProgram::range_constraints_to_string() const {
  std::string out;
  for (const RangeConstraint& c : range_constraints)
    out += (out.empty() ? "" : ", ") + proviso::to_string(c.expr) + ": VR" +
           c.range.to_string();
  return "{" + out + "}";
}

std::string ExportedProgram::to_string() const {
  std::string out = "ExportedProgram:\n";
  out += with_blank_margin(graph.to_string("GraphModule", 4));
  out += "    \nGraph signature: \n";
  std::string signature = signature_to_string();
  std::string line;
  for (char c : signature) {
    line += c;
    if (c == '\n') out += "    " + std::exchange(line, "");
  }
  out += "    \nRange constraints: " + range_constraints_to_string() + "\n";
  return out;
}

Module ExportedProgram::module() const { return Module(*this); }

}  // namespace proviso::inline v0_2
