#include "tracer_adapter/pt2/graph_reader.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "sym/print.h"
#include "tracer_adapter/ir/printable.h"
#include "tracer_adapter/ir/sym_functions.h"
#include "tracer_adapter/pt2/fail.h"
#include "tracer_adapter/pt2/fx_names.h"
#include "tracer_adapter/pt2/node_check.h"
#include "tracer_adapter/run/arguments.h"
#include "tracer_adapter/run/int64_at.h"

namespace proviso::inline v0_2::pt2 {
namespace {

template <typename T>
T coded(const Json& json, const std::map<int64_t, T>& codes, const char* what) {
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

// kOther: no number.
ValueKind symbolic_kind(const std::string& tag) {
  if (tag == "as_sym_int") return ValueKind::kInt;
  if (tag == "as_sym_float") return ValueKind::kFloat;
  return tag == "as_sym_bool" ? ValueKind::kBool : ValueKind::kOther;
}

const char* table_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::kInt: return "sym_int_values";
    case ValueKind::kFloat: return "sym_float_values";
    case ValueKind::kBool: return "sym_bool_values";
    default: return "tensor_values";
  }
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

// bool[3] takes three; int[2] two, one for both, or none where that is the
// default; int[1] any number.
void check_count(const Argument& a, const c10::Argument& formal) {
  const ListArgument* list = a.get<ListArgument>();
  const auto* type = formal.type()->castRaw<c10::ListType>();
  if (list == nullptr || type == nullptr || formal.N().value_or(1) == 1) return;
  const auto wanted = static_cast<size_t>(*formal.N());
  const size_t count = list->items.size();
  const bool numbers =
      type->getElementType()->kind() != c10::TypeKind::BoolType;
  const bool none_is_default = formal.default_value() &&
                               formal.default_value()->isList() &&
                               formal.default_value()->toListRef().empty();
  const bool fits = count == wanted || (numbers && count == 1) ||
                    (count == 0 && none_is_default);
  if (!fits)
    throw FileError("argument '" + formal.name() + "' takes " +
                    std::to_string(wanted) + " values, found " +
                    std::to_string(list->items.size()));
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
    std::string line = printable(trace.substr(at, end - at));
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
      {target.substr(kPrefix.size(), space - kPrefix.size()) +
           "::" + target.substr(space + 1, name - space - 1),
       overload});
}

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
    throw FileError("there is no device '" + text.substr(0, 50) + "'");
  }
}

// Kernels of other layouts trust what they are given (zeros(layout=_mkldnn)
// writes past the end of its memory).
c10::Layout read_strided(const Json& json) {
  const c10::Layout layout = read_layout(json);
  if (layout != c10::kStrided)
    throw FileError("only strided tensors can be read, found layout " +
                    c10::str(layout));
  return layout;
}

// --- values

Expr GraphReader::number(const Json& json, bool of_node) {
  const auto& [tag, body] = json.tagged();
  if (tag == "as_int")
    return symbols_.expression(std::to_string(body.integer()));
  if (tag == "as_bool")
    return symbols_.expression(body.boolean() ? "True" : "False");
  if (tag != "as_float" && tag != "as_expr")
    throw FileError("numbers of the kind '" + tag + "' cannot be read");
  const std::string& text = tag == "as_float" ? std::to_string(body.number())
                                              : body.at("expr_str").string();
  const Expr e =
      of_node ? symbols_.value_of_node(text) : symbols_.expression(text);
  if (tag == "as_expr") check_hint(body, e);
  return e;
}

void GraphReader::check_hint(const Json& number, Expr e) {
  const Json* hint = number.find("hint");
  if (hint == nullptr) return;
  const std::string& tag = hint->tagged().first;
  if (tag != (e.is_int() ? "as_int" : e.is_bool() ? "as_bool" : "as_float"))
    throw FileError("the hint of " + to_string(e) +
                    " is of another type: " + tag);
}

