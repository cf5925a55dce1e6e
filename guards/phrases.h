// guards/phrases.h - many expressions in the words of the program.
//
//   in_words(env, {u0 + 1, 2*u0}, {{u0, "n"}})   // {"n + 1", "2*n"}
//
// Each as in_words() of it alone says it; the words are looked at once.
#pragma once

#include <string>
#include <vector>

#include "guards/suggest.h"

namespace proviso::inline v0_2::internal {

std::vector<std::string> in_words(ShapeEnv& env, const std::vector<Expr>& all,
                                  const std::vector<Word>& words);

}  // namespace proviso::inline v0_2::internal
