#include "tracer_adapter/pt2/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

namespace proviso::inline v0_2::pt2 {

void JsonWriter::separate() {
  if (!first_ && !after_key_) text_ += ", ";
  first_ = false;
  after_key_ = false;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
}

void JsonWriter::close(char bracket) {
  text_ += bracket;
  first_ = false;
}

void JsonWriter::raw(std::string_view value) {
  separate();
  text_ += value;
}

void JsonWriter::quote(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  text_ += '"';
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (byte < 0x20) {
      text_ += "\\u00";
      text_ += kHex[byte >> 4];
      text_ += kHex[byte & 15];
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

void JsonWriter::string(std::string_view text) {
  separate();
  quote(text);
}

void JsonWriter::integer(int64_t value) { raw(std::to_string(value)); }

void JsonWriter::number(double value) {
  if (std::isnan(value)) return string("NaN");
  if (std::isinf(value)) return string(value > 0 ? "Infinity" : "-Infinity");
  std::array<char, 32> buffer;
  auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string digits(buffer.data(), end);
  // A float without a point would be read back as an integer.
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  raw(digits);
}

void JsonWriter::boolean(bool value) { raw(value ? "true" : "false"); }
void JsonWriter::null() { raw("null"); }

}  // namespace proviso::inline v0_2::pt2
