#include "tracer_adapter/pt2/graph_reader.h"

#include <charconv>

#include "sym/print.h"
#include "tracer_adapter/sym_functions.h"

namespace proviso::pt2 {
namespace {

template <typename T>
T coded(const Json& json, const std::map<int64_t, T>& codes,
        const char* what) {
  const auto found = codes.find(json.integer());
  if (found == codes.end())
    throw FileError("unknown " + std::string(what) + " code " +
                    std::to_string(json.integer()));
  return found->second;
}

c10::Layout read_layout(const Json& json) {
  return coded<c10::Layout>(json,
                            {{1, c10::kSparse},
                             {2, c10::kSparseCsr},
                             {3, c10::kSparseCsc},
                             {4, c10::kSparseBsr},
                             {5, c10::kSparseBsc},
                             {6, c10::kMkldnn},
                             {7, c10::kStrided}},
                            "layout");
}

c10::MemoryFormat read_format(const Json& json) {
  using enum c10::MemoryFormat;
  return coded<c10::MemoryFormat>(
      json,
      {{1, Contiguous}, {2, ChannelsLast}, {3, ChannelsLast3d}, {4, Preserve}},
      "memory format");
}

// "torch.ops.aten.add.Tensor" -> aten::add, Tensor
std::optional<c10::OperatorHandle> find_operator(const std::string& target) {
  static const std::string kPrefix = "torch.ops.";
  if (!target.starts_with(kPrefix)) return std::nullopt;
  const size_t space = target.find('.', kPrefix.size());
  const size_t name = target.find('.', space + 1);
  if (space == std::string::npos || name == std::string::npos)
    return std::nullopt;
  std::string overload = target.substr(name + 1);
  if (overload == "default") overload.clear();
  return c10::Dispatcher::singleton().findSchema(
      {target.substr(kPrefix.size(), space - kPrefix.size()) + "::" +
           target.substr(space + 1, name - space - 1),
       overload});
}

Argument default_of(const c10::IValue& value) {
  if (value.isNone()) return {NoneArgument{}};
  if (value.isInt()) return {value.toInt()};
  if (value.isDouble()) return {value.toDouble()};
  if (value.isBool()) return {value.toBool()};
  if (value.isString()) return {value.toStringRef()};
  if (value.isDevice()) return {value.toDevice()};
  if (value.isList()) {
    ListArgument list;
    for (const c10::IValue& item : value.toListRef())
      list.items.push_back(default_of(item));
    return {std::move(list)};
  }
  throw FileError("an argument that must be given is missing");
}

Frame frame_of(const std::string& line) {
  // File "model.py", line 12, in forward
  Frame frame;
  const size_t open = line.find('"'), close = line.find('"', open + 1);
  const size_t number = line.find("line ", close);
  if (open == std::string::npos || close == std::string::npos) return frame;
  frame.file = line.substr(open + 1, close - open - 1);
  if (number == std::string::npos) return frame;
  const char* first = line.data() + number + 5;
  std::from_chars(first, line.data() + line.size(), frame.line);
  const size_t in = line.find(", in ", number);
  if (in != std::string::npos) frame.function = line.substr(in + 5);
  return frame;
}

std::vector<Frame> frames_of(const std::string& trace) {
  std::vector<Frame> frames;
  for (size_t at = 0; at < trace.size();) {
    const size_t end = std::min(trace.find('\n', at), trace.size());
    std::string line = trace.substr(at, end - at);
    at = end + 1;
    const size_t text = line.find_first_not_of(' ');
    if (text == std::string::npos) continue;
    line = line.substr(text);
    if (line.starts_with("File \""))
      frames.push_back(frame_of(line));
    else if (!frames.empty() && frames.back().code.empty())
      frames.back().code = line;
  }
  return frames;
}

}  // namespace

c10::ScalarType read_dtype(const Json& json) {
  using enum c10::ScalarType;
  const int64_t code = json.integer();
  if (code >= 1 && code <= 12) return static_cast<c10::ScalarType>(code - 1);
  return coded<c10::ScalarType>(json,
                                {{13, BFloat16},
                                 {28, UInt16},
                                 {29, Float8_e4m3fn},
                                 {30, Float8_e5m2},
                                 {31, Float8_e4m3fnuz},
                                 {32, Float8_e5m2fnuz},
                                 {33, Float8_e8m0fnu},
                                 {34, UInt32},
                                 {35, UInt64}},
                                "dtype");
}

c10::Device read_device(const Json& json) {
  std::string text = json.at("type").string();
  if (const Json* index = json.find("index"))
    text += ":" + std::to_string(index->integer());
  try {
    return c10::Device(text);
  } catch (const c10::Error&) {
    throw FileError("there is no device '" + text + "'");
  }
}

// --- values

Expr GraphReader::number(const Json& json, bool of_node) {
  const auto& [tag, body] = json.tagged();
  if (tag == "as_int")
    return symbols_.expression(std::to_string(body.integer()));
  if (tag == "as_bool")
    return symbols_.expression(body.boolean() ? "True" : "False");
  const std::string& text =
      tag == "as_float" ? std::to_string(body.number())
                        : body.at("expr_str").string();
  return of_node ? symbols_.value_of_node(text) : symbols_.expression(text);
}

TensorMeta GraphReader::tensor_meta(const Json& json, bool of_node) {
  TensorMeta meta;
  meta.dtype = read_dtype(json.at("dtype"));
  meta.device = read_device(json.at("device"));
  meta.requires_grad = json.at("requires_grad").boolean();
  for (const Json& size : json.at("sizes").items())
    meta.sizes.push_back(number(size, of_node));
  for (const Json& stride : json.at("strides").items())
    meta.strides.push_back(number(stride, of_node));
  meta.offset = number(json.at("storage_offset"), of_node);
  if (read_layout(json.at("layout")) != c10::kStrided)
    throw FileError("only strided tensors can be read");
  if (meta.sizes.size() != meta.strides.size())
    throw FileError("a tensor of " + std::to_string(meta.sizes.size()) +
                    " sizes has " + std::to_string(meta.strides.size()) +
                    " strides");
  return meta;
}

ValueId GraphReader::define(Scope& scope, const std::string& name,
                            bool of_node) {
  ValueId id = kNoOutput;
  if (const Json* found = scope.json.at("tensor_values").find(name)) {
    id = graph_->add_value(tensor_meta(*found, of_node));
  } else {
    for (const char* table :
         {"sym_int_values", "sym_bool_values", "sym_float_values"}) {
      const Json* values = scope.json.find(table);
      const Json* entry = values ? values->find(name) : nullptr;
      if (entry == nullptr) continue;
      id = graph_->add_value(number(*entry, of_node));
      break;
    }
  }
  if (id == kNoOutput)
    throw FileError("the value '" + name + "' has no entry among the values");
  if (!scope.names.emplace(name, id).second)
    throw FileError("the value '" + name + "' is defined twice");
  std::string shown = name;
  for (int i = 1; !used_names_.insert(shown).second; ++i)
    shown = name + "_" + std::to_string(i);
  graph_->values[id].name = shown;
  return id;
}

ValueId GraphReader::value(const Scope& scope, const std::string& name) const {
  const auto found = scope.names.find(name);
  if (found == scope.names.end())
    throw FileError("the value '" + name + "' is used before it is defined");
  return found->second;
}

// --- arguments

Argument GraphReader::list(const Scope& scope, const std::string& tag,
                           const Json& json) {
  ListArgument list;
  for (const Json& item : json.items()) {
    if (tag == "as_tensors")
      list.items.push_back({ValueRef{value(scope, item.at("name").string())}});
    else if (tag == "as_ints")
      list.items.push_back({item.integer()});
    else if (tag == "as_floats")
      list.items.push_back({item.number()});
    else if (tag == "as_bools")
      list.items.push_back({item.boolean()});
    else if (tag == "as_strings")
      list.items.push_back({item.string()});
    else
      list.items.push_back(argument(scope, item));
  }
  return {std::move(list)};
}

Argument GraphReader::argument(const Scope& scope, const Json& json) {
  const auto& [tag, body] = json.tagged();
  if (tag == "as_none") return {NoneArgument{}};
  if (tag == "as_tensor")
    return {ValueRef{value(scope, body.at("name").string())}};
  if (tag == "as_name") return {ValueRef{value(scope, body.string())}};
  if (tag == "as_sym_int" || tag == "as_sym_float" || tag == "as_sym_bool")
    return argument(scope, body);
  if (tag == "as_int") return {body.integer()};
  if (tag == "as_float") return {body.number()};
  if (tag == "as_bool") return {body.boolean()};
  if (tag == "as_string") return {body.string()};
  if (tag == "as_scalar_type") return {read_dtype(body)};
  if (tag == "as_layout") return {read_layout(body)};
  if (tag == "as_memory_format") return {read_format(body)};
  if (tag == "as_device") return {read_device(body)};
  if (tag == "as_complex")
    return {c10::complex<double>(body.at("real").number(),
                                 body.at("imag").number())};
  if (tag == "as_graph") {
    GraphReader sub(symbols_);
    Graph graph = sub.read(body.at("graph"));
    return {GraphArgument{body.at("name").string(),
                          std::make_shared<Graph>(std::move(graph))}};
  }
  static const std::set<std::string> kLists = {
      "as_tensors",  "as_ints",       "as_floats",     "as_bools",
      "as_strings",  "as_sym_ints",   "as_sym_floats", "as_sym_bools",
      "as_optional_tensors"};
  if (kLists.contains(tag)) return list(scope, tag, body);
  throw FileError("arguments of the kind '" + tag + "' cannot be read");
}

Argument GraphReader::argument(const Json& json) const {
  GraphReader reader(symbols_);
  static const Json kEmpty;
  return reader.argument(Scope{kEmpty, top_}, json);
}

// --- types

void GraphReader::check(const Argument& a, const c10::Type& type,
                        const std::string& where) const {
  using Kind = c10::TypeKind;
  const auto expect = [&](bool fits) {
    if (!fits)
      throw FileError("argument '" + where + "' must be " + type.str() +
                      ", found " + graph_->to_string(a));
  };
  const ValueRef* ref = a.get<ValueRef>();
  const bool tensor = ref && graph_->value(ref->id).is_tensor();
  const auto is_number = [&](Type wanted) {
    return ref && !tensor && graph_->value(ref->id).expr().type() == wanted;
  };
  const bool integer = a.get<int64_t>() || is_number(Type::kInt);
  const bool boolean = a.get<bool>() || is_number(Type::kBool);
  const bool real = a.get<double>() || is_number(Type::kFloat);
  const bool code = a.get<c10::ScalarType>() || a.get<c10::Layout>() ||
                    a.get<c10::MemoryFormat>();
  switch (type.kind()) {
    case Kind::OptionalType:
      if (!a.is_none()) check(a, *type.containedTypes()[0], where);
      return;
    case Kind::ListType: {
      const ListArgument* items = a.get<ListArgument>();
      expect(items != nullptr);
      for (const Argument& item : items->items)
        check(item, *type.containedTypes()[0], where);
      return;
    }
    case Kind::TensorType:
      return expect(tensor || integer || real || boolean ||
                    a.get<c10::complex<double>>());
    case Kind::IntType:
    case Kind::SymIntType:
      return expect(integer || code);
    case Kind::FloatType:
    case Kind::SymFloatType:
      return expect(real || integer);
    case Kind::BoolType:
    case Kind::SymBoolType:
      return expect(boolean);
    case Kind::NumberType:
      return expect(integer || real || boolean ||
                    a.get<c10::complex<double>>());
    case Kind::StringType:
      return expect(a.get<std::string>() != nullptr);
    case Kind::DeviceObjType:
      return expect(a.get<c10::Device>() != nullptr);
    default:
      return expect(a.is_none() || code);
  }
}

// --- nodes

void GraphReader::operator_node(Scope& scope, const Json& json, Node& node) {
  node.kind = Node::Kind::kOperator;
  node.target = target_name(*node.op);
  const c10::FunctionSchema& schema = node.op->schema();
  const auto& formals = schema.arguments();
  std::vector<std::optional<Argument>> given(formals.size());
  size_t position = 0;
  for (const Json& input : json.at("inputs").items()) {
    const std::string& name = input.at("name").string();
    const bool keyword = input.at("kind").integer() == 2;
    size_t i = position;
    if (keyword) {
      const auto index = schema.argumentIndexWithName(name);
      if (!index) throw FileError("there is no argument '" + name + "'");
      i = *index;
    } else {
      ++position;
    }
    if (i >= formals.size() || given[i])
      throw FileError("too many arguments, or '" + name + "' twice");
    if (name != formals[i].name())
      throw FileError("argument " + std::to_string(i) + " is named '" + name +
                      "', the operator calls it '" + formals[i].name() + "'");
    given[i] = argument(scope, input.at("arg"));
  }
  for (size_t i = 0; i < formals.size(); ++i) {
    if (!given[i]) {
      if (!formals[i].default_value())
        throw FileError("the argument '" + formals[i].name() + "' is missing");
      node.args.push_back(default_of(*formals[i].default_value()));
      continue;
    }
    check(*given[i], *formals[i].type(), formals[i].name());
    node.args.push_back(std::move(*given[i]));
  }
}

// The names that an output defines; "" for None.
std::vector<std::string> GraphReader::output_names(const Json& json) const {
  const auto& [tag, body] = json.tagged();
  std::vector<std::string> names;
  if (tag == "as_none") return {""};
  if (tag == "as_tensor") return {body.at("name").string()};
  if (tag == "as_sym_int" || tag == "as_sym_bool" || tag == "as_sym_float")
    return {body.at("as_name").string()};
  if (tag == "as_tensors") {
    for (const Json& item : body.items())
      names.push_back(item.at("name").string());
    return names;
  }
  if (tag == "as_optional_tensors") {
    for (const Json& item : body.items())
      for (std::string& name : output_names(item))
        names.push_back(std::move(name));
    return names;
  }
  throw FileError("outputs of the kind '" + tag + "' cannot be read");
}

void GraphReader::outputs(Scope& scope, const Json& json, Node& node) {
  for (const Json& output : json.at("outputs").items()) {
    const std::string& tag = output.tagged().first;
    const bool list = tag == "as_tensors" || tag == "as_optional_tensors";
    std::vector<ValueId> ids;
    for (const std::string& name : output_names(output))
      ids.push_back(name.empty() ? kNoOutput : define(scope, name, true));
    if (list && node.kind == Node::Kind::kHigherOrder) {
      for (ValueId id : ids) node.outputs.push_back({false, {id}});
    } else {
      node.outputs.push_back({list, std::move(ids)});
    }
  }
  if (node.kind != Node::Kind::kOperator) return;
  const size_t returns = node.op->schema().returns().size();
  if (node.outputs.size() > returns)
    throw FileError("it has " + std::to_string(node.outputs.size()) +
                    " outputs where the operator returns " +
                    std::to_string(returns));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const auto kind = node.op->schema().returns()[i].type()->kind();
    if (node.outputs[i].is_list != (kind == c10::TypeKind::ListType))
      throw FileError("output " + std::to_string(i) + " must be " +
                      node.op->schema().returns()[i].type()->str());
  }
}

