#include "tracer_adapter/pt2/quoted_texts.h"

#include <string>

#include "tracer_adapter/ir/printable.h"
#include "tracer_adapter/pt2/call_signature.h"
#include "tracer_adapter/pt2/fail.h"

namespace proviso::inline v0_2::pt2 {
namespace {

void check_keys(const Json& keys) {
  for (const Json& key : keys.items())
    if (key.is_string()) {
      const std::string quoted = quoted_key(key.string());
      check_quoted_key(std::string_view(quoted).substr(1, quoted.size() - 2));
    }
}

// `spec`: a TreeSpec; torch names its leaves by the keys above them.
void check_input_keys(const Json& spec) {
  const Json* type = spec.find("type");
  if (type == nullptr) return;
  if (const auto keys =
          dict_keys(type->string(), *spec.member("context"), "in_spec"))
    check_keys(*keys);
  for (const Json& child : spec.at("children_spec").items())
    check_input_keys(child);
}

}  // namespace

bool stands_in_quotes(std::string_view text) {
  return text.find_first_of("'\"\\\n") == text.npos && printable(text) == text;
}

void require_quotable(std::string_view what, std::string_view text) {
  if (!stands_in_quotes(text))
    fail(what, " is ", shown_text(text), ", and torch writes it into code",
         " between quotes; quotes, backslashes and ends of lines are not",
         " possible there");
}

std::string quoted_key(std::string_view key) {
  std::string text = "'";
  for (const char c : key) {
    if (c == '\\' || c == '\n' || c == '\r' || c == '\t') text += '\\';
    text += c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c;
  }
  return text + "'";
}

void check_quoted_key(std::string_view inner) {
  std::string plain;
  for (size_t at = 0; at < inner.size(); ++at) {
    const bool is_escape =
        inner[at] == '\\' && at + 1 < inner.size() &&
        std::string_view("\\nrt").find(inner[at + 1]) != inner.npos;
    if (is_escape)
      ++at;
    else
      plain += inner[at];
  }
  if (!stands_in_quotes(plain))
    fail("a key is ", shown_text(inner), ", and torch writes it into code ",
         "between quotes; quotes and what does not print are not possible ",
         "there");
}

void check_quoted_texts(const Json& module) {
  for (const Json& entry : module.at("signature").at("input_specs").items())
    if (const auto& [kind, spec] = entry.tagged(); kind == "constant_input")
      if (const auto& [tag, text] = spec.at("value").tagged();
          tag == "as_string")
        require_quotable("a text input", text.string());
  for (const Json& call : module.at("module_call_graph").items())
    require_quotable("the name of a module", call.at("fqn").string());
  const Json& whole = module.at("module_call_graph").items().at(0);
  check_input_keys(
      parse_json(whole.at("signature").at("in_spec").string(), "in_spec")
          .items()
          .at(1));
}

}  // namespace proviso::inline v0_2::pt2
