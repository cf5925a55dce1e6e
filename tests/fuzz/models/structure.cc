#include "tests/fuzz/models/structure.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/models/pick.h"

namespace proviso::fuzz {
namespace {

using Words = std::vector<std::string>;

// One model, whose parts may be missing.
class Structure {
 public:
  Structure(Json& documents, Random& random) : random_(random) {
    model_ = member(&documents, kModelRecord);
    module_ = member(model_, "graph_module");
    graph_ = member(module_, "graph");
    nodes_ = list_in(graph_, "nodes");
    signature_ = member(module_, "signature");
  }

  void change(Json& documents);

 private:
  Json& any_node() { return any_of(*nodes_, random_); }
  Json* any_sub_graph();
  std::string made_up_name();
  std::string text_of(const Words& words) { return any_of(words, random_); }

  void name_a_node();
  void name_a_value();
  void name_a_sub_graph();
  void metadata();
  void spec();
  void tensor(Json& documents);
  void dialect();
  void order(const char* values, const char* specs);
  void constant(const char* values, const char* specs, const char* kind);
  void mutation();
  void fewer_results();
  void arithmetic();

  Random& random_;
  Json *model_, *module_, *graph_, *nodes_, *signature_;
};

Json* Structure::any_sub_graph() {
  std::vector<Json*> found;
  for (Json& node : *nodes_)
    if (Json* inputs = list_in(&node, "inputs"))
      for (Json& input : *inputs)
        if (Json* graph = member(member(&input, "arg"), "as_graph"))
          found.push_back(graph);
  return found.empty() ? nullptr : any_of(found, random_);
}

// A name that torch's loader may give: of an operator, of what has none.
std::string Structure::made_up_name() {
  static const Words kNames = {"output",
                               "getitem",
                               "as_none",
                               "arg0",
                               "arg1",
                               "max",
                               "split_tensor",
                               "true_graph_0",
                               "false_graph_0",
                               "body_graph_0",
                               "cond",
                               "while_loop",
                               "_assert_scalar_default",
                               "max_dim",
                               "max_1",
                               "getitem_1",
                               "a.b",
                               "",
                               "unique_default",
                               "_unnamed",
                               "item_default",
                               "lambda",
                               "x_1"};
  if (below(random_, 2)) return text_of(kNames);
  const Json& node = any_node();
  const auto name = node.find("name");
  std::string text = name != node.end() && name->is_string()
                         ? name->get<std::string>()
                         : text_of(kNames);
  return below(random_, 3) ? text
                           : text + "_" + std::to_string(below(random_, 3));
}

void Structure::name_a_node() {
  Json& node = any_node();
  if (!node.is_object()) return;
  if (below(random_, 4) == 0)
    node.erase("name");
  else
    node["name"] = made_up_name();
}

// One node more, whose value is called so.
void Structure::name_a_value() {
  Json* values = member(graph_, "tensor_values");
  if (values == nullptr || !values->is_object() || values->empty()) return;
  auto tensor = values->begin();
  std::advance(tensor, below(random_, values->size()));
  const Json meta = tensor.value();
  const Json like = {{"as_tensor", {{"name", tensor.key()}}}};
  const std::string name = made_up_name();
  (*values)[name] = meta;
  nodes_->push_back(
      {{"target", "torch.ops.aten.relu.default"},
       {"inputs",
        Json::array({{{"name", "self"}, {"arg", like}, {"kind", 1}}})},
       {"outputs", Json::array({{{"as_tensor", {{"name", name}}}}})},
       {"metadata", Json::object()}});
}

void Structure::name_a_sub_graph() {
  static const Words kNames = {"forward", "training",     "_modules",
                               "a b",     "to",           "",
                               "x.y",     "T_destination"};
  Json* graph = any_sub_graph();
  if (graph == nullptr || !graph->is_object()) return;
  (*graph)["name"] = below(random_, 2) ? text_of(kNames) : made_up_name();
}

void Structure::metadata() {
  static const Words kKeys = {"nn_module_stack", "source_fn_stack", "custom",
                              "from_node", "torch_fn"};
  static const Words kTexts = {"",
                               "a",
                               "a,b",
                               "a,b,c",
                               "a,b,c;d,e,f",
                               "a,(b,c),d",
                               ";",
                               "a,b;c,d",
                               "{}",
                               "[]",
                               "null",
                               "[{}]",
                               "[null, 1]",
                               "[{\"from_node\": [{}]}]",
                               "{",
                               "[{\"action\": 1}]",
                               ",,",
                               "(a,b,c",
                               "3"};
  Json& node = any_node();
  if (Json* metadata = member(&node, "metadata");
      metadata != nullptr && metadata->is_object())
    (*metadata)[text_of(kKeys)] = text_of(kTexts);
}

// Of the text within the text.
void Structure::spec() {
  static const Words kTypes = {"builtins.tuple", "builtins.list",
                               "builtins.dict", "collections.OrderedDict",
                               "collections.deque"};
  Json* calls = list_in(module_, "module_call_graph");
  Json* call = calls ? member(&(*calls)[0], "signature") : nullptr;
  Json* text = member(call, below(random_, 2) ? "in_spec" : "out_spec");
  if (text == nullptr || !text->is_string()) return;
  Json pair = Json::parse(text->get<std::string>(), nullptr, false);
  if (!pair.is_array() || pair.size() != 2) return;
  Json* part = &pair[1];
  while (Json* children = list_in(part, "children_spec")) {
    if (below(random_, 3) == 0) break;
    part = &any_of(*children, random_);
  }
  if (!part->is_object()) return;  // an earlier change
  switch (below(random_, 6)) {
    case 0: (*part)["type"] = text_of(kTypes); break;
    case 1: (*part)["type"] = nullptr; break;
    case 2: (*part)["context"] = nullptr; break;
    case 3:
      (*part)["context"] =
          text_of({"null", " null", "\t[\"a\"]", "[\"a\"]", "{", "3", ""});
      break;
    case 4: (*part)["children_spec"] = Json::array(); break;
    default: pair[0] = below(random_, 3);
  }
  *text = (below(random_, 8) ? "" : "\n") + pair.dump();
}

// What the index of the weights or constants says of a tensor.
void Structure::tensor(Json& documents) {
  static const std::vector<const char*> kIndices = {
      "data/weights/model_weights_config.json",
      "data/constants/model_constants_config.json"};
  Json* config =
      member(member(&documents, any_of(kIndices, random_)), "config");
  if (config == nullptr || !config->is_object() || config->empty()) return;
  const auto any = [&] {
    auto at = config->begin();
    std::advance(at, below(random_, config->size()));
    return &at.value();
  };
  Json *entry = any(), *other = any(), *meta = member(entry, "tensor_meta");
  if (meta == nullptr || !meta->is_object()) return;
  static const std::vector<Json> kDevices = {
      {{"type", "cpu"}, {"index", nullptr}},
      {{"type", "meta"}, {"index", nullptr}},
      {{"type", "cuda"}, {"index", 0}}};
  switch (below(random_, 6)) {
    case 0:
      if (const Json* record = member(other, "path_name"))
        (*entry)["path_name"] = *record;
      break;
    case 1: (*meta)["dtype"] = 1 + below(random_, 13); break;
    case 2: (*meta)["device"] = any_of(kDevices, random_); break;
    case 3: (*meta)["layout"] = below(random_, 9); break;
    case 4: (*meta)["requires_grad"] = below(random_, 2) == 0; break;
    default: (*entry)["is_param"] = below(random_, 2) == 0;
  }
}

void Structure::dialect() {
  if (model_ == nullptr) return;
  static const std::vector<Json> kDialects = {
      Json::array({"ATEN"}), Json::array(), Json::array({""}),
      Json::array({"TRAINING", "ATEN"}), Json::array({"TRAINING"})};
  (*model_)["verifiers"] = any_of(kDialects, random_);
}

// The same in the graph and in the signature.
void Structure::order(const char* values, const char* specs) {
  Json *there = list_in(graph_, values), *said = list_in(signature_, specs);
  if (there == nullptr || said == nullptr || there->size() != said->size())
    return;
  const size_t a = below(random_, there->size()),
               b = below(random_, there->size());
  if (below(random_, 3) == 0) {
    const Json value = (*there)[a], spec = (*said)[a];
    there->insert(there->begin() + b, value);
    said->insert(said->begin() + b, spec);
  } else {
    std::swap((*there)[a], (*there)[b]);
    std::swap((*said)[a], (*said)[b]);
  }
}

void Structure::constant(const char* values, const char* specs,
                         const char* kind) {
  static const std::vector<Json> kConstants = {
      {{"as_int", 3}},
      {{"as_float", 1.5}},
      {{"as_bool", true}},
      {{"as_none", true}},
      {{"as_string", "s"}},
      {{"as_scalar_type", 7}},
      {{"as_layout", 7}},
      {{"as_memory_format", 1}},
      {{"as_device", {{"type", "cpu"}}}},
      {{"as_sym_int", {{"as_int", 3}}}},
      {{"as_complex", {{"real", 1.0}, {"imag", 0.0}}}}};
  Json *there = list_in(graph_, values), *said = list_in(signature_, specs);
  if (there == nullptr || said == nullptr || there->size() != said->size())
    return;
  const size_t at = below(random_, there->size());
  const Json value = any_of(kConstants, random_);
  (*there)[at] = value;
  (*said)[at] = {{kind, {{"arg", value}}}};
  if (std::string(kind) == "user_input" && below(random_, 2))
    (*said)[at] = {
        {"constant_input", {{"name", made_up_name()}, {"value", value}}}};
}

// An output more: the new value of an input.
void Structure::mutation() {
  Json *there = list_in(graph_, "outputs"), *inputs = list_in(graph_, "inputs"),
       *said = list_in(signature_, "output_specs");
  if (there == nullptr || inputs == nullptr || said == nullptr ||
      there->size() != said->size())
    return;
  Json *input = member(&any_of(*inputs, random_), "as_tensor"),
       *output = member(&any_of(*there, random_), "as_tensor");
  if (member(input, "name") == nullptr || output == nullptr) return;
  const Json spec = {
      {"user_input_mutation",
       {{"arg", *output}, {"user_input_name", (*input)["name"]}}}};
  const Json value = {{"as_tensor", *output}};
  const size_t at = below(random_, there->size() + 1);
  there->insert(there->begin() + at, value);
  said->insert(said->begin() + at, spec);
}

// A node and its sub-graphs give less, or as one tensor.
void Structure::fewer_results() {
  Json& node = any_node();
  Json *outputs = list_in(&node, "outputs"), *inputs = list_in(&node, "inputs");
  if (outputs == nullptr || inputs == nullptr) return;
  if (below(random_, 3) == 0) {
    node["is_hop_single_tensor_return"] = below(random_, 2) == 0;
    return;
  }
  const size_t left = below(random_, outputs->size());
  for (Json& input : *inputs)
    if (Json* results =
            list_in(member(member(member(&input, "arg"), "as_graph"), "graph"),
                    "outputs"))
      if (results->size() > left)
        results->erase(results->begin() + left, results->end());
  outputs->erase(outputs->begin() + left, outputs->end());
}

// A function of a size.
void Structure::arithmetic() {
  static const std::vector<std::pair<std::string, int>> kFunctions = {
      {"_operator.xor", 2},
      {"_operator.and_", 2},
      {"_operator.or_", 2},
      {"_operator.neg", 1},
      {"_operator.lshift", 2},
      {"_operator.abs", 1},
      {"_operator.not_", 1},
      {"math.ceil", 1},
      {"math.floor", 1},
      {"builtins.round", 1},
      {"torch.builtins.round", 1},
      {"torch._sym_cos", 1},
      {"torch._sym_log2", 1},
      {"torch._sym_sqrt", 1},
      {"torch.sym_float", 1},
      {"torch.sym_int", 1},
      {"torch.sym_max", 2},
      {"torch.ops.aten.sym_constrain_range_for_size.default", 1},
      {"torch.ops.aten._assert_scalar.default", 2}};
  Json* values = member(graph_, "sym_int_values");
  if (values == nullptr || !values->is_object() || values->empty()) return;
  auto size = values->begin();
  std::advance(size, below(random_, values->size()));
  const Json operand = {{"as_sym_int", {{"as_name", size.key()}}}};
  const auto& [target, count] = any_of(kFunctions, random_);
  const bool real = below(random_, 2);
  Json node = {{"target", target},
               {"inputs", Json::array()},
               {"outputs", Json::array()},
               {"metadata", Json::object()}};
  for (int i = 0; i < count; ++i)
    node["inputs"].push_back(
        {{"name", ""},
         {"arg", i == 0 && below(random_, 4) ? operand : Json{{"as_int", 1}}},
         {"kind", 1}});
  if (target.find("aten") == std::string::npos) {
    const char* kind = real ? "float" : "int";
    const std::string name = "size_" + std::to_string(random_() % 1000000);
    Json& results = (*graph_)[std::string("sym_") + kind + "_values"];
    if (!results.is_object()) results = Json::object();  // an earlier change
    results[name] = {{std::string("as_") + kind, real ? Json(1.5) : Json(3)}};
    node["outputs"].push_back(
        {{std::string("as_sym_") + kind, {{"as_name", name}}}});
  } else {
    node["inputs"][0]["name"] = count == 1 ? "size" : "self";
    if (count == 2)
      node["inputs"][1] = {{"name", "assert_msg"},
                           {"arg", {{"as_string", "s"}}},
                           {"kind", 1 + below(random_, 2)}};
  }
  nodes_->push_back(node);
}

void Structure::change(Json& documents) {
  if (nodes_ == nullptr) return;
  switch (below(random_, 16)) {
    case 0:
    case 1: return name_a_node();
    case 2:
    case 3: return name_a_value();
    case 4: return name_a_sub_graph();
    case 5:
    case 6: return metadata();
    case 7: return spec();
    case 8: return dialect();
    case 9: return order("inputs", "input_specs");
    case 10: return order("outputs", "output_specs");
    case 11: return constant("inputs", "input_specs", "user_input");
    case 12: return constant("outputs", "output_specs", "user_output");
    case 13: return below(random_, 2) ? mutation() : fewer_results();
    case 14: return tensor(documents);
    default: return arithmetic();
  }
}

}  // namespace

void change_structure(Json& documents, Random& random) {
  Structure(documents, random).change(documents);
}

}  // namespace proviso::fuzz
