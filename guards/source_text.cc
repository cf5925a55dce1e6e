#include "guards/source_text.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "sym/budget.h"
#include "sym/excerpt.h"
#include "sym/parse.h"

namespace proviso::inline v0_2 {
using namespace internal;
namespace {

constexpr std::string_view kPrefix = "value_of_input_";

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string shortened(std::string_view text) {
  return excerpt(text, kSentenceLength);
}

size_t end_of_word(std::string_view text, size_t begin) {
  while (begin < text.size() && in_word(text[begin])) ++begin;
  return begin;
}

// An argument of *xs: L['xs'][0] is called L['xs_0'] in a signature.
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

}  // namespace

void SourceValues::add(const std::string& source, Expr value) {
  values_.insert_or_assign(source, Named{value, false});
  const std::optional<std::string> other = as_variadic(source);
  if (other) values_.emplace(*other, Named{value, true});
}

Expr SourceValues::named(std::string_view name) const {
  Budget::spend(1);
  const auto found = values_.find(name);
  return found == values_.end() ? Expr() : found->second.value;
}

Expr SourceValues::beginning(std::string_view text, size_t* length) const {
  // The last key that sorts before the text has the longest beginning in common
  // with it: what begins the text begins that part as well.
  while (true) {
    Budget::spend(1);
    auto next = values_.upper_bound(text);
    if (next == values_.begin()) return Expr();
    const auto& [source, named] = *--next;
    if (text.starts_with(source)) {
      *length = source.size();
      return named.value;
    }
    const auto [end, _] =
        std::mismatch(text.begin(), text.end(), source.begin(), source.end());
    text = text.substr(0, static_cast<size_t>(end - text.begin()));
  }
}

Expr parse_over(ExprPool& pool, std::string_view text,
                const SourceValues& values) {
  std::string renamed;
  std::vector<Expr> used;
  for (size_t i = 0; i < text.size();) {
    if (!in_word(text[i])) {
      renamed += text[i++];
      continue;
    }
    size_t length = end_of_word(text, i) - i;
    const std::string_view word = text.substr(i, length);
    const bool is_source = text.substr(i).starts_with("L[");
    const Expr value = is_source ? values.beginning(text.substr(i), &length)
                                 : values.named(word);
    if (is_source && !value)
      throw Error("'" + shortened(text.substr(i)) +
                  "' begins with no size or "
                  "integer of the inputs, in '" +
                  shortened(text) + "'");
    if (word.starts_with(kPrefix))
      throw Error("'" + shortened(word) +
                  "' is no size or integer of the "
                  "inputs, in '" +
                  shortened(text) + "'");
    if (value) {
      renamed += std::string(kPrefix) + std::to_string(used.size());
      used.push_back(value);
    } else {
      renamed += word;
    }
    i += length;
  }
  ParseOptions options;
  options.make_symbol = [&](ExprPool&, std::string_view name) -> Expr {
    if (!name.starts_with(kPrefix))
      throw Error("'" + shortened(name) + "' of '" + shortened(text) +
                  "' is no size or integer of the inputs");
    return used.at(std::stoul(std::string(name.substr(kPrefix.size()))));
  };
  return parse(pool, renamed, options);
}

}  // namespace proviso::inline v0_2
