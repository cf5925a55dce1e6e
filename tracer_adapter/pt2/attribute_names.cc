#include "tracer_adapter/pt2/attribute_names.h"

#include <map>
#include <set>
#include <string>

#include "tracer_adapter/pt2/fail.h"
#include "tracer_adapter/pt2/fx_names.h"

namespace proviso::inline v0_2::pt2 {
namespace {

// By the kind of an input or of an output: where its tensor's name stands, and
// whose it is.
struct Owner {
  const char *field, *shown;
};
const Owner* find_owner(const std::string& kind) {
  static const std::map<std::string, Owner> kOwners = {
      {"parameter", {"parameter_name", "a parameter's"}},
      {"buffer", {"buffer_name", "a buffer's"}},
      {"tensor_constant", {"tensor_constant_name", "a constant's"}}};
  const auto found = kOwners.find(kind);
  return found == kOwners.end() ? nullptr : &found->second;
}

class AttributeNames {
 public:
  AttributeNames(const Json& signature, const Json& graph);
  void check() const;

 private:
  void check_parts(const std::string& name, const Owner& owner) const;
  void check_place(const std::string& name) const;

  std::map<std::string, const Owner*> tensors_;
  std::set<std::string> graphs_;
  std::set<std::string> written_;  // inputs that get new values
};

AttributeNames::AttributeNames(const Json& signature, const Json& graph) {
  for (const Json& node : graph.at("nodes").items())
    for (const Json& input : node.at("inputs").items())
      if (const auto& [tag, body] = input.at("arg").tagged(); tag == "as_graph")
        graphs_.insert(body.at("name").string());
  for (const Json& entry : signature.at("output_specs").items())
    if (const auto& [kind, spec] = entry.tagged();
        kind == "user_input_mutation")
      written_.insert(spec.at("user_input_name").string());
  for (const Json& entry : signature.at("input_specs").items()) {
    const auto& [kind, spec] = entry.tagged();
    const Owner* owner = find_owner(kind);
    if (owner == nullptr) continue;
    const std::string& name = spec.at(owner->field).string();
    const auto [before, fresh] = tensors_.emplace(name, owner);
    if (!fresh && before->second != owner)
      fail("the name ", shown_text(name), " is ", before->second->shown,
           " and ", owner->shown, "; each tensor has a name of its own");
  }
}

void AttributeNames::check_parts(const std::string& name,
                                 const Owner& owner) const {
  const auto refuse = [&](const std::string& why) {
    fail("the name ", shown_text(name), " is ", owner.shown, ", and ", why);
  };
  if (name.size() > 1000) refuse("longer than 1000 characters");
  if (name == "self") refuse("torch's code calls the module so");
  size_t depth = 0;
  bool in_graph = false;
  for (size_t start = 0; start <= name.size(); ++depth) {
    const size_t end = std::min(name.find('.', start), name.size());
    const std::string part = name.substr(start, end - start);
    start = end + 1;
    if (!is_attribute_part(part))
      refuse("its part " + shown_text(part) +
             " is none that torch's code can name: give it letters and digits; "
             "quotes, backslashes and keywords of Python are not possible");
    if (depth == 0 || (depth == 1 && in_graph) ? is_program_attribute(part)
                                               : is_module_attribute(part))
      refuse("every module of torch has an attribute " + shown_text(part));
    in_graph = depth == 0 && graphs_.contains(part);
  }
}

// No tensor stands where a module must.
void AttributeNames::check_place(const std::string& name) const {
  if (graphs_.contains(name))
    fail("the name ", shown_text(name), " is ", tensors_.at(name)->shown,
         " and a sub-graph's");
  for (size_t at = 0; (at = name.find('.', at)) != name.npos; ++at)
    if (const auto tensor = tensors_.find(name.substr(0, at));
        tensor != tensors_.end())
      fail("the name ", shown_text(tensor->first), " is ",
           tensor->second->shown, ", and that of the module that holds ",
           shown_text(name));
}

void AttributeNames::check() const {
  for (const auto& [name, owner] : tensors_) {
    check_parts(name, *owner);
    check_place(name);
    if (written_.contains(name))
      fail("the input ", shown_text(name),
           " gets a new value, and the name is ", owner->shown,
           ", too; torch would write to that");
  }
}

}  // namespace

void check_attribute_names(const Json& signature, const Json& graph) {
  AttributeNames(signature, graph).check();
}

}  // namespace proviso::inline v0_2::pt2
