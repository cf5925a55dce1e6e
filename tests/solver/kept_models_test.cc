// Points at which the facts hold, and what is found around them.
#include "solver/kept_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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
    kept.index_facts();
    const std::vector<AtomId> symbols = {facts.atom("x"), facts.atom("y")};
    for (size_t w = 0; w < fixed::kept_points; ++w) {
      if (!kept.meets_facts(symbols, w)) continue;
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
  kept.index_facts();
  EXPECT_EQ(kept.component_facts(facts.atom("x")).size(), 2u);
  EXPECT_EQ(kept.component_facts(facts.atom("w")).size(), 2u);
  EXPECT_EQ(kept.component_facts(facts.atom("z")).size(), 1u);
  EXPECT_EQ(kept.facts_about(facts.atom("y")).size(), 2u);
  kept.undo(2);  // y <= w is taken back
  EXPECT_EQ(kept.component_facts(facts.atom("x")).size(), 1u);
  EXPECT_EQ(kept.component_facts(facts.atom("w")).size(), 0u);
  EXPECT_EQ(kept.facts_about(facts.atom("y")).size(), 1u);
}

// Facts about one symbol wait until something asks about it; however they are
// mixed with questions and taken back, the groups are those of the facts.
TEST(KeptModels, GroupTheFactsThatAreLeftWhateverWasAskedBetween) {
  const char* const text =
      "a >= 1; b >= 2; a <= 9; c >= 0; a + b <= 12; b <= 8; d >= 1; c <= d;"
      "d <= 7; a % 2 == 0; b <= c; c <= 6; e >= 3; e <= 4; d + e <= 20; a >= 2";
  testing::AssumedDomain facts(text);
  const std::vector<FormulaId> all = facts.facts();
  ASSERT_EQ(all.size(), 16u);
  std::vector<AtomId> symbols;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    symbols.push_back(facts.atom(name));
  }
  auto symbols_in = [&](FormulaId f) {
    std::vector<AtomId> in;
    for (AtomId a : facts.forms().occurrences.of_formula(f)) {
      if (facts.forms().atoms[a].kind == AtomKind::kSymbol) in.push_back(a);
    }
    return in;
  };
  auto has = [](const auto& items, uint32_t item) {
    return std::find(items.begin(), items.end(), item) != items.end();
  };
  std::mt19937 random(7);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int round = 0; round < 200; ++round) {
    KeptModels kept(facts.domain());
    size_t assumed = 0;
    for (int step = 0; step < 40; ++step) {
      const size_t choice = below(4);
      if (choice == 0 && assumed > 0) {
        assumed = below(assumed);
        kept.undo(assumed);
      } else if (choice < 3) {
        if (assumed < all.size()) kept.add_fact(all[assumed++]);
      } else {
        kept.index_facts();
        const AtomId x = symbols[below(symbols.size())];
        std::vector<AtomId> group = {x};
        for (size_t i = 0; i < group.size(); ++i) {
          for (size_t k = 0; k < assumed; ++k) {
            const auto in = symbols_in(all[k]);
            if (!has(in, group[i])) continue;
            for (AtomId y : in) {
              if (!has(group, y)) group.push_back(y);
            }
          }
        }
        std::vector<FormulaId> about, same_component;
        for (size_t k = 0; k < assumed; ++k) {
          const auto in = symbols_in(all[k]);
          if (has(in, x)) about.push_back(all[k]);
          if (has(group, in[0])) same_component.push_back(all[k]);
        }
        EXPECT_THAT(kept.facts_about(x), ::testing::ElementsAreArray(about));
        EXPECT_THAT(kept.component_facts(x),
                    ::testing::UnorderedElementsAreArray(same_component));
        if (below(2) == 0) {
          EXPECT_TRUE(kept.groups_without_model(0).empty());
        }
      }
    }
  }
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
    for (FormulaId goal : goals) first.push_back(candidates.finds_model(goal));
    for (FormulaId goal : goals) again.push_back(candidates.finds_model(goal));
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

// Up and down, to an exact value and past an end; from points at which a fact
// about another floor holds.
TEST(CandidateModels, MoveAVariableToWhereAFloorHasItsValue) {
  for (const char* text :
       {"x >= 2; (x - 1)//16 != 0", "x >= 0; x <= 4000", "x <= -70"}) {
    testing::AssumedDomain facts(text);
    CandidateModels candidates(facts.domain());
    for (FormulaId f : facts.facts()) candidates.add_fact(f);
    for (int64_t at = -60; at <= 60; at += 3) {
      for (const std::string floor :
           {"(x - 1)//32", "x//9 + 4", "(3*x + 5)//7", "12 - x//3"}) {
        for (const std::string goal : {" == ", " >= ", " <= "}) {
          const FormulaId g = facts.formula(floor + goal + std::to_string(at));
          Point point(facts.forms());
          bool has_point = false;
          for (int64_t x = -400; x <= 400 && !has_point; ++x) {
            point.set(facts.atom("x"), x);
            has_point = point.truth(g) == true;
            for (FormulaId f : facts.facts())
              has_point = has_point && point.truth(f) == true;
          }
          EXPECT_TRUE(!has_point || candidates.finds_model(g))
              << text << ": " << floor << goal << at;
        }
      }
    }
  }
}

// x*y == z*w holds on when x and z are multiplied by one number.
TEST(CandidateModels, ScaleTheFactorsOfProducts) {
  testing::AssumedDomain facts("x*y == z*w; x >= 1; y >= 1; z >= 1; w >= 1");
  CandidateModels candidates(facts.domain());
  for (FormulaId f : facts.facts()) candidates.add_fact(f);
  EXPECT_TRUE(candidates.finds_model(facts.formula("x != y")));
  EXPECT_TRUE(candidates.finds_model(facts.formula("x*y >= 4")));
}

}  // namespace
}  // namespace proviso
