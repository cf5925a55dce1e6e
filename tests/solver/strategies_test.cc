// Each strategy alone decides a question of its fragment, and stays quiet on
// one outside of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/solver/support.h"

namespace proviso {
namespace {

using testing::Case;

size_t index_of(std::string_view name) {
  for (size_t i = 0; i < kStrategyCount; ++i) {
    if (strategy(i).name == name) return i;
  }
  ADD_FAILURE() << "no strategy " << name;
  return 0;
}

// Divisors that are symbols need ranges to be known not to be 0.
SolverOptions only(std::string_view name) {
  SolverOptions options = testing::native_only();
  options.disabled_strategies = ~(uint64_t{1} << index_of(name));
  if (name == "deep-floors") options.disabled_strategies &= ~uint64_t{1};
  return options;
}

struct Row {
  const char* strategy;
  const char* symbols;
  const char* facts;
  const char* decided;  // by it alone: yes
  const char* refuted;  // by it alone: no; or nullptr
  const char* quiet;    // implied, and outside of its fragment; or nullptr
};

constexpr Row kRows[] = {
    {"ranges", "s0:2.. s1:2..", "Mod(s0, 8) == 0", "Mod(s0, 4) == 0", "s0 < 2",
     "s0*s1 + s1*s1 >= 4*s0 - 4"},
    {"nonnegative-combination", "s0:2.. s1:2.. s2:2.. u0:0.. u1:0.. u2:0..",
     "u0 < s0; u1 < s1; u2 < s2", "u0*s1*s2 + u1*s2 + u2 < s0*s1*s2",
     "u0*s1*s2 + u1*s2 + u2 >= s0*s1*s2", "u0 + u1 + u2 < s0 + s1 + s2"},
    {"monomial-ratios", "s0:2.. s1:2.. s2:2.. s3:2.. s4:2.. s5:2..",
     "s0*s1 == s2*s3; s2*s3 == s4*s5", "s0*s1 == s4*s5", "s0*s1 < s4*s5",
     "s2*s2 + s0*s0 >= 2*s0*s2"},
    {"asserted-cases", "s0:1.. s1:1..", "s0 == 1 or s0 == s1", "s0 <= s1",
     "s0 > s1", "s1*(s1 + 1) % 2 == 0"},
    {"condition-cases", "u0:.. u1:..", "", "max(u0, u1) >= min(u0, u1)",
     "max(u0, u1) < min(u0, u1)", "u0*u0 + u1*u1 >= 2*u0*u1"},
    {"min-max-lattice", "x:.. y:.. z:..", "",
     "min(max(x, y), max(x, z)) == max(min(y, z), x)",
     "min(max(x, y), max(x, z)) > max(min(y, z), x)",
     "max(x, y)*max(x, y) >= max(x, y)"},
    {"deep-floors", "x:.. a:1.. b:1.. c:1..", "",
     "((x//a)//b)//c == x//(a*b*c)", "((x//a)//b)//c == x//(a*b*c) + 1",
     "x*x*a >= x*a"},
    {"polynomial-reduction", "s0:2.. s1:2..", "s0 > s1", "s0*s0 > s1*s1",
     "s0*s0 <= s1*s1", "s0 + s1 > 2*s1"},
    {"wide-combination", "u0:-3.. s1:2.. u2:-3..", "s1 > u2", "u2 < s1*s1",
     "u2 >= s1*s1", "s1 + u0 > u2 + u0"},
    {"linear-refutation", "s0:0..5 s1:2..", "", "s0*s0 - 3*s0 <= 10",
     "s0*s0 - 3*s0 > 10", "u0*(u0 + 1) % 2 == 0"},
    {"case-split", "u0:..", "", "u0*(u0 + 1) % 2 == 0", "u0*(u0 + 1) % 2 == 1",
     nullptr},
    {"value-split", "u0:-2.. u1:2..11", "",
     "-2*u0*u0*u1 - u1*u1 + 2*u0*u0 != -66", nullptr, "u0*u0 >= u0"},
    {"small-enumeration", "u0:0..15 u1:0..15", "",
     "(u0 ^ u1) + 2*(u0 & u1) <= 30", "(u0 ^ u1) + 2*(u0 & u1) > 30",
     "u0 + s9 >= s9"},
    {"enumeration", "u0:0..99 u1:0..99", "u0 + u1 >= 5",
     "(u0 ^ u1) + 2*(u0 & u1) >= 5", "(u0 ^ u1) + 2*(u0 & u1) < 5",
     "u0 + s9 >= s9"},
};

TEST(Strategies, EachAloneDecidesItsFragment) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.strategy);
    Case c(row.symbols, row.facts, only(row.strategy));
    const Answer yes = c.ask(row.decided);
    EXPECT_EQ(yes.verdict, Verdict::kYes) << row.decided;
    EXPECT_EQ(yes.strategy, row.strategy);
    if (row.refuted != nullptr) {
      EXPECT_EQ(c.ask(row.refuted).verdict, Verdict::kNo) << row.refuted;
    }
    if (row.quiet != nullptr) {
      EXPECT_EQ(c.ask(row.quiet).verdict, Verdict::kUnknown) << row.quiet;
    }
  }
}

