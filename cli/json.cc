#include "cli/json.h"

#include <cstdio>

#include "sym/expr.h"

namespace proviso::cli {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Json document() {
    Json value = read(0);
    if (peek() != '\0') fail("the end");
    return value;
  }

 private:
  static constexpr int kMaxDepth = 100;

  char peek() {
    while (pos_ < text_.size() && std::string_view(" \t\r\n").find(
                                      text_[pos_]) != std::string_view::npos) {
      ++pos_;
    }
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  bool take(char c) { return peek() == c && (++pos_, true); }
  [[noreturn]] void fail(const std::string& expected) const {
    throw Error("JSON: expected " + expected + " at column " +
                std::to_string(pos_ + 1));
  }

  Json read(int depth) {
    if (depth > kMaxDepth) fail("nesting of at most 100 levels");
    switch (peek()) {
      case '{': return object(depth);
      case '[': return list(depth);
      case '"': return {Json::Kind::kText, quoted(), {}, {}};
      default: return literal();
    }
  }

  Json object(int depth) {
    Json value{Json::Kind::kObject, {}, {}, {}};
    ++pos_;
    if (take('}')) return value;
    do {
      if (peek() != '"') fail("a quoted key");
      std::string key = quoted();
      if (!take(':')) fail("':'");
      value.members.emplace_back(std::move(key), read(depth + 1));
    } while (take(','));
    if (!take('}')) fail("',' or '}'");
    return value;
  }

  Json list(int depth) {
    Json value{Json::Kind::kList, {}, {}, {}};
    ++pos_;
    if (take(']')) return value;
    do {
      value.items.push_back(read(depth + 1));
    } while (take(','));
    if (!take(']')) fail("',' or ']'");
    return value;
  }

  std::string quoted() {
    std::string out;
    for (++pos_; pos_ < text_.size(); ++pos_) {
      char c = text_[pos_];
      if (c == '"') {
        ++pos_;
        return out;
      }
      if (c != '\\') {
        out += c;
        continue;
      }
      ++pos_;
      out += escaped();
    }
    fail("'\"'");
  }

  // The corpus is ASCII: \u is refused rather than guessed.
  char escaped() const {
    constexpr std::string_view kCodes = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    size_t i =
        pos_ < text_.size() ? kCodes.find(text_[pos_]) : std::string_view::npos;
    if (i == std::string_view::npos) fail("an escape other than \\u");
    return kValues[i];
  }

  Json literal() {
    size_t from = pos_;
    while (pos_ < text_.size() &&
           std::string_view(",]} \t\r\n").find(text_[pos_]) ==
               std::string_view::npos) {
      ++pos_;
    }
    std::string word(text_.substr(from, pos_ - from));
    if (word == "null") return {};
    bool truth = word == "true" || word == "false";
    if (!truth &&
        word.find_first_not_of("0123456789+-.eE") != std::string::npos) {
      pos_ = from;
      fail("a value");
    }
    if (word.empty()) fail("a value");
    return {truth ? Json::Kind::kBool : Json::Kind::kNumber, word, {}, {}};
  }

  std::string_view text_;
  size_t pos_ = 0;
};

}  // namespace

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string json_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (size_t i = 0; i < texts.size(); ++i) {
    out += (i > 0 ? ", " : "") + json_text(texts[i]);
  }
  return out + "]";
}

JsonObject& JsonObject::add(std::string_view key, std::string_view value) {
  if (!body_.empty()) body_ += ", ";
  body_ += json_text(key);
  body_ += ": ";
  body_ += value;
  return *this;
}

Json Json::parse(std::string_view text) { return Reader(text).document(); }

const Json& Json::at(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return value;
  }
  throw Error("JSON: no member '" + std::string(key) + "'");
}

}  // namespace proviso::cli
