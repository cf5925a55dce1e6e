// solver/engine/pipeline.h - the ways to decide a question, as rows of one
// table.
//
//   Search search(question, goal);
//   run(reasoner, Stage::kProof, search);      // row by row until one decides
//
// Each row names the fragment of questions that it can decide and the share of
// SolverOptions::budget that one try may spend.  The table is in pipeline.cc;
// its order is the order of the tries: what is cheap and likely comes first.
#pragma once

#include <cstdint>

#include "solver/engine/search.h"

namespace proviso::inline v0_2::internal {

class Reasoner;

// kProof looks at a formula; kFallback at the question with the facts around
// it, where a proof was not found or may rest on the order of the facts;
// kPoints comes for ask() alone.
enum class Stage : uint8_t { kProof, kFallback, kPoints };

struct Strategy {
  StrategyInfo info;
  Stage stage;
  Tier tier;  // that its answers count to; kNone where they bring their own
  // The budget is divided by this for one try; 0: a try is not metered, for
  // its work is bounded by the size of the question.
  uint32_t share;
  bool (*applies)(Reasoner&, const Search&);  // nullptr: always
  // Decides, or notes in the search what it has found out; a value is taken
  // over by the caller with its reason.
  Decision (*decide)(Reasoner&, Search&, uint64_t units);
};

// The rows of a stage, until one finishes the search; counts what they did.
void run(Reasoner& reasoner, Stage stage, Search& search);

}  // namespace proviso::inline v0_2::internal
