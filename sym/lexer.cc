#include "sym/lexer.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "sym/excerpt.h"
#include "sym/expr.h"

namespace proviso::inline v0_2::internal {
namespace {

// A text of names alone is within the default limit of parse() many times.
constexpr size_t kMaxNameLength = 1 << 16;

// ASCII in every locale.
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

// The words "at column 12 of '...'": long text is shown around the column.
std::string place(std::string_view text, size_t at) {
  constexpr size_t kBefore = 40, kShown = 80;
  size_t from = at > kBefore && text.size() > kShown ? at - kBefore : 0;
  std::string shown = Lexer::printable(text.substr(from, kShown));
  if (from > 0) shown = "..." + shown;
  if (from + kShown < text.size()) shown += "...";
  return "at column " + std::to_string(at + 1) + " of '" + shown + "'";
}

}  // namespace

std::optional<bool> truth_name(std::string_view name) {
  if (name.empty() || std::string_view("TtFfB").find(name[0]) == name.npos) {
    return std::nullopt;
  }
  if (name == "True" || name == "true" || name == "BooleanTrue") return true;
  if (name == "False" || name == "false" || name == "BooleanFalse") {
    return false;
  }
  return std::nullopt;
}

bool is_reserved(std::string_view name) {
  static constexpr std::string_view kWords[] = {"and",  "or", "not", "if",
                                                "else", "in", "is",  "lambda",
                                                "None", "oo", "nan", "zoo"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [name](std::string_view word) {
                       return name.starts_with(word[0]) && name == word;
                     });
}

bool names_a_symbol(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameLength &&
         starts_name(name[0]) &&
         std::all_of(name.begin(), name.end(), continues_name) &&
         !is_reserved(name) && !truth_name(name) && name != "int_oo";
}

std::string not_a_name(std::string_view name) {
  return "'" + excerpt(Lexer::printable(name), kArgumentLength) +
         "' is not a symbol's name; a name is up to " +
         std::to_string(kMaxNameLength) +
         " ASCII letters, digits and _, no digit first, and no word of the "
         "language (if, True, int_oo, ..)";
}

std::string Lexer::printable(std::string_view text) {
  std::string out;
  for (char c : text) out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

void Lexer::advance() {
  while (pos_ < text_.size() &&
         std::isspace(static_cast<unsigned char>(text_[pos_]))) {
    ++pos_;
  }
  token_.at = pos_;
  if (pos_ == text_.size()) return set(TokenKind::kEnd, 0);
  char c = text_[pos_];
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
  if (starts_name(c)) return name();
  if (c == '\'' || c == '"') return quoted(c);
  set(TokenKind::kSign, sign_length());
}

void Lexer::fail_expected(const std::string& what) const {
  throw Error(call_ + ": expected " + what + " " + place(text_, token_.at) +
              ": found " + found());
}

void Lexer::fail(size_t at, const std::string& what) const {
  throw Error(call_ + ": " + what + " " + place(text_, at));
}

void Lexer::set(TokenKind kind, size_t length) {
  token_.kind = kind;
  token_.text = text_.substr(token_.at, length);
  pos_ = token_.at + length;
}

size_t Lexer::digits(size_t from) const {
  while (from < text_.size() && is_digit(text_[from])) ++from;
  return from;
}

void Lexer::number() {
  size_t end = digits(pos_);
  if (end < text_.size() && text_[end] == '.') end = digits(end + 1);
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    size_t sign = end + 1;
    if (sign < text_.size() && (text_[sign] == '-' || text_[sign] == '+')) {
      ++sign;
    }
    if (sign < text_.size() && is_digit(text_[sign])) end = digits(sign);
  }
  if (end < text_.size() && continues_name(text_[end])) {
    fail(token_.at, "malformed number (a name begins with a letter)");
  }
  if (end - pos_ > kMaxDigits) {
    fail(token_.at, "a number of more than " + std::to_string(kMaxDigits) +
                        " characters; write it as a power");
  }
  set(TokenKind::kNumber, end - pos_);
}

void Lexer::name() {
  size_t end = pos_;
  while (end < text_.size() && continues_name(text_[end])) ++end;
  // A dotted name (math.floor) is one token.
  while (end + 1 < text_.size() && text_[end] == '.' &&
         starts_name(text_[end + 1])) {
    ++end;
    while (end < text_.size() && continues_name(text_[end])) ++end;
  }
  set(TokenKind::kName, end - pos_);
}

void Lexer::quoted(char quote) {
  size_t end = text_.find(quote, pos_ + 1);
  if (end == std::string_view::npos) fail(pos_, "unfinished string");
  token_.kind = TokenKind::kText;
  token_.text = text_.substr(pos_ + 1, end - pos_ - 1);
  pos_ = end + 1;
}

size_t Lexer::sign_length() const {
  for (std::string_view two :
       {"**", "//", "<<", ">>", "<=", ">=", "==", "!="}) {
    if (text_.substr(pos_, 2) == two) return 2;
  }
  return 1;
}

std::string Lexer::found() const {
  if (token_.kind == TokenKind::kEnd) return "the end of the text";
  if (token_.kind == TokenKind::kText) return "a string";
  return "'" + printable(token_.text.substr(0, 40)) + "'";
}

}  // namespace proviso::inline v0_2::internal
