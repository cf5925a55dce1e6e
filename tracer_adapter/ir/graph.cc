#include "tracer_adapter/ir/graph.h"

#include <ATen/core/function_schema.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>
#include <unordered_map>

#include "sym/print.h"
#include "tracer_adapter/ir/printable.h"

namespace proviso::inline v0_2 {
namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

struct DtypeNames {
  c10::ScalarType dtype;
  const char* brief;
  const char* full;
};

// torch.utils._dtype_abbrs and torch's attribute names.
constexpr DtypeNames kDtypes[] = {
    {c10::ScalarType::Byte, "u8", "uint8"},
    {c10::ScalarType::Char, "i8", "int8"},
    {c10::ScalarType::Short, "i16", "int16"},
    {c10::ScalarType::Int, "i32", "int32"},
    {c10::ScalarType::Long, "i64", "int64"},
    {c10::ScalarType::Half, "f16", "float16"},
    {c10::ScalarType::Float, "f32", "float32"},
    {c10::ScalarType::Double, "f64", "float64"},
    {c10::ScalarType::ComplexHalf, "c32", "complex32"},
    {c10::ScalarType::ComplexFloat, "c64", "complex64"},
    {c10::ScalarType::ComplexDouble, "c128", "complex128"},
    {c10::ScalarType::Bool, "b8", "bool"},
    {c10::ScalarType::BFloat16, "bf16", "bfloat16"},
    {c10::ScalarType::UInt16, "u16", "uint16"},
    {c10::ScalarType::UInt32, "u32", "uint32"},
    {c10::ScalarType::UInt64, "u64", "uint64"},
    {c10::ScalarType::Float8_e4m3fn, "f8e4m3fn", "float8_e4m3fn"},
    {c10::ScalarType::Float8_e5m2, "f8e5m2", "float8_e5m2"},
    {c10::ScalarType::Float8_e4m3fnuz, "f8e4m3fnuz", "float8_e4m3fnuz"},
    {c10::ScalarType::Float8_e5m2fnuz, "f8e5m2fnuz", "float8_e5m2fnuz"},
};

const DtypeNames* find_dtype(c10::ScalarType dtype) {
  for (const DtypeNames& row : kDtypes)
    if (row.dtype == dtype) return &row;
  return nullptr;
}

// Python's repr: the shortest digits that read back, 1e-05 and 1e+16 beyond
// four zeros and sixteen digits.
std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  const double size = std::fabs(value);
  const bool exponent = size != 0 && (size < 1e-4 || size >= 1e16);
  const auto end = std::to_chars(
      buffer, buffer + sizeof(buffer), value,
      exponent ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(buffer, end.ptr);
  if (!exponent && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string python_complex(c10::complex<double> value) {
  const auto part = [](double v) {
    std::string text = python_float(v);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
  };
  if (value.real() == 0 && !std::signbit(value.real()))
    return part(value.imag()) + "j";
  const std::string sign = std::signbit(value.imag()) ? "" : "+";
  return "(" + part(value.real()) + sign + part(value.imag()) + "j)";
}

// Python's repr: single quotes, double ones when the text has single ones.
std::string python_string(const std::string& text) {
  const bool has_single = text.find('\'') != std::string::npos;
  const bool has_double = text.find('"') != std::string::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (char c : text) {
    if (c == quote || c == '\\') out += '\\';
    out += c;
  }
  return escaped(out + quote);
}

std::string python_device(c10::Device device) {
  std::string text = "device(type='" + c10::DeviceTypeName(device.type(), true);
  text += "'";
  if (device.has_index())
    text += ", index=" + std::to_string(static_cast<int>(device.index()));
  return text + ")";
}

std::string python_layout(c10::Layout layout) {
  std::ostringstream out;
  out << layout;
  std::string name = out.str();  // "Strided"
  for (char& c : name) c = static_cast<char>(tolower(c));
  return "torch." + name;
}

const char* python_memory_format(c10::MemoryFormat format) {
  switch (format) {
    case c10::MemoryFormat::Preserve: return "torch.preserve_format";
    case c10::MemoryFormat::ChannelsLast: return "torch.channels_last";
    case c10::MemoryFormat::ChannelsLast3d: return "torch.channels_last_3d";
    default: return "torch.contiguous_format";
  }
}

// The argument is what the schema would fill in.
bool is_default(const Argument& a, const c10::IValue& value) {
  if (value.isNone()) return a.is_none();
  if (value.isInt()) {
    const int64_t number = value.toInt();
    if (auto v = a.get<int64_t>()) return *v == number;
    if (auto v = a.get<c10::ScalarType>())
      return static_cast<int64_t>(*v) == number;
    if (auto v = a.get<c10::Layout>())
      return static_cast<int64_t>(*v) == number;
    if (auto v = a.get<c10::MemoryFormat>())
      return static_cast<int64_t>(*v) == number;
    return false;
  }
  if (value.isBool()) return a.get<bool>() && *a.get<bool>() == value.toBool();
  if (value.isDouble())
    return a.get<double>() && *a.get<double>() == value.toDouble();
  if (value.isString())
    return a.get<std::string>() && *a.get<std::string>() == value.toStringRef();
  if (!value.isList()) return false;
  const ListArgument* list = a.get<ListArgument>();
  if (list == nullptr) return false;
  const auto items = value.toListRef();
  return std::equal(list->items.begin(), list->items.end(), items.begin(),
                    items.end(), is_default);
}

// How many positional arguments torch prints: up to the last that is not the
// default.
size_t positional_count(const Node& node) {
  const auto& formals = node.op->schema().arguments();
  size_t count = 0;
  for (size_t i = 0; i < node.args.size(); ++i) {
    if (formals[i].kwarg_only()) break;
    const auto& fallback = formals[i].default_value();
    if (!fallback || !is_default(node.args[i], *fallback)) count = i + 1;
  }
  return count;
}

// The Python operator sign of a target: "{} + {}".
const char* sign_of(const std::string& target) {
  static const std::unordered_map<std::string, const char*> kSigns = {
      {"_operator.add", " + "},     {"_operator.sub", " - "},
      {"_operator.mul", " * "},     {"_operator.floordiv", " // "},
      {"_operator.truediv", " / "}, {"_operator.mod", " % "},
      {"_operator.pow", " ** "},    {"_operator.lshift", " << "},
      {"_operator.rshift", " >> "}, {"_operator.and_", " & "},
      {"_operator.or_", " | "},     {"_operator.xor", " ^ "},
      {"_operator.eq", " == "},     {"_operator.ne", " != "},
      {"_operator.lt", " < "},      {"_operator.gt", " > "},
      {"_operator.le", " <= "},     {"_operator.ge", " >= "}};
  auto found = kSigns.find(target);
  return found == kSigns.end() ? nullptr : found->second;
}

// Operands that torch prints as a tuple: all but those of map and scan.
bool is_tuple(const Node& node, size_t argument) {
  if (!node.args[argument].get<ListArgument>()) return false;
  if (node.target.ends_with(".map_impl")) return false;
  const bool scans = node.target.ends_with("scan");
  return !scans || argument + 1 == node.args.size();
}

// "[x]" -> "(x,)"
std::string as_tuple(const std::string& list) {
  std::string items = list.substr(1, list.size() - 2);
  if (!items.empty() && items.find(',') == std::string::npos) items += ",";
  return "(" + items + ")";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

// One printed assignment.
struct Line {
  std::string name;
  std::string annotation;  // empty: none
  std::string text;        // the right side
  std::vector<std::string> reads;
  uint32_t location = 0;
};

class BodyPrinter {
 public:
  explicit BodyPrinter(const Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes) add(node);
    find_last_reads();
  }

  std::string text(int indent) const {
    const std::string margin(indent, ' ');
    std::string out;
    std::string comment;
    bool first = true;
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string here = source_comment(lines_[i].location);
      if (first || here != comment) {
        if (!first) out += "\n";
        out += margin + here + "\n";
      }
      comment = here;
      first = false;
      out += margin + statement(i) + "\n";
    }
    return out + margin + "return (" + returned() + ")\n";
  }

 private:
  void add(const Node& node) {
    Line line;
    line.name = node.name;
    line.text = graph_.to_string(node);
    line.location = node.location;
    const auto read = [&](ValueId id) {
      const std::string& name = graph_.value(id).name;
      if (std::find(line.reads.begin(), line.reads.end(), name) ==
          line.reads.end())
        line.reads.push_back(name);
    };
    for (const Argument& a : node.args) {
      if (const GraphArgument* sub = a.get<GraphArgument>()) {
        lines_.push_back(
            {sub->name, "", "self." + sub->name, {}, node.location});
        line.reads.push_back(sub->name);
      }
      for_each_reference(a, read);
    }
    const bool single = node.has_single_value();
    if (single)
      for_each_output(
          node, [&](ValueId id) { line.annotation = graph_.annotation(id); });
    lines_.push_back(std::move(line));
    if (!single) add_items(node);
  }

  // getitem = topk[0]
  void add_items(const Node& node) {
    size_t index = 0;
    for (const Node::Output& output : node.outputs)
      for (ValueId id : output.values) {
        const std::string item =
            node.name + "[" + std::to_string(index++) + "]";
        if (id == kNoOutput) continue;
        lines_.push_back({graph_.value(id).name,
                          graph_.annotation(id),
                          item,
                          {node.name},
                          node.location});
      }
  }

  void find_last_reads() {
    std::set<std::string> seen;
    for (const OutputSpec& output : graph_.outputs)
      for_each_reference(
          output.arg, [&](ValueId id) { seen.insert(graph_.value(id).name); });
    dies_.resize(lines_.size());
    for (size_t i = lines_.size(); i-- > 0;) {
      const bool unread = !seen.contains(lines_[i].name);
      for (const std::string& name : lines_[i].reads)
        if (seen.insert(name).second) dies_[i].push_back(name);
      if (unread) dies_[i].push_back(lines_[i].name);
    }
  }

  std::string source_comment(uint32_t location) const {
    const std::vector<Frame>& frames = graph_.stacks[location];
    if (frames.empty()) return "# No stacktrace found for following nodes";
    const Frame& f = frames.back();
    return "# File: " + f.file + ":" + std::to_string(f.line) + " in " +
           f.function + ", code: " + f.code;
  }

  std::string statement(size_t i) const {
    const Line& line = lines_[i];
    std::string out = line.name;
    if (!line.annotation.empty()) out += ": \"" + line.annotation + "\"";
    out += " = " + line.text;
    if (dies_[i].empty()) return out;
    out += ";  ";
    for (const std::string& name : dies_[i]) out += name + " = ";
    return out + "None";
  }

  std::string returned() const {
    std::vector<std::string> parts;
    for (const OutputSpec& output : graph_.outputs)
      parts.push_back(graph_.to_string(output.arg));
    return joined(parts) + (parts.size() == 1 ? "," : "");
  }

  const Graph& graph_;
  std::vector<Line> lines_;
  std::vector<std::vector<std::string>> dies_;  // names last read by a line
};

}  // namespace

std::string_view short_name(c10::ScalarType dtype) {
  const DtypeNames* row = find_dtype(dtype);
  return row ? row->brief : "?";
}

std::string python_name(c10::ScalarType dtype) {
  const DtypeNames* row = find_dtype(dtype);
  if (row) return std::string("torch.") + row->full;
  std::string name = c10::toString(dtype);
  for (char& c : name) c = static_cast<char>(tolower(c));
  return "torch." + name;
}

std::string target_name(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  std::string name = schema.name();
  if (const size_t colons = name.find("::"); colons != std::string::npos)
    name.replace(colons, 2, ".");
  const std::string& overload = schema.overload_name();
  return name + "." + (overload.empty() ? "default" : overload);
}

bool is_mode_block(const Node& node) {
  return node.target == "torch.ops.higher_order.wrap_with_set_grad_enabled" ||
         node.target == "torch.ops.higher_order.wrap_with_autocast";
}

std::string_view name_of(InputKind kind) {
  switch (kind) {
    case InputKind::kUserInput: return "USER_INPUT";
    case InputKind::kParameter: return "PARAMETER";
    case InputKind::kBuffer: return "BUFFER";
    case InputKind::kConstantTensor: return "CONSTANT_TENSOR";
  }
  return "?";
}

std::string_view name_of(OutputKind kind) {
  constexpr std::string_view kNames[] = {"?",
                                         "USER_OUTPUT",
                                         "LOSS_OUTPUT",
                                         "BUFFER_MUTATION",
                                         "GRADIENT_TO_PARAMETER",
                                         "GRADIENT_TO_USER_INPUT",
                                         "USER_INPUT_MUTATION",
                                         "TOKEN",
                                         "PARAMETER_MUTATION"};
  return kNames[static_cast<size_t>(kind)];
}

bool is_mutation(OutputKind kind) {
  return kind == OutputKind::kBufferMutation ||
         kind == OutputKind::kUserInputMutation ||
         kind == OutputKind::kParameterMutation;
}

size_t Node::value_count() const {
  size_t count = 0;
  for (const Output& output : outputs) count += output.values.size();
  return count;
}

bool Node::has_single_value() const {
  return kind != Kind::kHigherOrder && outputs.size() == 1 &&
         !outputs[0].is_list && outputs[0].values.size() == 1 &&
         outputs[0].values[0] != kNoOutput;
}

ValueId Graph::add_value(std::variant<TensorMeta, Expr> meta) {
  values.push_back({"", std::move(meta)});
  return static_cast<ValueId>(values.size() - 1);
}

std::string Graph::annotation(ValueId id) const {
  // Characters of one size; of shared parts it can have any number.
  constexpr size_t kPrintedSize = 2000;
  const GraphValue& v = value(id);
  if (!v.is_tensor())
    return "Sym(" + proviso::to_string(v.expr(), kPrintedSize) + ")";
  std::vector<std::string> sizes;
  for (Expr e : v.tensor().sizes)
    sizes.push_back(proviso::to_string(e, kPrintedSize));
  return std::string(short_name(v.tensor().dtype)) + "[" + joined(sizes) + "]";
}

std::string Graph::to_string(const Argument& a) const {
  return std::visit(
      Overloaded{
          [](const NoneArgument&) -> std::string { return "None"; },
          [&](const ValueRef& ref) -> std::string {
            const std::string& name = value(ref.id).name;
            return name.empty() ? "%" + std::to_string(ref.id) : name;
          },
          [](int64_t v) { return std::to_string(v); },
          [](double v) { return python_float(v); },
          [](bool v) -> std::string { return v ? "True" : "False"; },
          [](const std::string& v) { return python_string(v); },
          [](c10::ScalarType v) { return python_name(v); },
          [](c10::Layout v) { return python_layout(v); },
          [](c10::MemoryFormat v) -> std::string {
            return python_memory_format(v);
          },
          [](c10::Device v) { return python_device(v); },
          [](c10::complex<double> v) { return python_complex(v); },
          [](const ExprArgument& v) { return proviso::to_string(v.expr); },
          [&](const ListArgument& v) {
            std::vector<std::string> items;
            for (const Argument& item : v.items)
              items.push_back(to_string(item));
            return "[" + joined(items) + "]";
          },
          [](const GraphArgument& v) { return v.name; },
      },
      a.value);
}

std::string Graph::to_string(const Node& node) const {
  std::vector<std::string> parts;
  if (node.kind == Node::Kind::kOperator) {
    const auto& formals = node.op->schema().arguments();
    const size_t positional = positional_count(node);
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (i < positional) {
        parts.push_back(to_string(node.args[i]));
      } else if (formals[i].kwarg_only()) {
        const auto& fallback = formals[i].default_value();
        if (fallback && is_default(node.args[i], *fallback)) continue;
        parts.push_back(formals[i].name() + " = " + to_string(node.args[i]));
      }
    }
    return "torch.ops." + node.target + "(" + joined(parts) + ")";
  }
  for (const Argument& a : node.args) parts.push_back(to_string(a));
  if (node.kind == Node::Kind::kHigherOrder)
    for (size_t i = 0; i < node.args.size(); ++i)
      if (is_tuple(node, i)) parts[i] = as_tuple(parts[i]);
  if (const char* sign = sign_of(node.target); sign && parts.size() == 2)
    return parts[0] + sign + parts[1];
  if (node.target == "_operator.neg") return "-" + parts[0];
  return node.target + "(" + joined(parts) + ")";
}

std::string Graph::to_string(const std::string& class_name, int indent) const {
  const std::string margin(indent, ' ');
  std::string out = margin + "class " + class_name + "(torch.nn.Module):\n";
  out += margin + "    def forward(self";
  for (const InputSpec& input : inputs) {
    out += ", " + input.name;
    if (const ValueRef* ref = input.arg.get<ValueRef>())
      out += ": \"" + annotation(ref->id) + "\"";
  }
  out += "):\n" + BodyPrinter(*this).text(indent + 8);
  for (const Node& node : nodes)
    for (const Argument& a : node.args)
      if (const GraphArgument* sub = a.get<GraphArgument>())
        out += "\n" + sub->graph->to_string(sub->name, indent + 4);
  return out;
}

}  // namespace proviso::inline v0_2