Expr GraphReader::integer(const Json& json, bool of_node, const char* what) {
  const Expr e = number(json, of_node);
  const auto fail = [&] {
    throw FileError("a tensor's " + std::string(what) +
                    " must be a 64-bit integer from 0 up, found " +
                    to_string(e));
  };
  if (!e.is_int()) fail();
  if (e.is_symbol() || !free_symbols(e).empty()) return e;
  // PowByNatural(2, 70) is a number too.
  const std::optional<int64_t> value = internal::int64_at(e, {});
  if (!value || *value < 0) fail();
  return e;
}

Expr GraphReader::number_of(const Json& json, const Named& named,
                            bool of_node) {
  const Expr e = number(json, of_node);
  if (kind_of(GraphValue{"", e}) != named.kind)
    throw FileError("the value '" + named.name + "' must be " +
                    std::string(name_of(named.kind)) + ", found " +
                    to_string(e));
  return e;
}

TensorMeta GraphReader::tensor_meta(const Json& json, bool of_node) {
  TensorMeta meta;
  meta.dtype = read_dtype(json.at("dtype"));
  meta.device = read_device(json.at("device"));
  meta.requires_grad = json.at("requires_grad").boolean();
  if (meta.requires_grad && !c10::isFloatingType(meta.dtype) &&
      !c10::isComplexType(meta.dtype))
    throw FileError(std::string("a tensor of ") + c10::toString(meta.dtype) +
                    " cannot require a gradient");
  const auto read = [&](const Json& entry, const char* what) {
    if (const Json* value = entry.find("as_expr"))
      symbols_.require_ranges(value->at("expr_str").string());
    return integer(entry, of_node, what);
  };
  for (const Json& size : json.at("sizes").items())
    meta.sizes.push_back(read(size, "size"));
  for (const Json& stride : json.at("strides").items())
    meta.strides.push_back(read(stride, "stride"));
  // Torch reads no symbols here.
  meta.offset = integer(json.at("storage_offset"), of_node, "offset");
  read_strided(json.at("layout"));
  if (meta.sizes.size() != meta.strides.size())
    throw FileError("a tensor of " + std::to_string(meta.sizes.size()) +
                    " sizes has " + std::to_string(meta.strides.size()) +
                    " strides");
  return meta;
}

// What the tables of its graph say of a value.
std::variant<TensorMeta, Expr> GraphReader::meta_of(const Scope& scope,
                                                    const Named& named,
                                                    bool of_node) {
  const std::string table = table_of(named.kind);
  const Json* entries = scope.json.find(table);
  const Json* entry = entries ? entries->find(named.name) : nullptr;
  if (entry == nullptr)
    throw FileError("the value '" + named.name + "' has no entry among " +
                    table);
  if (named.kind == ValueKind::kTensor) return tensor_meta(*entry, of_node);
  return number_of(*entry, named, of_node);
}

ValueId GraphReader::define(Scope& scope, const Named& named, bool of_node) {
  const ValueId id = graph_->add_value(meta_of(scope, named, of_node));
  bind(scope, named.name, id);
  std::string shown = named.name;
  while (!used_names_.insert(shown).second)
    shown = named.name + "_" + std::to_string(++suffixes_[named.name]);
  graph_->values[id].name = shown;
  return id;
}

void GraphReader::bind(Scope& scope, const std::string& name,
                       ValueId id) const {
  if (!is_value_name(name) || name.size() > 1000)
    fail(shown_text(name), " is no name of a value: letters of ASCII, digits ",
         "and '_' are, not a digit first, but for Python's keywords, self "
         "and torch");
  if (scope.node_names.contains(name) || tokens_.contains(name) ||
      !scope.names.emplace(name, id).second)
    throw FileError("the value '" + name + "' is defined twice");
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
  if (tag == "as_layout") return {read_strided(body)};
  if (tag == "as_memory_format") return {read_format(body)};
  if (tag == "as_device") return {read_device(body)};
  if (tag == "as_complex")
    return {c10::complex<double>(body.at("real").number(),
                                 body.at("imag").number())};
  if (tag == "as_graph") {
    GraphReader sub(symbols_, allowed_);
    Graph graph = sub.read(body.at("graph"), body_binds_sizes_);
    return {GraphArgument{body.at("name").string(),
                          std::make_shared<Graph>(std::move(graph))}};
  }
  static const std::set<std::string> kLists = {
      "as_tensors",    "as_ints",      "as_floats",
      "as_bools",      "as_strings",   "as_sym_ints",
      "as_sym_floats", "as_sym_bools", "as_optional_tensors"};
  if (kLists.contains(tag)) return list(scope, tag, body);
  throw FileError("arguments of the kind '" + tag + "' cannot be read");
}

