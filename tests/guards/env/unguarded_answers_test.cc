#include "guards/env/unguarded_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guards/fixed_limits.h"
#include "sym/print.h"

namespace proviso {
namespace {

using namespace internal;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Session {
  explicit Session(ShapeEnvOptions o = {}) : options(o) {
    s0 = symbols.create_size(8, "x", {});
    u0 = symbols.create_unbacked(SymbolKind::kUnbackedInt, {});
  }
  void add_all(Expr question) {
    answers.add_decision(question, Verdict::kYes, AskMode::kQuick);
    answers.add_branch(question, Verdict::kYes, {"m.py", 3});
    answers.add_place(question, {"m.py", 3});
  }

  ShapeEnvOptions options;
  SessionLog log;
  SessionFacts facts{options.solver, log};
  Symbols symbols{options, facts, log};
  UnguardedAnswers answers{symbols, facts};
  Expr s0, u0;
};

TEST(UnguardedAnswers, AreKeptOnceEach) {
  Session a;
  for (int i = 0; i < 2; ++i) a.add_all(ge(a.s0, 1));
  EXPECT_THAT(a.answers.decisions(), SizeIs(1));
  EXPECT_THAT(a.answers.branches(), SizeIs(1));
  EXPECT_THAT(a.answers.places(), SizeIs(1));
  a.answers.add_place(ge(a.s0, 1), {"m.py", 4});  // another line
  EXPECT_THAT(a.answers.places(), SizeIs(2));
  EXPECT_TRUE(a.answers.is_branch(ge(a.s0, 1)));
  EXPECT_FALSE(a.answers.is_branch(ge(a.s0, 2)));
}

TEST(UnguardedAnswers, ABranchKeepsTheSideThatHeld) {
  Session a;
  a.answers.add_branch(le(a.s0, 1), Verdict::kNo, {"m.py", 3});
  EXPECT_EQ(to_string(a.answers.branches()[0].condition), "s0 >= 2");
}

TEST(UnguardedAnswers, ABranchOnDataCannotBecomeAGuard) {
  Session a;
  a.add_all(ge(a.s0 * a.u0, 1));
  EXPECT_THAT(a.answers.decisions(), SizeIs(1));
  EXPECT_THAT(a.answers.branches(), IsEmpty());
}

TEST(UnguardedAnswers, NeedAnAssumptionThatTheyCouldLeanOn) {
  Session a({.assume_at_least_two = false});
  a.add_all(ge(a.s0, 0));
  EXPECT_THAT(a.answers.decisions(), IsEmpty());
  EXPECT_THAT(a.answers.branches(), IsEmpty());
}

TEST(UnguardedAnswers, AboutStridesAreNoBranches) {
  Session a;
  a.answers.begin_layout();
  a.answers.begin_layout();
  a.answers.end_layout();
  EXPECT_TRUE(a.answers.is_layout());
  a.add_all(ge(a.s0, 1));
  EXPECT_THAT(a.answers.branches(), IsEmpty());
  EXPECT_THAT(a.answers.places(), IsEmpty());
  a.answers.end_layout();
  a.add_all(ge(a.s0, 1));
  EXPECT_THAT(a.answers.branches(), SizeIs(1));
}

TEST(UnguardedAnswers, DecisionsAloneFillThemToo) {
  Session a;
  for (int i = 0; i <= static_cast<int>(fixed::unguarded_answers); ++i)
    a.answers.add_decision(ge(a.s0, -i), Verdict::kYes, AskMode::kQuick);
  EXPECT_TRUE(a.answers.is_full());
}

TEST(UnguardedAnswers, SayWhenTheyAreFull) {
  Session a;
  const int most = static_cast<int>(fixed::unguarded_answers);
  for (int i = 0; i < most; ++i) a.add_all(ge(a.s0, i + 1));
  EXPECT_FALSE(a.answers.is_full());
  a.add_all(ge(a.s0, most + 1));
  EXPECT_TRUE(a.answers.is_full());
  EXPECT_THAT(a.answers.decisions(), SizeIs(fixed::unguarded_answers));
}

}  // namespace
}  // namespace proviso
