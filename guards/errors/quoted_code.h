// guards/errors/quoted_code.h - what the lines of quoted functions say, each
// read once for all errors that ask about them.
//
//   QuotedCode code(text);
//   const QuotedFunction& f = code.function(0);
//   for (size_t line : f.askers("if a <= c:")) f.lines()[line].check_above;
//   f.assigned_before("a", 7);  // the last line before 7 that assigns a
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guards/errors/error_text.h"

namespace proviso::inline v0_2::internal {

// A condition with each word (n, x.shape[0], self.size) as w0, w1, ..
struct Worded {
  std::string text;
  std::vector<std::string> words;
};

struct QuotedLine {
  std::optional<Worded> check;  // what it promises, of one word or more
  std::optional<Worded> asked;  // what it asks by itself, of one word or more
  // The nearest check that was made before it on every way to it; kNoLine where
  // there is none.
  size_t check_above = 0;
};
inline constexpr size_t kNoLine = std::string_view::npos;

class QuotedFunction {
 public:
  // The text outlives it.
  explicit QuotedFunction(const TextFunction& text);

  const std::vector<QuotedLine>& lines() const { return lines_; }
  const std::string& code(size_t line) const { return text_.lines[line].code; }

  // Lines of this code, or all that ask something where it is empty.  Of those
  // between which nothing is checked or assigned, all of which have the same
  // answers, the first.
  const std::vector<size_t>& askers(const std::string& code) const;

  // The last line before `line` that assigns the variable; kNoLine where none
  // does.
  size_t assigned_before(std::string_view variable, size_t line) const;

 private:
  void read_lines();
  void find_checks_above();
  void find_askers();

  const TextFunction& text_;
  std::vector<QuotedLine> lines_;
  std::map<std::string_view, std::vector<size_t>> assigned_;  // a variable
  std::vector<size_t> assigned_so_far_;  // lines before each that assign
  std::map<std::string_view, std::vector<size_t>> askers_;  // a line's code
  std::vector<size_t> all_askers_;
};

class QuotedCode {
 public:
  // The text outlives it.
  explicit QuotedCode(const ErrorText& text);

  // The functions that one process's lines quote, in their order.
  const std::vector<size_t>& functions_of(uint32_t stream) const;
  const TextFunction& text(size_t function) const {
    return text_.functions[function];
  }
  const QuotedFunction& function(size_t function);

 private:
  const ErrorText& text_;
  std::map<uint32_t, std::vector<size_t>> of_stream_;
  std::map<size_t, QuotedFunction> read_;
};

// The name that a word begins with: x of x.shape[0].
std::string_view root_of(std::string_view word);

}  // namespace proviso::inline v0_2::internal
