#include "tracer_adapter/ir/graph_signature.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace proviso::inline v0_2 {
namespace {

SignatureArgument argument_of(const Graph& graph, const Argument& a,
                              const std::string& name) {
  const ValueRef* ref = a.get<ValueRef>();
  if (ref == nullptr) return ConstantArgument{name, graph.to_string(a)};
  const GraphValue& value = graph.value(ref->id);
  if (value.is_tensor()) return TensorArgument{value.name};
  if (value.expr().is_int()) return SymIntArgument{value.name};
  if (value.expr().is_bool()) return SymBoolArgument{value.name};
  return SymFloatArgument{value.name};
}

std::string name_or_value(const SignatureArgument& a) {
  if (const auto* constant = std::get_if<ConstantArgument>(&a))
    return constant->value;
  return name_of(a);
}

bool is_result(OutputKind kind) {
  return kind == OutputKind::kUserOutput || kind == OutputKind::kLossOutput;
}

}  // namespace

const std::string& name_of(const SignatureArgument& argument) {
  return std::visit([](const auto& a) -> const std::string& { return a.name; },
                    argument);
}

ExportGraphSignature::ExportGraphSignature(const Graph& graph) {
  for (const InputSpec& input : graph.inputs)
    input_specs.push_back({input.kind,
                           argument_of(graph, input.arg, input.name),
                           input.target, input.persistent});
  for (const OutputSpec& output : graph.outputs)
    output_specs.push_back(
        {output.kind, argument_of(graph, output.arg, ""), output.target});
}

// --- by kind of input

ExportGraphSignature::Names ExportGraphSignature::targets(
    InputKind kind) const {
  Names result;
  for (const Input& input : input_specs)
    if (input.kind == kind) result.push_back(input.target);
  return result;
}

ExportGraphSignature::NameMap ExportGraphSignature::inputs_of(
    InputKind kind) const {
  NameMap result;
  for (const Input& input : input_specs)
    if (input.kind == kind) result.emplace(name_of(input.arg), input.target);
  return result;
}

ExportGraphSignature::Names ExportGraphSignature::parameters() const {
  return targets(InputKind::kParameter);
}

ExportGraphSignature::Names ExportGraphSignature::buffers() const {
  return targets(InputKind::kBuffer);
}

ExportGraphSignature::Names ExportGraphSignature::non_persistent_buffers()
    const {
  Names result;
  for (const Input& input : input_specs)
    if (input.kind == InputKind::kBuffer && !input.persistent.value_or(true))
      result.push_back(input.target);
  return result;
}

ExportGraphSignature::Names ExportGraphSignature::lifted_tensor_constants()
    const {
  return targets(InputKind::kConstantTensor);
}

ExportGraphSignature::NameMap ExportGraphSignature::inputs_to_parameters()
    const {
  return inputs_of(InputKind::kParameter);
}

ExportGraphSignature::NameMap ExportGraphSignature::inputs_to_buffers() const {
  return inputs_of(InputKind::kBuffer);
}

ExportGraphSignature::NameMap
ExportGraphSignature::inputs_to_lifted_tensor_constants() const {
  return inputs_of(InputKind::kConstantTensor);
}

ExportGraphSignature::Names ExportGraphSignature::user_inputs() const {
  Names result;
  for (const Input& input : input_specs)
    if (input.kind == InputKind::kUserInput)
      result.push_back(name_or_value(input.arg));
  return result;
}

// --- by kind of output

ExportGraphSignature::NameMap ExportGraphSignature::outputs_of(
    OutputKind kind) const {
  NameMap result;
  for (const Output& output : output_specs)
    if (output.kind == kind) result.emplace(name_of(output.arg), output.target);
  return result;
}

ExportGraphSignature::Names ExportGraphSignature::user_outputs() const {
  Names result;
  for (const Output& output : output_specs)
    if (is_result(output.kind)) result.push_back(name_or_value(output.arg));
  return result;
}

ExportGraphSignature::NameMap ExportGraphSignature::buffers_to_mutate() const {
  return outputs_of(OutputKind::kBufferMutation);
}

ExportGraphSignature::NameMap ExportGraphSignature::parameters_to_mutate()
    const {
  return outputs_of(OutputKind::kParameterMutation);
}

ExportGraphSignature::NameMap ExportGraphSignature::user_inputs_to_mutate()
    const {
  return outputs_of(OutputKind::kUserInputMutation);
}

std::optional<ExportBackwardSignature>
ExportGraphSignature::backward_signature() const {
  const auto loss = std::find_if(
      output_specs.begin(), output_specs.end(),
      [](const Output& o) { return o.kind == OutputKind::kLossOutput; });
  if (loss == output_specs.end()) return std::nullopt;
  return ExportBackwardSignature{outputs_of(OutputKind::kGradientToParameter),
                                 outputs_of(OutputKind::kGradientToUserInput),
                                 name_of(loss->arg)};
}

// --- changes

void ExportGraphSignature::replace_all_uses(const std::string& old_name,
                                            const std::string& new_name) {
  const auto replace = [&](SignatureArgument& argument) {
    // A constant's name is its argument's, not that of a value.
    if (std::holds_alternative<ConstantArgument>(argument)) return;
    std::visit(
        [&](auto& a) {
          if (a.name == old_name) a.name = new_name;
        },
        argument);
  };
  for (Input& input : input_specs) replace(input.arg);
  for (Output& output : output_specs) replace(output.arg);
}

ReplaceHook ExportGraphSignature::get_replace_hook(bool replace_inputs) {
  return [this, replace_inputs](const NameChange& change) {
    if (change.is_output || (replace_inputs && change.is_input))
      replace_all_uses(change.old_name, change.new_name);
  };
}

void rename_value(Graph& graph, const std::string& old_name,
                  const std::string& new_name,
                  const std::vector<ReplaceHook>& hooks) {
  const auto find = [&](const std::string& name) {
    return std::find_if(graph.values.begin(), graph.values.end(),
                        [&](const GraphValue& v) { return v.name == name; });
  };
  const auto value = find(old_name);
  TORCH_CHECK_VALUE(!old_name.empty() && value != graph.values.end(),
                    "rename_value: the graph has no value '", old_name, "'");
  TORCH_CHECK_VALUE(!new_name.empty() && find(new_name) == graph.values.end(),
                    "rename_value: the name '", new_name, "' for '", old_name,
                    "' is ", new_name.empty() ? "empty" : "taken",
                    "; give one that no value has");
  const auto id = static_cast<ValueId>(value - graph.values.begin());
  NameChange change{old_name, new_name};
  for (InputSpec& input : graph.inputs) {
    const ValueRef* ref = input.arg.get<ValueRef>();
    if (ref == nullptr || ref->id != id) continue;
    change.is_input = true;
    input.name = new_name;
  }
  for (const OutputSpec& output : graph.outputs)
    for_each_reference(output.arg,
                       [&](ValueId used) { change.is_output |= used == id; });
  value->name = new_name;
  for (const ReplaceHook& hook : hooks) hook(change);
}

}  // namespace proviso::inline v0_2
