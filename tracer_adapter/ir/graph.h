// tracer_adapter/ir/graph.h - a recorded program: inputs, nodes in order,
// outputs.  It holds no tensor of the trace and stays valid after it.
//
//   for (const Node& node : graph.nodes)
//     std::cout << graph.to_string(node);
//   // linear: "f32[s0, 3]" = torch.ops.aten.linear.default(x, p_w, p_b)
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <c10/util/complex.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "guards/shape_env.h"

namespace proviso::inline v0_2 {

using ValueId = int32_t;
struct Graph;

struct TensorMeta {
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<Expr> sizes;
  std::vector<Expr> strides;
  Expr offset;
  c10::Device device = c10::kCPU;
  bool requires_grad = false;
};

// What a node or an input defines.
struct GraphValue {
  std::string name;                     // given when the trace finishes
  std::variant<TensorMeta, Expr> meta;  // a tensor; or a symbolic number
  bool is_tensor() const { return meta.index() == 0; }
  const TensorMeta& tensor() const { return std::get<0>(meta); }
  Expr expr() const { return std::get<1>(meta); }
};

struct Argument;
struct NoneArgument {};
struct ValueRef {
  ValueId id;
};
struct ListArgument {
  std::vector<Argument> items;
};
// A symbolic number, before finish() has turned it into a value; also a bare
// constant.  None is left in a finished graph except inside metadata.
struct ExprArgument {
  Expr expr;
};

// A sub-graph of a higher-order operator.
struct GraphArgument {
  std::string name;  // true_graph_0
  std::shared_ptr<Graph> graph;
};

struct Argument {
  using Variant =
      std::variant<NoneArgument, ValueRef, int64_t, double, bool, std::string,
                   c10::ScalarType, c10::Layout, c10::MemoryFormat, c10::Device,
                   c10::complex<double>, ExprArgument, ListArgument,
                   GraphArgument>;
  Variant value;

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
  bool is_none() const { return get<NoneArgument>() != nullptr; }
};

// A call's frame, innermost last in a stack.
struct Frame {
  std::string file;
  int line = 0;
  std::string function;
  std::string code;  // the source line's text, where known
};

// A module of the traced program at work: one of an nn_module_stack.
struct ModuleFrame {
  std::string name;  // layers.0; empty for the outermost
  std::string type;  // torch.nn.modules.linear.Linear
  int call = 0;      // the first call of the module is 0
  bool operator==(const ModuleFrame&) const = default;
};

struct Node {
  enum class Kind {
    kOperator,     // a dispatcher operator: `op` is set
    kSymbolic,     // arithmetic on symbolic numbers: target "_operator.mul"
    kHigherOrder,  // takes sub-graphs: target "torch.ops.higher_order.cond"
    // While tracing: `args` are what the call `name` of a module gets, or with
    // target "outputs" what it gives (see ModuleCallEntry).
    kModuleCall
  };
  Kind kind = Kind::kOperator;
  std::optional<c10::OperatorHandle> op;
  std::string target;  // "aten.add.Tensor", "_operator.mul", "torch.sym_max"
  std::string name;    // printed left of "=" when the node has no one value
  // kOperator: one an argument of the schema, in its order, all of them.
  std::vector<Argument> args;
  // One a return.  A list return is one entry with several values.
  struct Output {
    bool is_list = false;
    std::vector<ValueId> values;  // kNoOutput inside a list: undefined tensor
  };
  std::vector<Output> outputs;
  uint32_t location = 0;  // in Graph::stacks; 0 is unknown
  uint32_t modules = 0;   // in Graph::module_stacks; 0 is none
  // While tracing: in Tracer::modes.  A finished graph says it by
  // wrap_with_set_grad_enabled and wrap_with_autocast (see mode_blocks.h).
  uint32_t mode = 0;

  // The number of values, lists opened.
  size_t value_count() const;
  // Prints as `name: "f32[3]" = ...`, without getitem.
  bool has_single_value() const;
};
inline constexpr ValueId kNoOutput = -1;

// Runs one sub-graph as if it stood in the node's place, in another mode; its
// operands are arguments of the node after the sub-graph.
bool is_mode_block(const Node& node);

enum class InputKind : uint8_t {  // numbers as in torch.export
  kUserInput = 1,
  kParameter = 2,
  kBuffer = 3,
  kConstantTensor = 4,
};
enum class OutputKind : uint8_t {  // numbers as the documents print them
  kUserOutput = 1,
  kLossOutput = 2,
  kBufferMutation = 3,
  kGradientToParameter = 4,
  kGradientToUserInput = 5,
  kUserInputMutation = 6,
  kToken = 7,
  kParameterMutation = 8,
};
// The new value of an input: no result of the program.
bool is_mutation(OutputKind kind);
std::string_view name_of(InputKind kind);   // "USER_INPUT"
std::string_view name_of(OutputKind kind);  // "USER_OUTPUT"

struct InputSpec {
  InputKind kind = InputKind::kUserInput;
  // A ValueRef (tensor or symbolic number) or a constant (int, None, ...).
  Argument arg;
  std::string name;                // x, p_linear_weight
  std::string target;              // linear.weight; empty for user inputs
  std::optional<bool> persistent;  // of buffers
  std::string source;  // of user inputs: L['x'], as in the guards' sources
};
struct OutputSpec {
  OutputKind kind = OutputKind::kUserOutput;
  Argument arg;
  std::string target;  // of a mutation: the buffer's, parameter's, input's name
};

struct Graph {
  std::vector<GraphValue> values;  // by ValueId
  std::vector<InputSpec> inputs;
  std::vector<Node> nodes;
  std::vector<OutputSpec> outputs;
  std::vector<std::vector<Frame>> stacks{{}};  // [0]: unknown
  // Outermost first; [0]: none.
  std::vector<std::vector<ModuleFrame>> module_stacks{{}};

  const GraphValue& value(ValueId id) const { return values[id]; }
  ValueId add_value(std::variant<TensorMeta, Expr> meta);

  // "f32[s0, 3]", "Sym(2*s0)"
  std::string annotation(ValueId id) const;
  // Python text of an argument.
  std::string to_string(const Argument& a) const;
  // The right side of `=`.
  std::string to_string(const Node& node) const;
  // "def forward(self, x: "f32[s0, 3]"): ..." with `indent` spaces before.
  std::string to_string(const std::string& class_name, int indent) const;
};

// Calls visit(ValueId) for every reference inside, in order.
template <typename Visit>
void for_each_reference(const Argument& a, const Visit& visit) {
  if (const ValueRef* ref = a.get<ValueRef>()) visit(ref->id);
  if (const ListArgument* list = a.get<ListArgument>())
    for (const Argument& item : list->items) for_each_reference(item, visit);
}
template <typename Visit>
void for_each_output(const Node& node, const Visit& visit) {
  for (const Node::Output& output : node.outputs)
    for (ValueId id : output.values)
      if (id != kNoOutput) visit(id);
}

// "f32", "i64", "b8", as torch prints them.
std::string_view short_name(c10::ScalarType dtype);
// "aten.add.Tensor"; an overload without a name is "default".
std::string target_name(const c10::OperatorHandle& op);
// "torch.float32"
std::string python_name(c10::ScalarType dtype);

}  // namespace proviso::inline v0_2
