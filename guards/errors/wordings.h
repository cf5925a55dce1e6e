// guards/errors/wordings.h - how PyTorch 2.1 to 2.13 say that something about
// shapes is wrong.
//
//   question_in("Could not guard on data-dependent expression u0 > 2")->at;
//   // where "u0 > 2" begins
//   kind_of_phrase("PendingUnbackedSymbolNotFound: ..");  // kOperator
//   section_after("from user code:");                   // kUser
//
// A wording is one row of one of three tables in the .cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace proviso::inline v0_2::internal {

enum class TextErrorKind {
  kQuestion,    // could not guard on an expression
  kValue,       // could not extract the value of an expression
  kTensor,      // a branch on a tensor's value, not said as an expression
  kConstraint,  // a promise about dims that the program breaks
  kRefuted,     // a check that is false, at tracing or running
  kOperator,    // an operator, or the compiler, cannot do it
};

// A sentence that an expression follows.
struct QuestionWording {
  TextErrorKind kind;    // kQuestion or kValue
  size_t at;             // of the line: where the expression begins
  bool is_draft_report;  // of draft_export: the expression ends with `
  bool is_quoted;  // in somebody's words: only where an expression follows
};
std::optional<QuestionWording> question_in(std::string_view line);

// Whether a line break stands within such a sentence: `line` ends with its
// beginning, and `next` begins with the rest.
bool is_broken_question(std::string_view line, std::string_view next);

// A phrase by which alone an error is recognised.
std::optional<TextErrorKind> kind_of_phrase(std::string_view line);

// Whose frames, or what lines, come after a heading.
enum class Section { kTraceback, kCulprit, kUser, kAllocation, kLines, kFixes };
std::optional<Section> section_after(std::string_view line);

}  // namespace proviso::inline v0_2::internal
