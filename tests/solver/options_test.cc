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
