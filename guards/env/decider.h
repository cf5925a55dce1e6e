// guards/env/decider.h - answers by what is known: verdicts, simplified
// expressions, ranges and values, each remembered while it holds.
//
//   Decider decider(log, facts, symbols, replacements, unguarded_answers);
//   decider.decide(ge(s0, 2));                 // kYes: assumed
//   decider.decide(le(s0, 512));               // kUnknown
//   decider.answer(s3 < 9, "guard");           // {s0 < 9, kUnknown}: s3 is s0
//   decider.simplify(max(s0, s0 - 2));         // s0
//   decider.simplify(max(zero, s0 - 2));       // stays: right for 0 and 1 too
//   decider.static_value(s0 - s0 + 3);         // 3
//
// Nothing here becomes a guard, and nothing is asked of examples.  Each answer
// is an unguarded answer (unguarded_answers.h), each question of decide() a
// line of the log.
//
// Protocol: give decide(), static_value() and proved_value() expressions after
// Replacements::apply(); answer(), simplify() and bounds() apply it themselves.
#pragma once

#include <optional>
#include <unordered_map>

#include "guards/env/allowance.h"
#include "guards/env/replacements.h"
#include "guards/env/unguarded_answers.h"
#include "guards/fixed_limits.h"

namespace proviso::inline v0_2::internal {

class Decider {
 public:
  // All outlive it.
  Decider(SessionLog& log, SessionFacts& facts, Symbols& symbols,
          Replacements& replacements, UnguardedAnswers& unguarded_answers)
      : log_(log),
        facts_(facts),
        symbols_(symbols),
        replacements_(replacements),
        unguarded_answers_(unguarded_answers) {}
  Decider(const Decider&) = delete;
  Decider& operator=(const Decider&) = delete;

  // A condition with replacements applied, and what decide() says of it; what
  // is asked from here on counts as a question of this kind in the shapelog.
  struct Answered {
    Expr question;
    Verdict verdict;
  };
  Answered answer(Expr condition, const char* kind);
  // Past the work of all questions (fixed::decided_units) the hard ones are
  // open.
  Verdict decide(Expr condition, AskMode mode = AskMode::kQuick);
  // Where data that are sizes are at least 2.  That may not hold when the
  // program runs, so the answer is not remembered and counts for nothing else.
  Verdict decide_size_oblivious(Expr condition);
  // Whether the facts decide nothing; counts for nothing else.
  bool is_open(Expr condition);
  // No answer for which an assumption was used.
  bool is_known_without_assumptions(Expr condition);

  // Replacements applied, and what the facts decide; no assumption is used.
  // Past the work of all calls (fixed::simplified_units), replacements alone.
  Expr simplify(Expr e);
  // The reference is good while no fact comes.
  const Interval& bounds(Expr e);

  // The only value, where the range has no other.
  std::optional<Int> static_value(Expr e);
  // The only value: where the ends of the range meet, or one of its first that
  // is proved to be it, as counts of pieces are.  Costs up to
  // fixed::value_units.
  std::optional<Int> proved_value(Expr e);

 private:
  struct VerdictMemo {
    Verdict verdict = Verdict::kUnknown;
    AskMode mode = AskMode::kQuick;
    uint64_t version = 0;   // of the facts: an unknown is forgotten
    bool is_added = false;  // to the unguarded answers
  };
  struct RangeMemo {
    Interval range;
    uint64_t version = 0;
  };

  void add_to_unguarded_answers(Expr condition, VerdictMemo& memo);
  bool has_decidable_part(Expr e);
  Expr rewritten(Expr r);
  std::optional<Int> find_value(Expr e);

  SessionLog& log_;
  SessionFacts& facts_;
  Symbols& symbols_;
  Replacements& replacements_;
  UnguardedAnswers& unguarded_answers_;
  // The keys are node ids.
  std::unordered_map<uint32_t, VerdictMemo> verdicts_;
  ExprMemo simplified_;
  Allowance for_questions_{fixed::decided_units, fixed::decided_units_of_one};
  Allowance for_sizes_{fixed::simplified_units, fixed::simplified_units_of_one};
  std::unordered_map<uint32_t, RangeMemo> ranges_;
  std::unordered_map<uint32_t, bool> has_decidable_part_;
};

}  // namespace proviso::inline v0_2::internal
