// guards/errors/text_parts.h - pieces of a line of text.
//
//   after("u0 = VR[0, 9]", " = ");          // VR[0, 9]
//   between("evaluate(u0 > 2) -> x", "(", ")");  // u0 > 2
//   expression_in("Eq(u0, 1)\". And so");   // Eq(u0, 1)
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace proviso::inline v0_2::internal {

inline constexpr size_t npos = std::string_view::npos;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '_';
}

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

// Without blanks at its ends.
std::string_view trim(std::string_view text);

// What follows the first `before`; nullopt where it is not there.
std::optional<std::string_view> after(std::string_view text,
                                      std::string_view before);

// What is between the two; up to the end where the second is not there.
std::optional<std::string_view> between(std::string_view text,
                                        std::string_view before,
                                        std::string_view behind);

// The parts, trimmed; the whole where there is no separator.
std::vector<std::string_view> split(std::string_view text,
                                    std::string_view separator);

// Where the bracket that is open at the start is closed; npos where it is not.
size_t closing(std::string_view text);

// The expression that a sentence begins with: up to the end of the sentence, a
// quotation mark, or a bracket that is closed and was not opened.
std::string_view expression_in(std::string_view text);

// The number that the digits at the start are, at most nine; 0 where there are
// none.
int number_of(std::string_view digits);

// s0, u0, i0, zf0, zuf0, f0: what PyTorch calls symbols.
bool is_symbol_name(std::string_view name);

// A name of Python.
bool is_identifier(std::string_view text);

// What a program may call a value: n, y.shape[0], boxes["a"].size(0), len(x).
bool is_place(std::string_view text);

}  // namespace proviso::inline v0_2::internal
