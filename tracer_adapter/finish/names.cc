#include "tracer_adapter/finish/names.h"

#include <cctype>
#include <map>
#include <utility>
#include <vector>

namespace proviso::inline v0_2 {
namespace {

bool is_reserved(const std::string& name) {
  static const std::unordered_set<std::string> kReserved = {
      // keywords
      "False", "None", "True", "and", "as", "assert", "async", "await", "break",
      "class", "continue", "def", "del", "elif", "else", "except", "finally",
      "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
      "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
      // builtin functions and types
      "abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool",
      "breakpoint", "bytearray", "bytes", "callable", "chr", "classmethod",
      "compile", "complex", "copyright", "credits", "delattr", "dict", "dir",
      "divmod", "enumerate", "eval", "exec", "exit", "filter", "float",
      "format", "frozenset", "getattr", "globals", "hasattr", "hash", "help",
      "hex", "id", "input", "int", "isinstance", "issubclass", "iter", "len",
      "license", "list", "locals", "map", "max", "memoryview", "min", "next",
      "object", "oct", "open", "ord", "pow", "print", "property", "quit",
      "range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted",
      "staticmethod", "str", "sum", "super", "tuple", "type", "vars", "zip",
      // what generated code imports
      "inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree",
      "self"};
  return kReserved.contains(name);
}

// "add_12" is "add" and 12; "conv2d" has no number.
std::pair<std::string, int> split_suffix(const std::string& name) {
  size_t digits = name.size();
  while (digits > 0 && isdigit(static_cast<unsigned char>(name[digits - 1])))
    --digits;
  const size_t length = name.size() - digits;
  if (digits < 2 || length == 0 || length > 8 || name[digits - 1] != '_')
    return {name, 0};
  return {name.substr(0, digits - 1), std::stoi(name.substr(digits))};
}

}  // namespace

std::string Names::fresh(std::string wish) {
  for (char& c : wish)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  if (wish.empty() || isdigit(static_cast<unsigned char>(wish[0])))
    wish = "_" + wish;
  auto [base, number] = split_suffix(wish);
  int& count = counts_[base];
  if (number == 0) number = count;
  std::string name = wish;
  while (is_reserved(name) || !used_.insert(name).second)
    name = base + "_" + std::to_string(++number);
  count = number;
  return name;
}

namespace {

std::string base_name(const Node& node) {
  if (node.kind != Node::Kind::kOperator)
    return node.target.substr(node.target.rfind('.') + 1);
  const std::string& name = node.op->schema().name();
  const std::string base = name.substr(name.find("::") + 2);
  // Nodes that a trace adds by itself are called by their full name.
  if (base == "sym_size" || base == "_assert_scalar")
    return node.target.substr(node.target.find('.') + 1);
  return base;
}

// The inputs of a sub-graph are called as the operands are.
std::vector<std::string> operand_names(const Graph& graph, const Node& node) {
  std::vector<std::string> names;
  const auto add = [&](const Argument& operand) {
    const ValueRef* ref = operand.get<ValueRef>();
    names.push_back(ref ? graph.value(ref->id).name : "arg");
  };
  for (const Argument& a : node.args) {
    if (const ListArgument* list = a.get<ListArgument>())
      for (const Argument& item : list->items) add(item);
    if (is_mode_block(node) && a.get<ValueRef>()) add(a);
  }
  return names;
}

void name_inputs_after(const std::vector<std::string>& operands, Graph& graph) {
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    InputSpec& input = graph.inputs[i];
    if (input.name.empty())
      input.name = i < operands.size() ? operands[i] : "arg";
  }
}

// true_graph_0, true_graph_1, ...
void name_sub_graphs(const Graph& graph, Node& node,
                     std::map<std::string, int>& counts) {
  const std::vector<std::string> operands = operand_names(graph, node);
  for (Argument& a : node.args)
    if (auto* sub = std::get_if<GraphArgument>(&a.value)) {
      sub->name += "_" + std::to_string(counts[sub->name]++);
      name_inputs_after(operands, *sub->graph);
      give_names(*sub->graph);
    }
}

}  // namespace

void give_names(Graph& graph) {
  Names names;
  for (InputSpec& input : graph.inputs) {
    input.name = names.fresh(input.name);
    if (const ValueRef* ref = input.arg.get<ValueRef>())
      graph.values[ref->id].name = input.name;
  }
  std::map<std::string, int> sub_graphs;
  for (Node& node : graph.nodes) {
    if (node.kind == Node::Kind::kHigherOrder)
      name_sub_graphs(graph, node, sub_graphs);
    node.name = names.fresh(base_name(node));
    const bool single = node.has_single_value();
    for_each_output(node, [&](ValueId id) {
      graph.values[id].name = single ? node.name : names.fresh("getitem");
    });
  }
}

}  // namespace proviso::inline v0_2
