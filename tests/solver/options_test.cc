#include "solver/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "solver/limits.h"

namespace proviso {
namespace {

using ::testing::HasSubstr;

TEST(Options, EachIsSetAndReadByItsName) {
  SolverOptions options;
  each_option(options, [&](const OptionInfo& row, const auto& field) {
    const auto before = static_cast<uint64_t>(field);
    EXPECT_EQ(get_option(options, row.name), before) << row.name;
    const uint64_t other = before == 0 ? 1 : 0;
    set_option(options, row.name, other);
    EXPECT_EQ(static_cast<uint64_t>(field), other) << row.name;
    EXPECT_FALSE(row.help.empty());
  });
}

// The C API gives names and helps out as they stand.
TEST(Options, NamesAndHelpsEndWithAZero) {
  const SolverOptions defaults;
  each_option(defaults, [](const OptionInfo& row, const auto&) {
    EXPECT_EQ(std::strlen(row.name.data()), row.name.size());
    EXPECT_EQ(std::strlen(row.help.data()), row.help.size());
  });
}

TEST(Options, LimitsAreOptionsToo) {
  SolverOptions options;
  set_option(options, "limit.split_depth", 1);
  ASSERT_NE(options.limits, nullptr);
  EXPECT_EQ(options.limits->split_depth, 1);
  EXPECT_THAT(*try_set_option(options, "limit.nothing", 1),
              HasSubstr("nothing"));
}

TEST(Options, StrategiesAreOptionsToo) {
  SolverOptions options;
  set_option(options, "without.case-split", 1);
  set_option(options, "without.ranges", 1);
  set_option(options, "without.ranges", 0);
  EXPECT_TRUE(options.disabled_strategies.contains(Strategy::kCaseSplit));
  EXPECT_FALSE(options.disabled_strategies.contains(Strategy::kRanges));
  EXPECT_THAT(*try_set_option(options, "without.luck", 1),
              HasSubstr("no strategy is called 'luck'; there are ranges, "));
  EXPECT_THAT(*try_set_option(options, "without.z3", 2),
              HasSubstr("too large for without.z3"));
}

TEST(Options, ChangedLimitsAndStrategiesMakeTheSameOptions) {
  SolverOptions options;
  EXPECT_TRUE(changed_limits_and_strategies(options).empty());
  set_option(options, "limit.split_depth", 1);
  set_option(options, "without.restarts", 1);
  SolverOptions same;
  for (const OptionValue& option : changed_limits_and_strategies(options)) {
    EXPECT_EQ(get_option(options, option.name), option.value);
    EXPECT_NE(get_option(same, option.name), option.value);
    set_option(same, option.name, option.value);
    EXPECT_EQ(get_option(same, option.name), option.value);
  }
  EXPECT_EQ(same.disabled_strategies, options.disabled_strategies);
  EXPECT_EQ(same.limits->split_depth, 1);
  EXPECT_THROW(get_option(options, "limit.nothing"), Error);
  EXPECT_THROW(get_option(options, "without.luck"), Error);
}

TEST(Options, ErrorsNameTheCall) {
  const auto said = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const SolverOptions options;
  Limits limits;
  EXPECT_THAT(said([&] { set_limit(limits, "luck", 1); }),
              HasSubstr("set_limit: no limit is called 'luck'"));
  EXPECT_THAT(said([&] { (void)get_option(options, "limit.luck"); }),
              HasSubstr("get_option: no limit is called 'luck'"));
  EXPECT_THAT(said([&] { (void)get_option(options, "without.luck"); }),
              HasSubstr("get_option: no strategy is called 'luck'"));
}

TEST(Options, WrongNamesAndValuesAreSaid) {
  SolverOptions options;
  EXPECT_THAT(*try_set_option(options, "fast", 1),
              HasSubstr("no option 'fast'; there are use_z3, "));
  EXPECT_THAT(*try_set_option(options, "use_z3", 2),
              HasSubstr("too large for use_z3: it is 2, and at most 1"));
  EXPECT_TRUE(options.use_z3);
  EXPECT_THROW(set_option(options, "", 1), Error);
  EXPECT_THROW(get_option(options, "fast"), Error);
}

}  // namespace
}  // namespace proviso
