// tracer_adapter/pt2/graph_reader.h - the graph of a model.json as a Graph.
//
//   GraphReader reader(symbols, allowed);
//   Graph graph = reader.read(json.at("graph_module").at("graph"));
//
// Verified: every operator exists and is allowed, every argument and output has
// its schema's type, every sub-graph fits its operator, every value is defined
// before it is used and once, every symbol is bound.  Errors
// are FileErrors that name the node.  torch.no_grad() bodies
// (wrap_with_set_grad_enabled) become part of the graph around them, for a
// program is run without gradients.  So does the operator of
// with_effects(token, operator, *arguments): torch's tokens order what has no
// results, and a graph is in order.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>

#include "tracer_adapter/ir/graph.h"
#include "tracer_adapter/pt2/allowed_operators.h"
#include "tracer_adapter/pt2/foreign_symbols.h"
#include "tracer_adapter/pt2/json_reader.h"
#include "tracer_adapter/pt2/node_check.h"

namespace proviso::inline v0_2::pt2 {

// "torch.ops.aten.add.Tensor" -> aten::add, Tensor
std::optional<c10::OperatorHandle> find_operator(const std::string& target);
c10::ScalarType read_dtype(const Json& json);
c10::Device read_device(const Json& json);
c10::Layout read_strided(const Json& json);  // throws on other layouts

class GraphReader {
 public:
  GraphReader(ForeignSymbols& symbols, const AllowedOperators& allowed)
      : symbols_(symbols), allowed_(allowed) {}

  // Inputs have their arguments alone; their kinds are the signature's.  The
  // inputs of a body may bind symbols of their own.  Those of the inputs and
  // outputs that are tokens are left out.
  Graph read(const Json& json, bool binds_sizes = false,
             std::set<std::string> tokens = {});
  // An argument of the graph that was read last (of its signature).
  Argument argument(const Json& json) const;
  // Whether the graph that was read last was given this token, or makes it.
  bool is_token(const std::string& name) const {
    return tokens_.contains(name);
  }

 private:
  using Names = std::map<std::string, ValueId>;
  // The tables of one graph, and the graph that its nodes go to.
  struct Scope {
    const Json& json;
    Names names;
    std::set<std::string> node_names = {};  // of nodes that are no value
  };

  // A value as an input or a node names it.
  struct Named {
    std::string name;
    ValueKind kind;
  };

  // What a node calls, without tokens.
  struct Call {
    std::string target;
    std::span<const Json> inputs, outputs;
    bool in_order = false;  // by a token; then inputs without names
  };

  std::variant<TensorMeta, Expr> meta_of(const Scope& scope, const Named& named,
                                         bool of_node);
  ValueId define(Scope& scope, const Named& named, bool of_node);
  void bind(Scope& scope, const std::string& name, ValueId id) const;
  Argument input(Scope& scope, const Json& json, bool binds_sizes);
  Argument argument(const Scope& scope, const Json& json);
  Argument list(const Scope& scope, const std::string& tag, const Json& json);
  ValueId value(const Scope& scope, const std::string& name) const;
  TensorMeta tensor_meta(const Json& json, bool of_node);
  Expr number(const Json& json, bool of_node);
  static void check_hint(const Json& number, Expr e);
  // Of a tensor: not negative.
  Expr integer(const Json& json, bool of_node, const char* what);
  Expr number_of(const Json& json, const Named& named, bool of_node);
  void nodes(Scope& scope);
  void node(Scope& scope, const Json& json);
  Call call_of(const Scope& scope, const Json& json);
  void add_token(const Scope& scope, const Json& json);
  bool gives_token(const Json& json) const;
  void operator_node(Scope& scope, const Call& call, Node& node);
  bool inlined(Scope& scope, const Json& json);
  std::vector<Named> named(const Json& json) const;
  std::vector<Named> all_named(const Json& outputs) const;
  void outputs(Scope& scope, std::span<const Json> results, Node& node);
  void compute_constant(const Node& node);
  uint32_t location(const Json& json);

  ForeignSymbols& symbols_;
  const AllowedOperators& allowed_;
  Graph* graph_ = nullptr;
  std::map<std::string, uint32_t> locations_;
  std::set<std::string> used_names_;
  std::map<std::string, int> suffixes_;  // the last that made a name new
  Names top_;
  std::set<std::string> tokens_;
  std::map<ValueId, c10::IValue> constants_;  // numbers, of numbers alone
  // associative_scan(combine, xs) combines as many pairs at once as one of its
  // levels has: the sizes of the body's inputs are no others'.
  bool body_binds_sizes_ = false;
};

}  // namespace proviso::inline v0_2::pt2
