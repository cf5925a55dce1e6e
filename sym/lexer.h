// sym/lexer.h - the tokens of the language that parse() reads.  Not for callers
// of the library.
//
//   Lexer lexer("parse", "s0 // 2");
//   lexer.take_name("s0");     // true, and the next token is //
//   lexer.take("//");          // true
//   lexer.fail_expected("a number");
//   // Error: parse: expected a number at column 7 of 's0 // 2': found '2'
//
// A dotted name (math.floor) is one token, and a quoted string is one without
// its quotes.  Tokens are views of the text, which outlives the lexer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace proviso::inline v0_2::internal {

// The words that are no names: what True and its like say, and the others.
std::optional<bool> truth_name(std::string_view name);
bool is_reserved(std::string_view name);

// Whether parse() reads the text as the symbol of this name: ASCII letters,
// digits and _, no digit first, and neither of the words above.
bool names_a_symbol(std::string_view name);
// "'a b' is not a symbol's name; a name is ...", for the error of what is none.
std::string not_a_name(std::string_view name);

enum class TokenKind : uint8_t { kEnd, kNumber, kName, kText, kSign };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // of kText: what is between the quotes
  size_t at = 0;          // offset of the first character
};

class Lexer {
 public:
  // The most digits of a number: beyond 2**65536, where evaluate() ends.
  static constexpr size_t kMaxDigits = 20000;
  // With ? for what is no ASCII.
  static std::string printable(std::string_view text);

  // `call` begins the errors.
  Lexer(std::string_view call, std::string_view text)
      : call_(call), text_(text) {
    advance();
  }

  std::string_view text() const { return text_; }
  const Token& token() const { return token_; }
  bool sees(std::string_view sign) const {
    return token_.kind == TokenKind::kSign && token_.text == sign;
  }
  bool sees_name(std::string_view name) const {
    return token_.kind == TokenKind::kName && token_.text == name;
  }
  bool take(std::string_view sign) { return sees(sign) && (advance(), true); }
  bool take_name(std::string_view name) {
    return sees_name(name) && (advance(), true);
  }
  void expect(std::string_view sign) {
    if (!take(sign)) fail_expected("'" + std::string(sign) + "'");
  }

  // Goes back to the token that begins at `at`.
  void seek(size_t at) {
    pos_ = at;
    advance();
  }
  void advance();

  // Throw Error, which names the call and the place.
  [[noreturn]] void fail_expected(const std::string& what) const;
  [[noreturn]] void fail(size_t at, const std::string& what) const;

 private:
  char peek(size_t ahead) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }
  void set(TokenKind kind, size_t length);
  size_t digits(size_t from) const;
  void number();
  void name();
  void quoted(char quote);
  size_t sign_length() const;
  std::string found() const;

  std::string call_;
  std::string_view text_;
  size_t pos_ = 0;
  Token token_;
};

}  // namespace proviso::inline v0_2::internal
