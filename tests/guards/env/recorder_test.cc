#include "guards/env/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guards/env/parts.h"

namespace proviso {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Recorder, AConjunctionIsRecordedByItsOpenParts) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(9);
  a.record(logical_and(ge(s0, 1), logical_and(le(s0, 99), le(s1, 50))));
  EXPECT_THAT(texts(a.recorder.guards()), ElementsAre("s0 <= 99", "s1 <= 50"));
  EXPECT_EQ(a.facts.context().ask_quick(le(s1, 50)), Verdict::kYes);
}

TEST(Recorder, AnEqualityOfSizesIsAGuardAlthoughItIsKnown) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(8);
  a.record(le(s0, s1));
  a.record(le(s1, s0));
  a.record(eq(s0, s1));
  EXPECT_THAT(a.recorder.guards(), SizeIs(3));
  a.record(le(s1, s0 + 1));  // known
  EXPECT_THAT(a.recorder.guards(), SizeIs(3));
}

TEST(Recorder, AnAnswerAddsItsPlaceToTheGuardThatSaysTheSame) {
  Parts a;
  const Expr s0 = a.size(8), c = le(s0, 99);
  a.record(c, 3);
  a.recorder.note_answer(c, c, Verdict::kYes, {"m.py", 4});
  a.recorder.note_answer(gt(s0, 99), gt(s0, 99), Verdict::kNo, {"m.py", 5});
  a.recorder.note_answer(c, c, Verdict::kYes, {"m.py", 5});  // known place
  a.recorder.note_answer(le(s0, 100), le(s0, 100), Verdict::kYes, {"m.py", 6});
  std::vector<int> lines;
  for (const SourceLocation& w : a.recorder.guards()[0].origins)
    lines.push_back(w.line);
  EXPECT_THAT(lines, ElementsAre(3, 4, 5));
  EXPECT_THAT(a.unguarded_answers.places(), SizeIs(4));
}

TEST(Recorder, AnAssertionIsKeptAsAskedAndOnce) {
  Parts a;
  const Expr u0 = a.data(), u1 = a.data();
  a.recorder.record_assert(eq(u0, u1), {"m.py", 3}, "");
  a.recorder.record_assert(ge(u0, 0), {"m.py", 4}, "why");
  a.recorder.record_assert(ge(u0, 0), {"m.py", 5}, "again");
  EXPECT_THAT(texts(a.recorder.asserts()),
              ElementsAre("Eq(u0, u1)", "u0 >= 0"));
  EXPECT_EQ(a.recorder.asserts()[0].message,
            "Runtime assertion failed for expression Eq(u0, u1)");
  EXPECT_EQ(a.recorder.asserts()[1].message, "why");
  EXPECT_EQ(a.facts.context().ask_quick(ge(u0, 0)), Verdict::kYes);
}

TEST(Recorder, GuardsBecomeAssertionsWhereTheOptionsPreferThose) {
  Parts a({.prefer_deferred_runtime_asserts_over_guards = true});
  a.record(le(a.size(8), 99));
  EXPECT_THAT(a.recorder.guards(), IsEmpty());
  EXPECT_THAT(a.recorder.asserts(), SizeIs(1));
}

TEST(Recorder, APromiseHoldsForTheExamplesAndIsAGuard) {
  Parts a;
  const Expr s0 = a.size(8);
  EXPECT_THAT(message_of<ConstraintViolationError>(
                  [&] { a.recorder.require(le(s0, 7), {}); }),
              HasSubstr("s0 <= 7 does not hold for the example sizes"));
  EXPECT_THAT(a.recorder.promises(), IsEmpty());
  a.recorder.require(le(s0, 99), {});
  EXPECT_THAT(a.recorder.promises(), ElementsAre(le(s0, 99)));
  EXPECT_TRUE(a.recorder.guards()[0].promised);
}

TEST(Recorder, APromiseThatFollowsByAnAssumptionIsStillAGuard) {
  Parts a;
  const Expr s0 = a.size(8);
  a.recorder.require(ne(s0, 1), {});
  EXPECT_THAT(a.recorder.guards(), SizeIs(1));
  a.record(ne(s0, 0));  // a guard that follows so is none
  EXPECT_THAT(a.recorder.guards(), SizeIs(1));
}

TEST(Recorder, GuardsAfterTheFreezeAreLoggedAsLate) {
  Parts a;
  const Expr s0 = a.size(8);
  a.record(le(s0, 99));
  a.recorder.freeze();
  a.record(le(s0, 50));
  std::vector<std::string> evals;
  for (const ShapeEvent& e : a.log.events())
    if (e.kind == "eval") evals.push_back(e.text);
  EXPECT_THAT(evals, ElementsAre("eval s0 <= 99 [guard added]",
                                 "eval s0 <= 50 [guard added after freeze]"));
}

TEST(Recorder, FindsAGuardByItsConditionAndByWhatWasAsked) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(9);
  a.recorder.record_guard(le(s0, 99), le(s1, 99), {"m.py", 3});
  ASSERT_NE(a.recorder.guard_of(le(s0, 99)), nullptr);
  EXPECT_EQ(a.recorder.guard_of(le(s1, 99)), a.recorder.guard_of(le(s0, 99)));
  EXPECT_EQ(a.recorder.guard_of(le(s0, 98)), nullptr);
}

TEST(Recorder, TheEnforcedContextHasRecordsAndNoAssumption) {
  Parts a;
  const Expr s0 = a.size(8), u0 = a.data();
  a.record(le(s0, 99));
  a.recorder.record_assert(ge(u0, 3), {}, "");
  const auto context = a.recorder.enforced_context();
  EXPECT_EQ(context->bounds_quick(s0), Interval(0, 99));
  EXPECT_EQ(context->ask_quick(ge(u0, 3)), Verdict::kYes);
}

TEST(Recorder, AGuardHasSomeOriginsNotAllOfThem) {
  Guard guard{Expr(), {}};
  for (int line = 1; line <= 99; ++line)
    internal::add_origin(guard, {"m.py", line});
  EXPECT_THAT(guard.origins, SizeIs(16));
}

}  // namespace
}  // namespace proviso
