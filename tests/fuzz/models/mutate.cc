#include "tests/fuzz/models/mutate.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <array>
#include <fstream>

#include "tests/fuzz/models/pick.h"
#include "tests/fuzz/models/structure.h"
#include "tracer_adapter/pt2/allowed_operators.h"
#include "tracer_adapter/pt2/zip_reader.h"

namespace proviso::fuzz {
namespace {

constexpr std::array<const char*, 3> kDocuments = {
    kModelRecord, "data/weights/model_weights_config.json",
    "data/constants/model_constants_config.json"};

// --- archives

uint32_t crc32(const std::string& bytes) {
  static const auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int k = 0; k < 8; ++k)
        table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xedb88320U : 0U);
    }
    return table;
  }();
  uint32_t crc = ~0U;
  for (const char b : bytes)
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(b)) & 0xff];
  return ~crc;
}

void number(std::string& out, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i, value >>= 8)
    out += static_cast<char>(value & 0xff);
}

void header(std::string& out, const std::string& name,
            const std::string& body) {
  number(out, 20, 2);
  number(out, 0, 8);  // flags, stored, time
  number(out, crc32(body), 4);
  number(out, body.size(), 4);
  number(out, body.size(), 4);
  number(out, name.size(), 2);
  number(out, 0, 2);  // extra
}

std::string archive(const Records& records) {
  std::string out, directory;
  for (const auto& [record, body] : records) {
    const std::string name = "p/" + record;
    directory += "PK\1\2";
    number(directory, 20, 2);
    header(directory, name, body);
    number(directory, 0, 10);
    number(directory, out.size(), 4);
    directory += name;
    out += "PK\3\4";
    header(out, name, body);
    out += name + body;
  }
  const size_t start = out.size();
  out += directory + "PK\5\6";
  number(out, 0, 4);
  number(out, records.size(), 2);
  number(out, records.size(), 2);
  number(out, directory.size(), 4);
  number(out, start, 4);
  number(out, 0, 2);
  return out;
}

// --- what there is to change

const std::vector<int64_t> kNumbers = {
    -1,        0,         1,         2,         3,         4,
    5,         7,         8,         13,        28,        36,
    1000,      -1000,     1LL << 31, 1LL << 32, 1LL << 40, 1LL << 62,
    INT64_MAX, INT64_MIN, 64,        255};
// clang-format off
const std::vector<std::string> kExpressions = {
    "Symbol('s77', positive=True, integer=True)", "s0", "u0", "u99", "zuf0",
    "Integer(0)", "Integer(-5)", "2**62", "9223372036854775808", "True",
    "1.5", "Mul(Integer(2), Symbol('s0', integer=True))", "s0//0",
    "Mod(Symbol('s0', integer=True), Integer(0))", "Eq(s0, 3)", "((((s0))))",
    "Max(1, u0)", "s0 +", "__import__('os').system('true')", "", "oo", "nan",
    "FloorDiv(s0, 2)", "PowByNatural(2, 70)", "L['x'].size()[0]"};
// clang-format on
// clang-format off
const std::vector<std::string> kGuards = {
    "L['x'].size()[0] >= 2", "L['x'].size()[0] == L['x'].size()[1]", "False",
    "True", "L['x'].size()[0] % 0 == 1", "L['x'].size()[99] == 3", "",
    "L['q'] == 3", "1 <", "__import__('os').system('true')",
    "L['x'].size()[0] * L['x'].size()[0] > 2**80"};
// clang-format on
// clang-format off
const std::vector<std::string> kTargets = {
    "_operator.add", "_operator.mul", "_operator.floordiv", "_operator.mod",
    "_operator.pow", "_operator.lt", "_operator.and_", "_operator.neg",
    "torch.sym_max", "torch.sym_ite", "torch.sym_float", "torch.sym_not",
    "math.floor", "math.trunc", "builtins.round", "torch._sym_sqrt",
    "torch.ops.higher_order.cond", "torch.ops.higher_order.while_loop",
    "torch.ops.higher_order.map_impl", "torch.ops.higher_order.scan",
    "torch.ops.higher_order.associative_scan",
    "torch.ops.higher_order.wrap_with_set_grad_enabled",
    "torch.ops.higher_order.wrap_with_autocast",
    "torch.ops.aten.from_file.default", "torch.ops.aten.set_.source_Tensor",
    "torch.ops.aten.sym_size.int", "torch.ops.aten.item.default",
    "torch.ops.aten._assert_scalar.default", "torch.os.system", "os.system"};