uint32_t GraphReader::location(const Json& json) {
  const Json* metadata = json.find("metadata");
  const Json* trace = metadata ? metadata->find("stack_trace") : nullptr;
  if (trace == nullptr) return 0;
  const auto next = static_cast<uint32_t>(graph_->stacks.size());
  const auto [at, fresh] = locations_.emplace(trace->string(), next);
  if (fresh) graph_->stacks.push_back(frames_of(trace->string()));
  return at->second;
}

// wrap_with_set_grad_enabled(False, body, *operands)
bool GraphReader::inlined(Scope& scope, const Json& json) {
  if (json.at("target").string() !=
      "torch.ops.higher_order.wrap_with_set_grad_enabled")
    return false;
  const Json::Items& inputs = json.at("inputs").items();
  if (inputs.size() < 2) throw FileError("its body is missing");
  const Json& body = inputs[1].at("arg").at("as_graph").at("graph");
  Scope inner{body, {}};
  const Json::Items& formals = body.at("inputs").items();
  if (formals.size() != inputs.size() - 2)
    throw FileError("its body takes " + std::to_string(formals.size()) +
                    " operands, and gets " + std::to_string(inputs.size() - 2));
  for (size_t i = 0; i < formals.size(); ++i) {
    const Argument operand = argument(scope, inputs[i + 2].at("arg"));
    const ValueRef* ref = operand.get<ValueRef>();
    const std::vector<std::string> names = output_names(formals[i]);
    if (ref == nullptr || names.size() != 1)
      throw FileError("its operands must be values");
    inner.names[names[0]] = ref->id;
  }
  nodes(inner);
  std::vector<ValueId> results;
  for (const Json& output : body.at("outputs").items())
    for (const std::string& name : output_names(output))
      results.push_back(name.empty() ? kNoOutput : value(inner, name));
  size_t next = 0;
  for (const Json& output : json.at("outputs").items())
    for (const std::string& name : output_names(output)) {
      if (next == results.size()) throw FileError("it has too many outputs");
      scope.names[name] = results[next++];
    }
  return true;
}

