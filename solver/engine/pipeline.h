// solver/engine/pipeline.h - the ways to decide a question, as rows of one
// table.
//
//   Search search(question, goal);
//   run(reasoner, Stage::kProof, search);      // row by row until one decides
//
// The table is in pipeline.cc; its order is the order of the tries: what is
// cheap and likely comes first.  Each row names the fragment of questions that
// it can decide and its cost, the parts of SolverOptions::budget and work_limit
// that one try may spend.
#pragma once

#include <cstdint>
#include <optional>

#include "solver/engine/search.h"

namespace proviso::inline v0_2::internal {

class Reasoner;

// kProof looks at a formula; kFallback at the question with the facts around
// it, where a proof was not found or may rest on the order of the facts;
// kPoints comes for ask() alone.  kContradiction looks at the facts: what they
// prove is no answer where they contradict each other.
enum class Stage : uint8_t { kProof, kFallback, kPoints, kContradiction };

// The rows of kProof or of kFallback, until one finishes the search.  What they
// did is counted in the reasoner's statistics.
void run(Reasoner& reasoner, Stage stage, Search& search);
// The rows of kPoints, for a question that the others left open: points both
// ways, or an answer of Z3.
Answer show_points(Reasoner& reasoner, Expr question);

// An answer that `why` proves, on a tier.
struct ProvedAnswer {
  Expr question;
  bool value;
  Tier tier;
  Reason why;
};
// The rows of kContradiction: why the facts relevant to the answer contradict
// each other, as none of few points meets them or they prove its opposite as
// well.  Nothing where a model of them is known.
std::optional<Reason> find_contradiction(Reasoner& reasoner,
                                         const ProvedAnswer& proved);
// The same of the facts relevant to one of them, of which no model is known.
std::optional<Reason> find_contradiction(Reasoner& reasoner, FormulaId fact);

}  // namespace proviso::inline v0_2::internal
