// Answers by what is known, and what is remembered of them.
#include "guards/env/decider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guards/env/parts.h"

namespace proviso {
namespace {

using namespace internal;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Decider, AnUnknownIsAskedAgainWhenAFactComes) {
  Parts a;
  const Expr question = le(a.size(8), 512);
  EXPECT_EQ(a.decider.decide(question), Verdict::kUnknown);
  EXPECT_EQ(a.decider.decide(question), Verdict::kUnknown);
  a.facts.assume(le(a.parsed("s0"), 100), {"guard"});
  EXPECT_EQ(a.decider.decide(question), Verdict::kYes);
}

TEST(Decider, WhatItDecidesIsAnUnguardedAnswerAndALine) {
  Parts a;
  const Expr s0 = a.size(8);
  EXPECT_EQ(a.decider.decide(ge(s0, 1)), Verdict::kYes);
  EXPECT_EQ(a.decider.decide(ge(s0, 1)), Verdict::kYes);
  EXPECT_EQ(a.decider.decide(le(s0, 9)), Verdict::kUnknown);
  ASSERT_THAT(a.unguarded_answers.decisions(), SizeIs(1));
  EXPECT_EQ(a.unguarded_answers.decisions()[0].mode, AskMode::kQuick);
  EXPECT_THAT(a.log.shapelog(),
              ::testing::EndsWith(
                  "ask static s0 >= 1 ; truth valid ; peer True 0us\n"
                  "ask static s0 >= 1 ; truth valid ; peer True 0us\n"
                  "ask static s0 <= 9 ; truth hard ; peer unknown 0us\n"));
}

TEST(Decider, AnAnswerThatChoseStridesIsAddedWhenAnotherQuestionGetsIt) {
  Parts a;
  const Expr question = ge(a.size(8), 1);
  a.unguarded_answers.begin_layout();
  EXPECT_EQ(a.decider.decide(question), Verdict::kYes);
  a.unguarded_answers.end_layout();
  EXPECT_THAT(a.unguarded_answers.decisions(), IsEmpty());
  a.decider.decide(question);
  EXPECT_THAT(a.unguarded_answers.decisions(), SizeIs(1));
}

TEST(Decider, AnUnguardedAnswerHasTheModeThatFoundIt) {
  Parts a;
  const Expr question = ge(a.size(8), 1);
  a.decider.decide(question, AskMode::kFull);
  a.decider.decide(question);
  ASSERT_THAT(a.unguarded_answers.decisions(), SizeIs(1));
  EXPECT_EQ(a.unguarded_answers.decisions()[0].mode, AskMode::kFull);
}

TEST(Decider, SimplifiesByFactsButNotByAssumptions) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(9);
  EXPECT_EQ(to_string(a.decider.simplify(max(s0, a.integer(1)))), "Max(s0, 1)");
  a.assume(ge(s1, 4));
  EXPECT_EQ(a.decider.simplify(max(s1, a.integer(3))), s1);
  EXPECT_THAT(a.unguarded_answers.decisions(), SizeIs(1));
}

TEST(Decider, SimplifiesWithReplacementsAndAgain) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(9);
  const Expr e = max(s0, a.integer(3)) + s1;
  EXPECT_NE(a.decider.simplify(e), s0 + s1);
  a.assume(ge(s0, 4));
  EXPECT_EQ(to_string(a.decider.simplify(e)), "s0 + s1");
  a.replacements.set(s1, s0 * 2);
  EXPECT_EQ(to_string(a.decider.simplify(e)), "3*s0");
}

TEST(Decider, BoundsFollowTheFactsAndHaveNoMachineEnds) {
  Parts a;
  const Expr s0 = a.size(8);
  EXPECT_EQ(a.decider.bounds(s0), Interval::at_least(2));
  a.facts.assume(le(s0, 9), {"guard"});
  EXPECT_EQ(a.decider.bounds(s0), Interval(2, 9));
  EXPECT_EQ(a.decider.bounds(s0 + 1), Interval(3, 10));
}

TEST(Decider, AValueIsStaticWhereItsRangeIsAPoint) {
  Parts a;
  const Expr s0 = a.size(8);
  EXPECT_EQ(a.decider.static_value(a.integer(3)), Int(3));
  EXPECT_EQ(a.decider.static_value(s0), std::nullopt);
  a.facts.assume(le(s0, 2), {"guard"});
  EXPECT_EQ(a.decider.static_value(s0), Int(2));
  EXPECT_EQ(a.unguarded_answers.decisions().back().question, eq(s0, 2));
}

TEST(Decider, AValueThatRangesDoNotShowIsProved) {
  Parts a;
  const Expr u0 = a.data({1, 9});
  const Expr e = floor_div(u0 * 2, u0);
  const std::optional<Int> value = a.decider.proved_value(e);
  EXPECT_EQ(value, Int(2));
  EXPECT_EQ(a.decider.proved_value(u0), std::nullopt);
}

TEST(Decider, KnowsWhatItKnowsWithoutAssumptions) {
  Parts a;
  const Expr s0 = a.size(8);
  EXPECT_FALSE(a.decider.is_known_without_assumptions(ne(s0, 1)));
  EXPECT_TRUE(a.decider.is_known_without_assumptions(ge(s0, 0)));
}

}  // namespace
}  // namespace proviso