Argument GraphReader::argument(const Json& json) const {
  GraphReader reader(symbols_, allowed_);
  static const Json kEmpty;
  return reader.argument(Scope{kEmpty, top_}, json);
}

// --- nodes

namespace {

// Whether an argument is given by its name.  Of other numbers torch guesses,
// and may pass the arguments in another order than they stand.
bool is_keyword(const Json& input) {
  const int64_t kind = input.at("kind").integer();
  if (kind != 1 && kind != 2)
    throw FileError("argument '" + input.at("name").string() + "' is of kind " +
                    std::to_string(kind) +
                    "; 1 (by its place) and 2 (by its name) are known");
  return kind == 2;
}

}  // namespace

// The token that a node makes, or that the graph is given.
void GraphReader::add_token(const Scope& scope, const Json& json) {
  const std::string& name = json.at("as_tensor").at("name").string();
  meta_of(scope, {name, ValueKind::kTensor}, false);  // throws when it is bad
  if (scope.names.contains(name) || !tokens_.insert(name).second)
    throw FileError("the value '" + name + "' is defined twice");
}

bool GraphReader::gives_token(const Json& json) const {
  const auto& [tag, body] = json.tagged();
  return tag == "as_tensor" && tokens_.contains(body.at("name").string());
}

GraphReader::Call GraphReader::call_of(const Scope& scope, const Json& json) {
  const Json::Items& inputs = json.at("inputs").items();
  const Json::Items& outputs = json.at("outputs").items();
  const std::string& target = json.at("target").string();
  if (target != "torch.ops.higher_order.with_effects")
    return {target, inputs, outputs};
  if (inputs.size() < 2 || outputs.empty() || is_keyword(inputs[0]) ||
      is_keyword(inputs[1]) || !gives_token(inputs[0].at("arg")))
    throw FileError(
        "it takes a token and an operator, by their places, and gives a token");
  add_token(scope, outputs[0]);
  std::span<const Json> results = std::span(outputs).subspan(1);
  const std::string& called = inputs[1].at("arg").at("as_operator").string();
  const auto op = find_operator(called);
  if (!op) throw FileError("it calls " + shown_text(called) + ", no operator");
  // Of what gives nothing, one result is said to be None.
  if (op->schema().returns().empty() && results.size() == 1 &&
      results[0].tagged().first == "as_none")
    results = {};
  return {called, std::span(inputs).subspan(2), results, true};
}

void GraphReader::operator_node(Scope& scope, const Call& call, Node& node) {
  node.kind = Node::Kind::kOperator;
  node.target = target_name(*node.op);
  const c10::FunctionSchema& schema = node.op->schema();
  const auto& formals = schema.arguments();
  std::vector<std::optional<Argument>> given(formals.size());
  size_t position = 0;
  for (const Json& input : call.inputs) {
    const std::string& name = input.at("name").string();
    const bool keyword = is_keyword(input);
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
    const bool is_unnamed = call.in_order && !keyword && name.empty();
    if (!is_unnamed && name != formals[i].name())
      throw FileError("argument " + std::to_string(i) + " is named '" + name +
                      "', the operator calls it '" + formals[i].name() + "'");
    if (!keyword && formals[i].kwarg_only())
      throw FileError("argument '" + name + "' must be given by its name");
    given[i] = argument(scope, input.at("arg"));
  }
  for (size_t i = 0; i < formals.size(); ++i) {
    if (!given[i]) {
      if (!formals[i].default_value())
        throw FileError("the argument '" + formals[i].name() + "' is missing");
      node.args.push_back(default_of(*formals[i].default_value()));
      continue;
    }
    check_argument(*graph_, *given[i], *formals[i].real_type(),
                   formals[i].name());
    check_count(*given[i], formals[i]);
    node.args.push_back(std::move(*given[i]));
  }
}

