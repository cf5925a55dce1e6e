#include "tracer_adapter/pt2/model_json.h"

#include <c10/util/Exception.h>
#include <torch/version.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "sym/evaluate.h"
#include "sym/print.h"
#include "tracer_adapter/finish/expr_set.h"
#include "tracer_adapter/ir/schema_types.h"
#include "tracer_adapter/pt2/fail.h"
#include "tracer_adapter/pt2/file_hints.h"
#include "tracer_adapter/pt2/guard_names.h"
#include "tracer_adapter/pt2/loader_check.h"
#include "tracer_adapter/pt2/named_numbers.h"
#include "tracer_adapter/pt2/quoted_texts.h"
#include "tracer_adapter/trace/sources.h"

namespace proviso::inline v0_2::pt2 {
namespace {

using Items = std::span<const Argument>;

// The schema's numbers: those of c10 plus one up to bool, then its own.
int dtype_code(at::ScalarType dtype) {
  using enum at::ScalarType;
  switch (dtype) {
    case BFloat16: return 13;
    case UInt16: return 28;
    case Float8_e4m3fn: return 29;
    case Float8_e5m2: return 30;
    case Float8_e4m3fnuz: return 31;
    case Float8_e5m2fnuz: return 32;
    case Float8_e8m0fnu: return 33;
    case UInt32: return 34;
    case UInt64: return 35;
    default: break;
  }
  TORCH_CHECK(dtype <= Bool, "ExportedProgram::save: dtype ", dtype,
              " has no place in the .pt2 format; cast the tensor");
  return static_cast<int>(dtype) + 1;
}

int layout_code(at::Layout layout) {
  switch (layout) {
    case at::kSparse: return 1;
    case at::kSparseCsr: return 2;
    case at::kSparseCsc: return 3;
    case at::kSparseBsr: return 4;
    case at::kSparseBsc: return 5;
    case at::kMkldnn: return 6;
    case at::kStrided: return 7;
    default: return 0;
  }
}

int format_code(at::MemoryFormat format) {
  switch (format) {
    case at::MemoryFormat::Contiguous: return 1;
    case at::MemoryFormat::ChannelsLast: return 2;
    case at::MemoryFormat::ChannelsLast3d: return 3;
    case at::MemoryFormat::Preserve: return 4;
    default: return 0;
  }
}

void write_device(JsonWriter& json, c10::Device device) {
  json.object([&] {
    json.key("type").string(c10::DeviceTypeName(device.type(), true));
    json.key("index");
    device.has_index() ? json.integer(device.index()) : json.null();
  });
}

// One tensor's metadata; `size` writes a size, stride or offset.
template <typename Sizes, typename WriteSize>
void write_meta(JsonWriter& json, at::ScalarType dtype, const Sizes& sizes,
                const Sizes& strides, c10::Device device, bool requires_grad,
                const WriteSize& size, const std::function<void()>& offset) {
  auto list = [&](const Sizes& values) {
    json.array([&] {
      for (const auto& value : values) size(value);
    });
  };
  json.object([&] {
    json.key("dtype").integer(dtype_code(dtype));
    json.key("sizes");
    list(sizes);
    json.key("requires_grad").boolean(requires_grad);
    json.key("device");
    write_device(json, device);
    json.key("strides");
    list(strides);
    json.key("storage_offset");
    offset();
    json.key("layout").integer(layout_code(at::kStrided));
  });
}

// Whether leaving this argument out means the same.
bool is_default(const Argument& a, const c10::Argument& formal) {
  if (!formal.default_value()) return false;
  const c10::IValue& value = *formal.default_value();
  if (a.is_none()) return value.isNone();
  if (auto i = a.get<int64_t>()) return value.isInt() && value.toInt() == *i;
  if (auto d = a.get<double>())
    return value.isDouble() && value.toDouble() == *d;
  if (auto b = a.get<bool>()) return value.isBool() && value.toBool() == *b;
  if (auto s = a.get<std::string>())
    return value.isString() && value.toStringRef() == *s;
  if (auto list = a.get<ListArgument>()) {
    if (!value.isIntList()) return false;
    const auto ints = value.toIntVector();
    if (ints.size() != list->items.size()) return false;
    for (size_t i = 0; i < ints.size(); ++i) {
      auto item = list->items[i].get<int64_t>();
      if (!item || *item != ints[i]) return false;
    }
    return true;
  }
  return false;
}

class Writer {
 public:
  explicit Writer(const ExportedProgram& program)
      : program_(program), hints_(file_hints(program)), numbers_(program) {
    note_positive(program.graph);
  }

  std::string program();
  std::vector<std::string> texts();

 private:
  ShapeEnv& env() const { return *program_.env; }

