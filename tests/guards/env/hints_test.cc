#include "guards/env/hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guards/env/parts.h"

namespace proviso {
namespace {

using ::testing::HasSubstr;

TEST(Hints, AreValuesAtTheExamples) {
  Parts a;
  const Expr s0 = a.size(8), u0 = a.data();
  EXPECT_EQ(a.hints.value(s0 * 2), Value(Int(16)));
  EXPECT_EQ(a.hints.value(s0 * u0), std::nullopt);
  EXPECT_TRUE(a.hints.truth(ge(s0, 8), "guard_bool"));
  EXPECT_FALSE(a.hints.truth(ge(s0, 9), "guard_bool"));
}

TEST(Hints, DataThatIsReplacedBySizesHasAValue) {
  Parts a;
  const Expr s0 = a.size(8), u0 = a.data();
  a.replacements.set(u0, s0 + 1);
  EXPECT_EQ(a.hints.value(u0), Value(Int(9)));
}

TEST(Hints, NameTheCallWhereAnExampleHasNoValue) {
  Parts a;
  const Expr s0 = a.size(8);
  const Expr undefined = eq(mod(s0, s0 - 8), 0);
  EXPECT_EQ(a.hints.value(undefined), std::nullopt);
  EXPECT_THAT(
      message_of<GuardError>([&] { a.hints.truth(undefined, "guard_bool"); }),
      HasSubstr("guard_bool: "));
}

TEST(Hints, PlausibleValuesAreInRangeAndEqualWhereDataIs) {
  Parts a;
  const Expr u0 = a.data({0, 9}), u1 = a.data({20, 99}), u2 = a.data();
  EXPECT_EQ(a.hints.plausible(u0, 50), Int(9));
  EXPECT_EQ(a.hints.plausible(u1, 5), Int(20));
  EXPECT_EQ(a.hints.plausible(u2, 5), Int(5));
  a.replacements.set_equal_data(u2, u0 * 2);
  EXPECT_EQ(a.hints.plausible(u2, 5), Int(10));
  EXPECT_EQ(a.hints.plausible(a.size(8) * 2, 5), Int(16));
}

}  // namespace
}  // namespace proviso
