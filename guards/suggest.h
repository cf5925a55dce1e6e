// guards/suggest.h - the checks that answer an open question, in the words of
// the program.
//
//   env.guard_bool(gt(8 * u0, pool.integer(160)));  // DataDependentError
//   Assignment example;
//   example.set(u0, Int(40));
//   suggest(env, *last_refused(env), {{u0, "n"}}, example);
//   // {"torch._check(n >= 21)", excludes "n <= 20"}, and the other side:
//   // {"torch._check(n <= 20)", excludes "n >= 21"}
//
// A check says the least that answers the question: under what is known it is
// equivalent to one side, which is proved before it is offered.  So a program
// with the check in it is not asked again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "guards/open_question.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// What a line of the program calls a value.
struct Word {
  Expr value;        // u0, 2*u0 + 1, Eq(u1, 1)
  std::string text;  // "n", "x.shape[0]"
};

struct Suggestion {
  std::string code;       // "torch._check(n % 4 == 0)"
  std::string condition;  // "n % 4 == 0"
  std::string excludes;   // "n % 4 != 0"
};

// The side that holds for the example comes first.  `example` gives symbols
// that have no hint; a question for a value needs it.  Empty where the words do
// not say what the question is about, or no value is known.
// An earlier word goes before a later one of the same value.
[[nodiscard]] std::vector<Suggestion> suggest(ShapeEnv& env,
                                              const OpenQuestion& question,
                                              const std::vector<Word>& words,
                                              const Assignment& example);

// The checks that say several sides at once, without those that others imply:
// {u0 >= 4, u0 <= 15} of {Ne(u0, 0), u0 >= 4, u0 < 16}.  nullopt where the
// words do not say them, or another thread interrupts.
[[nodiscard]] std::optional<Suggestion> suggest_together(
    ShapeEnv& env, const std::vector<Expr>& sides,
    const std::vector<Word>& words);

// The value at the example: 1 or 0 of a condition; nullopt where the example
// does not decide it.  Hints, and sizes of inputs, need not be given.
[[nodiscard]] std::optional<Int> answer_at(ShapeEnv& env, Expr asked,
                                           const Assignment& example);

// The side of a condition that holds at the example, or Eq(e, its value) of an
// integer.
[[nodiscard]] std::optional<Expr> side_of_example(ShapeEnv& env, Expr asked,
                                                  const Assignment& example);

// e as Python over the words; a symbol without one goes by its own name.
[[nodiscard]] std::string in_words(ShapeEnv& env, Expr e,
                                   const std::vector<Word>& words);

}  // namespace proviso::inline v0_2
PROVISO_API_END
