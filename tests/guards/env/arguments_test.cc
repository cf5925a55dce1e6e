// What a public call asks of its arguments, and how it says what is wrong.
#include "guards/env/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guards/support.h"

namespace proviso {
namespace {
using namespace internal;

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const ExprPool& pool, Expr e, Type type) {
  return message_of<Error>([&] { require_type(pool, e, type, "guard_bool"); });
}

TEST(Arguments, AreOfTheTypeThatIsAskedFor) {
  ExprPool pool;
  const Expr size = parse(pool, "s0 + 1"), condition = parse(pool, "s0 < 2");
  EXPECT_EQ(refusal(pool, size, Type::kInt), "");
  EXPECT_EQ(refusal(pool, condition, Type::kBool), "");
  EXPECT_EQ(refusal(pool, size, Type::kBool),
            "guard_bool: expected a boolean expression, got s0 + 1 (integer)");
  EXPECT_THAT(refusal(pool, condition, Type::kFloat),
              AllOf(HasSubstr("expected a float"), HasSubstr("(boolean)")));
}

TEST(Arguments, AreOfThePoolThatIsAsked) {
  ExprPool mine, other;
  const Expr e = parse(other, "s0 + 1");
  EXPECT_EQ(message_of<Error>([&] { require_own(other, e, "hint"); }), "");
  EXPECT_EQ(message_of<Error>([&] { require_own(mine, e, "hint"); }),
            "hint: s0 + 1 belongs to another environment; build it with this "
            "one's pool");
  EXPECT_THAT(refusal(mine, e, Type::kInt), HasSubstr("another environment"));
  EXPECT_THAT(message_of<Error>([&] { require_own(mine, Expr(), "hint"); }),
              HasSubstr("hint"));
}

TEST(Arguments, AreCutInErrors) {
  ExprPool pool;
  Expr sum = parse(pool, "s0");
  for (int i = 1; i < 200; ++i) {
    sum = sum + parse(pool, "s" + std::to_string(i));
  }
  const std::string text = refusal(pool, sum, Type::kBool);
  EXPECT_LT(text.size(), 300u);
  EXPECT_THAT(text, AllOf(HasSubstr("..."), HasSubstr("(integer)")));
}

}  // namespace
}  // namespace proviso