// clang-format on
const std::vector<std::string> kTags = {
    "as_none",          "as_tensor",      "as_tensors",
    "as_int",           "as_ints",        "as_sym_int",
    "as_sym_ints",      "as_float",       "as_floats",
    "as_bool",          "as_bools",       "as_string",
    "as_strings",       "as_sym_bool",    "as_sym_float",
    "as_scalar_type",   "as_layout",      "as_device",
    "as_memory_format", "as_graph",       "as_optional_tensors",
    "as_name",          "as_expr",        "as_complex",
    "user_input",       "parameter",      "buffer",
    "tensor_constant",  "constant_input", "user_output",
    "buffer_mutation"};

// A place in a document, and the key that it stands under.
struct Place {
  Json* value;
  std::string role;
};

void collect(Json& value, const std::string& role, std::vector<Place>* out) {
  out->push_back({&value, role});
  if (value.is_object()) {
    for (auto& [key, member] : value.items())
      if (key != "metadata" && key != "torch_version")
        collect(member, key, out);
  } else if (value.is_array()) {
    for (Json& item : value) collect(item, role + "[]", out);
  }
}

std::vector<Place> places_of(Json& documents) {
  std::vector<Place> places;
  for (auto& [name, document] : documents.items())
    collect(document, name, &places);
  return places;
}

std::vector<std::string> names_of(const std::vector<Place>& places) {
  std::vector<std::string> names;
  for (const Place& place : places)
    if ((place.role == "name" || place.role == "as_name") &&
        place.value->is_string())
      names.push_back(place.value->get<std::string>());
  return names;
}

std::string target_text(const c10::OperatorName& name) {
  std::string text = "torch.ops." + name.name;
  if (const size_t at = text.find("::"); at != std::string::npos)
    text.replace(at, 2, ".");
  return text + "." +
         (name.overload_name.empty() ? "default" : name.overload_name);
}

bool is_allowed(const c10::OperatorHandle& op) {
  try {
    pt2::AllowedOperators().check(op);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The longest texts of a file, which nobody reads but people.
void drop_stacks(Json& value) {
  if (value.is_object()) value.erase("stack_trace");
  for (Json& part : value)
    if (part.is_structured()) drop_stacks(part);
}

}  // namespace

Model read_model(const std::string& path) {
  const pt2::ZipReader zip = pt2::ZipReader::open(path);
  Model model{path, {}, Json::object()};
  for (const char* name : {"archive_format", "archive_version", "version",
                           ".data/version", "data/sample_inputs/model.pt"})
    if (zip.has(name)) model.records[name] = zip.record(name);
  for (const char* name : kDocuments) {
    if (!zip.has(name)) continue;
    model.documents[name] = Json::parse(zip.record(name));
    drop_stacks(model.documents[name]);
    if (!model.documents[name].contains("config")) continue;
    const std::string all = name;
    const std::string folder = all.substr(0, all.rfind('/') + 1);
    for (const auto& [key, entry] : model.documents[name]["config"].items()) {
      const std::string record = folder + entry["path_name"].get<std::string>();
      if (zip.has(record)) model.records[record] = zip.record(record);
    }
  }
  return model;
}

std::string write_model(const Model& model, const Json& documents) {
  Records records = model.records;
  for (const auto& [name, document] : documents.items())
    records[name] =
        document.dump(-1, ' ', false, Json::error_handler_t::replace);
  return archive(records);
}

Mutator::Mutator(const std::vector<Model>& models) : models_(models) {
  constexpr size_t kMost = 300;  // of one role
  for (const Model& model : models) {
    Json documents = model.documents;
    for (const Place& place : places_of(documents)) {
      std::vector<Json>& all = by_role_[place.role];
      if (all.size() < kMost) all.push_back(*place.value);
    }
  }
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    targets_.push_back(target_text(name));
    const auto op = dispatcher.findSchema(name);
    if (op && is_allowed(*op)) allowed_.push_back(targets_.back());
  }
  std::sort(targets_.begin(), targets_.end());
  std::sort(allowed_.begin(), allowed_.end());
}

