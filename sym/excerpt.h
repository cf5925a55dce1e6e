// sym/excerpt.h - how much texts for people show of an expression, or of a text
// that somebody else wrote.
//
//   "expected a symbol, got " + excerpt(e)      got s0 + s1*s2 + ...
//   "expected a symbol, got " + described(e)    got s0 + 1 (integer)
//   excerpt(line, kSentenceLength)              a line, or how it begins
//
// What is longer is cut there, and "..." says so.
#pragma once

#include <string>
#include <string_view>

#include "sym/expr.h"
#include "sym/print.h"

namespace proviso::inline v0_2::internal {

// In characters, by what the text shows:
inline constexpr size_t kArgumentLength = 200;  // what a call was given
inline constexpr size_t kSentenceLength = 400;  // what one sentence is about
inline constexpr size_t kFactLength = 1000;     // one of the facts of an answer
inline constexpr size_t kMessageLength = 2000;  // all of a message

inline std::string excerpt(Expr e, size_t most = kArgumentLength) {
  return to_string(e, most);
}
inline std::string excerpt(std::string_view text, size_t most) {
  return std::string(text.substr(0, most)) + (text.size() > most ? "..." : "");
}

inline std::string described(Expr e) {
  return excerpt(e) + " (" + std::string(name_of(e.type())) + ")";
}

}  // namespace proviso::inline v0_2::internal