// What an output or an input defines; "" for None.
std::vector<GraphReader::Named> GraphReader::named(const Json& json) const {
  const auto& [tag, body] = json.tagged();
  if (tag == "as_none") return {{"", ValueKind::kNone}};
  if (tag == "as_tensor")
    return {{body.at("name").string(), ValueKind::kTensor}};
  if (const ValueKind kind = symbolic_kind(tag); kind != ValueKind::kOther)
    return {{body.at("as_name").string(), kind}};
  std::vector<Named> all;
  if (tag == "as_tensors") {
    for (const Json& item : body.items())
      all.push_back({item.at("name").string(), ValueKind::kTensor});
    return all;
  }
  if (tag == "as_optional_tensors") {
    for (const Json& item : body.items())
      for (Named& one : named(item)) all.push_back(std::move(one));
    return all;
  }
  throw FileError("outputs of the kind '" + tag + "' cannot be read");
}

std::vector<GraphReader::Named> GraphReader::all_named(
    const Json& outputs) const {
  std::vector<Named> all;
  for (const Json& output : outputs.items())
    for (Named& one : named(output)) all.push_back(std::move(one));
  return all;
}

void GraphReader::outputs(Scope& scope, std::span<const Json> results,
                          Node& node) {
  for (const Json& output : results) {
    const std::string& tag = output.tagged().first;
    const bool list = tag == "as_tensors" || tag == "as_optional_tensors";
    std::vector<ValueId> ids;
    for (const Named& one : named(output))
      ids.push_back(one.kind == ValueKind::kNone ? kNoOutput
                                                 : define(scope, one, true));
    if (list && node.kind == Node::Kind::kHigherOrder) {
      for (ValueId id : ids) node.outputs.push_back({false, {id}});
    } else {
      node.outputs.push_back({list, std::move(ids)});
    }
  }
}