  // --- symbolic numbers
  void note_positive(const Graph& graph);
  std::string srepr(Expr written) const;
  void symbolic(Expr e);  // {"as_int": 3} or {"as_expr": ...}
  void hint(Expr e);
  void number_value(Expr e);  // an entry of sym_*_values

  // --- arguments
  void argument(const Argument& a, const c10::Type* type);
  void reference(ValueId id);
  void list(Items items, const c10::Type* type);
  void constant_expr(Expr e);
  bool all(Items items, const std::function<bool(const Argument&)>& is) const;
  bool is_value(const Argument& a, Type type) const;
  bool is_tensor(const Argument& a) const;
  template <typename T>
  void plain_list(std::string_view tag, Items items,
                  const std::function<void(const T&)>& write);
  template <typename T>
  void symbolic_list(std::string_view tag, std::string_view constant,
                     Items items, const std::function<void(const T&)>& write);
  void tensor_list(Items items);
  void tensor_name(ValueId id);
  static std::string_view empty_list_tag(const c10::Type* type);
  static std::string_view name_tag(Type type);

  // --- the graph
  void graph(const Graph& graph);
  void values(const Graph& graph);
  template <typename Filter, typename Write>
  void value_table(const Graph& graph, std::string_view key,
                   const Filter& filter, const Write& write);
  void node(const Node& node);
  void operator_inputs(const Node& node);
  void positional_inputs(const Node& node, std::span<const char* const> names);
  void input(std::string_view name, const Argument& a, const c10::Type* type,
             bool keyword);
  void outputs(const Node& node);
  void metadata(const Node& node);

  // --- around it
  void signature();
  void input_spec(const InputSpec& spec);
  void owned_input(const InputSpec& spec);
  void constant_input(const InputSpec& spec);
  void output_spec(const OutputSpec& spec);
  void named_bool(const Argument& a);
  void mutation_spec(const OutputSpec& spec);
  void call_graph();
  void call_entry(const std::string& fqn,
                  const std::optional<ModuleCallSignature>& signature,
                  const std::vector<std::string>* argument_names);
  void ranges();
  Interval left_to_guards(Expr size, const Interval& range) const;
  std::vector<std::string> guards() const;