Json Mutator::mutant(uint64_t seed, size_t* model) const {
  Random random(seed);
  *model = below(random, models_.size());
  Json documents = models_[*model].documents;
  for (size_t changes = 1 + below(random, 3); changes-- > 0;)
    change(documents, random);
  return documents;
}

void Mutator::change(Json& documents, Random& random) const {
  if (below(random, 4) == 0) return add_node(documents, random);
  if (below(random, 4) == 0) return change_structure(documents, random);
  std::vector<Place> places = places_of(documents);
  const Place& place = any_of(places, random);
  Json& value = *place.value;
  const auto others = by_role_.find(place.role);
  if (below(random, 4) == 0 && others != by_role_.end()) {
    value = any_of(others->second, random);
    return;
  }
  if (below(random, 12) == 0) {
    value = any_of(places, random).value->is_object()
                ? Json(nullptr)
                : Json(any_of(kNumbers, random));
    return;
  }
  if (value.is_array()) return change_list(value, place.role, random);
  if (value.is_object()) return change_object(value, random);
  if (value.is_boolean()) {
    value = !value.get<bool>();
  } else if (value.is_number()) {
    value = any_of(kNumbers, random);
  } else if (value.is_string()) {
    const std::vector<std::string> names = names_of(places);
    if ((place.role == "name" || place.role == "as_name") && !names.empty())
      value = any_of(names, random);
    else
      change_text(value, place.role, random);
  }
}

void Mutator::change_list(Json& list, const std::string& role,
                          Random& random) const {
  const auto others = by_role_.find(role + "[]");
  const size_t choice = below(random, 10);
  if (choice == 0) list = Json::array();
  if (list.empty() || choice <= 2) {
    if (others == by_role_.end()) return;
    list.insert(list.begin() + below(random, list.size() + 1),
                any_of(others->second, random));
    return;
  }
  const size_t at = below(random, list.size());
  if (choice <= 5) {
    list.erase(list.begin() + at);
  } else if (choice == 6) {
    const Json copy = list[at];
    list.insert(list.begin() + at, copy);
  } else if (choice == 7 && below(random, 20) == 0) {
    const Json copy = list[at];
    for (int i = 0; i < 1000; ++i) list.push_back(copy);
  } else {
    std::swap(list[at], list[below(random, list.size())]);
  }
}

void Mutator::change_object(Json& object, Random& random) const {
  if (object.empty()) return;
  auto member = object.begin();
  std::advance(member, below(random, object.size()));
  if (object.size() > 1) {
    object.erase(member);
    return;
  }
  const Json body = member.value();
  object = Json::object();
  object[any_of(kTags, random)] = body;
}

void Mutator::change_text(Json& text, const std::string& role,
                          Random& random) const {
  if (role == "target") {
    text = below(random, 3) == 0 ? any_of(targets_, random)
                                 : any_of(kTargets, random);
  } else if (role == "expr_str") {
    text = any_of(kExpressions, random);
  } else if (role == "guards_code[]") {
    text = any_of(kGuards, random);
  } else {
    static const std::vector<std::string> kTexts = {"",
                                                    "x",
                                                    "cpu",
                                                    "cuda",
                                                    "meta",
                                                    "hpu",
                                                    "\x01\xff",
                                                    "L['x']",
                                                    "[1, null]",
                                                    "../../etc/passwd",
                                                    std::string(5000, 'a')};
    text = any_of(kTexts, random);
  }
}

// --- nodes of every operator, with arguments of the right kinds

