// solver/engine/search.h - what is known so far of one question.
//
//   Search search(question, lower.condition(question));
//   run(reasoner, Stage::kProof, search);
//   search.value;                          // yes, no, or nothing yet
#pragma once

#include <cstdint>
#include <optional>

#include "solver/solver.h"
#include "solver/strategies/refutation.h"

namespace proviso::inline v0_2::internal {

struct Search {
  Search(Expr asked, FormulaId as_formula)
      : question(asked), goal(as_formula), negation(negate(as_formula)) {}
  void set_goal(FormulaId f) { goal = f, negation = negate(f); }
  // What was found is dropped; what is known of the models stays.
  void reset() {
    value.reset();
    why = 0;
    tier = Tier::kNone;
  }

  // --- the question
  Expr question;
  FormulaId goal, negation;  // negation: of the goal
  double budgets = 1;        // of SolverOptions::budget, for the strategies

  // --- what models leave of it
  // Whether the goal (its negation) may follow from the facts: no model of the
  // facts is known at which the other one holds.
  bool may_hold = true, may_fail = true;
  bool has_model = false;  // a point was found at which the facts hold

  // --- the outcome
  std::optional<bool> value;
  Tier tier = Tier::kNone;
  Reason why = 0;
  uint8_t strategy = kNoStrategy;  // that decided
  bool is_finished = false;        // nothing further is tried in this stage
  bool is_open = false;  // models both ways are known, or an undefined point
  bool is_contradiction = false;  // among the facts that `why` names
  bool gave_up = false;           // at the limit of work
  Answer* answer = nullptr;       // that kPoints fills in

  // --- what strategies leave to those below them
  bool cases_tried = false;
  uint64_t refuting_work = 0;   // spent where no contradiction was found
  uint64_t rewriting_work = 0;  // spent where no order of the facts matters
  // Literals that linear constraints alone do not refute.
  Refutation::Tried tried;
};

}  // namespace proviso::inline v0_2::internal