TEST(Strategies, WhatOneDecidesIsUnknownWithoutAny) {
  for (const Row& row : kRows) {
    SolverOptions none = testing::native_only();
    none.disabled_strategies = ~uint64_t{0};
    Case c(row.symbols, row.facts, none);
    EXPECT_EQ(c.ask(row.decided).verdict, Verdict::kUnknown) << row.decided;
  }
}

TEST(Strategies, CandidateModelsLeaveNothingToProve) {
  Case c("s0:2.. s1:2..", "");
  EXPECT_EQ(c.context.ask_quick(c.p("s0*s1 >= s0 + s1 + 5")),
            Verdict::kUnknown);
  const auto& counts = c.context.statistics().by_strategy;
  EXPECT_EQ(counts[index_of("candidate-models")].tried, 1u);
  EXPECT_EQ(counts[index_of("linear-refutation")].tried, 0u);
}

TEST(Strategies, ModelRepairFindsWhatCandidatesMiss) {
  Case c("u0:0.. u1:0..", "u0*u1 >= 1", only("model-repair"));
  EXPECT_EQ(c.context.ask_quick(c.p("u0*u1 == 12")), Verdict::kUnknown);
  EXPECT_EQ(c.context.statistics().by_strategy[index_of("model-repair")].tried,
            1u);
}

TEST(Strategies, RestartsDecideWhatTheGivenOrderDoesNot) {
  const char* symbols = "u0:-2.. u1:2.. u2:2..";
  const char* facts = "Mod(u0, 4) == 1; Mod(u0, u1*u2) == 1";
  const char* question = "max(u0 % u2, min(0, u1)) < 5";
  Case all(symbols, facts);
  EXPECT_EQ(all.ask(question).strategy, "restarts");
  SolverOptions without = testing::native_only();
  without.disabled_strategies = uint64_t{1} << index_of("restarts");
  without.disabled_strategies |= uint64_t{1} << index_of("enumeration");
  Case c(symbols, facts, without);
  EXPECT_EQ(c.ask(question).verdict, Verdict::kUnknown);
}

TEST(Strategies, ModelSearchShowsBothSides) {
  Case c("s0:2.. s1:2..", "s0*s1 == 12", only("model-search"));
  const Answer a = c.ask("s0 < s1");
  EXPECT_EQ(a.verdict, Verdict::kUnknown);
  EXPECT_TRUE(a.witness && a.counterexample);
}

TEST(Strategies, CountsSayWhoDecided) {
  Case c("s0:0..5", "");
  EXPECT_EQ(c.ask("s0*s0 - 3*s0 <= 10").strategy, "linear-refutation");
  const Statistics& s = c.context.statistics();
  const StrategyCount& linear = s.by_strategy[index_of("linear-refutation")];
  EXPECT_EQ(linear.tried, 1u);
  EXPECT_EQ(linear.decided, 1u);
  EXPECT_GT(linear.work, 0u);
  EXPECT_THAT(s.strategies_to_string(),
              ::testing::HasSubstr("linear-refutation"));
}

TEST(Strategies, NamesDiffer) {
  for (size_t i = 0; i < kStrategyCount; ++i) {
    EXPECT_FALSE(strategy(i).fragment.empty());
    EXPECT_EQ(index_of(strategy(i).name), i);
  }
}

}  // namespace
}  // namespace proviso
