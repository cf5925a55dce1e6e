#include "tracer_adapter/pt2/call_signature.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "tracer_adapter/ir/printable.h"
#include "tracer_adapter/pt2/fail.h"
#include "tracer_adapter/pt2/fx_names.h"
#include "tracer_adapter/pt2/model_schema.h"

namespace proviso::inline v0_2::pt2 {

std::optional<Json> dict_keys(const std::string& type, const Json& context,
                              const std::string& what) {
  if (type == "builtins.dict" || type == "collections.OrderedDict" ||
      type == "torch.fx.immutable_collections.immutable_dict")
    return parse_json(context.string(), what);
  if (type == "collections.defaultdict") return context.at("dict_context");
  return std::nullopt;
}

namespace {

bool is_leaf(const Json& spec) { return spec.find("type") == nullptr; }

const Json::Items& children_of(const Json& spec) {
  return spec.at("children_spec").items();
}

size_t leaves_of(const Json& spec) {
  if (is_leaf(spec)) return 1;
  size_t leaves = 0;
  for (const Json& child : children_of(spec)) leaves += leaves_of(child);
  return leaves;
}

// --- the contexts of Python's own containers

// A key of a dict; equal keys have equal texts (1 is 1.0 and True to Python).
std::string key_text(const Json& key) {
  if (key.is_null()) return "None";
  if (key.is_string()) return "'" + key.string() + "'";
  if (key.is_int()) return std::to_string(key.integer());
  if (key.is_bool()) return key.boolean() ? "1" : "0";
  if (key.is_object())  // of an enum, the one object that is made of JSON
    return key.at("fqn").string() + ":" + key.at("name").string();
  if (key.is_array()) fail("a list cannot be a key of a dict");
  const double number = key.number();
  return std::abs(number) < 0x1p62 && number == std::floor(number)
             ? std::to_string(static_cast<int64_t>(number))
             : std::to_string(number);
}

void check_keys(const Json& keys, size_t children) {
  if (!keys.is_array() || keys.items().size() != children)
    fail("a dict of ", children, " values has ",
         keys.is_array() ? std::to_string(keys.items().size()) + " keys"
                         : "no list of keys");
  std::set<std::string> seen;
  for (const Json& key : keys.items())
    if (!seen.insert(key_text(key)).second)
      fail("a dict has the key ", escaped(key_text(key).substr(0, 100)),
           " twice");
}

void check_length(const Json& context, size_t children) {
  if (context.is_null()) return;
  if (!context.is_int() || context.integer() < 0 ||
      static_cast<uint64_t>(context.integer()) < children)
    fail("a deque of ", children,
         " values has a maxlen that is no such number");
}

void check_context(const std::string& type, const Json& context,
                   size_t children, const std::string& what) {
  const auto parsed = [&] { return parse_json(context.string(), what); };
  if (type == "NO_SERIALIZED_TYPE_NAME_FOUND")
    fail("a type without a name; register it with one");
  if (const auto keys = dict_keys(type, context, what))
    return check_keys(*keys, children);
  if (type == "collections.deque") return check_length(parsed(), children);
  if (type == "collections.namedtuple" &&
      (context.string().empty() || context.string() == "null"))
    fail("a named tuple has no name of its type");
  if ((type == "builtins.tuple" || type == "builtins.list" ||
       type == "torch.fx.immutable_collections.immutable_list") &&
      !parsed().is_null())
    fail("a ", type.substr(type.find('.') + 1),
         " has a context; null is right");
}

void check_tree(const Json& spec, const std::string& what) {
  const Json& context = *spec.member("context");
  const Json::Items& children = children_of(spec);
  if (is_leaf(spec)) {
    if (!context.is_null() || !children.empty())
      fail(what, " has a leaf with a context or parts");
    return;
  }
  const std::string& type = spec.at("type").string();
  try {
    check_context(type, context, children.size(), what + ", " + type);
  } catch (const FileError& error) {
    const std::string text = error.what();
    if (text.starts_with(what)) throw;
    fail(what, ": ", text);
  }
  for (const Json& child : children) check_tree(child, what);
}

// [1, spec]
Json read_spec(const Json& signature, const char* what) {
  const Json pair = parse_json(signature.at(what).string(), what);
  if (!pair.is_array() || pair.items().size() != 2 ||
      !pair.items()[0].is_int() || pair.items()[0].integer() != 1)
    fail(what, " is no [1, spec]");
  check_form(pair.items()[1], "TreeSpec", what);
  check_tree(pair.items()[1], what);
  return pair.items()[1];
}

// --- the whole program

bool is_a(const Json& spec, const char* type) {
  return !is_leaf(spec) && spec.at("type").string() == type;
}

// ((positional, ...), {keyword: ...})
void check_in_spec(const Json& spec) {
  if (!is_a(spec, "builtins.tuple") || children_of(spec).size() != 2 ||
      !is_a(children_of(spec)[0], "builtins.tuple") ||
      !is_a(children_of(spec)[1], "builtins.dict"))
    fail("in_spec is not of (args, kwargs), a tuple and a dict");
}

std::vector<std::string> keywords_of(const Json& in_spec) {
  std::vector<std::string> keywords;
  const Json keys = parse_json(children_of(in_spec)[1].at("context").string(),
                               "in_spec, builtins.dict");
  for (const Json& key : keys.items()) {
    if (!key.is_string())
      fail("in_spec: a keyword of the program is no text but ",
           escaped(key_text(key).substr(0, 100)));
    keywords.push_back(key.string());
  }
  return keywords;
}

void check_argument_name(const std::string& name) {
  if (!is_python_name(name) || name == "self" || name == "torch")
    fail("an argument of the program is called ", shown_text(name),
         ", which torch cannot write in Python: letters, digits and '_' are ",
         "possible, not a digit first, but for keywords, self and torch");
}

// forward_arg_names: those of the positional arguments, then the keywords.
void check_argument_names(const Json& signature, const Json& in_spec) {
  const size_t positional = children_of(children_of(in_spec)[0]).size();
  const std::vector<std::string> keywords = keywords_of(in_spec);
  for (const std::string& keyword : keywords) check_argument_name(keyword);
  const Json* json = signature.find("forward_arg_names");
  if (json == nullptr || json->items().empty()) return;
  const Json::Items& names = json->items();
  if (names.size() != positional + keywords.size())
    fail("forward_arg_names has ", names.size(), " names, and in_spec ",
         positional + keywords.size(), " arguments");
  std::set<std::string> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i].string();
    check_argument_name(name);
    if (!seen.insert(name).second)
      fail("forward_arg_names has ", shown_text(name), " twice");
    if (i >= positional && name != keywords[i - positional])
      fail("forward_arg_names has ", shown_text(name),
           " where in_spec has the keyword ",
           shown_text(keywords[i - positional]));
  }
}

