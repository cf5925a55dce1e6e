// solver/strategy.h - the ways to decide a question, as rows of one table.
//
//   Search search(question, goal);
//   engine.run(Stage::kProof, search);      // row by row until one decides
//
// Each row names the fragment of questions that it can decide and the share of
// SolverOptions::budget that one try may spend.  The table is in pipeline.cc;
// its order is the order of the tries: what is cheap and likely comes first.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "solver/prover.h"
#include "solver/solver.h"

namespace proviso {

struct Engine;

// kProof looks at a formula; kWhole looks at the question with the facts around
// it, where a proof was not found or may rest on the order of the facts;
// kPoints comes for ask() alone.
enum class Stage : uint8_t { kProof, kWhole, kPoints };

// What is known so far of one question, or of whether it is defined.
struct Search {
  Search(Expr question, FormulaId goal)
      : question(question), goal(goal), opposite(FormPool::negate(goal)) {}
  // What was found is dropped; what is known of the models stays.
  void reset() {
    value.reset();
    why = 0;
    tier = Tier::kNone;
  }

  Expr question;
  FormulaId goal, opposite;  // opposite: the negation of the goal
  // Whether the goal (its opposite) may follow from the facts: no model of the
  // facts is known at which the other one holds.
  bool may_hold = true, may_fail = true;
  bool is_finished = false;  // nothing further is tried in this stage

  std::optional<bool> value;
  Tier tier = Tier::kNone;
  Reason why = 0;
  uint8_t strategy = kNoStrategy;  // that decided
  bool is_open = false;  // models both ways are known, or an undefined point
  bool is_contradiction = false;  // among the facts that `why` names
  bool gave_up = false;           // at the limit of work
  Answer* answer = nullptr;       // that kPoints fills in
  bool cases_tried = false;
  uint64_t rewriting_work = 0;  // spent where no order of the facts matters
  // Literals that linear constraints alone do not refute.
  Prover::Tried tried;
};

struct Strategy {
  StrategyInfo info;
  Stage stage;
  Tier tier;  // that its answers count to; kNone where they bring their own
  // The budget is divided by this for one try; 0: a try is not metered, for
  // its work is bounded by the size of the question.
  uint32_t share;
  bool (*applies)(Engine&, const Search&);  // nullptr: always
  // Decides, or notes in the search what it has found out; a value is taken
  // over by the caller with its reason.
  Decision (*decide)(Engine&, Search&, uint64_t units);
};

}  // namespace proviso
