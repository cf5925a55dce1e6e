// guards/errors/choice.h - which side of an open question a program takes, and
// whether the other side is a program as well.
//
//   // if n == 0: return x.sum(0)         over a size n: the side False, needed
//   // if seq > 4096: long rope           both are programs: real branch
//   // assert n % 4 == 0                  the side True, needed
//   choose(known, e, question, context).kind;
#pragma once

#include "guards/errors/diagnosis.h"
#include "guards/errors/known_facts.h"

namespace proviso::inline v0_2::internal {

struct Choice {
  bool side;  // of the question
  DiagnosisKind kind;
};

// `context` is what was known; it leaves the question open.
Choice choose(KnownFacts& known, const TextError& e, Expr question,
              Context& context);

}  // namespace proviso::inline v0_2::internal
