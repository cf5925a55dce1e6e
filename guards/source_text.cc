#include "guards/source_text.h"

#include <cctype>
#include <optional>

#include "sym/parse.h"

namespace proviso {
namespace {

using Values = std::map<std::string, Expr>;

constexpr std::string_view kPrefix = "value_of_input_";

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string shortened(std::string_view text) {
  return std::string(text.substr(0, 300)) + (text.size() <= 300 ? "" : "...");
}

size_t end_of_word(std::string_view text, size_t begin) {
  while (begin < text.size() && in_word(text[begin])) ++begin;
  return begin;
}

// Of *xs: L['xs'][0] is called L['xs_0'] in a signature.
std::optional<std::string> as_variadic(const std::string& source) {
  const size_t quote = source.find("']");
  const size_t line = source.rfind('_', quote);
  if (!source.starts_with("L['") || quote == std::string::npos ||
      line == std::string::npos || line + 1 == quote ||
      source.find_first_not_of("0123456789", line + 1) != quote)
    return std::nullopt;
  return source.substr(0, line) + "'][" +
         source.substr(line + 1, quote - line - 1) + "]" +
         source.substr(quote + 2);
}

Values with_variadic(Values values) {
  const Values own = values;
  for (const auto& [source, value] : own)
    if (const auto other = as_variadic(source)) values.emplace(*other, value);
  return values;
}

// The longest source that stands here: L['x'].size()[0] before L['x'].
Values::const_iterator source_at(std::string_view rest, const Values& values) {
  auto best = values.end();
  for (auto it = values.begin(); it != values.end(); ++it)
    if (rest.starts_with(it->first) &&
        (best == values.end() || it->first.size() > best->first.size()))
      best = it;
  return best;
}

}  // namespace

Expr parse_over(ExprPool& pool, std::string_view text, const Values& known) {
  const Values values = with_variadic(known);
  std::string renamed;
  for (size_t i = 0; i < text.size();) {
    if (!in_word(text[i])) {
      renamed += text[i++];
      continue;
    }
    const size_t end = end_of_word(text, i);
    const std::string_view word = text.substr(i, end - i);
    const bool is_source = text.substr(i).starts_with("L[");
    const auto found = is_source ? source_at(text.substr(i), values)
                                 : values.find(std::string(word));
    if (is_source && found == values.end())
      throw Error("'" + shortened(text.substr(i)) + "' begins with no size or "
                  "integer of the inputs, in '" + shortened(text) + "'");
    if (word.starts_with(kPrefix))
      throw Error("'" + shortened(word) + "' is no size or integer of the "
                  "inputs, in '" + shortened(text) + "'");
    if (found == values.end())
      renamed += word;
    else
      renamed += std::string(kPrefix) +
                 std::to_string(std::distance(values.begin(), found));
    i = found == values.end() ? end : i + found->first.size();
  }
  ParseOptions options;
  options.make_symbol = [&](ExprPool&, std::string_view name) -> Expr {
    if (!name.starts_with(kPrefix))
      throw Error("'" + std::string(name) + "' of '" + shortened(text) +
                  "' is no size or integer of the inputs");
    const std::string place(name.substr(kPrefix.size()));
    return std::next(values.begin(), std::stol(place))->second;
  };
  return parse(pool, renamed, options);
}

}  // namespace proviso
