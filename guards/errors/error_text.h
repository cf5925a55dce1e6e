// guards/errors/error_text.h - what the texts of PyTorch say: errors about
// shapes and what was known when they arose.
//
//   ErrorText text = read_errors(
//       "create_unbacked_symint u0 [0, 9]\n"
//       "Could not guard on data-dependent expression u0 > 9 "
//       "(unhinted: u0 > 9).  (Size-like symbols: u0)\n");
//   text.errors[0].expression;                       // u0 > 9
//   text.envs[text.errors[0].env].symbols["u0"].upper;  // 9
//
// Reads tracebacks, exceptions and TORCH_LOGS="+dynamic", of PyTorch 2.1 to
// 2.13, as people paste them: with prefixes and colours
// (guards/errors/log_lines.h), cut off, several processes and errors at once.
// Nothing is concluded here: guards/errors/diagnosis.h does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guards/errors/env_text.h"
#include "guards/errors/frames.h"
#include "guards/errors/wordings.h"
#include "sym/expr.h"
#include "sym/parse.h"

namespace proviso::inline v0_2::internal {

struct TextError {
  TextErrorKind kind = TextErrorKind::kQuestion;
  std::string expression;  // without hints substituted, where the text has it
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

// A function of the program, as far as the text quotes its code.
struct SourceLine {
  size_t indent = 0;
  std::string code;
};
struct TextFunction {
  std::string name;
  std::vector<SourceLine> lines;  // of its body, without blank ones
  uint32_t line = 0;              // of the text, where it begins
  uint32_t stream = 0;
};

struct ErrorText {
  std::vector<TextEnv> envs;
  std::vector<TextError> errors;
  std::vector<TextFunction> functions;
  std::vector<std::string> streams;
  size_t lines = 0;
  size_t unread = 0;       // errors whose expression could not be made out
  uint32_t unread_at = 0;  // the line of the first
  bool was_cut = false;    // for its size
  uint64_t units = 0;      // of work (sym/budget.h), for all answers to it
};

ErrorText read_errors(std::string_view text);

// An expression as logs print it, over symbols named as PyTorch does (s0, u0,
// i0, zf0 ..); nullopt for what is none.
std::optional<Expr> read_expression(ExprPool& pool, const std::string& text);
// Another language than that of logs, within `units` of work (sym/budget.h).
std::optional<Expr> read_expression(ExprPool& pool, const std::string& text,
                                    const ParseOptions& options,
                                    uint64_t units);

}  // namespace proviso::inline v0_2::internal
