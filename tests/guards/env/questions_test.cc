// The tiers of a question: what is known, the example, and for data the rest.
#include "guards/env/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guards/env/parts.h"

namespace proviso {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const SourceLocation kHere{"m.py", 3};

TEST(Questions, WhatIsKnownCostsNoGuard) {
  Parts a;
  const Expr s0 = a.size(8);
  EXPECT_TRUE(a.questions.guard_bool(ge(s0, 1), kHere, "guard_bool"));
  EXPECT_FALSE(a.questions.guard_bool(lt(s0, 2), kHere, "guard_bool"));
  EXPECT_THAT(a.recorder.guards(), IsEmpty());
  EXPECT_THAT(a.unguarded_answers.branches(), SizeIs(2));
}

TEST(Questions, TheExampleAnswersAndBecomesAGuardOfItsSide) {
  Parts a;
  const Expr s0 = a.size(8);
  EXPECT_TRUE(a.questions.guard_bool(le(s0, 512), kHere, "guard_bool"));
  EXPECT_FALSE(a.questions.guard_bool(le(s0, 4), kHere, "guard_bool"));
  EXPECT_THAT(texts(a.recorder.guards()), ElementsAre("s0 <= 512", "s0 >= 5"));
}

TEST(Questions, AValueIsAGuardOfItsOwn) {
  Parts a;
  const Expr s0 = a.size(8);
  EXPECT_EQ(a.questions.guard_value(s0 * 2, kHere, "guard_int"),
            Value(Int(16)));
  EXPECT_THAT(texts(a.recorder.guards()), ElementsAre("Eq(s0, 8)"));
  EXPECT_EQ(a.questions.guard_value(s0, kHere, "guard_int"), Value(Int(8)));
  EXPECT_THAT(a.recorder.guards(), SizeIs(1));
}

TEST(Questions, OpenDataIsAnErrorUnlessItsAnswerIsAssumed) {
  Parts a;
  const Expr u0 = a.data(), question = ge(u0, 5);
  EXPECT_THROW(a.questions.guard_bool(question, kHere, "guard_bool"),
               DataDependentError);
  EXPECT_THROW(a.questions.guard_value(u0, kHere, "guard_int"),
               DataDependentError);
  AssumedAnswers assumed({{"u0 >= 5", 0}, {"u0", 3}});
  EXPECT_FALSE(a.questions.guard_bool(question, kHere, "guard_bool"));
  EXPECT_THAT(texts(a.recorder.asserts()), ElementsAre("u0 <= 4"));
  EXPECT_EQ(a.questions.guard_value(u0, kHere, "guard_int"), Value(Int(3)));
  EXPECT_THAT(texts(a.recorder.asserts()), ElementsAre("u0 <= 4", "Eq(u0, 3)"));
}

TEST(Questions, DefaultsAreForOpenDataAlone) {
  Parts a;
  const Expr s0 = a.size(8), u0 = a.data({0, 9});
  EXPECT_TRUE(a.questions.guard_or(eq(u0, 4), true, kHere, "guard_or_true"));
  EXPECT_FALSE(a.questions.guard_or(eq(u0, 4), false, kHere, "guard_or_false"));
  EXPECT_TRUE(a.questions.guard_or(le(u0, 9), false, kHere, "guard_or_false"));
  EXPECT_THAT(a.recorder.guards(), IsEmpty());
  EXPECT_TRUE(a.questions.guard_or(le(s0, 9), false, kHere, "guard_or_false"));
  EXPECT_THAT(a.recorder.guards(), SizeIs(1));
}

TEST(Questions, SizeObliviousTakesSizeLikeDataForTwoAtLeast) {
  Parts a;
  const Expr u0 = a.data({0, 9}), u1 = a.data({0, 9});
  a.symbols.mark_size_like(u0);
  EXPECT_FALSE(a.questions.guard_size_oblivious(eq(u0, 1), kHere));
  EXPECT_THROW(a.questions.guard_size_oblivious(eq(u1, 1), kHere),
               DataDependentError);
  EXPECT_EQ(a.facts.context().ask_quick(ge(u0, 2)), Verdict::kUnknown);
}

TEST(Questions, EachSideOfACheckIsRecordedOrKnown) {
  Parts a;
  const Expr s0 = a.size(8), u0 = a.data({0, 9});
  EXPECT_TRUE(a.questions.expect_true(le(s0, 9), kHere, "", "expect_true"));
  EXPECT_TRUE(a.questions.expect_true(le(u0, 5), kHere, "", "expect_true"));
  EXPECT_FALSE(a.questions.expect_true(ge(u0, 10), kHere, "", "expect_true"));
  EXPECT_FALSE(a.questions.expect_true(ge(s0, 9), kHere, "", "expect_true"));
  EXPECT_THAT(texts(a.recorder.guards()), ElementsAre("s0 <= 9", "s0 <= 8"));
  EXPECT_THAT(texts(a.recorder.asserts()), ElementsAre("u0 <= 5"));
}

TEST(Questions, ACheckedEqualityOfSizesIsAGuardAlthoughItIsKnown) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(8);
  a.assume(le(s0, s1));
  a.assume(ge(s0, s1));
  EXPECT_TRUE(a.questions.guard_bool(eq(s0, s1), kHere, "guard_bool"));
  EXPECT_THAT(a.recorder.guards(), IsEmpty());
  EXPECT_TRUE(a.questions.expect_true(eq(s0, s1), kHere, "", "expect_true"));
  EXPECT_THAT(texts(a.recorder.guards()), ElementsAre("Eq(s0, s1)"));
}