  const ExportedProgram& program_;
  const Assignment hints_;
  const NamedNumbers numbers_;
  ExprSet positive_;              // symbols that torch is to take for positive
  const Graph* graph_ = nullptr;  // the (sub)graph being written
  // The sub-graph to be written next is called for one value, not for a tuple.
  bool for_one_value_ = false;
  JsonWriter json_;
};

// --- symbolic numbers

// Where both branches of a cond have the strides (Max(1, s1), 1), torch's rule
// (_merge_output in torch/_higher_order_ops/cond.py) fails: it looks for the
// stride among the products of sizes.  It finds s1, as which torch has
// Max(1, s1) of a symbol that is positive, as all sizes in torch's own files
// are.
void Writer::note_positive(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    for (const Argument& a : node.args)
      if (const GraphArgument* sub = a.get<GraphArgument>())
        note_positive(*sub->graph);
    if (node.target != "torch.ops.higher_order.cond") continue;
    for_each_output(node, [&](ValueId id) {
      if (!graph.value(id).is_tensor()) return;
      for (Expr size : graph.value(id).tensor().sizes)
        for (Expr symbol : free_symbols(numbers_.written(size)))
          positive_.insert(symbol);
    });
  }
}

std::string Writer::srepr(Expr written) const {
  return to_srepr(written,
                  [&](Expr symbol) { return positive_.contains(symbol); });
}

void Writer::hint(Expr e) {
  std::optional<Value> value = evaluate(e, hints_).value;
  if (!value) value = env().hint(e);
  if (!value) return json_.null();
  if (const bool* b = std::get_if<bool>(&*value))
    return json_.tagged("as_bool", [&] { json_.boolean(*b); });
  if (const Int* i = std::get_if<Int>(&*value)) {
    if (!i->to_int64()) return json_.null();
    return json_.tagged("as_int", [&] { json_.integer(*i->to_int64()); });
  }
  const Rational* exact = std::get_if<Rational>(&*value);
  const double d = exact ? exact->to_double() : std::get<double>(*value);
  json_.tagged("as_float", [&] { json_.number(d); });
}

void Writer::symbolic(Expr e) {
  const Expr written = numbers_.written(e);
  if (auto constant = written.maybe_int64())
    return json_.tagged("as_int", [&] { json_.integer(*constant); });
  json_.tagged("as_expr", [&] {
    json_.object([&] {
      json_.key("expr_str").string(srepr(written));
      json_.key("hint");
      numbers_.is_from_data(written) ? json_.null() : hint(e);
    });
  });
}

void Writer::number_value(Expr e) {
  if (e.is(Op::kBoolean))
    return json_.tagged("as_bool", [&] { json_.boolean(e.is_true()); });
  if (e.is(Op::kRational))
    return json_.tagged("as_float",
                        [&] { json_.number(e.rational().to_double()); });
  symbolic(e);
}

// --- arguments

std::string_view Writer::name_tag(Type type) {
  switch (type) {
    case Type::kInt: return "as_sym_int";
    case Type::kFloat: return "as_sym_float";
    case Type::kBool: return "as_sym_bool";
  }
  return "";
}

void Writer::tensor_name(ValueId id) {
  json_.object([&] { json_.key("name").string(graph_->value(id).name); });
}

void Writer::reference(ValueId id) {
  const GraphValue& value = graph_->value(id);
  if (value.is_tensor())
    return json_.tagged("as_tensor", [&] { tensor_name(id); });
  json_.tagged(name_tag(value.expr().type()), [&] {
    json_.tagged("as_name", [&] { json_.string(value.name); });
  });
}

void Writer::constant_expr(Expr e) {
  TORCH_CHECK(e.is_constant(), "ExportedProgram::save: the graph still holds ",
              "the expression ", to_string(e), " where a value belongs");
  if (e.is(Op::kBoolean))
    return json_.tagged("as_bool", [&] { json_.boolean(e.is_true()); });
  if (e.is(Op::kRational))
    return json_.tagged("as_float",
                        [&] { json_.number(e.rational().to_double()); });
  TORCH_CHECK(e.maybe_int64(), "ExportedProgram::save: the integer ",
              to_string(e), " does not fit in 64 bits");
  json_.tagged("as_int", [&] { json_.integer(*e.maybe_int64()); });
}

void Writer::argument(const Argument& a, const c10::Type* type) {
  if (type != nullptr) type = &without_optional(*type);
  auto put = [&](const auto& v) {
    using T = std::decay_t<decltype(v)>;
    if constexpr (std::is_same_v<T, NoneArgument>)
      json_.tagged("as_none", [&] { json_.boolean(true); });
    else if constexpr (std::is_same_v<T, ValueRef>)
      reference(v.id);
    else if constexpr (std::is_same_v<T, int64_t>)
      json_.tagged("as_int", [&] { json_.integer(v); });
    else if constexpr (std::is_same_v<T, double>)
      json_.tagged("as_float", [&] { json_.number(v); });
    else if constexpr (std::is_same_v<T, bool>)
      json_.tagged("as_bool", [&] { json_.boolean(v); });
    else if constexpr (std::is_same_v<T, std::string>)
      json_.tagged("as_string", [&] { json_.string(v); });
    else if constexpr (std::is_same_v<T, c10::ScalarType>)
      json_.tagged("as_scalar_type", [&] { json_.integer(dtype_code(v)); });
    else if constexpr (std::is_same_v<T, c10::Layout>)
      json_.tagged("as_layout", [&] { json_.integer(layout_code(v)); });
    else if constexpr (std::is_same_v<T, c10::MemoryFormat>)
      json_.tagged("as_memory_format", [&] { json_.integer(format_code(v)); });
    else if constexpr (std::is_same_v<T, c10::Device>)
      json_.tagged("as_device", [&] { write_device(json_, v); });
    else if constexpr (std::is_same_v<T, c10::complex<double>>)
      json_.tagged("as_complex", [&] {
        json_.object([&] {
          json_.key("real").number(v.real());
          json_.key("imag").number(v.imag());
        });
      });
    else if constexpr (std::is_same_v<T, ExprArgument>)
      constant_expr(v.expr);
    else if constexpr (std::is_same_v<T, ListArgument>)
      list(v.items, type);
    else
      json_.tagged("as_graph", [&] {
        json_.object([&] {
          json_.key("name").string(v.name);
          json_.key("graph");
          const Graph* outer = graph_;
          graph(*v.graph);
          graph_ = outer;
        });
      });
  };
  std::visit(put, a.value);
}

bool Writer::all(Items items,
                 const std::function<bool(const Argument&)>& is) const {
  for (const Argument& item : items)
    if (!is(item)) return false;
  return true;
}

bool Writer::is_tensor(const Argument& a) const {
  auto ref = a.get<ValueRef>();
  return ref && graph_->value(ref->id).is_tensor();
}

bool Writer::is_value(const Argument& a, Type type) const {
  auto ref = a.get<ValueRef>();
  if (!ref) return false;
  const GraphValue& value = graph_->value(ref->id);
  return !value.is_tensor() && value.expr().type() == type;
}

template <typename T>
void Writer::plain_list(std::string_view tag, Items items,
                        const std::function<void(const T&)>& write) {
  json_.tagged(tag, [&] {
    json_.array([&] {
      for (const Argument& item : items) write(*item.get<T>());
    });
  });
}

template <typename T>
void Writer::symbolic_list(std::string_view tag, std::string_view constant,
                           Items items,
                           const std::function<void(const T&)>& write) {
  json_.tagged(tag, [&] {
    json_.array([&] {
      for (const Argument& item : items) {
        if (auto value = item.get<T>())
          json_.tagged(constant, [&] { write(*value); });
        else
          json_.tagged("as_name", [&] {
            json_.string(graph_->value(item.get<ValueRef>()->id).name);
          });
      }
    });
  });
}

void Writer::tensor_list(Items items) {
  const bool none_inside =
      !all(items, [](const Argument& a) { return !a.is_none(); });
  json_.tagged(none_inside ? "as_optional_tensors" : "as_tensors", [&] {
    json_.array([&] {
      for (const Argument& item : items) {
        if (!none_inside)
          tensor_name(item.get<ValueRef>()->id);
        else if (item.is_none())
          json_.tagged("as_none", [&] { json_.boolean(true); });
        else
          json_.tagged("as_tensor",
                       [&] { tensor_name(item.get<ValueRef>()->id); });
      }
    });
  });
}

std::string_view Writer::empty_list_tag(const c10::Type* type) {
  const auto* list = type ? type->castRaw<c10::ListType>() : nullptr;
  const c10::Type* element =
      list ? &without_optional(*list->getElementType()) : nullptr;
  switch (element ? element->kind() : c10::TypeKind::TensorType) {
    case c10::TypeKind::TensorType: return "as_tensors";
    case c10::TypeKind::BoolType: return "as_bools";
    case c10::TypeKind::FloatType: return "as_floats";
    case c10::TypeKind::StringType: return "as_strings";
    default: return "as_ints";
  }
}

void Writer::list(Items items, const c10::Type* type) {
  // Constants that stand as expressions read like any other.
  std::vector<Argument> plain(items.begin(), items.end());
  for (Argument& a : plain)
    if (auto e = a.get<ExprArgument>(); e && e->expr.maybe_int64())
      a.value = *e->expr.maybe_int64();
  items = plain;

  auto has = [](auto type_tag) {
    using T = typename decltype(type_tag)::type;
    return [](const Argument& a) { return a.get<T>() != nullptr; };
  };
  auto is_int = has(std::type_identity<int64_t>{});
  auto is_double = has(std::type_identity<double>{});
  auto is_bool = has(std::type_identity<bool>{});
  auto is_string = has(std::type_identity<std::string>{});
  auto or_value = [&](auto is, Type t) {
    return [&, is, t](const Argument& a) { return is(a) || is_value(a, t); };
  };
  const auto integer = [&](const int64_t& v) { json_.integer(v); };
  const auto number = [&](const double& v) { json_.number(v); };
  const auto boolean = [&](const bool& v) { json_.boolean(v); };
  const auto string = [&](const std::string& v) { json_.string(v); };

  if (items.empty())
    return json_.tagged(empty_list_tag(type), [&] { json_.array([] {}); });
  if (all(items, is_bool)) return plain_list<bool>("as_bools", items, boolean);
  if (all(items, is_int)) return plain_list<int64_t>("as_ints", items, integer);
  if (all(items, is_double))
    return plain_list<double>("as_floats", items, number);
  if (all(items, is_string))
    return plain_list<std::string>("as_strings", items, string);
  if (all(items, or_value(is_int, Type::kInt)))
    return symbolic_list<int64_t>("as_sym_ints", "as_int", items, integer);
  if (all(items, or_value(is_double, Type::kFloat)))
    return symbolic_list<double>("as_sym_floats", "as_float", items, number);
  if (all(items, or_value(is_bool, Type::kBool)))
    return symbolic_list<bool>("as_sym_bools", "as_bool", items, boolean);
  // Operands of a sub-graph: torch names symbolic numbers among the tensors.
  const auto is_named = has(std::type_identity<ValueRef>{});
  TORCH_CHECK(
      all(items, is_named) ||
          all(items,
              [&](const Argument& a) { return a.is_none() || is_tensor(a); }),
      "ExportedProgram::save: the .pt2 format holds no list that mixes "
      "tensors and constants: ",
      graph_->to_string(Argument{ListArgument{{items.begin(), items.end()}}}),
      ". Give a loop a tensor instead of the number, torch.tensor(0) for 0");
  tensor_list(items);
}

// --- the graph

template <typename Filter, typename Write>
void Writer::value_table(const Graph& graph, std::string_view key,
                         const Filter& filter, const Write& write) {
  std::set<std::string> seen;
  json_.key(key).object([&] {
    for (const GraphValue& value : graph.values) {
      if (value.name.empty() || !filter(value)) continue;
      if (!seen.insert(value.name).second) continue;
      json_.key(value.name);
      write(value);
    }
  });
}

void Writer::values(const Graph& graph) {
  auto numbers = [&](std::string_view key, Type type) {
    value_table(
        graph, key,
        [&](const GraphValue& v) {
          return !v.is_tensor() && v.expr().type() == type;
        },
        [&](const GraphValue& v) { number_value(v.expr()); });
  };
  value_table(
      graph, "tensor_values", [](const GraphValue& v) { return v.is_tensor(); },
      [&](const GraphValue& v) {
        const TensorMeta& meta = v.tensor();
        write_meta(
            json_, meta.dtype, meta.sizes, meta.strides, meta.device,
            meta.requires_grad, [&](Expr e) { symbolic(e); },
            [&] { symbolic(meta.offset); });
      });
  numbers("sym_int_values", Type::kInt);
  numbers("sym_bool_values", Type::kBool);
  numbers("sym_float_values", Type::kFloat);
  json_.key("custom_obj_values").object([] {});
}

void Writer::graph(const Graph& graph) {
  graph_ = &graph;
  const bool one_value = std::exchange(for_one_value_, false) &&
                         graph.outputs.at(0).arg.get<ValueRef>();
  json_.object([&] {
    json_.key("inputs").array([&] {
      for (const InputSpec& spec : graph.inputs) argument(spec.arg, nullptr);
    });
    json_.key("outputs").array([&] {
      for (const OutputSpec& spec : graph.outputs) argument(spec.arg, nullptr);
    });
    json_.key("nodes").array([&] {
      for (const Node& n : graph.nodes) node(n);
    });
    values(graph);
    json_.key("is_single_tensor_return").boolean(one_value);
  });
}

void Writer::input(std::string_view name, const Argument& a,
                   const c10::Type* type, bool keyword) {
  json_.object([&] {
    json_.key("name").string(name);
    json_.key("arg");
    argument(a, type);
    json_.key("kind").integer(keyword ? 2 : 1);
  });
}

// Positional arguments are a prefix of the schema's, up to the last that says
// something; keyword-only ones appear when they do.
void Writer::operator_inputs(const Node& node) {
  const auto& formals = node.op->schema().arguments();
  TORCH_CHECK(node.args.size() == formals.size(),
              "ExportedProgram::save: ", node.target, " has ", formals.size(),
              " arguments, recorded ", node.args.size());
  size_t positional = 0;
  for (size_t i = 0; i < formals.size(); ++i)
    if (!formals[i].kwarg_only() && !is_default(node.args[i], formals[i]))
      positional = i + 1;
  for (size_t i = 0; i < formals.size(); ++i) {
    const bool keyword = formals[i].kwarg_only();
    if (keyword ? is_default(node.args[i], formals[i]) : i >= positional)
      continue;
    input(formals[i].name(), node.args[i], formals[i].real_type().get(),
          keyword);
  }
}

void Writer::positional_inputs(const Node& node,
                               std::span<const char* const> names) {
  if (node.target == "torch.sym_sum")  // of a list
    return input("args", Argument{ListArgument{node.args}}, nullptr, false);
  for (size_t i = 0; i < node.args.size(); ++i) {
    for_one_value_ =
        i == 0 && node.target == "torch.ops.higher_order.while_loop";
    input(i < names.size() ? names[i] : "", node.args[i], nullptr, false);
  }
}

void Writer::outputs(const Node& node) {
  json_.key("outputs").array([&] {
    for (const Node::Output& output : node.outputs) {
      if (output.is_list) {
        json_.tagged("as_tensors", [&] {
          json_.array([&] {
            for (ValueId id : output.values) tensor_name(id);
          });
        });
      } else if (output.values.empty() || output.values[0] == kNoOutput) {
        json_.tagged("as_none", [&] { json_.boolean(true); });
      } else {
        reference(output.values[0]);
      }
    }
  });
}

// "File "model.py", line 3, in forward\n    x + 1\n..", as Python prints it.
std::string stack_trace(const Graph& graph, const Node& node) {
  std::string trace;
  if (node.location >= graph.stacks.size()) return trace;
  for (const Frame& frame : graph.stacks[node.location]) {
    trace += "  File \"" + frame.file + "\", line " +
             std::to_string(frame.line) + ", in " + frame.function + "\n";
    if (!frame.code.empty()) trace += "    " + frame.code + "\n";
  }
  return trace;
}

// "L__self__,,Model;L__self__layer@1,layer,torch.nn...Linear": every node is
// inside the program's own module.
std::string module_stack(const Graph& graph, const Node& node,
                         const std::string& program) {
  const auto& stacks = graph.module_stacks;
  std::vector<ModuleFrame> stack;
  if (node.modules < stacks.size()) stack = stacks[node.modules];
  if (stack.empty() || !stack[0].name.empty()) {
    const bool known =
        stacks.size() > 1 && !stacks[1].empty() && stacks[1][0].name.empty();
    stack.insert(stack.begin(),
                 known ? stacks[1][0] : ModuleFrame{"", program, 0});
  }
  std::string text;
  for (const ModuleFrame& frame : stack) {
    TORCH_CHECK_VALUE(stands_in_quotes(frame.name) &&
                          frame.name.find_first_of(",;") == std::string::npos,
                      "ExportedProgram::save: the module ",
                      shown_text(frame.name),
                      " has a name that the file cannot hold: rename it, "
                      "without quotes, backslashes, commas and semicolons");
    if (!text.empty()) text += ";";
    text += "L__self__" + frame.name;
    if (frame.call > 0) text += "@" + std::to_string(frame.call);
    text += "," + frame.name + "," + frame.type;
  }
  return text;
}

void Writer::metadata(const Node& node) {
  json_.key("metadata").object([&] {
    const std::string trace = stack_trace(*graph_, node);
    if (!trace.empty()) json_.key("stack_trace").string(trace);
    json_.key("nn_module_stack")
        .string(module_stack(*graph_, node, program_.name));
  });
}

std::string target_of(const Node& node) {
  // torch looks for functions in operator, torch and math, and up from torch.
  if (node.target == "builtins.round") return "torch.builtins.round";
  if (node.kind != Node::Kind::kOperator) return node.target;
  const c10::OperatorName& name = node.op->operator_name();
  std::string result = "torch.ops." + name.name;
  result.replace(result.find("::"), 2, ".");
  return result + "." +
         (name.overload_name.empty() ? "default" : name.overload_name);
}

void Writer::node(const Node& node) {
  static constexpr const char* kOperands[] = {"a", "b", "c"};
  std::string name = node.name;
  if (node.has_single_value())
    for_each_output(node, [&](ValueId id) { name = graph_->value(id).name; });
  json_.object([&] {
    json_.key("target").string(target_of(node));
    json_.key("inputs").array([&] {
      if (node.kind == Node::Kind::kOperator)
        operator_inputs(node);
      else if (node.kind == Node::Kind::kSymbolic)
        positional_inputs(node, kOperands);
      else
        positional_inputs(node, {});
    });
    outputs(node);
    metadata(node);
    json_.key("is_hop_single_tensor_return");
    node.kind == Node::Kind::kHigherOrder ? json_.boolean(false) : json_.null();
    json_.key("name").string(name);
  });
}

// --- around the graph

void Writer::owned_input(const InputSpec& spec) {
  auto body = [&](std::string_view name_key) {
    json_.key("arg");
    tensor_name(spec.arg.get<ValueRef>()->id);
    json_.key(name_key).string(spec.target);
  };
  switch (spec.kind) {
    case InputKind::kParameter:
      return json_.tagged(
          "parameter", [&] { json_.object([&] { body("parameter_name"); }); });
    case InputKind::kBuffer:
      return json_.tagged("buffer", [&] {
        json_.object([&] {
          body("buffer_name");
          json_.key("persistent").boolean(spec.persistent.value_or(true));
        });
      });
    default:
      return json_.tagged("tensor_constant", [&] {
        json_.object([&] { body("tensor_constant_name"); });
      });
  }
}

void Writer::constant_input(const InputSpec& spec) {
  json_.tagged("constant_input", [&] {
    json_.object([&] {
      json_.key("name").string(spec.name);
      json_.key("value");
      argument(spec.arg, nullptr);
    });
  });
}

void Writer::input_spec(const InputSpec& spec) {
  if (spec.kind != InputKind::kUserInput) return owned_input(spec);
  if (!spec.arg.get<ValueRef>()) return constant_input(spec);
  json_.tagged("user_input", [&] {
    json_.object([&] {
      json_.key("arg");
      argument(spec.arg, nullptr);
    });
  });
}

void Writer::mutation_spec(const OutputSpec& spec) {
  const bool buffer = spec.kind == OutputKind::kBufferMutation;
  const bool parameter = spec.kind == OutputKind::kParameterMutation;
  json_.tagged(buffer      ? "buffer_mutation"
               : parameter ? "parameter_mutation"
                           : "user_input_mutation",
               [&] {
                 json_.object([&] {
                   json_.key("arg");
                   tensor_name(spec.arg.get<ValueRef>()->id);
                   json_
                       .key(buffer      ? "buffer_name"
                            : parameter ? "parameter_name"
                                        : "user_input_name")
                       .string(spec.target);
                 });
               });
}

void Writer::output_spec(const OutputSpec& spec) {
  TORCH_CHECK(!spec.arg.get<std::string>(),
              "ExportedProgram::save: the program returns the string '",
              *spec.arg.get<std::string>(),
              "', which torch.export.load does not read; return it outside the "
              "exported program");
  if (is_mutation(spec.kind)) return mutation_spec(spec);
  const double* number = spec.arg.get<double>();
  TORCH_CHECK_VALUE(number == nullptr || !std::isnan(*number),
                    "ExportedProgram::save: the program returns the number "
                    "nan, which torch.export.load compares with itself; return "
                    "a tensor of it, or return it outside the exported "
                    "program");
  TORCH_CHECK(spec.kind == OutputKind::kUserOutput,
              "ExportedProgram::save: outputs of kind ", name_of(spec.kind),
              " have no place in the .pt2 format that is written");
  json_.tagged("user_output", [&] {
    json_.object([&] {
      json_.key("arg");
      is_value(spec.arg, Type::kBool) ? named_bool(spec.arg)
                                      : argument(spec.arg, nullptr);
    });
  });
}

// Of a signature.  torch.export.load looks a named bool up among the nodes,
// before it has read them, and takes any name of an integer; what the output is
// the graph says.
void Writer::named_bool(const Argument& a) {
  json_.tagged(name_tag(Type::kInt), [&] {
    json_.tagged("as_name", [&] {
      json_.string(graph_->value(a.get<ValueRef>()->id).name);
    });
  });
}

void Writer::signature() {
  json_.key("signature").object([&] {
    json_.key("input_specs").array([&] {
      for (const InputSpec& spec : program_.graph.inputs) input_spec(spec);
    });
    json_.key("output_specs").array([&] {
      for (const OutputSpec& spec : program_.graph.outputs) output_spec(spec);
    });
  });
}

constexpr const char* kLeaf =
    R"({"type": null, "context": null, "children_spec": []})";

std::string tuple_spec(size_t children, std::string_view child = kLeaf) {
  std::string result =
      R"({"type": "builtins.tuple", "context": "null", "children_spec": [)";
  for (size_t i = 0; i < children; ++i) {
    if (i) result += ", ";
    result += child;
  }
  return result + "]}";
}

// ((x0, x1, ...), {}) -> (y0, ...); a lone output is itself.
TreeSpecs flat_specs(const Graph& graph) {
  TreeSpecs specs;
  for (const InputSpec& spec : graph.inputs)
    if (spec.kind == InputKind::kUserInput)
      specs.argument_names.push_back(spec.name);
  std::string args = tuple_spec(specs.argument_names.size());
  args += R"(, {"type": "builtins.dict", "context": "[]", )"
          R"("children_spec": []})";
  specs.in_spec = "[1, " + tuple_spec(1, args) + "]";
  const size_t outputs = graph.outputs.size();
  specs.out_spec =
      "[1, " + (outputs == 1 ? std::string(kLeaf) : tuple_spec(outputs)) + "]";
  return specs;
}

void Writer::call_entry(const std::string& fqn,
                        const std::optional<ModuleCallSignature>& signature,
                        const std::vector<std::string>* argument_names) {
  const auto values = [&](std::string_view key,
                          const std::vector<Argument>& arguments) {
    json_.key(key).array([&] {
      for (const Argument& a : arguments) argument(a, nullptr);
    });
  };
  json_.object([&] {
    json_.key("fqn").string(fqn);
    json_.key("signature");
    if (!signature) return json_.null();
    json_.object([&] {
      values("inputs", signature->inputs);
      values("outputs", signature->outputs);
      json_.key("in_spec").string(signature->in_spec);
      json_.key("out_spec").string(signature->out_spec);
      json_.key("forward_arg_names");
      if (argument_names == nullptr) return json_.null();
      json_.array([&] {
        for (const std::string& name : *argument_names) json_.string(name);
      });
    });
  });
}

void Writer::call_graph() {
  const bool given = !program_.specs.in_spec.empty();
  const TreeSpecs specs = given ? program_.specs : flat_specs(program_.graph);
  json_.key("module_call_graph").array([&] {
    call_entry("", ModuleCallSignature{{}, {}, specs.in_spec, specs.out_spec},
               &specs.argument_names);
    for (const ModuleCallEntry& entry : program_.module_call_graph)
      call_entry(entry.fqn, entry.signature, nullptr);
  });
}

// Symbols alone: what input expressions must satisfy is among the guards.
void Writer::ranges() {
  auto bound = [&](std::string_view key, const OptionalInt& value) {
    json_.key(key);
    const auto small = value ? value->to_int64() : std::nullopt;
    small ? json_.integer(*small) : json_.null();
  };
  auto range = [&](const RangeConstraint& c) {
    if (!c.expr.is_symbol() || numbers_.written(c.expr) != c.expr) return;
    json_.key(c.expr.symbol().name).object([&] {
      bound("min_val", c.range.lower());
      bound("max_val", c.range.upper());
    });
  };
  json_.key("range_constraints").object([&] {
    std::ranges::for_each(program_.range_constraints, range);
    std::ranges::for_each(numbers_.ranges(), range);
  });
}

// The ends of a range that torch's loader checks by itself: those of a size's
// lone symbol, a lower one from 3 on.
Interval Writer::left_to_guards(Expr size, const Interval& range) const {
  const auto stated = std::find_if(
      program_.range_constraints.begin(), program_.range_constraints.end(),
      [&](const RangeConstraint& c) { return c.expr == size; });
  if (!numbers_.written(size).is_symbol() ||
      stated == program_.range_constraints.end())
    return range;
  const Interval& known = stated->range;
  const bool lower = range.lower() && *range.lower() > Int(2) &&
                     known.lower() && *known.lower() >= *range.lower();
  const bool upper =
      range.upper() && known.upper() && *known.upper() <= *range.upper();
  return Interval::of(lower ? OptionalInt() : range.lower(),
                      upper ? OptionalInt() : range.upper());
}

// Torch's loader checks these and what the metadata of the inputs says.
std::vector<std::string> Writer::guards() const {
  std::vector<std::string> result = guards_for_torch(program_);
  ShapeEnv& env = *program_.env;
  std::set<std::string> seen;
  for (const InputDim& dim : env.input_dims()) {
    const Expr size = env.simplify(dim.expr);
    if (size.is_constant() || !seen.insert(to_string(dim.expr)).second)
      continue;
    std::vector<std::string> ends;
    add_range_code(dim, left_to_guards(size, env.enforced_range(dim.expr)),
                   &ends);
    for (std::string& end : ends)
      if (std::find(result.begin(), result.end(), end) == result.end())
        result.push_back(std::move(end));
  }
  return result;
}

std::vector<std::string> Writer::texts() {
  std::vector<std::string> result = guards();
  ExprSet seen;
  const auto add = [&](Expr e) {
    const Expr written = numbers_.written(e);
    if (written.is_symbol() || written.is_constant()) return;
    if (seen.insert(written).second) result.push_back(srepr(written));
  };
  const auto add_all = [&](const auto& again, const Graph& graph) -> void {
    for (const GraphValue& value : graph.values) {
      if (!value.is_tensor()) {
        add(value.expr());
        continue;
      }
      const TensorMeta& meta = value.tensor();
      std::ranges::for_each(meta.sizes, add);
      std::ranges::for_each(meta.strides, add);
      add(meta.offset);
    }
    for (const Node& node : graph.nodes)
      for (const Argument& a : node.args)
        if (const GraphArgument* sub = a.get<GraphArgument>())
          again(again, *sub->graph);
  };
  add_all(add_all, program_.graph);
  return result;
}

std::string Writer::program() {
  json_.object([&] {
    json_.key("graph_module").object([&] {
      json_.key("graph");
      graph(program_.graph);
      signature();
      call_graph();
      json_.key("metadata").object([] {});
      json_.key("treespec_namedtuple_fields").object([] {});
    });
    json_.key("opset_version").object([&] { json_.key("aten").integer(10); });
    ranges();
    json_.key("schema_version").object([&] {
      json_.key("major").integer(kSchemaMajor);
      json_.key("minor").integer(kSchemaMinor);
    });
    json_.key("verifiers").array([&] { json_.string(program_.dialect); });
    json_.key("torch_version").string(TORCH_VERSION);
    json_.key("guards_code").array([&] {
      for (const std::string& code : guards()) json_.string(code);
    });
  });
  return json_.take();
}

}  // namespace

void write_tensor_meta(JsonWriter& json, const at::Tensor& tensor,
                       int64_t offset, bool requires_grad) {
  auto size = [&](int64_t value) {
    json.tagged("as_int", [&] { json.integer(value); });
  };
  write_meta(json, tensor.scalar_type(), tensor.sizes(), tensor.strides(),
             tensor.device(), requires_grad, size, [&] { size(offset); });
}

std::vector<std::string> symbolic_texts(const ExportedProgram& program) {
  return Writer(program).texts();
}

std::string model_json(const ExportedProgram& program) {
  const std::string text = Writer(program).program();
  try {
    check_for_loader(parse_json(text, "model.json"));
  } catch (const FileError& error) {
    TORCH_CHECK(false,
                "ExportedProgram::save: torch.export.load would not "
                "read the file: ",
                error.what());
  }
  return text;
}

}  // namespace proviso::inline v0_2::pt2