size_t count_of(const Json& specs,
                std::initializer_list<std::string_view> kinds) {
  return std::ranges::count_if(specs.items(), [&](const Json& spec) {
    return std::ranges::find(kinds, spec.tagged().first) != kinds.end();
  });
}

void check_leaves(const char* what, const Json& spec, size_t count,
                  const char* values) {
  if (const size_t leaves = leaves_of(spec); leaves != count)
    fail(what, " has ", leaves, " leaves, and the signature has ", count, " ",
         values);
}

}  // namespace

void check_call_signature(const Json& module) {
  const Json::Items& calls = module.at("module_call_graph").items();
  if (calls.empty() || !calls[0].at("fqn").string().empty() ||
      calls[0].find("signature") == nullptr)
    fail(
        "module_call_graph has no entry of the whole program, whose fqn is '',"
        " at its start");
  for (const Json& call : calls) {
    const Json* signature = call.find("signature");
    if (signature == nullptr) continue;
    const Json in_spec = read_spec(*signature, "in_spec");
    const Json out_spec = read_spec(*signature, "out_spec");
    check_in_spec(in_spec);
    check_argument_names(*signature, in_spec);
    if (&call != &calls[0]) continue;
    const Json& specs = module.at("signature");
    check_leaves(
        "in_spec", in_spec,
        count_of(specs.at("input_specs"), {"user_input", "constant_input"}),
        "inputs that are the caller's");
    check_leaves("out_spec", out_spec,
                 count_of(specs.at("output_specs"), {"user_output"}),
                 "results");
  }
}

}  // namespace proviso::inline v0_2::pt2
