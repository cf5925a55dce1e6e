// Points at which the facts hold, and what is found around them.
#include "solver/kept_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solver/candidate_models.h"
#include "tests/solver/assumed_domain.h"

namespace proviso {
using namespace internal;
namespace {

constexpr const char* kFacts[] = {
    "x >= 2; y >= x + 3; y <= 40",       "x % 8 == 0; x >= 1; y == 2*x",
    "x*y >= 12; x <= 5; y <= 9; x >= 1", "x == 3 or y == 4; x + y >= 5",
    "x != 0; x + y == 7; z <= x",
};

TEST(KeptModels, MeetTheFactsOfTheSymbolsForWhichTheyAreUsable) {
  size_t usable = 0;
  for (const char* text : kFacts) {
    testing::AssumedDomain facts(text);
    KeptModels kept(facts.domain());
    for (FormulaId f : facts.facts()) kept.add_fact(f);
    kept.file_facts();
    const std::vector<AtomId> symbols = {facts.atom("x"), facts.atom("y")};
    for (size_t w = 0; w < KeptModels::kModels; ++w) {
      if (!kept.is_usable(symbols, w)) continue;
      ++usable;
      for (FormulaId f : facts.facts()) {
        EXPECT_EQ(kept.point(w).truth(f), true) << text;
      }
    }
  }
  EXPECT_GE(usable, 8u);
}

TEST(KeptModels, GroupFactsBySymbolsTheyShare) {
  testing::AssumedDomain facts("x <= y; z >= 4; y <= w");
  KeptModels kept(facts.domain());
  for (FormulaId f : facts.facts()) kept.add_fact(f);
  kept.file_facts();
  EXPECT_EQ(kept.facts_near(facts.atom("x")).size(), 2u);
  EXPECT_EQ(kept.facts_near(facts.atom("w")).size(), 2u);
  EXPECT_EQ(kept.facts_near(facts.atom("z")).size(), 1u);
  EXPECT_EQ(kept.facts_about(facts.atom("y")).size(), 2u);
  kept.undo(2);  // y <= w is taken back
  EXPECT_EQ(kept.facts_near(facts.atom("x")).size(), 1u);
  EXPECT_EQ(kept.facts_near(facts.atom("w")).size(), 0u);
  EXPECT_EQ(kept.facts_about(facts.atom("y")).size(), 1u);
}

TEST(KeptModels, SayWhichGroupsHaveNoModel) {
  testing::AssumedDomain facts("x <= y; z*z == 3");
  KeptModels kept(facts.domain());
  for (FormulaId f : facts.facts()) kept.add_fact(f);
  EXPECT_THAT(kept.groups_without_model(0),
              ::testing::ElementsAre(facts.facts()[1]));
  EXPECT_TRUE(kept.groups_without_model(2).empty());
}

TEST(CandidateModels, LeaveThePointsAsTheyWere) {
  for (const char* text : kFacts) {
    testing::AssumedDomain facts(text);
    CandidateModels candidates(facts.domain());
    for (FormulaId f : facts.facts()) candidates.add_fact(f);
    const FormulaId goals[] = {facts.formula("x >= y"), facts.formula("x < y"),
                               facts.formula("x*y == 8")};
    std::vector<bool> first, again;
    for (FormulaId goal : goals) first.push_back(candidates.satisfiable(goal));
    for (FormulaId goal : goals) again.push_back(candidates.satisfiable(goal));
    EXPECT_EQ(first, again) << text;
  }
}

TEST(CandidateModels, FindOnlyPointsThatMeetFactsAndGoal) {
  for (const char* text : kFacts) {
    testing::AssumedDomain facts(text);
    CandidateModels candidates(facts.domain());
    for (FormulaId f : facts.facts()) candidates.add_fact(f);
    for (const char* goal : {"x >= y", "x < y", "x*y == 8", "x + y >= 20"}) {
      const FormulaId g = facts.formula(goal);
      const std::vector<AtomId> symbols = {facts.atom("x"), facts.atom("y"),
                                           facts.atom("z")};
      const std::vector<int64_t> found = candidates.find(g, symbols);
      if (found.empty()) continue;
      Point point(facts.forms());
      for (size_t i = 0; i < symbols.size(); ++i)
        point.set(symbols[i], found[i]);
      EXPECT_EQ(point.truth(g), true) << text << " " << goal;
      for (FormulaId f : facts.facts()) {
        EXPECT_EQ(point.truth(f), true) << text << " " << goal;
      }
    }
  }
}

// x*y == z*w holds on when x and z are multiplied by one number.
TEST(CandidateModels, ScaleTheFactorsOfProducts) {
  testing::AssumedDomain facts("x*y == z*w; x >= 1; y >= 1; z >= 1; w >= 1");
  CandidateModels candidates(facts.domain());
  for (FormulaId f : facts.facts()) candidates.add_fact(f);
  EXPECT_TRUE(candidates.satisfiable(facts.formula("x != y")));
  EXPECT_TRUE(candidates.satisfiable(facts.formula("x*y >= 4")));
}

}  // namespace
}  // namespace proviso