TEST(Questions, ARangeIsTwoChecks) {
  Parts a;
  const Expr u0 = a.data();
  a.questions.constrain_range(u0, Int(2), Int(9), kHere);
  EXPECT_THAT(texts(a.recorder.asserts()), ElementsAre("u0 >= 2", "u0 <= 9"));
  EXPECT_THAT(message_of<GuardError>(
                  [&] { a.questions.constrain_range(u0, Int(10), {}, kHere); }),
              HasSubstr("u0 is known to break u0 >= 10 at m.py:3"));
  EXPECT_THAT(message_of<Error>([&] {
                a.questions.constrain_range(u0, Int(5), Int(4), kHere);
              }),
              HasSubstr("min 5 is greater than max 4 for u0"));
}

TEST(Questions, SuppressedOnesAreAnsweredByExamplesAndLeaveNothing) {
  Parts a;
  const Expr s0 = a.size(8), u0 = a.data();
  a.questions.begin_suppression();
  EXPECT_TRUE(a.questions.guard_bool(le(s0, 512), kHere, "guard_bool"));
  EXPECT_EQ(a.questions.guard_value(s0, kHere, "guard_int"), Value(Int(8)));
  EXPECT_TRUE(a.questions.expect_true(ge(u0, 5), kHere, "", "expect_true"));
  a.questions.end_suppression();
  a.questions.end_suppression();  // one too many
  EXPECT_THAT(a.recorder.guards(), IsEmpty());
  EXPECT_THAT(a.recorder.asserts(), IsEmpty());
  a.questions.guard_bool(le(s0, 512), kHere, "guard_bool");
  EXPECT_THAT(a.recorder.guards(), SizeIs(1));
}

TEST(Questions, WhatIsKnownIsNeverRecorded) {
  Parts a;
  const Expr s0 = a.size(8), u0 = a.data({4, 4});
  EXPECT_TRUE(a.questions.is_known(ge(s0, 2), true));
  EXPECT_TRUE(a.questions.is_known(lt(s0, 2), false));
  EXPECT_FALSE(a.questions.is_known(le(s0, 512), true));
  EXPECT_FALSE(a.questions.is_known(le(s0, 4), true));  // 8 is not: not asked
  EXPECT_THAT(a.log.shapelog(), Not(HasSubstr("s0 <= 4")));
  EXPECT_FALSE(a.questions.has_static_value(s0));
  EXPECT_TRUE(a.questions.has_static_value(u0 + 1));
  EXPECT_TRUE(a.questions.has_static_value(ge(s0, 1)));
  EXPECT_EQ(a.questions.guarding_hint(s0 * 2), Int(16));
  EXPECT_THAT(a.recorder.guards(), IsEmpty());
}

}  // namespace
}  // namespace proviso
