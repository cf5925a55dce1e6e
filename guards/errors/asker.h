// guards/errors/asker.h - where a question arises, who asks it, and what is
// done with the answer.
//
//   place_of(e).line;      // 41 of net.py, the program's innermost line
//   asker_of(e);           // kOperator: _refs/__init__.py wants to broadcast
//   use_of("if n > 20:");  // kBranch
#pragma once

#include <string_view>

#include "guards/errors/error_text.h"

namespace proviso::inline v0_2::internal {

// Where in the program the error is; not known where the text does not say.
TextFrame place_of(const TextError& e);

// The frame of the program that was traced or compiled; null where the text
// does not say.
const TextFrame* entry_of(const TextError& e);

enum class Asker { kUnknown, kProgram, kOperator, kCompiler };
Asker asker_of(const TextError& e);

// Whether an operator asks that cuts a range off a tensor, x[:n]: it could go
// on with the smaller of the two ends.
bool is_asked_by_slice(const TextError& e);

// How a line of the program uses the answer.
enum class Use {
  kUnknown,    // there is no line
  kAssertion,  // assert n % 4 == 0
  kRefusal,    // if n > 50: raise ValueError
  kBranch,     // if n > 20:
  kLoop,       // for t in range(n):
  kCall,       // y = x.view(n, -1)
};
Use use_of(std::string_view code);

}  // namespace proviso::inline v0_2::internal
