// solver/engine/search.h - what is known so far of one question.
//
//   Search search(question, lower.condition(question));
//   run(reasoner, Stage::kProof, search);
//   search.value();       // yes, no, or nothing yet
//   search.is_open();     // neither of them can follow from the facts
//
// Protocol.  Whoever asks makes a Search and passes it to run() for one stage
// after another; run() starts a stage with begin_stage() and offers the search
// to one strategy after another until is_finished().  A strategy reads the
// question, tries no answer that !may_be(), and says what it found by any of
//
//   rule_out(value)     a point is known at which the facts hold and `value` is
//                       wrong; with both ruled out the search is open and
//                       finished
//   note_model()        a point is known at which the facts hold
//   note_rewriting(n)   so much of its work no order of the facts changes
//   contradict(why)     these facts have no point
//   finish()            nothing further is worth trying in this stage
//   withdraw()          what was found before is not relied on
//
// in any order.  An answer itself it returns to run(), which calls decide().
// One Search serves one question; to ask again, make another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "solver/normal/literals.h"
#include "solver/solver.h"

namespace proviso::inline v0_2::internal {

class Search {
 public:
  // `goal` is the question's formula, or that of its definedness.  The
  // strategies have so many times SolverOptions::budget.
  Search(Expr question, FormulaId goal, double budgets = 1)
      : question_(question), goal_(goal), budgets_(budgets) {}

  // --- the question
  Expr question() const { return question_; }
  FormulaId goal() const { return goal_; }
  // What holds where the goal's value is another than `value`.
  FormulaId opposite_of(bool value) const {
    return value ? negate(goal_) : goal_;
  }
  double budgets() const { return budgets_; }

  // --- which answers are left
  // False where a model of the facts is known at which the goal is otherwise.
  bool may_be(bool value) const { return value ? may_hold_ : may_fail_; }
  bool may_be_either() const { return may_hold_ && may_fail_; }
  bool is_open() const { return !may_hold_ && !may_fail_; }
  void rule_out(bool value) {
    (value ? may_hold_ : may_fail_) = false;
    if (!is_open()) return;
    value_.reset();
    finish();
  }
  void leave_open() {
    rule_out(true);
    rule_out(false);
  }
  bool has_model() const { return has_model_; }
  void note_model() { has_model_ = true; }

  // --- the stage
  void begin_stage() { is_finished_ = false; }
  bool is_finished() const { return is_finished_; }
  void finish() { is_finished_ = true; }
  uint64_t rewriting_work() const { return rewriting_work_; }
  void note_rewriting(uint64_t units) { rewriting_work_ += units; }

  // --- the answer
  std::optional<bool> value() const { return value_; }
  // The facts that the value follows from, or that contradict each other.
  Reason why() const { return why_; }
  Tier tier() const { return tier_; }
  Strategy strategy() const { return strategy_; }  // that decided
  bool is_contradiction() const { return is_contradiction_; }

  // An answer will rest on `why` as well, which was proved on this tier.
  void rest_on(Reason why, Tier tier) {
    why_ = why;
    tier_ = tier;
  }
  // `why` has the facts that the search rests on, too.
  void decide(bool value, Reason why, Tier tier, Strategy strategy) {
    value_ = value;
    rest_on(why, std::max(tier, tier_ == Tier::kNone ? tier : tier_));
    strategy_ = strategy;
    finish();
  }
  void withdraw() {
    value_.reset();
    rest_on(0, Tier::kNone);
  }
  void contradict(Reason why) {
    withdraw();
    is_contradiction_ = true;
    why_ = why;
    finish();
  }
  // The same facts under another number (Reasoner::drop_reasons).
  void renumber(Reason why) { why_ = why; }

 private:
  Expr question_;
  FormulaId goal_;
  double budgets_;

  bool may_hold_ = true, may_fail_ = true;
  bool has_model_ = false;
  bool is_finished_ = false;
  uint64_t rewriting_work_ = 0;

  std::optional<bool> value_;  // nothing where is_open()
  bool is_contradiction_ = false;
  Tier tier_ = Tier::kNone;
  Reason why_ = 0;
  Strategy strategy_ = Strategy::kNone;
};

}  // namespace proviso::inline v0_2::internal
