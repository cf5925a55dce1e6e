#include "tracer_adapter/ir/printable.h"

#include <algorithm>

namespace proviso::inline v0_2 {

size_t character_at(std::string_view text, size_t at, uint32_t& character) {
  const auto first = static_cast<uint8_t>(text[at]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length == 0 || at + length > text.size()) return 0;
  character = length == 1 ? first : first & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<uint8_t>(text[at + i]);
    if ((byte & 0xC0) != 0x80) return 0;
    character = character << 6 | (byte & 0x3F);
  }
  return length;
}

namespace {

// Controls, marks of direction, and ends of lines and paragraphs.
bool is_order(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

std::string code_of(uint32_t c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  std::string text = c < 0x100 ? "\\x" : "\\u";
  for (int shift = c < 0x100 ? 4 : 12; shift >= 0; shift -= 4)
    text += kDigits[c >> shift & 0xF];
  return text;
}

std::string without_orders(std::string_view text, std::string_view kept) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    uint32_t character = 0;
    const size_t length = character_at(text, at, character);
    if (length == 0)
      result += code_of(static_cast<uint8_t>(text[at]));
    else if (is_order(character) && kept.find(text[at]) == kept.npos)
      result += code_of(character);
    else
      result += text.substr(at, length);
    at += std::max<size_t>(length, 1);
  }
  return result;
}

}  // namespace

std::string escaped(std::string_view text) { return without_orders(text, ""); }

std::string printable(std::string_view text) {
  return without_orders(text, "\n\t");
}

}  // namespace proviso::inline v0_2
