// Questions beyond yes and no: multiples, values, equal expressions, and
// contexts that part ways.
#include <gtest/gtest.h>

#include "tests/solver/support.h"

namespace proviso {
namespace {

using testing::Case;

TEST(MultipleOf, FollowsEqualitiesAndCongruences) {
  Case c("s0:2.. s1:2.. u0:0..", "s0 % 8 == 0; s1 == 6*u0");
  EXPECT_EQ(c.context.multiple_of(c.p("s0")), Int(8));
  EXPECT_EQ(c.context.multiple_of(c.p("s0*s1 + 16")), Int(16));
  EXPECT_EQ(c.context.multiple_of(c.p("s1 + 4")), Int(2));
  EXPECT_EQ(c.context.multiple_of(c.p("u0")), Int(1));
  EXPECT_EQ(c.context.multiple_of(c.p("4*Max(u0, 3)")), Int(4));
  EXPECT_EQ(c.context.multiple_of(c.p("u0 - u0")), Int(0));
}

TEST(Values, AreTheFiniteSetThatTheFactsAllow) {
  Case c("s0:2.. s1:2..", "s0*s1 == 16");
  auto values = c.context.values(c.p("s0"));
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, (std::vector<Int>{2, 4, 8}));
  EXPECT_FALSE(c.context.values(c.p("s0"), 2));
}

TEST(Values, OfNothingBoundedAreNotListed) {
  Case c("u0:0..", "");
  EXPECT_FALSE(c.context.values(c.p("u0")));
  EXPECT_EQ(*c.context.values(c.p("Mod(u0, 3)")), (std::vector<Int>{0, 1, 2}));
}

TEST(Equivalent, ComparesNumbersAndConditions) {
  Case c("s0:2.. u0:0..", "u0 == 2*s0");
  EXPECT_EQ(c.context.equivalent(c.p("u0//2"), c.p("s0")), Verdict::kYes);
  EXPECT_EQ(c.context.equivalent(c.p("u0 > 4"), c.p("s0 > 2")), Verdict::kYes);
  EXPECT_EQ(c.context.equivalent(c.p("u0"), c.p("s0")), Verdict::kNo);
  EXPECT_THROW(c.context.equivalent(c.p("u0"), c.p("s0 > 2")), Error);
}

TEST(Substitute, PutsEqualitiesIn) {
  Case c("s0:2.. u0:0..", "Eq(u0, 2*s0)");
  Expr e = c.context.substitute(c.p("u0 + 2*s0"));
  EXPECT_EQ(c.context.equivalent(e, c.p("4*s0")), Verdict::kYes);
  EXPECT_EQ(free_symbols(e).size(), 1u);
}

TEST(Clone, GoesItsOwnWay) {
  Case c("u0:0..", "");
  Context other = c.context.clone();
  c.context.assume(c.p("u0 >= 5"));
  other.assume(c.p("u0 <= 3"));
  EXPECT_EQ(c.ask("u0 >= 4").verdict, Verdict::kYes);
  EXPECT_EQ(other.ask(c.p("u0 >= 4")).verdict, Verdict::kNo);
  EXPECT_EQ(c.ask("u0 >= 4").verdict, Verdict::kYes);
  EXPECT_EQ(c.context.facts().size(), 2u);
  EXPECT_EQ(to_string(other.facts().back().condition), "u0 <= 3");
}

TEST(Clone, KeepsScopesApart) {
  Case c("u0:0..", "");
  c.context.push();
  c.context.assume(c.p("u0 >= 5"));
  Context other = c.context.clone();
  EXPECT_EQ(other.depth(), 1u);
  other.pop();
  other.assume(c.p("u0 <= 1"));
  EXPECT_EQ(other.ask(c.p("u0 < 5")).verdict, Verdict::kYes);
  EXPECT_EQ(c.ask("u0 < 5").verdict, Verdict::kNo);
  c.context.pop();
  EXPECT_EQ(c.ask("u0 < 5").verdict, Verdict::kUnknown);
  EXPECT_THROW(other.pop(), Error);
}

TEST(Clone, OutlivesItsOrigin) {
  ExprPool pool;
  std::optional<Context> origin(std::in_place, pool, testing::native_only());
  Expr u0 = parse(pool, "u0");
  origin->assume(ge(u0, 3));
  Context clone = origin->clone();
  origin.reset();
  EXPECT_EQ(clone.ask(gt(u0, 2)).verdict, Verdict::kYes);
}

}  // namespace
}  // namespace proviso
