#include "guards/env/learning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sym/budget.h"
#include "tests/guards/env/parts.h"

namespace proviso {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> lessons(const Parts& a) {
  std::vector<std::string> texts;
  for (const ShapeEvent& e : a.log.events()) {
    if (!e.kind.starts_with("create")) texts.push_back(e.text);
  }
  return texts;
}

TEST(Learning, ANarrowerRangeIsAnEventOnce) {
  Parts a;
  const Expr s0 = a.size(8);
  a.assume(le(s0, 9));
  a.assume(ge(s0, 1));  // teaches nothing
  EXPECT_THAT(lessons(a), ElementsAre("update_range s0 = VR[2, 9]"));
  EXPECT_EQ(a.facts.context().ask_quick(le(s0, 9)), Verdict::kYes);
}

TEST(Learning, ARangeOfOneValueReplacesItsSymbol) {
  Parts a;
  const Expr s0 = a.size(8);
  a.assume(le(s0, 2));
  EXPECT_EQ(a.replacements.apply(s0), a.integer(2));
  // By s0 >= 2, which is assumed: so it is an answer.
  EXPECT_EQ(a.unguarded_answers.decisions()[0].question, eq(s0, 2));
}

TEST(Learning, TheLargerExampleIsReplacedThenTheLater) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(4), s2 = a.size(4);
  a.assume(eq(s0, s1 * 2));
  a.assume(eq(s1, s2));
  EXPECT_EQ(to_string(a.replacements.apply(s0)), "2*s1");
  EXPECT_EQ(to_string(a.replacements.apply(s2)), "s1");
  EXPECT_THAT(lessons(a), Contains(StartsWith("set_replacement s0 = 2*s1 "
                                              "(solve) VR")));
}

TEST(Learning, TheLargerExampleIsReplacedAlthoughItIsTheEarlier) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(7);
  a.assume(eq(s0, s1 + 1));
  EXPECT_EQ(to_string(a.replacements.apply(s0)), "s1 + 1");
  EXPECT_FALSE(a.replacements.has(s1));
}

TEST(Learning, DataIsReplacedBySizesAndNotByData) {
  Parts a;
  const Expr s0 = a.size(8), u0 = a.data(), u1 = a.data(), u2 = a.data();
  a.assume(eq(u0, s0 + 1));
  EXPECT_EQ(to_string(a.replacements.apply(u0)), "s0 + 1");
  a.assume(eq(u1, u2));
  EXPECT_EQ(a.replacements.apply(u2), u2);
  EXPECT_EQ(a.replacements.apply_equal_data(u2), u1);
}

// What each symbol would be was written to choose one: 1.3 million units.
TEST(Learning, OfALongSumOneSymbolIsSolvedFor) {
  Parts a;
  Expr sum = a.size(2);
  for (int i = 1; i < 96; ++i) sum = sum + a.size(i + 2);
  const Expr all = a.size(5000);
  const Budget counted(Budget::kUnlimited);
  const uint64_t before = Budget::units_left();
  a.assume(eq(all, sum));
  EXPECT_LT(before - Budget::units_left(), 150'000u);
  EXPECT_TRUE(a.replacements.has(all));
}

TEST(Learning, DivisionsAreLeftInPlace) {
  Parts a;
  const Expr s0 = a.size(8), s1 = a.size(4);
  a.assume(eq(s1, floor_div(s0, a.integer(2))));
  EXPECT_THAT(a.replacements.all(), IsEmpty());
}

TEST(Learning, WithDeferredAssertionsOnlyMultiplesReplace) {
  Parts a({.prefer_deferred_runtime_asserts_over_guards = true});
  const Expr s0 = a.size(6), s1 = a.size(3), s2 = a.size(3), s3 = a.size(6);
  a.assume(eq(s0, s1 + s2));
  EXPECT_FALSE(a.replacements.has(s0));
  a.assume(eq(s3, s1 * 2));
  EXPECT_TRUE(a.replacements.has(s3));
  a.assume(le(s1, 2));  // one value: stays a symbol
  EXPECT_FALSE(a.replacements.has(s1));
}

}  // namespace
}  // namespace proviso
