// Which assumptions are kept, by the answers that needed them.
#include "guards/env/enforced_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guards/fixed_limits.h"
#include "sym/budget.h"
#include "tests/guards/env/parts.h"

namespace proviso {
namespace {

using namespace internal;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(EnforcedFacts, AnAssumptionThatNoAnswerNeededIsNotKept) {
  Parts a;
  const Expr s0 = a.size(8);
  a.branch(ge(s0, 0));
  a.branch(le(s0, 99));
  EXPECT_THAT(a.enforced.view().at_least_two, IsEmpty());
  EXPECT_EQ(a.enforced.view().context->bounds_quick(s0), Interval(0, 99));
}

TEST(EnforcedFacts, AnAnswerKeepsWhatItNeededOfItsSymbol) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(9), s2 = a.size(7);
  a.branch(ge(s0, 2), 3);
  a.branch(ne(s1, 0), 4);
  EXPECT_THAT(a.enforced.view().at_least_two, ElementsAre(s0));
  EXPECT_THAT(a.enforced.view().at_least_one, ElementsAre(s1));
  EXPECT_EQ(a.enforced.view().context->bounds_quick(s2).lower(), Int(0));
  EXPECT_EQ(a.enforced.view().places.at(s0)[0].line, 3);
}

TEST(EnforcedFacts, ABranchThatSaysLessThanTheAssumptionIsAGuard) {
  Parts a;
  const Expr s0 = a.size(8);
  a.branch(ne(s0, 1));
  EXPECT_THAT(a.enforced.view().at_least_two, IsEmpty());
  EXPECT_THAT(texts(a.enforced.view().guards), ElementsAre("Ne(s0, 1)"));
}

TEST(EnforcedFacts, ADecisionThatIsNoBranchKeepsAnAssumptionToo) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(9);
  a.decider.decide(ge(min(s0, s1), 2));
  EXPECT_THAT(a.enforced.view().at_least_two, ElementsAre(s0, s1));
}

TEST(EnforcedFacts, OfADecisionThatNeedsLessLessIsKept) {
  Parts a;
  const Expr s0 = a.size(8);
  a.decider.decide(ge(s0, 1));
  EXPECT_THAT(a.enforced.view().at_least_one, ElementsAre(s0));
  EXPECT_THAT(a.enforced.view().at_least_two, IsEmpty());
}

TEST(EnforcedFacts, ADecisionThatSaysLessThanTheAssumptionsIsAGuard) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(9);
  a.decider.decide(ge(max(s0, s1), 2));
  EXPECT_THAT(a.enforced.view().at_least_two, IsEmpty());
  EXPECT_THAT(texts(a.enforced.view().guards), ElementsAre("Max(s0, s1) >= 2"));
}

TEST(EnforcedFacts, AGuardTakesTheAssumptionsPlace) {
  Parts a;
  const Expr s0 = a.size(8);
  a.branch(ge(s0, 2));
  EXPECT_THAT(a.enforced.view().at_least_two, SizeIs(1));
  a.branch(ge(s0, 5));  // a guard: the view starts over
  EXPECT_THAT(a.enforced.view().at_least_two, IsEmpty());
}

TEST(EnforcedFacts, LaterAnswersAreExaminedOnTop) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(9);
  a.branch(ge(s0, 2));
  const Context* before = a.enforced.view().context.get();
  a.branch(ge(s1, 2));
  EXPECT_THAT(a.enforced.view().at_least_two, ElementsAre(s0, s1));
  EXPECT_EQ(a.enforced.view().context.get(), before);
}

TEST(EnforcedFacts, PastTheBudgetEverythingIsKept) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(9);
  a.branch(ne(s0, 1));
  a.branch(ge(s1, 0));
  const Budget none(1);
  EXPECT_THAT(a.enforced.view().at_least_two, ElementsAre(s0, s1));
  EXPECT_THAT(texts(a.enforced.view().guards),
              ElementsAre("s1 >= 0", "Ne(s0, 1)"));
}

TEST(EnforcedFacts, FullUnguardedAnswersKeepEveryAssumption) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(9);
  for (int i = 0; i <= static_cast<int>(fixed::unguarded_answers); ++i)
    a.unguarded_answers.add_decision(ge(s0, -i), Verdict::kYes,
                                     AskMode::kQuick);
  EXPECT_THAT(a.enforced.view().at_least_two, ElementsAre(s0, s1));
}

}  // namespace
}  // namespace proviso
