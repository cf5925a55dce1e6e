#include "tracer_adapter/pt2/node_check.h"

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <span>
#include <unordered_map>

#include "tracer_adapter/pt2/fail.h"
#include "tracer_adapter/pt2/outside_writes.h"

namespace proviso::inline v0_2::pt2 {
namespace {

std::string shown(const Graph& graph, const Argument& a) {
  constexpr size_t kLongest = 200;
  const std::string text = graph.to_string(a);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

bool is_number(ValueKind kind) {
  return kind == ValueKind::kInt || kind == ValueKind::kFloat ||
         kind == ValueKind::kBool;
}

// --- arithmetic on sizes

struct Arithmetic {
  size_t least, most;
  // Of arguments: numbers, integers, or a truth value before two numbers.
  enum class Takes { kNumbers, kIntegers, kChoice } takes;
  enum class Gives { kNumber, kInt, kFloat, kBool, kLogic } gives;
};

const Arithmetic* find_arithmetic(const std::string& target) {
  using enum Arithmetic::Takes;
  using enum Arithmetic::Gives;
  static constexpr Arithmetic kBinary{2, 2, kNumbers, kNumber};
  static constexpr Arithmetic kCompare{2, 2, kNumbers, kBool};
  static constexpr Arithmetic kLogical{2, 2, kIntegers, kLogic};
  static constexpr Arithmetic kShift{2, 2, kIntegers, kInt};
  static constexpr Arithmetic kToInt{1, 1, kNumbers, kInt};
  static constexpr Arithmetic kReal{1, 1, kNumbers, kFloat};
  // clang-format off
  static const std::unordered_map<std::string, Arithmetic> kForms = {
      {"_operator.add", kBinary},      {"_operator.sub", kBinary},
      {"_operator.mul", kBinary},      {"_operator.floordiv", kBinary},
      {"_operator.mod", kBinary},      {"_operator.pow", kBinary},
      {"torch.sym_min", kBinary},      {"torch.sym_max", kBinary},
      {"_operator.eq", kCompare},      {"_operator.ne", kCompare},
      {"_operator.lt", kCompare},      {"_operator.le", kCompare},
      {"_operator.gt", kCompare},      {"_operator.ge", kCompare},
      {"_operator.and_", kLogical},    {"_operator.or_", kLogical},
      {"_operator.xor", kLogical},     {"_operator.lshift", kShift},
      {"_operator.rshift", kShift},    {"torch.sym_int", kToInt},
      {"math.trunc", kToInt},          {"math.floor", kToInt},
      {"math.ceil", kToInt},           {"torch.sym_float", kReal},
      {"torch._sym_sqrt", kReal},      {"torch._sym_cos", kReal},
      {"torch._sym_cosh", kReal},      {"torch._sym_sin", kReal},
      {"torch._sym_sinh", kReal},      {"torch._sym_tan", kReal},
      {"torch._sym_tanh", kReal},      {"torch._sym_asin", kReal},
      {"torch._sym_acos", kReal},      {"torch._sym_atan", kReal},
      {"torch._sym_log2", kReal},      {"torch.sym_sqrt", kReal},
      {"torch.sym_sum", {1, SIZE_MAX, kNumbers, kNumber}},
      {"_operator.abs", {1, 1, kNumbers, kNumber}},
      {"_operator.not_", {1, 1, kIntegers, kBool}},
      {"_operator.truediv", {2, 2, kNumbers, kFloat}},
      {"_operator.neg", {1, 1, kNumbers, kNumber}},
      {"torch.sym_not", {1, 1, kIntegers, kBool}},
      {"torch.sym_ite", {3, 3, kChoice, kLogic}},
      {"builtins.round", {1, 2, kNumbers, kNumber}}};
  // clang-format on
  const auto found = kForms.find(target);
  return found == kForms.end() ? nullptr : &found->second;
}

void check_operand(const Graph& graph, const Node& node, size_t i,
                   const Arithmetic& form) {
  using enum Arithmetic::Takes;
  const ValueKind kind = kind_of(graph, node.args[i]);
  const bool whole = form.takes == kIntegers ||
                     (form.takes == kChoice && i == 0) ||
                     (node.target == "builtins.round" && i == 1);
  if (!is_number(kind) || (whole && kind == ValueKind::kFloat))
    fail("argument ", i, " must be ", whole ? "an integer" : "a number",
         ", found ", shown(graph, node.args[i]));
}

bool may_give(Arithmetic::Gives gives, ValueKind kind) {
  using enum Arithmetic::Gives;
  switch (gives) {
    case kNumber: return kind == ValueKind::kInt || kind == ValueKind::kFloat;
    case kInt: return kind == ValueKind::kInt;
    case kFloat: return kind == ValueKind::kFloat;
    case kBool: return kind == ValueKind::kBool;
    case kLogic: return is_number(kind);
  }
  return false;
}

void check_arithmetic(const Graph& graph, const Node& node) {
  const Arithmetic* form = find_arithmetic(node.target);
  if (form == nullptr) fail("it is no known function of numbers");
  const size_t count = node.args.size();
  if (count < form->least || count > form->most)
    fail("it has ", count, " inputs where the operator takes ", form->least,
         form->most > form->least ? " or " + std::to_string(form->most) : "");
  for (size_t i = 0; i < count; ++i) check_operand(graph, node, i, *form);
  if (node.outputs.size() != 1 || node.outputs[0].is_list)
    fail("it has ", node.outputs.size(),
         " outputs where the operator gives one number");
  const ValueId id = node.outputs[0].values.at(0);
  const ValueKind kind =
      id == kNoOutput ? ValueKind::kNone : kind_of(graph.value(id));
  if (!may_give(form->gives, kind))
    fail("its output cannot be ", name_of(kind));
}

// --- operators

bool may_return(const c10::Type& type, ValueKind kind) {
  using Kind = c10::TypeKind;
  if (kind == ValueKind::kNone) return true;  // nobody reads it
  switch (type.kind()) {
    case Kind::TensorType: return kind == ValueKind::kTensor;
    case Kind::OptionalType: return may_return(*type.containedTypes()[0], kind);
    case Kind::IntType:
    case Kind::SymIntType: return kind == ValueKind::kInt;
    case Kind::FloatType:
    case Kind::SymFloatType: return kind == ValueKind::kFloat;
    case Kind::BoolType:
    case Kind::SymBoolType: return kind == ValueKind::kBool;
    case Kind::NumberType: return is_number(kind);
    default: return false;
  }
}

void check_operator_outputs(const Graph& graph, const Node& node) {
  const auto& returns = node.op->schema().returns();
  if (node.outputs.size() != returns.size())
    fail("it has ", node.outputs.size(), " outputs where the operator returns ",
         returns.size());
  for (size_t i = 0; i < returns.size(); ++i) {
    const c10::Type* type = returns[i].type().get();
    const bool list = type->kind() == c10::TypeKind::ListType;
    bool fits = node.outputs[i].is_list == list;
    if (list) type = type->containedTypes()[0].get();
    for (ValueId id : node.outputs[i].values)
      fits &= may_return(
          *type, id == kNoOutput ? ValueKind::kNone : kind_of(graph.value(id)));
    if (!fits) fail("output ", i, " must be ", returns[i].type()->str());
  }
}

// --- higher-order operators

// Arguments in order: p a predicate, g a sub-graph, l a list of operands, t a
// list of tensors, b true or false, s text, d a dtype or None, * operands.
struct HigherOrder {
  const char* name;
  std::string_view layout;
};
constexpr HigherOrder kHigherOrder[] = {
    {"cond", "pggl"},
    {"while_loop", "ggll"},
    {"map_impl", "gtl"},
    {"scan", "gltl"},
    {"associative_scan", "gtl"},
    {"wrap_with_set_grad_enabled", "bg*"},
    {"wrap_with_autocast", "sdbbg*"},
};

const HigherOrder* find_higher_order(std::string_view target) {
  target.remove_prefix(kHigherOrderPrefix.size());
  for (const HigherOrder& row : kHigherOrder)
    if (target == row.name) return &row;
  return nullptr;
}

std::string_view wanted(char part) {
  switch (part) {
    case 'p': return "a predicate (a tensor or a truth value)";
    case 'g': return "a graph";
    case 'l': return "a list of operands";
    case 't': return "a list of one tensor or more";
    case 'b': return "true or false";
    case 's': return "a string";
    case 'd': return "a dtype or None";
    default: return "an operand";
  }
}

using Kinds = std::vector<ValueKind>;

bool fits_part(const Graph& graph, const Argument& a, char part) {
  const ValueKind kind = kind_of(graph, a);
  const ListArgument* list = a.get<ListArgument>();
  switch (part) {
    case 'p': return kind == ValueKind::kTensor || kind == ValueKind::kBool;
    case 'g': return a.get<GraphArgument>() != nullptr;
    case 't':
      for (const Argument& item : list ? list->items : std::vector<Argument>{})
        if (kind_of(graph, item) != ValueKind::kTensor) return false;
      return list != nullptr && !list->items.empty();
    case 'l':
      for (const Argument& item : list ? list->items : std::vector<Argument>{})
        if (kind_of(graph, item) == ValueKind::kOther) return false;
      return list != nullptr;
    case 'b': return a.get<bool>() != nullptr;
    case 's': return a.get<std::string>() != nullptr;
    case 'd': return a.get<c10::ScalarType>() != nullptr || a.is_none();
    default: return kind != ValueKind::kOther;
  }
}

std::string shown(const Kinds& kinds) {
  constexpr size_t kMost = 20;
  if (kinds.size() > kMost) return std::to_string(kinds.size()) + " values";
  std::string text;
  for (ValueKind kind : kinds)
    text += (text.empty() ? "" : ", ") + std::string(name_of(kind));
  return text.empty() ? "none" : text;
}

class HigherOrderCheck {
 public:
  HigherOrderCheck(const Graph& graph, const Node& node,
                   std::string_view layout)
      : graph_(graph), node_(node) {
    read(layout);
  }

  void run();

 private:
  void read(std::string_view layout);
  void takes(size_t graph, const Kinds& expected) const;
  void gives(size_t graph, const Kinds& expected) const;
  Kinds outputs_of(const Graph& graph) const;
  static void check_predicate(const Graph& graph, const Argument& a,
                              const std::string& what);
  void check_writes() const;
  void has_outputs(const Kinds& expected) const;
  static Kinds joined(Kinds a, const Kinds& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  const Graph& graph_;
  const Node& node_;
  std::vector<const GraphArgument*> graphs_;
  std::vector<Kinds> lists_;  // the last: the operands of '*'
};

void HigherOrderCheck::read(std::string_view layout) {
  const bool open = layout.ends_with('*');
  const size_t fixed = layout.size() - open;
  if (node_.args.size() < fixed || (!open && node_.args.size() > fixed))
    fail("it has ", node_.args.size(), " inputs where the operator takes ",
         fixed, open ? " or more" : "");
  if (open) lists_.emplace_back();
  for (size_t i = 0; i < node_.args.size(); ++i) {
    const Argument& a = node_.args[i];
    const char part = i < fixed ? layout[i] : '*';
    if (!fits_part(graph_, a, part))
      fail("argument ", i, " must be ", wanted(part), ", found ",
           shown(graph_, a));
    if (part == 'g') graphs_.push_back(a.get<GraphArgument>());
    if (part == '*') lists_.back().push_back(kind_of(graph_, a));
    if (part != 'l' && part != 't') continue;
    Kinds& kinds = lists_.emplace_back();
    for (const Argument& item : a.get<ListArgument>()->items)
      kinds.push_back(kind_of(graph_, item));
  }
}

void HigherOrderCheck::takes(size_t graph, const Kinds& expected) const {
  Kinds kinds;
  for (const InputSpec& input : graphs_[graph]->graph->inputs)
    kinds.push_back(kind_of(*graphs_[graph]->graph, input.arg));
  if (kinds != expected)
    fail("its graph '", graphs_[graph]->name, "' takes ", shown(kinds),
         ", and gets ", shown(expected));
}

Kinds HigherOrderCheck::outputs_of(const Graph& graph) const {
  Kinds kinds;
  for (const OutputSpec& output : graph.outputs)
    kinds.push_back(kind_of(graph, output.arg));
  return kinds;
}

void HigherOrderCheck::gives(size_t graph, const Kinds& expected) const {
  const Kinds kinds = outputs_of(*graphs_[graph]->graph);
  if (kinds != expected)
    fail("its graph '", graphs_[graph]->name, "' gives ", shown(kinds),
         " where the operator needs ", shown(expected));
}

void HigherOrderCheck::has_outputs(const Kinds& expected) const {
  Kinds kinds;
  for (const Node::Output& output : node_.outputs)
    for (ValueId id : output.values)
      kinds.push_back(id == kNoOutput ? ValueKind::kNone
                                      : kind_of(graph_.value(id)));
  bool fits = kinds.size() == expected.size();
  for (size_t i = 0; fits && i < kinds.size(); ++i)
    fits = kinds[i] == expected[i] || kinds[i] == ValueKind::kNone;
  if (!fits)
    fail("its outputs are ", shown(kinds), ", its graphs give ",
         shown(expected));
}

// What decides is a truth value, or a tensor that holds one.
void HigherOrderCheck::check_predicate(const Graph& graph, const Argument& a,
                                       const std::string& what) {
  const ValueRef* ref = a.get<ValueRef>();
  if (ref == nullptr || !graph.value(ref->id).is_tensor()) return;
  const TensorMeta& meta = graph.value(ref->id).tensor();
  const bool is_one = std::ranges::all_of(meta.sizes, [](Expr size) {
    return size.maybe_int64().value_or(1) == 1;
  });
  if (meta.dtype != at::kBool || !is_one)
    fail(what,
         " must be a truth value or a tensor of one bool, found a tensor ",
         "of ", c10::toString(meta.dtype), is_one ? "" : " of several elements",
         "; compare it, or reduce it with any() or all()");
}

void HigherOrderCheck::check_writes() const {
  for (const GraphArgument* graph : graphs_)
    if (const Node* node = find_outside_write(*graph->graph))
      fail(node->target, " writes to a tensor that the graph '", graph->name,
           "' got from outside; a sub-graph changes nothing but its own ",
           "tensors: clone() the tensor before the sub-graph writes to it");
}

void HigherOrderCheck::run() {
  const std::string_view name =
      std::string_view(node_.target).substr(kHigherOrderPrefix.size());
  const Kinds& first = lists_[0];
  Kinds results = outputs_of(*graphs_.back()->graph);
  if (name == "while_loop") {
    takes(0, joined(first, lists_[1]));
    takes(1, joined(first, lists_[1]));
    const Kinds test = outputs_of(*graphs_[0]->graph);
    if (test != Kinds{ValueKind::kTensor} && test != Kinds{ValueKind::kBool})
      fail("its graph '", graphs_[0]->name, "' gives ", shown(test),
           " where the operator needs a tensor or a truth value");
    const Graph& condition = *graphs_[0]->graph;
    check_predicate(condition, condition.outputs[0].arg,
                    "what its graph '" + graphs_[0]->name + "' gives");
    gives(1, first);
  } else if (name == "map_impl") {
    takes(0, joined(first, lists_[1]));
    gives(0, Kinds(results.size(), ValueKind::kTensor));
  } else if (name == "scan") {
    takes(0, joined(joined(first, lists_[1]), lists_[2]));
    const size_t rows = results.size() - std::min(results.size(), first.size());
    gives(0, joined(first, Kinds(rows, ValueKind::kTensor)));
  } else if (name == "associative_scan") {
    takes(0, joined(joined(first, first), lists_[1]));
    gives(0, first);
  } else {  // cond, and the mode blocks
    for (size_t i = 0; i < graphs_.size(); ++i) {
      takes(i, first);
      gives(i, results);
    }
  }
  if (name == "cond") check_predicate(graph_, node_.args[0], "argument 0");
  if (!name.starts_with("wrap_with_")) check_writes();
  has_outputs(results);
}

void check_autocast_device(const std::string& device) {
  const auto has_autocast = [&] {
    try {
      return at::autocast::is_autocast_available(c10::Device(device).type());
    } catch (const c10::Error&) {
      return false;
    }
  };
  if (!has_autocast())
    fail("argument 0 must be a device that has autocast (cpu, cuda), found ",
         shown_text(device));
}

void check_higher_order(const Graph& graph, const Node& node) {
  // What is not known is shown, and never runs.
  const HigherOrder* row = find_higher_order(node.target);
  if (row == nullptr) return;
  HigherOrderCheck(graph, node, row->layout).run();
  if (row->name == std::string_view("wrap_with_autocast"))
    check_autocast_device(*node.args[0].get<std::string>());
}

}  // namespace

// --- arguments

namespace {

bool fits_type(const Graph& graph, const Argument& a, const c10::Type& type) {
  using Kind = c10::TypeKind;
  const ValueKind kind = kind_of(graph, a);
  const bool complex = a.get<c10::complex<double>>() != nullptr;
  switch (type.kind()) {
    case Kind::TensorType:
      return kind == ValueKind::kTensor || is_number(kind) || complex;
    case Kind::IntType:
    case Kind::SymIntType: return kind == ValueKind::kInt;
    case Kind::FloatType:
    case Kind::SymFloatType:
      return kind == ValueKind::kFloat || kind == ValueKind::kInt;
    case Kind::BoolType:
    case Kind::SymBoolType: return kind == ValueKind::kBool;
    case Kind::NumberType: return is_number(kind) || complex;
    case Kind::StringType: return a.get<std::string>() != nullptr;
    case Kind::DeviceObjType: return a.get<c10::Device>() != nullptr;
    case Kind::ScalarTypeType: return a.get<c10::ScalarType>() != nullptr;
    case Kind::LayoutType: return a.get<c10::Layout>() != nullptr;
    case Kind::MemoryFormatType: return a.get<c10::MemoryFormat>() != nullptr;
    default: return false;
  }
}

bool is_matrix_power(std::string_view target) {
  return target.starts_with("aten.linalg_matrix_power.") ||
         target.starts_with("aten.matrix_power.");
}

}  // namespace

void check_argument(const Graph& graph, const Argument& a,
                    const c10::Type& type, const std::string& name) {
  if (type.kind() == c10::TypeKind::OptionalType) {
    if (!a.is_none()) check_argument(graph, a, *type.containedTypes()[0], name);
    return;
  }
  const ListArgument* list = a.get<ListArgument>();
  if (type.kind() == c10::TypeKind::ListType && list != nullptr) {
    for (const Argument& item : list->items)
      check_argument(graph, item, *type.containedTypes()[0], name);
    return;
  }
  if (!fits_type(graph, a, type))
    fail("argument '", name, "' must be ", type.str(), ", found ",
         shown(graph, a));
}

void check_node(const Graph& graph, const Node& node) {
  if (node.kind == Node::Kind::kOperator) check_operator_outputs(graph, node);
  // The operator goes on until -n is positive.
  if (is_matrix_power(node.target) && node.args[1].get<int64_t>() != nullptr &&
      *node.args[1].get<int64_t>() == INT64_MIN)
    fail("a power of -2**63 has no end; give a larger n");
  // torch looks for the symbol of what is asserted.
  if (node.target == "aten._assert_scalar.default" &&
      node.args[0].get<ValueRef>() == nullptr &&
      node.args[0].get<bool>() == nullptr)
    fail("what it asserts is the constant ", shown(graph, node.args[0]));
  if (node.kind == Node::Kind::kOperator) return;
  if (node.kind == Node::Kind::kSymbolic)
    check_arithmetic(graph, node);
  else
    check_higher_order(graph, node);
}

}  // namespace proviso::inline v0_2::pt2
