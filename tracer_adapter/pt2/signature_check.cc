#include "tracer_adapter/pt2/signature_check.h"

#include <string>

namespace proviso::inline v0_2::pt2 {
namespace {

// "x" of a value; "as_int" of a constant.
std::string reference(const Json& argument) {
  const auto& [tag, body] = argument.tagged();
  if (tag == "as_tensor") return "'" + body.at("name").string() + "'";
  if (!tag.starts_with("as_sym_")) return tag;
  const auto& [kind, name] = body.tagged();
  return kind == "as_name" ? "'" + name.string() + "'" : kind;
}

// As reference() of what the graph must have.
std::string named_by(const std::string& kind, const Json& spec) {
  if (kind == "user_input" || kind == "user_output")
    return reference(spec.at("arg"));
  if (kind == "constant_input") return spec.at("value").tagged().first;
  return "'" + spec.at("arg").at("name").string() + "'";
}

void compare(const char* what, const Json::Items& specs,
             const Json::Items& values) {
  if (specs.size() != values.size())
    throw FileError("the signature has " + std::to_string(specs.size()) + " " +
                    what + "s, the graph " + std::to_string(values.size()));
  for (size_t i = 0; i < specs.size(); ++i) {
    const auto& [kind, spec] = specs[i].tagged();
    const std::string said = named_by(kind, spec);
    const std::string found = reference(values[i]);
    if (said != found)
      throw FileError(std::string(what) + " " + std::to_string(i) + " is " +
                      found + " in the graph, and the signature says that " +
                      said + " is there (" + kind + ")");
  }
}

}  // namespace

void check_signature(const Json& signature, const Json& graph) {
  compare("input", signature.at("input_specs").items(),
          graph.at("inputs").items());
  compare("output", signature.at("output_specs").items(),
          graph.at("outputs").items());
}

}  // namespace proviso::inline v0_2::pt2
