// guards/requirements.h - what a traced program requires of its inputs, as the
// least set of conditions that a person would write.
//
//   Requirements r = requirements(env, words);
//   r.conditions[0].text;            // "T >= 2"
//   r.conditions[0].counterexample;  // T = 1: the others hold, it does not
//   r.questions[3].follows_from;     // {0}: this guard is implied by it
//   r.pinned;                        // sizes that can have one value only
//
// The conditions together are equivalent to the guards of the trace, by proof.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "guards/suggest.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

struct Requirement {
  Expr condition;
  std::string text;  // in the caller's words
  // A point where the others hold and this does not, which shows that it is
  // needed; nullopt where the search found none.
  std::optional<Assignment> counterexample;
};

// A guard of the trace.
struct AnsweredQuestion {
  Expr condition;
  std::string text;
  std::vector<SourceLocation> origins;
  // The requirements that imply it; nullopt where the proof was not found.
  std::optional<std::vector<size_t>> follows_from;
};

struct PinnedSize {
  std::string text;  // of the size
  Int value;
  std::vector<size_t> follows_from;  // requirements
};

struct Requirements {
  std::vector<Requirement> conditions;
  std::vector<AnsweredQuestion> questions;
  std::vector<PinnedSize> pinned;
};

// What holds of every input: sizes are not negative, promised ranges.
[[nodiscard]] Context input_ranges(ShapeEnv& env);

// Requires a trace that has ended.  `words` name the sizes of its inputs; a
// size without word goes by its source (x.size()[0]).
[[nodiscard]] Requirements requirements(ShapeEnv& env, std::vector<Word> words);

}  // namespace proviso::inline v0_2
PROVISO_API_END
