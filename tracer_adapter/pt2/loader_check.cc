#include "tracer_adapter/pt2/loader_check.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "tracer_adapter/pt2/fail.h"
#include "tracer_adapter/pt2/fx_names.h"
#include "tracer_adapter/pt2/graph_reader.h"
#include "tracer_adapter/pt2/quoted_texts.h"

namespace proviso::inline v0_2::pt2 {
namespace {

// --- texts

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t end; (end = text.find(at)) != text.npos;) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

// Commas outside of brackets; of any kind, as torch counts them.
size_t open_commas(std::string_view text) {
  size_t commas = 0;
  int64_t depth = 0;
  for (const char c : text) {
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    commas += c == ',' && depth == 0;
  }
  return commas;
}

// [{"name": .., "from_node": [..]}, ...]
void check_origins(const Json& json) {
  if (json.is_null()) return;
  for (const Json& origin : json.items()) {
    if (origin.is_null()) continue;
    origin.members();
    if (const Json* action = origin.find("action")) action->string();
    if (const Json* before = origin.find("from_node")) check_origins(*before);
  }
}

void check_metadata(const Json& metadata) {
  // Empty texts are as none.
  const auto text = [&](const char* key) -> std::string_view {
    const Json* found = metadata.find(key);
    return found ? std::string_view(found->string()) : std::string_view();
  };
  if (const auto stack = text("nn_module_stack"); !stack.empty())
    for (std::string_view module : split(stack, ';')) {
      if (open_commas(module) != 2)
        fail("its nn_module_stack has an entry that is no 'key,path,type': '",
             module.substr(0, 100), "'");
      require_quotable("an entry of its nn_module_stack", module);
    }
  if (const auto stack = text("source_fn_stack"); !stack.empty())
    for (std::string_view source : split(stack, ';'))
      if (std::count(source.begin(), source.end(), ',') != 1)
        fail("its source_fn_stack has an entry that is no 'name,function': '",
             source.substr(0, 100), "'");
  if (const auto custom = text("custom"); !custom.empty())
    parse_json(custom, "custom");
  if (const auto origins = text("from_node"); !origins.empty())
    check_origins(parse_json(origins, "from_node"));
}

// --- values

// The name of what an argument defines or refers to; none of a constant.
const std::string* name_in(const Json& argument) {
  const auto& [tag, body] = argument.tagged();
  if (tag == "as_tensor") return &body.at("name").string();
  if (!tag.starts_with("as_sym_") || !body.is_object()) return nullptr;
  const auto& [kind, name] = body.tagged();
  return kind == "as_name" ? &name.string() : nullptr;
}

bool is_one_of(std::string_view word,
               std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// --- one graph

class GraphCheck {
 public:
  // `inputs`: the names that the program's signature gives its inputs.
  GraphCheck(const Json& graph, const std::vector<std::string>& inputs,
             bool functional)
      : graph_(graph), inputs_(inputs), functional_(functional) {}

  void run();

 private:
  void input(size_t index, const Json& json);
  void node(const Json& node);
  void sub_graph(const Json& argument);
  void arguments(const Json& node);
  void output_of_graph(const Json& json);
  std::string candidate(const Json& node) const;
  void outputs(const Json& node, const std::string& candidate);
  void item(const Json& output);

  // A node that torch names itself.
  std::string make(const std::string& candidate) {
    std::string name = names_.create(candidate);
    is_node(name);
    return name;
  }
  // A node that has a value's name in the end, whatever it was made as.
  void value(const std::string& name) {
    if (!values_.insert(name).second)
      fail("'", name.substr(0, 100),
           "' is the name of a value and of another node");
    is_node(name);
  }
  void getitem(const std::string& name) {
    names_.create(name);
    value(name);
  }
  void is_node(const std::string& name) {
    if (!nodes_.insert(name).second)
      fail("torch's loader calls two nodes '", name.substr(0, 100),
           "'; one of them is no value of the file");
  }

  const Json& graph_;
  const std::vector<std::string>& inputs_;
  bool functional_;
  FxNames names_;
  std::set<std::string> values_, nodes_;
  std::map<std::string, const Json*> sub_graphs_;
  std::string odd_;  // a function that Python code cannot name
};

void GraphCheck::input(size_t index, const Json& json) {
  const std::string& tag = json.tagged().first;
  const std::string* name = name_in(json);
  if (name != nullptr && is_one_of(tag, {"as_tensor", "as_sym_int"})) {
    names_.create(fx_name_of(*name));
    return value(*name);
  }
  if (!is_one_of(tag,
                 {"as_int", "as_float", "as_bool", "as_none", "as_string"}))
    fail("inputs of the kind '", tag, "' are none that torch's loader reads");
  if (index >= inputs_.size())
    fail("a constant is input ", index, " of a graph, and the program has ",
         inputs_.size());
  const std::string constant =
      inputs_[index].empty() ? "arg" + std::to_string(index) : inputs_[index];
  if (!is_value_name(constant))
    fail("a constant input is called ", shown_text(constant),
         ", which is no name of a value");
  make(fx_name_of(constant));
}

void GraphCheck::output_of_graph(const Json& json) {
  const std::string& tag = json.tagged().first;
  const bool named = is_one_of(
      tag, {"as_tensor", "as_sym_int", "as_sym_bool", "as_sym_float"});
  if (named ? name_in(json) == nullptr
            : !is_one_of(tag, {"as_int", "as_float", "as_bool", "as_none"}))
    fail("outputs of the kind '", tag, named ? "' of a constant" : "'",
         " are none that torch's loader reads");
}

void GraphCheck::sub_graph(const Json& argument) {
  const std::string& name = argument.at("name").string();
  const Json& graph = argument.at("graph");
  if (!is_value_name(name) || is_program_attribute(name))
    fail(shown_text(name), " is no name of a sub-graph");
  const auto [before, fresh] = sub_graphs_.emplace(name, &graph);
  if (!fresh && !(*before->second == graph))
    fail("two sub-graphs are called '", name.substr(0, 100), "'");
  GraphCheck(graph, inputs_, functional_).run();
  make(name);
}

void GraphCheck::arguments(const Json& node) {
  for (const Json& input : node.at("inputs").items()) {
    const auto& [tag, body] = input.at("arg").tagged();
    if (tag == "as_graph") sub_graph(body);
  }
}

// What a node's name is made of.
std::string GraphCheck::candidate(const Json& node) const {
  if (const Json* name = node.find("name"); name && !name->string().empty())
    return name->string();
  const std::string& target = node.at("target").string();
  const Json::Items& results = node.at("outputs").items();
  const auto one_tensor = [&] {
    return results.size() == 1 && results[0].tagged().first == "as_tensor";
  };
  const size_t last = target.rfind('.');
  if (target.starts_with(kHigherOrderPrefix)) {
    const Json* flag = node.find("is_hop_single_tensor_return");
    if (one_tensor() && flag && flag->boolean()) return *name_in(results[0]);
    return fx_name_of(target.substr(last + 1));
  }
  const auto op = find_operator(target);
  if (!op) {
    // math.floor is a function like others, and has no name of a value.
    const bool known =
        !is_one_of(target, {"math.floor", "math.ceil", "torch.builtins.round"});
    const std::string* name = results.empty() ? nullptr : name_in(results[0]);
    return known && name ? *name : fx_name_of(target.substr(last + 1));
  }
  if (op->schema().name() == "aten::item" && !results.empty())
    if (const std::string* name = name_in(results[0])) return *name;
  const auto& returns = op->schema().returns();
  if (returns.size() == 1 &&
      returns[0].real_type()->kind() == c10::TypeKind::TensorType) {
    if (!one_tensor())
      fail("its output is a tensor and must have a name, or the node must");
    return *name_in(results[0]);
  }
  const size_t name_start = target.rfind('.', last - 1) + 1;
  return fx_name_of(target.substr(name_start));
}

// A node gives a list where its sub-graph does.
void check_single(const Json& node) {
  for (const Json& input : node.at("inputs").items()) {
    const auto& [tag, body] = input.at("arg").tagged();
    if (tag != "as_graph") continue;
    const Json* single = body.at("graph").find("is_single_tensor_return");
    if (single == nullptr || !single->boolean())
      fail("it is said to give one tensor, and its graph gives a list");
  }
}

// One of several results.
void GraphCheck::item(const Json& output) {
  const auto& [tag, body] = output.tagged();
  if (tag == "as_none") {
    make("as_none");
  } else if (const std::string* name = name_in(output);
             name != nullptr && tag != "as_sym_bool") {
    getitem(*name);
  } else if (tag == "as_tensors") {
    make("getitem");
    for (const Json& one : body.items()) getitem(one.at("name").string());
  } else {
    fail("outputs of the kind '", tag, "' are none that torch's loader reads");
  }
}

void GraphCheck::outputs(const Json& node, const std::string& candidate) {
  const Json::Items& results = node.at("outputs").items();
  const std::string& target = node.at("target").string();
  const bool higher_order = target.starts_with(kHigherOrderPrefix);
  const Json* flag = node.find("is_hop_single_tensor_return");
  const std::string made = names_.create(candidate);
  if (results.empty() && higher_order)
    fail("it has no outputs; what gives nothing has no place in a program");
  const std::string tag = results.empty() ? "" : results[0].tagged().first;
  const std::string* name = results.size() == 1 ? name_in(results[0]) : nullptr;
  const bool in_tuple = higher_order && !(flag && flag->boolean());
  if (higher_order && !in_tuple) check_single(node);
  if (results.size() == 1 && tag == "as_none") {
    const std::string unused = fx_name_of(
        target.substr(higher_order || !find_operator(target)
                          ? target.rfind('.') + 1
                          : target.rfind('.', target.rfind('.') - 1) + 1));
    return is_node(
        unused + "_unused" == made ? made : names_.create(unused + "_unused"));
  }
  if (name != nullptr && !in_tuple) return value(*name);
  is_node(made);
  if (results.empty()) return;
  if (results.size() > 1 || in_tuple) {
    if (results.size() == 1 && name == nullptr)
      fail("its output is one value, and none of the kind '", tag, "'");
    for (const Json& one : results) item(one);
  } else {
    if (tag != "as_tensors" || results[0].tagged().second.items().empty())
      fail("its output is no list of one tensor or more");
    for (const Json& one : results[0].tagged().second.items())
      getitem(one.at("name").string());
  }
  values_.insert(made);
}

void GraphCheck::node(const Json& node) {
  const std::string& target = node.at("target").string();
  const auto op = find_operator(target);
  if (functional_ && op && op->schema().is_mutable())
    fail("it writes into a tensor; a program of the dialect ATEN does not");
  const Json::Items& inputs = node.at("inputs").items();
  if (is_one_of(target, {"torch.ops.aten.sym_constrain_range_for_size.default",
                         "torch.ops.aten._assert_scalar.default"})) {
    const bool asserts = target.starts_with("torch.ops.aten._assert");
    if (inputs.empty() || inputs[0].at("kind").integer() != 1 ||
        (!asserts && name_in(inputs[0].at("arg")) == nullptr))
      fail("what it speaks of must be given by its place",
           asserts ? "" : ", and be a value of the graph");
  }
  // The names of functions that torch's verifier does not know.
  if (target == "_operator.xor" || target == "builtins.round")
    fail("torch's loader knows no such function");
  if (target.starts_with("torch._sym_") && target != "torch._sym_sqrt")
    fail(
        "torch's loader knows no such function of a number; it knows that of "
        "a tensor, torch.",
        target.substr(std::string_view("torch._sym_").size(), 20),
        "(torch.scalar_tensor(n, dtype=torch.float64))");
  if (const Json* name = node.find("name");
      name && !name->string().empty() && !is_value_name(name->string()))
    fail(shown_text(name->string()), " is no name of a node");
  // torch makes Python code of a graph.  Where it cannot, its sub-graphs are
  // lost.
  for (std::string_view part : split(target, '.'))
    if (odd_.empty() && !is_python_name(part)) odd_ = shown_text(part);
  check_metadata(node.at("metadata"));
  arguments(node);
  outputs(node, candidate(node));
}

void GraphCheck::run() {
  size_t index = 0;
  for (const Json& json : graph_.at("inputs").items()) input(index++, json);
  index = 0;
  for (const Json& json : graph_.at("nodes").items()) {
    try {
      node(json);
    } catch (const Error& error) {
      fail("node ", index, " (", json.at("target").string().substr(0, 200),
           "): ", error.what());
    }
    ++index;
  }
  for (const Json& json : graph_.at("outputs").items()) output_of_graph(json);
  make("output");
  if (!sub_graphs_.empty() && !odd_.empty())
    fail("Python code cannot call ", odd_,
         ", and torch's loader needs code of ", "a graph that has sub-graphs");
}

// --- the signature

std::vector<std::string> input_names(const Json& signature) {
  std::vector<std::string> names;
  for (const Json& entry : signature.at("input_specs").items()) {
    const auto& [kind, spec] = entry.tagged();
    const std::string* name =
        kind == "constant_input" ? &spec.at("name").string()
        : kind == "user_input"   ? name_in(spec.at("arg"))
                                 : &spec.at("arg").at("name").string();
    names.push_back(name ? *name : "");
  }
  return names;
}

// torch reads the signature before the graph: what is no tensor and no number
// of it must be a constant.
void check_user_argument(const Json& argument) {
  const std::string& tag = argument.tagged().first;
  if (tag == "as_sym_bool" || tag == "as_graph" || tag == "as_custom_obj")
    fail("arguments of the kind '", tag,
         "' in a signature are none that torch's loader reads");
}

// New values of tensors come before the results, each once.
void check_outputs(const Json& signature) {
  std::set<std::pair<std::string, std::string>> written;
  bool results = false;
  for (const Json& entry : signature.at("output_specs").items()) {
    const auto& [kind, spec] = entry.tagged();
    if (kind == "user_output") {
      results = true;
      check_user_argument(spec.at("arg"));
      continue;
    }
    const std::string& name = spec.at("arg").at("name").string();
    if (kind == "loss_output" || kind.starts_with("gradient_to_"))
      fail("outputs of the kind '", kind, "' cannot be read: they are of a ",
           "program for training, made with torch.export's joint graph; save ",
           "the program of the forward pass");
    if (results)
      fail("the new value '", name.substr(0, 100),
           "' of a tensor comes after a result of the program");
    if (!written.emplace(kind, name).second)
      fail("'", name.substr(0, 100), "' is the new value of two tensors");
  }
}

}  // namespace

void check_for_loader(const Json& model) {
  const Json& module = model.at("graph_module");
  const Json& signature = module.at("signature");
  for (const Json& entry : signature.at("input_specs").items())
    if (const auto& [kind, spec] = entry.tagged(); kind == "user_input")
      check_user_argument(spec.at("arg"));
  check_outputs(signature);
  const Json* dialects = model.find("verifiers");
  bool functional = dialects == nullptr || dialects->items().empty();
  for (const Json& dialect : dialects ? dialects->items() : Json::Items{})
    functional |= dialect.string() != "TRAINING";
  if (const Json* metadata = module.find("metadata"))
    if (const Json* custom = metadata->find("custom");
        custom && !custom->string().empty())
      parse_json(custom->string(), "the graph module's metadata");
  const std::vector<std::string> inputs = input_names(signature);
  GraphCheck(module.at("graph"), inputs, functional).run();
}

}  // namespace proviso::inline v0_2::pt2