Json Mutator::argument(const std::string& type,
                       const std::vector<std::string>& names,
                       Random& random) const {
  const auto tensor = [&] { return Json{{"name", any_of(names, random)}}; };
  const auto ints = [&] {
    Json list = Json::array();
    for (size_t n = below(random, 5); n-- > 0;)
      list.push_back(below(random, 6) ? static_cast<int64_t>(below(random, 5))
                                      : any_of(kNumbers, random));
    return list;
  };
  const bool optional = type.ends_with("?");
  if (optional && below(random, 2)) return {{"as_none", true}};
  if (type.starts_with("Tensor[]") || type.starts_with("Tensor?[]"))
    return {{"as_tensors", Json::array({tensor(), tensor()})}};
  if (type.starts_with("Tensor")) return {{"as_tensor", tensor()}};
  if (type.find("[]") != std::string::npos && type.starts_with("bool"))
    return {{"as_bools", Json::array({true, false, true})}};
  if (type.find("[]") != std::string::npos && type.starts_with("float"))
    return {{"as_floats", Json::array({0.5, 2.0})}};
  if (type.find("[]") != std::string::npos) return {{"as_ints", ints()}};
  if (type.starts_with("ScalarType"))
    return {{"as_scalar_type", below(random, 36)}};
  if (type.starts_with("Layout")) return {{"as_layout", below(random, 9)}};
  if (type.starts_with("MemoryFormat"))
    return {{"as_memory_format", below(random, 6)}};
  if (type.starts_with("Device"))
    return {{"as_device", {{"type", below(random, 4) ? "cpu" : "meta"}}}};
  if (type.starts_with("bool")) return {{"as_bool", random() % 2 == 0}};
  if (type.starts_with("str"))
    return {{"as_string", below(random, 2) ? "mean" : "i,j->ij"}};
  if (type.starts_with("float")) return {{"as_float", 0.5}};
  return {{"as_int", below(random, 4) ? static_cast<int64_t>(below(random, 4))
                                      : any_of(kNumbers, random)}};
}

void Mutator::add_node(Json& documents, Random& random) const {
  Json* graph =
      member(member(member(&documents, kModelRecord), "graph_module"), "graph");
  Json *values = member(graph, "tensor_values"),
       *nodes = member(graph, "nodes");
  if (values == nullptr || !values->is_object() || values->empty() ||
      nodes == nullptr || !nodes->is_array())
    return;
  std::vector<std::string> names;
  for (const auto& [name, entry] : values->items()) names.push_back(name);
  const std::string target =
      any_of(below(random, 8) == 0 ? targets_ : allowed_, random);
  const std::string full = target.substr(10);  // aten.add.Tensor
  const size_t dot = full.find('.'), last = full.rfind('.');
  std::string overload = full.substr(last + 1);
  if (overload == "default") overload.clear();
  const auto op = c10::Dispatcher::singleton().findSchema(
      {full.substr(0, dot) + "::" + full.substr(dot + 1, last - dot - 1),
       overload});
  if (!op) return;
  Json node = {{"target", target},
               {"inputs", Json::array()},
               {"outputs", Json::array()},
               {"metadata", Json::object()}};
  for (const c10::Argument& formal : op->schema().arguments())
    node["inputs"].push_back(
        {{"name", formal.name()},
         {"arg", argument(formal.real_type()->str(), names, random)},
         {"kind", formal.kwarg_only() ? 2 : 1}});
  for (const c10::Argument& result : op->schema().returns()) {
    const std::string name = "made_" + std::to_string(random() % 1000000);
    const Json like = (*values)[names[0]];
    (*values)[name] = like;
    const bool list = result.type()->kind() == c10::TypeKind::ListType;
    node["outputs"].push_back(
        list ? Json{{"as_tensors", Json::array({{{"name", name}}})}}
             : Json{{"as_tensor", {{"name", name}}}});
  }
  const size_t last_ones = std::min<size_t>(nodes->size(), 3);
  nodes->insert(nodes->end() - below(random, last_ones + 1), node);
}

}  // namespace proviso::fuzz
