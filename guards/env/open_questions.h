// guards/env/open_questions.h - questions that stay open because only the data
// decides them: their error, and which came last.
//
//   OpenQuestions open(facts, symbols, replacements);
//   throw open.refuse(ge(u0, 5), where, false);
//       // Could not guard on data-dependent expression u0 >= 5 (unhinted: ...
//   OpenQuestions::last_of(pool)->condition;    // u0 >= 5
//
// The first line of the text is as PyTorch's users know it; the advice is ours.
#pragma once

#include <optional>

#include "guards/env/replacements.h"
#include "guards/open_question.h"

namespace proviso::inline v0_2::internal {

class OpenQuestions {
 public:
  // All outlive it.
  OpenQuestions(SessionFacts& facts, Symbols& symbols,
                Replacements& replacements)
      : facts_(facts), symbols_(symbols), replacements_(replacements) {}
  ~OpenQuestions();
  OpenQuestions(const OpenQuestions&) = delete;
  OpenQuestions& operator=(const OpenQuestions&) = delete;

  // The error for an expression of which the program needs the value, or for a
  // condition on which it branches, with replacements applied.  It is the last
  // of this thread from here on.
  [[nodiscard]] DataDependentError refuse(Expr asked,
                                          const SourceLocation& where,
                                          bool is_value);

  // What this thread refused last, if it was a question of this pool's session;
  // else null.
  static const OpenQuestion* last_of(const ExprPool& pool);

 private:
  std::string text_of(Expr question, const SourceLocation& where,
                      bool is_value);

  SessionFacts& facts_;
  Symbols& symbols_;
  Replacements& replacements_;
  std::optional<OpenQuestion> last_;
};

}  // namespace proviso::inline v0_2::internal
