#include "tracer_adapter/pt2/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

namespace proviso::inline v0_2::pt2 {

void Json::wrong(const char* expected) const {
  static constexpr const char* kNames[] = {
      "null",     "a boolean", "an integer", "a number",
      "a string", "a list",    "an object"};
  throw WrongType(std::string("expected ") + expected + ", found " +
                  kNames[value_.index()]);
}

double Json::number() const {
  if (is_int()) return static_cast<double>(integer());
  if (const std::string* text = std::get_if<std::string>(&value_)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (*text == "Infinity") return kInfinity;
    if (*text == "-Infinity") return -kInfinity;
    if (*text == "NaN") return std::nan("");
  }
  return get<double>("a number");
}

const Json* Json::member(std::string_view key) const {
  const auto& [members, by_key] = object();
  const auto at = std::lower_bound(
      by_key.begin(), by_key.end(), key,
      [&members = members](uint32_t i, std::string_view wanted) {
        return members[i].first < wanted;
      });
  if (at == by_key.end() || members[*at].first != key) return nullptr;
  return &members[*at].second;
}

bool Json::operator==(const Json& other) const {
  if (!is_object() || !other.is_object()) return value_ == other.value_;
  return members() == other.members();
}

const Json* Json::find(std::string_view key) const {
  const Json* found = member(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

const Json& Json::at(std::string_view key) const {
  if (const Json* found = find(key)) return *found;
  std::string names;
  for (const auto& [name, value] : members()) {
    if (names.size() > 200) break;
    names += (names.empty() ? "" : ", ") + name;
  }
  throw FileError("there is no '" + std::string(key) + "' among: " + names);
}

const std::pair<std::string, Json>& Json::tagged() const {
  if (members().size() != 1)
    throw FileError("expected an object of one member, found " +
                    std::to_string(members().size()));
  return members().front();
}

class JsonParser {
 public:
  JsonParser(std::string_view text, const std::string& where,
             const JsonLimits& limits)
      : text_(text), where_(where), limits_(limits) {}

  Json document() {
    Json value = parse(0);
    blanks();
    if (at_ != text_.size()) fail("text follows the value");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FileError(where_ + ": not JSON at byte " + std::to_string(at_) +
                    ": " + what);
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                  text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(char c) {
    blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }
  bool word(std::string_view name) {
    if (!text_.substr(at_).starts_with(name)) return false;
    at_ += name.size();
    return true;
  }

  Json parse(size_t depth);
  Json object(size_t depth);
  Json array(size_t depth);
  Json number();
  size_t number_size() const;
  void append_character(std::string& out);
  std::string quoted();
  uint32_t hex();
  void append_escape(std::string& out);

  std::string_view text_;
  const std::string& where_;
  JsonLimits limits_;
  size_t at_ = 0, count_ = 0;
};

Json JsonParser::parse(size_t depth) {
  if (depth > limits_.depth)
    fail("nested deeper than " + std::to_string(limits_.depth));
  if (++count_ > limits_.values)
    fail("more than " + std::to_string(limits_.values) + " values");
  blanks();
  Json result;
  if (peek() == '{') return object(depth);
  if (peek() == '[') return array(depth);
  if (peek() == '"')
    result.value_ = quoted();
  else if (word("true"))
    result.value_ = true;
  else if (word("false"))
    result.value_ = false;
  else if (word("NaN"))
    result.value_ = std::nan("");
  else if (word("Infinity"))
    result.value_ = std::numeric_limits<double>::infinity();
  else if (word("-Infinity"))
    result.value_ = -std::numeric_limits<double>::infinity();
  else if (!word("null"))
    return number();
  return result;
}

Json JsonParser::object(size_t depth) {
  auto object = std::make_shared<Json::Object>();
  Json::Members& members = object->members;
  expect('{');
  if (!take('}')) {
    do {
      blanks();
      std::string key = quoted();
      expect(':');
      members.emplace_back(std::move(key), parse(depth + 1));
    } while (take(','));
    expect('}');
  }
  std::vector<uint32_t>& by_key = object->by_key;
  by_key.resize(members.size());
  std::iota(by_key.begin(), by_key.end(), 0);
  std::sort(by_key.begin(), by_key.end(), [&](uint32_t a, uint32_t b) {
    return members[a].first < members[b].first;
  });
  for (size_t i = 1; i < by_key.size(); ++i)
    if (members[by_key[i]].first == members[by_key[i - 1]].first)
      fail("the key '" + members[by_key[i]].first.substr(0, 100) +
           "' is there twice");
  Json result;
  result.value_ = std::shared_ptr<const Json::Object>(std::move(object));
  return result;
}

Json JsonParser::array(size_t depth) {
  Json::Items items;
  expect('[');
  if (!take(']')) {
    do {
      items.push_back(parse(depth + 1));
    } while (take(','));
    expect(']');
  }
  Json result;
  result.value_ = std::move(items);
  return result;
}

// -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?, or 0 where there is none.
size_t JsonParser::number_size() const {
  size_t at = at_;
  const auto is = [&](std::string_view any) {
    return at < text_.size() && any.find(text_[at]) != any.npos;
  };
  const auto digits = [&] {
    const size_t from = at;
    while (is("0123456789")) ++at;
    return at > from;
  };
  at += is("-");
  if (is("0"))
    ++at;
  else if (!digits())
    return 0;
  if (is("0123456789")) return 0;
  if (is(".")) {
    ++at;
    if (!digits()) return 0;
  }
  if (is("eE")) {
    ++at;
    at += is("+-");
    if (!digits()) return 0;
  }
  return at - at_;
}

Json JsonParser::number() {
  const char* begin = text_.data() + at_;
  const char* end = begin + number_size();
  if (begin == end) fail("expected a value");
  Json result;
  int64_t whole = 0;
  const auto as_int = std::from_chars(begin, end, whole);
  double real = 0;
  const auto as_real = std::from_chars(begin, end, real);
  if (as_real.ec != std::errc() || as_real.ptr != end)
    fail("the number is too large or too small");
  at_ += end - begin;
  if (as_int.ec == std::errc() && as_int.ptr == end)
    result.value_ = whole;
  else
    result.value_ = real;
  return result;
}

uint32_t JsonParser::hex() {
  uint32_t value = 0;
  const std::string_view digits = text_.substr(at_, 4);
  const auto [ptr, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || ptr != digits.data() + 4)
    fail("expected four hexadecimal digits");
  at_ += 4;
  return value;
}

void JsonParser::append_escape(std::string& out) {
  const char c = peek();
  ++at_;
  static constexpr std::string_view kFrom = "\"\\/bfnrt";
  static constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
  if (const size_t i = kFrom.find(c); i != std::string_view::npos) {
    out += kTo[i];
    return;
  }
  if (c != 'u') fail("unknown escape");
  uint32_t code = hex();
  if (code >= 0xd800 && code < 0xe000) {
    const uint32_t low = code < 0xdc00 && word("\\u") ? hex() : 0;
    if (low < 0xdc00 || low >= 0xe000) fail("half of a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr int kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(kFirst[more] | (code >> (6 * more)));
  for (int i = more; i-- > 0;)
    out += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f));
}

// One of UTF-8: the shortest form, no surrogate, up to U+10FFFF.
void JsonParser::append_character(std::string& out) {
  const auto byte = [&](size_t i) -> uint32_t {
    return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0;
  };
  const uint32_t first = byte(at_);
  if (first < ' ') fail("a control character in a string");
  const size_t more = first < 0x80                    ? 0
                      : first >= 0xc2 && first < 0xe0 ? 1
                      : (first & 0xf0) == 0xe0        ? 2
                      : first >= 0xf0 && first < 0xf5 ? 3
                                                      : 4;
  bool good = more < 4;
  for (size_t i = 1; i <= more; ++i) good &= (byte(at_ + i) & 0xc0) == 0x80;
  const uint32_t second = byte(at_ + 1);
  good &=
      !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second >= 0xa0) &&
      !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second >= 0x90);
  if (!good) fail("a string is not UTF-8");
  out += text_.substr(at_, more + 1);
  at_ += more + 1;
}

std::string JsonParser::quoted() {
  if (peek() != '"') fail("expected a string");
  ++at_;
  std::string out;
  for (;;) {
    if (at_ >= text_.size()) fail("a string does not end");
    const char c = text_[at_];
    if (c == '"' || c == '\\') ++at_;
    if (c == '"') return out;
    if (c == '\\')
      append_escape(out);
    else
      append_character(out);
  }
}

Json parse_json(std::string_view text, const std::string& where,
                const JsonLimits& limits) {
  return JsonParser(text, where, limits).document();
}

}  // namespace proviso::inline v0_2::pt2
