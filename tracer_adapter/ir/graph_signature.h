// tracer_adapter/ir/graph_signature.h - what the inputs and outputs of an
// exported graph are, by name, under torch.export's names.
//
//   ExportGraphSignature signature = ep.graph_signature();
//   signature.parameters();            // {"linear.weight", "linear.bias"}
//   signature.inputs_to_parameters();  // {{"p_linear_bias", "linear.bias"}}
//   signature.buffers_to_mutate();     // {{"add", "count"}}
//
// A value of its own: changing it changes no program.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

struct TensorArgument {
  std::string name;
  bool operator==(const TensorArgument&) const = default;
};
struct SymIntArgument {
  std::string name;
  bool operator==(const SymIntArgument&) const = default;
};
struct SymFloatArgument {
  std::string name;
  bool operator==(const SymFloatArgument&) const = default;
};
struct SymBoolArgument {
  std::string name;
  bool operator==(const SymBoolArgument&) const = default;
};
struct ConstantArgument {
  std::string name;   // empty for an output
  std::string value;  // as Python writes it: 2, None, 'relu'
  bool operator==(const ConstantArgument&) const = default;
};
using SignatureArgument =
    std::variant<TensorArgument, SymIntArgument, SymFloatArgument,
                 SymBoolArgument, ConstantArgument>;
const std::string& name_of(const SignatureArgument& argument);

// The outputs of a graph with a backward, by output: gradients of what.
struct ExportBackwardSignature {
  std::map<std::string, std::string> gradients_to_parameters;
  std::map<std::string, std::string> gradients_to_user_inputs;
  std::string loss_output;
};

// A value of a graph gets another name.
struct NameChange {
  std::string old_name;
  std::string new_name;
  bool is_input = false;
  bool is_output = false;
};
using ReplaceHook = std::function<void(const NameChange&)>;

class ExportGraphSignature {
 public:
  using Names = std::vector<std::string>;              // in the graph's order
  using NameMap = std::map<std::string, std::string>;  // value -> what it is

  struct Input {
    InputKind kind = InputKind::kUserInput;
    SignatureArgument arg;
    std::string target;              // empty for user inputs
    std::optional<bool> persistent;  // of buffers
  };
  struct Output {
    OutputKind kind = OutputKind::kUserOutput;
    SignatureArgument arg;
    std::string target;  // of a mutation or gradient
  };

  explicit ExportGraphSignature(const Graph& graph);

  std::vector<Input> input_specs;
  std::vector<Output> output_specs;

  // --- by kind of input: the names that the program's owner knows
  Names parameters() const;
  Names buffers() const;
  Names non_persistent_buffers() const;
  Names lifted_tensor_constants() const;
  NameMap inputs_to_parameters() const;
  NameMap inputs_to_buffers() const;
  NameMap inputs_to_lifted_tensor_constants() const;
  // Names of values; of constants what Python writes for them.
  Names user_inputs() const;

  // --- by kind of output
  Names user_outputs() const;
  NameMap buffers_to_mutate() const;
  NameMap parameters_to_mutate() const;
  NameMap user_inputs_to_mutate() const;
  std::optional<ExportBackwardSignature> backward_signature() const;
  // Of programs with tokens for effects, which are not recorded.
  std::optional<std::string> assertion_dep_token() const { return {}; }

  // --- changes
  // The value called `old_name` is called `new_name` from now on.
  void replace_all_uses(const std::string& old_name,
                        const std::string& new_name);
  // Keeps this signature, which must outlive the hook, in step with a graph
  // whose values are renamed (see rename_value): outputs, and inputs too when
  // `replace_inputs`.
  ReplaceHook get_replace_hook(bool replace_inputs = false);

 private:
  Names targets(InputKind kind) const;
  NameMap inputs_of(InputKind kind) const;
  NameMap outputs_of(OutputKind kind) const;
};

// Gives the value of a graph another name and tells the hooks.  Throws
// ValueError when the graph has no such value, or the new name is taken.
void rename_value(Graph& graph, const std::string& old_name,
                  const std::string& new_name,
                  const std::vector<ReplaceHook>& hooks = {});

}  // namespace proviso::inline v0_2
