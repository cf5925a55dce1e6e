#include "guards/source_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sym/budget.h"
#include "sym/parse.h"

namespace proviso {
namespace {

class SourceText : public testing::Test {
 protected:
  Expr over(const std::string& text) {
    SourceValues values;
    for (const auto& [source, value] : values_) values.add(source, value);
    return parse_over(pool_, text, values);
  }
  std::string refused(const std::string& text) {
    try {
      over(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  ExprPool pool_;
  std::map<std::string, Expr> values_ = {
      {"L['x']", parse(pool_, "s9")},
      {"L['x'].size()[1]", parse(pool_, "s0")},
      {"L['x'].size()[10]", parse(pool_, "s1 + 1")},
      {"L['x'][0].size()[1]", pool_.integer(4)},
      {"L['xs_0'].size()[0]", parse(pool_, "s3")},
      {"s77", parse(pool_, "s2")}};
};

TEST_F(SourceText, SourcesAreTheirValues) {
  EXPECT_EQ(over("L['x'].size()[1] <= 16"), parse(pool_, "s0 <= 16"));
  EXPECT_EQ(over("L['x'].size()[10] == 2*L['x'].size()[1]"),
            parse(pool_, "Eq(s1 + 1, 2*s0)"));
  EXPECT_EQ(over("L['x'] % L['x'][0].size()[1] == 0"),
            parse(pool_, "Eq(s9 % 4, 0)"));
  EXPECT_EQ(over("not (s77 < 3 or max(s77, 2) > L['x'])"),
            parse(pool_, "~((s2 < 3) | (max(s2, 2) > s9))"));
}

TEST_F(SourceText, AnArgumentOfStarArgsHasTwoNames) {
  EXPECT_EQ(over("L['xs'][0].size()[0] > 2"), parse(pool_, "s3 > 2"));
  EXPECT_EQ(over("L['xs_0'].size()[0] > 2"), parse(pool_, "s3 > 2"));
}

TEST_F(SourceText, AnInnerWordIsNoName) {
  EXPECT_THAT(refused("as77 > 1"), testing::HasSubstr("'as77'"));
  EXPECT_THAT(refused("s777 > 1"), testing::HasSubstr("'s777'"));
}

TEST_F(SourceText, OtherTextIsRefusedWithTheText) {
  EXPECT_THAT(refused("L['y'].size()[0] > 1"),
              testing::HasSubstr("L['y'].size()[0] > 1"));
  EXPECT_THAT(refused("__import__('os')"), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(refused("L['x'].size()[1] <="), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(refused("value_of_input_99999999999999999999 > 1"),
              testing::Not(testing::IsEmpty()));
}

// As many inputs as guards, as a large program has them.
uint64_t work_of(int count) {
  ExprPool pool;
  SourceValues values;
  const auto source = [](int i) {
    return "L['x_" + std::to_string(i) + "'].size()[0]";
  };
  for (int i = 0; i < count; ++i)
    values.add(source(i), parse(pool, "s" + std::to_string(i)));
  const Budget budget(Budget::kUnlimited);
  const uint64_t before = Budget::units_left();
  for (int i = 0; i < count; ++i)
    parse_over(pool, source(i) + " <= " + source(count - 1 - i), values);
  return before - Budget::units_left();
}

TEST(SourceTextWork, GrowsWithTheTextAndNotWithTheInputs) {
  EXPECT_LE(work_of(2000), work_of(500) * 5);
}

}  // namespace
}  // namespace proviso
