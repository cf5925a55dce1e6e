// guards/env/learning.h - what a new fact teaches beyond itself: narrower
// ranges of its symbols, and symbols that others replace.
//
//   Learning learning(options, log, facts, symbols, replacements, ...);
//   learning.assume(eq(s3, s1 * 4), where, "guard ");
//       // a fact, and s3 is 4*s1 from here on
//   learning.assume(le(s1, 5), where, "guard ");
//       // update_range s1 = VR[2, 5]
//
// Protocol: all guards and assertions become facts here, so that no lesson is
// missed; whoever calls has recorded the condition, which is checked later.
//
// Of an equality, data is replaced by sizes, never the other way round; among
// sizes the one with the larger example goes, then the later one, as PyTorch
// chooses.  Divisions and remainders are left in place: shapes print as
// PyTorch's do.
#pragma once

#include <map>

#include "guards/env/replacements.h"
#include "guards/env/unguarded_answers.h"

namespace proviso::inline v0_2::internal {

class Learning {
 public:
  // All outlive it.
  Learning(const ShapeEnvOptions& options, SessionLog& log, SessionFacts& facts,
           Symbols& symbols, Replacements& replacements,
           UnguardedAnswers& unguarded_answers)
      : options_(options),
        log_(log),
        facts_(facts),
        symbols_(symbols),
        replacements_(replacements),
        unguarded_answers_(unguarded_answers) {}
  Learning(const Learning&) = delete;
  Learning& operator=(const Learning&) = delete;

  // `what`, before the condition, is its provenance where its line is not
  // known.
  void assume(Expr condition, const SourceLocation& where, const char* what);

 private:
  void refine_ranges(Expr condition);
  void solve_equality(Expr equality);
  void replace(Expr symbol, Expr target, const char* reason);

  const ShapeEnvOptions& options_;
  SessionLog& log_;
  SessionFacts& facts_;
  Symbols& symbols_;
  Replacements& replacements_;
  UnguardedAnswers& unguarded_answers_;
  std::map<Expr, Interval, ExprLess> ranges_;  // last logged
};

}  // namespace proviso::inline v0_2::internal
