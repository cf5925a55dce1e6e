// guards/env/unguarded_answers.h - the answers that cost no guard, kept until
// it can be found out which assumption each of them needed.
//
//   UnguardedAnswers answers(symbols, facts);
//   answers.add_decision(ge(s0, 1), Verdict::kYes, AskMode::kQuick);
//   answers.add_branch(ge(s0, 1), Verdict::kYes, where);
//   answers.add_place(ge(s0, 1), where);
//
// There are three records of one answer:
//   decisions  whatever was decided, for whichever purpose; simplifications and
//              values too.  Without assumptions each must still hold.
//   branches   what held where the program branched or checked: an answer about
//              input sizes alone, which can become a guard.
//   places     where a question was asked, for the origins of the guards that
//              answer it.
//
// Nothing is kept while there is no assumption that an answer could need, and
// no branch or place while a question chooses strides (LayoutQuestions); its
// decision waits until keep_layout_answers().  Past fixed::unguarded_answers
// records the rest is not kept: is_full() says so, and then every assumption
// counts as needed.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "guards/conjuncts.h"
#include "guards/env/symbols.h"

namespace proviso::inline v0_2::internal {

// Quick: Context::ask_quick; full: Context::ask.
enum class AskMode : uint8_t { kQuick, kFull };

class UnguardedAnswers {
 public:
  struct Decision {
    Expr question;
    Verdict verdict;
    AskMode mode;
  };
  struct Branch {
    Expr condition;  // that held
    SourceLocation where;
  };
  struct Place {
    Expr question;
    SourceLocation where;
  };

  // Both outlive it.
  UnguardedAnswers(Symbols& symbols, const SessionFacts& facts)
      : symbols_(symbols), facts_(facts) {}
  UnguardedAnswers(const UnguardedAnswers&) = delete;
  UnguardedAnswers& operator=(const UnguardedAnswers&) = delete;

  // The first record of a question counts.
  void add_decision(Expr question, Verdict verdict, AskMode mode);
  void add_branch(Expr question, Verdict verdict, const SourceLocation& where);
  void add_place(Expr question, const SourceLocation& where);

  const std::vector<Decision>& decisions() const { return decisions_; }
  const std::vector<Branch>& branches() const { return branches_; }
  const std::vector<Place>& places() const { return places_; }
  bool is_branch(Expr question) const {
    return branch_ids_.count(question.id()) > 0;
  }
  bool is_full() const { return is_full_; }

  // Questions about a layout begin or end; they nest.
  void begin_layout() { ++layout_depth_; }
  void end_layout() { --layout_depth_; }
  bool is_layout() const { return layout_depth_ > 0; }
  // A decision that chose a layout; a condition that did, by the side of the
  // example.
  void add_layout_decision(Expr question, Verdict verdict, AskMode mode);
  void add_layout_condition(Expr condition, bool side);
  // The decisions so far become decisions as any others.  Returns the sides of
  // the conditions that hold at the example, which are no longer kept here.
  [[nodiscard]] std::vector<Expr> keep_layout_answers();

 private:
  Symbols& symbols_;
  const SessionFacts& facts_;
  std::vector<Decision> decisions_;
  std::set<uint32_t> decision_ids_;  // of the questions
  std::vector<Decision> layout_decisions_;
  std::vector<std::pair<Expr, bool>> layout_conditions_;
  std::set<uint32_t> layout_ids_;  // of both
  std::vector<Branch> branches_;
  std::set<uint32_t> branch_ids_;
  std::vector<Place> places_;
  std::set<std::tuple<uint32_t, int, std::string>> place_ids_;
  bool is_full_ = false;
  int layout_depth_ = 0;
};

// The side of a decided question that holds, canonical.
Expr side_that_holds(Expr question, Verdict verdict);

}  // namespace proviso::inline v0_2::internal