// What a function gives of numbers that the file has.  Throws where it does not
// fit in 64 bits, or is not defined: then no run would give it.
void GraphReader::compute_constant(const Node& node) {
  std::vector<c10::IValue> numbers;
  for (const Argument& a : node.args) {
    const ValueRef* ref = a.get<ValueRef>();
    const auto known = ref ? constants_.find(ref->id) : constants_.end();
    if (ref != nullptr && known == constants_.end()) return;
    numbers.push_back(ref ? known->second : to_ivalue(a));
  }
  const ValueId result = node.outputs[0].values[0];
  try {
    c10::IValue number = find_sym_function(node.target)(numbers);
    if (result != kNoOutput) constants_.emplace(result, std::move(number));
  } catch (const c10::Error& error) {
    throw FileError(error.what_without_backtrace());
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
  inputs[0].at("arg").at("as_bool").boolean();
  const Json& body = inputs[1].at("arg").at("as_graph").at("graph");
  Scope inner{body, {}};
  const Json::Items& formals = body.at("inputs").items();
  if (formals.size() != inputs.size() - 2)
    throw FileError("its body takes " + std::to_string(formals.size()) +
                    " operands, and gets " + std::to_string(inputs.size() - 2));
  for (size_t i = 0; i < formals.size(); ++i) {
    const Argument operand = argument(scope, inputs[i + 2].at("arg"));
    const ValueRef* ref = operand.get<ValueRef>();
    const std::vector<Named> formal = named(formals[i]);
    if (ref == nullptr || formal.size() != 1 ||
        formal[0].kind != kind_of(graph_->value(ref->id)))
      throw FileError("operand " + std::to_string(i) +
                      " is not what its body takes");
    meta_of(inner, formal[0], true);  // throws when it is not good
    bind(inner, formal[0].name, ref->id);
  }
  nodes(inner);
  const std::vector<Named> results = all_named(body.at("outputs"));
  const std::vector<Named> outputs = all_named(json.at("outputs"));
  if (results.size() != outputs.size())
    throw FileError("its body gives " + std::to_string(results.size()) +
                    " values, and it has " + std::to_string(outputs.size()) +
                    " outputs");
  for (size_t i = 0; i < results.size(); ++i) {
    if (outputs[i].kind == ValueKind::kNone) continue;
    const ValueId id = value(inner, results[i].name);
    if (kind_of(graph_->value(id)) != outputs[i].kind)
      throw FileError("output " + std::to_string(i) +
                      " is not what its body gives");
    meta_of(scope, outputs[i], true);
    bind(scope, outputs[i].name, id);
  }
  return true;
}

void GraphReader::node(Scope& scope, const Json& json) {
  if (inlined(scope, json)) return;
  Node node;
  const Call call = call_of(scope, json);
  const std::string& target = call.target;
  node.target = target == "torch.builtins.round" ? "builtins.round" : target;
  if (const Json* name = json.find("name")) node.name = name->string();
  node.location = location(json);
  body_binds_sizes_ = target == "torch.ops.higher_order.associative_scan";
  if (target.starts_with(kHigherOrderPrefix)) {
    node.kind = Node::Kind::kHigherOrder;
  } else if ((node.op = find_operator(target))) {
    allowed_.check(*node.op);
    operator_node(scope, call, node);
  } else if (find_sym_function(node.target) != nullptr) {
    node.kind = Node::Kind::kSymbolic;
  } else {
    throw FileError("there is no such operator; import what defines it");
  }
  if (node.kind != Node::Kind::kOperator)
    for (const Json& input : call.inputs) {
      if (is_keyword(input) && !input.at("name").string().empty())
        throw FileError("argument '" + input.at("name").string() +
                        "' must be given by its place");
      Argument given = argument(scope, input.at("arg"));
      if (auto list = given.get<ListArgument>();
          list && node.target == "torch.sym_sum")
        std::ranges::move(std::vector(list->items),
                          std::back_inserter(node.args));
      else
        node.args.push_back(std::move(given));
    }
  outputs(scope, call.outputs, node);
  if (!node.name.empty() && !node.has_single_value())
    scope.node_names.insert(node.name);
  check_node(*graph_, node);
  if (node.kind == Node::Kind::kSymbolic) compute_constant(node);
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

Argument GraphReader::input(Scope& scope, const Json& json, bool binds_sizes) {
  const auto& [tag, body] = json.tagged();
  const bool value = tag == "as_tensor" || (tag.starts_with("as_sym_") &&
                                            body.tagged().first == "as_name");
  if (value) return {ValueRef{define(scope, named(json).at(0), binds_sizes)}};
  const Argument constant = argument(scope, json);
  if (constant.get<ListArgument>() || constant.get<GraphArgument>() ||
      constant.get<ValueRef>())
    throw FileError("inputs of the kind '" + tag + "' cannot be read");
  return constant;
}

Graph GraphReader::read(const Json& json, bool binds_sizes,
                        std::set<std::string> tokens) {
  Graph graph;
  graph_ = &graph;
  Scope scope{json, {}};
  for (const Json& entry : json.at("inputs").items()) {
    const auto& [tag, body] = entry.tagged();
    if (tag == "as_tensor" && tokens.erase(body.at("name").string()) != 0) {
      add_token(scope, entry);
      continue;
    }
    InputSpec spec;
    spec.arg = input(scope, entry, binds_sizes);
    if (const ValueRef* ref = spec.arg.get<ValueRef>())
      spec.name = graph.value(ref->id).name;
    graph.inputs.push_back(std::move(spec));
  }
  nodes(scope);
  for (const Json& entry : json.at("outputs").items()) {
    if (gives_token(entry)) continue;
    OutputSpec spec{OutputKind::kUserOutput, argument(scope, entry), ""};
    if (spec.arg.get<ListArgument>() || spec.arg.get<GraphArgument>())
      throw FileError("outputs of the kind '" + entry.tagged().first +
                      "' cannot be read");
    graph.outputs.push_back(std::move(spec));
  }
  const Json* single = json.find("is_single_tensor_return");
  if (single && single->boolean() &&
      (graph.outputs.size() != 1 ||
       kind_of(graph, graph.outputs[0].arg) != ValueKind::kTensor))
    throw FileError("the graph is said to return one tensor, and has " +
                    std::to_string(graph.outputs.size()) + " outputs");
  top_ = scope.names;
  graph_ = nullptr;
  return graph;
}

}  // namespace proviso::inline v0_2::pt2
