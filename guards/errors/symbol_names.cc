#include "guards/errors/symbol_names.h"

#include <string_view>

#include "guards/errors/text_parts.h"

namespace proviso::inline v0_2::internal {

std::string words_of_source(const std::string& source) {
  if (!source.starts_with("L['")) return "";
  for (std::string_view own :
       {"L['self']", "L['flat_args']", "L['args']", "L['kwargs']", "L['fn']"}) {
    if (source.starts_with(own)) return "";
  }
  const size_t end = source.find("']", 3);
  if (end == source.npos) return "";
  std::string rest = source.substr(end + 2);
  const size_t size = rest.find(".size()");
  if (size != rest.npos) rest.replace(size, 7, ".shape");
  const std::string words = source.substr(3, end - 3) + rest;
  return is_place(words) ? words : "";
}

std::string SymbolNames::of(const std::string& symbol) const {
  if (auto it = error_.words.find(symbol); it != error_.words.end()) {
    if (is_place(it->second)) return it->second;
  }
  auto it = env_.symbols.find(symbol);
  if (it == env_.symbols.end()) return "";
  for (const WordsFor& known : it->second.words) {
    if (is_in_scope(known.where) && is_place(known.words)) return known.words;
  }
  return words_of_source(it->second.source);
}

bool SymbolNames::is_argument(const std::string& symbol) const {
  auto it = env_.symbols.find(symbol);
  return it != env_.symbols.end() && !it->second.source.empty();
}

std::string SymbolNames::made(const std::string& symbol) const {
  auto it = env_.symbols.find(symbol);
  if (it == env_.symbols.end()) return "";
  const TextSymbol& s = it->second;
  if (!s.source.empty()) return s.source;
  if (!s.made_at.is_known()) return "";
  std::string text = s.made_at.file + ":" + std::to_string(s.made_at.line);
  if (!s.made_at.code.empty()) text += " in `" + s.made_at.code + "`";
  return text;
}

bool SymbolNames::is_in_scope(const TextFrame& where) const {
  if (!where.is_known()) return true;
  return is_same_file(where.file, place_.file) &&
         where.function == place_.function && where.line <= place_.line;
}

}  // namespace proviso::inline v0_2::internal