void GraphReader::node(Scope& scope, const Json& json) {
  if (inlined(scope, json)) return;
  Node node;
  const std::string& target = json.at("target").string();
  node.target = target;
  if (const Json* name = json.find("name")) node.name = name->string();
  node.location = location(json);
  if (target.starts_with("torch.ops.higher_order.")) {
    node.kind = Node::Kind::kHigherOrder;
  } else if ((node.op = find_operator(target))) {
    operator_node(scope, json, node);
  } else if (find_sym_function(target) != nullptr) {
    node.kind = Node::Kind::kSymbolic;
  } else {
    throw FileError("there is no such operator; import what defines it");
  }
  if (node.kind != Node::Kind::kOperator)
    for (const Json& input : json.at("inputs").items())
      node.args.push_back(argument(scope, input.at("arg")));
  outputs(scope, json, node);
  graph_->nodes.push_back(std::move(node));
}

void GraphReader::nodes(Scope& scope) {
  size_t index = 0;
  for (const Json& json : scope.json.at("nodes").items()) {
    try {
      node(scope, json);
    } catch (const Error& error) {
      const Json* target = json.is_object() ? json.find("target") : nullptr;
      throw FileError("node " + std::to_string(index) + " (" +
                      (target && target->is_string() ? target->string() : "?") +
                      "): " + error.what());
    }
    ++index;
  }
}

Argument GraphReader::input(Scope& scope, const Json& json) {
  const auto& [tag, body] = json.tagged();
  std::string name;
  if (tag == "as_tensor")
    name = body.at("name").string();
  else if (tag.starts_with("as_sym_") && body.tagged().first == "as_name")
    name = body.at("as_name").string();
  else
    return argument(scope, json);
  return {ValueRef{define(scope, name, false)}};
}

Graph GraphReader::read(const Json& json) {
  Graph graph;
  graph_ = &graph;
  Scope scope{json, {}};
  for (const Json& entry : json.at("inputs").items()) {
    InputSpec spec;
    spec.arg = input(scope, entry);
    if (const ValueRef* ref = spec.arg.get<ValueRef>())
      spec.name = graph.value(ref->id).name;
    graph.inputs.push_back(std::move(spec));
  }
  nodes(scope);
  for (const Json& entry : json.at("outputs").items())
    graph.outputs.push_back({OutputKind::kUserOutput,
                             argument(scope, entry), ""});
  top_ = scope.names;
  graph_ = nullptr;
  return graph;
}

}  // namespace proviso::pt2
