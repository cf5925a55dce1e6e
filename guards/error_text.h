// guards/error_text.h - what the texts of PyTorch say: errors about shapes and
// what was known when they arose.
//
//   ErrorText text = read_errors(
//       "create_unbacked_symint u0 [0, 9]\n"
//       "Could not guard on data-dependent expression u0 > 9 "
//       "(unhinted: u0 > 9).  (Size-like symbols: u0)\n");
//   text.errors[0].expression;                       // u0 > 9
//   text.envs[text.errors[0].env].symbols["u0"].upper;  // 9
//
// Reads tracebacks, exceptions and TORCH_LOGS="+dynamic", of PyTorch 2.1 to
// 2.13, as people paste them: with prefixes and colours (guards/log_lines.h),
// cut off, several processes and errors at once.  Nothing is concluded here:
// guards/diagnosis.h does.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sym/expr.h"

namespace proviso {

struct TextFrame {
  std::string file;
  int line = 0;
  std::string function;
  std::string code;  // of the line, where the text shows it
  bool is_known() const { return !file.empty(); }
};

// Whether the file is PyTorch's own.
bool is_of_torch(std::string_view file);

// A name that the program has for a symbol, and the frame where it has it.
struct WordsFor {
  std::string words;  // n, y.shape[0]
  TextFrame where;    // not known: where the error is
};

struct TextSymbol {
  std::string source;           // of an input: L['x'].size()[0]
  std::vector<WordsFor> words;  // first the surest
  OptionalInt lower, upper;     // when it was made; later ones are facts
  OptionalInt example;          // its value in the run on real tensors
  TextFrame made_at;
};

struct TextFact {
  std::string text;  // u0 >= 0
  TextFrame where;
};

// What one ShapeEnv was seen to know.  Symbols of two are never the same,
// whatever their numbers.
struct TextEnv {
  std::map<std::string, TextSymbol> symbols;
  std::vector<TextFact> facts;
};

enum class TextErrorKind {
  kQuestion,    // could not guard on `expression`
  kValue,       // could not extract the value of `expression`
  kTensor,      // a branch on a tensor's value, not said as an expression
  kConstraint,  // a promise about dims that the program breaks
  kRefuted,     // a check that is false, at tracing or running
  kOperator,    // an operator, or the compiler, cannot do it
};

struct TextError {
  TextErrorKind kind = TextErrorKind::kQuestion;
  std::string expression;  // without hints put in, where the text has it
  std::string message;     // the line that says it
  uint32_t line = 0;       // of the text
  uint32_t env = 0;
  uint32_t facts_before = 0;  // of the env's facts; later ones do not count
  uint32_t stream = 0;
  uint32_t times = 1;                  // it was said
  bool says_size_like = false;         // whether the text lists
  std::vector<std::string> size_like;  // the symbols that are sizes
  std::optional<bool> advised;         // the side that PyTorch would take
  std::optional<bool> example;         // the side that real tensors took
  OptionalInt example_value;           // of `expression`, on real tensors
  std::vector<TextFrame> traceback;    // outermost first
  std::vector<TextFrame> culprit;      // "Potential framework code culprit"
  std::vector<TextFrame> user;         // "User Stack", "from user code"
  TextFrame caused_by;                 // its path may be cut off at the left
  TextFrame asked_in;  // the frame of PyTorch that "Caused by" names with it
  std::vector<std::string> violations;       // lines of "Constraints violated"
  std::vector<std::string> suggestions;      // lines of "Suggested fixes"
  std::map<std::string, std::string> words;  // u0: y.shape[0]
};

struct ErrorText {
  std::vector<TextEnv> envs;
  std::vector<TextError> errors;
  std::vector<std::string> streams;
  size_t lines = 0;
  size_t unread = 0;       // errors whose expression could not be made out
  uint32_t unread_at = 0;  // the line of the first
  bool was_cut = false;    // for its size
};

ErrorText read_errors(std::string_view text);

// An expression as logs print it, over symbols named as PyTorch does (s0, u0,
// i0, zf0 ..); nullopt for what is none.
std::optional<Expr> read_expression(ExprPool& pool, const std::string& text);

}  // namespace proviso
