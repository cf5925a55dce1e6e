// Each strategy alone decides a question of its fragment, and stays quiet on
// one outside of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "sym/evaluate.h"
#include "tests/solver/support.h"
#include "tests/support/random_facts.h"
#include "tests/support/random_index.h"

namespace proviso {
namespace {
using namespace internal;

using testing::Case;
using testing::only;

struct Row {
  Strategy strategy;
  const char* symbols;
  const char* facts;
  const char* decided;  // by it alone: yes
  const char* refuted;  // by it alone: no; or nullptr
  const char* quiet;    // implied, and outside of its fragment; or nullptr
};

constexpr Row kRows[] = {
    {Strategy::kRanges, "s0:2.. s1:2..", "Mod(s0, 8) == 0", "Mod(s0, 4) == 0",
     "s0 < 2", "s0*s1 + s1*s1 >= 4*s0 - 4"},
    {Strategy::kNonnegativeCombination,
     "s0:2.. s1:2.. s2:2.. u0:0.. u1:0.. u2:0..", "u0 < s0; u1 < s1; u2 < s2",
     "u0*s1*s2 + u1*s2 + u2 < s0*s1*s2", "u0*s1*s2 + u1*s2 + u2 >= s0*s1*s2",
     "u0 + u1 + u2 < s0 + s1 + s2"},
    {Strategy::kMonomialRatios, "s0:2.. s1:2.. s2:2.. s3:2.. s4:2.. s5:2..",
     "s0*s1 == s2*s3; s2*s3 == s4*s5", "s0*s1 == s4*s5", "s0*s1 < s4*s5",
     "s2*s2 + s0*s0 >= 2*s0*s2"},
    {Strategy::kAssertedCases, "s0:1.. s1:1..", "s0 == 1 or s0 == s1",
     "s0 <= s1", "s0 > s1", "s1*(s1 + 1) % 2 == 0"},
    {Strategy::kConditionCases, "u0:.. u1:..", "", "max(u0, u1) >= min(u0, u1)",
     "max(u0, u1) < min(u0, u1)", "u0*u0 + u1*u1 >= 2*u0*u1"},
    {Strategy::kMinMaxLattice, "x:.. y:.. z:..", "",
     "min(max(x, y), max(x, z)) == max(min(y, z), x)",
     "min(max(x, y), max(x, z)) > max(min(y, z), x)",
     "max(x, y)*max(x, y) >= max(x, y)"},
    {Strategy::kDeepFloors, "x:.. a:1.. b:1.. c:1..", "",
     "((x//a)//b)//c == x//(a*b*c)", "((x//a)//b)//c == x//(a*b*c) + 1",
     "x*x*a >= x*a"},
    {Strategy::kPolynomialReduction, "s0:2.. s1:2..", "s0 > s1",
     "s0*s0 > s1*s1", "s0*s0 <= s1*s1", "s0 + s1 > 2*s1"},
    {Strategy::kNonnegativeCombination, "u0:-3.. s1:2.. u2:-3..", "s1 > u2",
     "u2 < s1*s1", "u2 >= s1*s1", "s1 + u0 > u2 + u0"},
    {Strategy::kLinearRefutation, "s0:0..5 s1:2..", "", "s0*s0 - 3*s0 <= 10",
     "s0*s0 - 3*s0 > 10", "u0*(u0 + 1) % 2 == 0"},
    {Strategy::kCaseSplit, "u0:..", "", "u0*(u0 + 1) % 2 == 0",
     "u0*(u0 + 1) % 2 == 1", nullptr},
    {Strategy::kEnumeration, "u0:0..15 u1:0..15", "",
     "(u0 ^ u1) + 2*(u0 & u1) <= 30", "(u0 ^ u1) + 2*(u0 & u1) > 30",
     "u0 + s9 >= s9"},
};

TEST(Strategies, EachAloneDecidesItsFragment) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(name_of(row.strategy));
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

// It is tried where a refutation has taken long: not alone.
TEST(Strategies, PointsAreCountedWhereNoModelIsFound) {
  Case c("u0:-1.. u1:2..11 u2:2.. u3:-1..8",
         "u1*(2*u1*u2 - 2*u2 + u2*u2*u3) == 64*u1 + 12; u0*u2 <= 10; "
         "u2 + u0 <= u1 + 5",
         testing::native_only());
  const Answer answer = c.ask("Max(Max(u2, -2), Abs(u1)) <= Abs(5)**1");
  EXPECT_EQ(answer.verdict, Verdict::kNo);
  const Statistics& s = c.context.statistics();
  EXPECT_GE(s.by_strategy[Strategy::kFewModels].decided, 1u);
}

// Of random facts and questions, and of questions about indices: no answer of
// one strategy alone fails at a point of the box at which the facts hold.
TEST(Strategies, EachAloneIsRightAtEveryPointOfSmallBoxes) {
  constexpr int kLow = -2, kHigh = 5;
  const uint32_t seed = testing::seed_or(31);
  std::map<Strategy, size_t> decided;
  for (uint32_t round = 0; round < 120; ++round) {
    ExprPool pool;
    const std::vector<Expr> symbols = {parse(pool, "u0"), parse(pool, "u1")};
    std::mt19937 random(seed + round);
    Assignment hidden;
    for (Expr s : symbols) {
      hidden.set(s,
                 Int(static_cast<int>(random() % (kHigh - kLow + 1)) + kLow));
    }
    testing::RandomFacts make(pool, symbols, hidden, seed + round);
    testing::RandomIndex index(pool, symbols, seed + round);
    std::vector<Expr> facts, questions;
    for (uint32_t i = 0; i < round % 4; ++i) facts.push_back(make.fact());
    for (int i = 0; i < 3; ++i) questions.push_back(make.question());
    for (int i = 0; i < 3; ++i) questions.push_back(index.boolean(1));
    for (const Row& row : kRows) {
      Context context(pool, only(row.strategy));
      for (Expr s : symbols) context.declare(s, Interval(kLow, kHigh));
      for (Expr f : facts) context.assume(f);
      for (Expr q : questions) {
        const Verdict v = context.ask_quick(q);
        if (v == Verdict::kUnknown) continue;
        ++decided[row.strategy];
        Assignment point;
        for (int a = kLow; a <= kHigh; ++a) {
          for (int b = kLow; b <= kHigh; ++b) {
            point.set(symbols[0], Int(a));
            point.set(symbols[1], Int(b));
            const bool holds = std::all_of(
                facts.begin(), facts.end(),
                [&](Expr f) { return evaluate(f, point).is_true(); });
            if (!holds) continue;
            const Evaluation e = evaluate(q, point);
            EXPECT_TRUE(v == Verdict::kYes ? e.is_true() : e.is_false())
                << name_of(row.strategy) << ": " << q << " at "
                << point.to_string() << ", seed " << seed + round;
          }
        }
      }
    }
  }
  EXPECT_GE(decided.size(), 9u);
}

// Quotients by symbols, with and without what their rules need.
TEST(Strategies, DeepFloorsAreRightAtEveryPointOfABox) {
  constexpr const char* kQuestions[] = {
      "(x*b + y)//b - x",
      "(x//b)//c - x//(b*c)",
      "(x//b + y)//c - (x + b*y)//(b*c)",
      "((x*b + y)*c + y)//(b*c) - x",
      "(x*b + y) % b - y",
      "((y*c + x)//c) % b - y",
      "(x - y)//b",
  };
  constexpr const char* kFacts[] = {"b >= 1", "c >= 1", "y >= 0", "y < b",
                                    "x < c",  "x >= 0", "y >= -1"};
  ExprPool pool;
  std::vector<Expr> symbols, facts;
  for (const char* s : {"x", "y", "b", "c"}) symbols.push_back(parse(pool, s));
  for (const char* f : kFacts) facts.push_back(parse(pool, f));
  size_t decided = 0;
  for (uint32_t chosen = 0; chosen < 128; ++chosen) {
    Context context(pool, only(Strategy::kDeepFloors));
    for (size_t i = 0; i < facts.size(); ++i) {
      if (chosen >> i & 1) context.assume(facts[i]);
    }
    for (const char* question : kQuestions) {
      for (const char* relation : {" == 0", " >= 0", " <= -1"}) {
        const Expr q = parse(pool, question + std::string(relation));
        const Verdict v = context.ask_quick(q);
        if (v == Verdict::kUnknown) continue;
        ++decided;
        for (int n = 0; n < 7 * 7 * 7 * 7; ++n) {
          Assignment point;
          for (int i = 0, rest = n; i < 4; ++i, rest /= 7) {
            point.set(symbols[static_cast<size_t>(i)], Int(rest % 7 - 3));
          }
          bool holds = true;
          for (size_t i = 0; i < facts.size() && holds; ++i) {
            holds = !(chosen >> i & 1) || evaluate(facts[i], point).is_true();
          }
          if (!holds) continue;
          const Evaluation e = evaluate(q, point);
          ASSERT_TRUE(v == Verdict::kYes ? e.is_true() : e.is_false())
              << q << " at " << point.to_string();
        }
      }
    }
  }
  EXPECT_GE(decided, 300u);
  Case positive("x:.. y:.. b:1.. c:1..", "", only(Strategy::kDeepFloors));
  EXPECT_EQ(positive.ask("(x//b + y)//c == (x + b*y)//(b*c)").verdict,
            Verdict::kYes);
}

TEST(Strategies, WhatOneDecidesIsUnknownWithoutAny) {
  for (const Row& row : kRows) {
    SolverOptions none = testing::native_only();
    none.disabled_strategies = StrategySet::all();
    Case c(row.symbols, row.facts, none);
    EXPECT_EQ(c.ask(row.decided).verdict, Verdict::kUnknown) << row.decided;
  }
}

// What is no strategy but decides is counted alike.
TEST(Strategies, TheBoxAndTheLookForContradictionsAreCounted) {
  Case ranges("s0:2..9", "");
  const Statistics& in_box = ranges.context.statistics();
  EXPECT_EQ(ranges.context.ask_quick(ranges.p("s0 + 1 <= 10")), Verdict::kYes);
  EXPECT_EQ(in_box.box.tried, 1u);
  EXPECT_EQ(in_box.box.decided, 1u);
  EXPECT_GT(in_box.box.work, 0u);
  EXPECT_EQ(ranges.context.ask_quick(ranges.p("s0*s0 >= 4")), Verdict::kYes);
  EXPECT_EQ(in_box.box.tried, 2u);
  EXPECT_EQ(in_box.box.decided, 1u);
  EXPECT_EQ(in_box.consistency.tried, 0u);
  EXPECT_EQ(in_box.strategies_to_string().rfind("box  ", 0), 0u);

  // A proof from facts without a model.
  Case c("", "u0 + u1 > 2*u2; u0 <= u2; u0 + 3*u1 <= 4*u2");
  const Statistics& s = c.context.statistics();
  EXPECT_TRUE(c.ask("u1 > u2").is_contradiction);
  EXPECT_GE(s.consistency.tried, 1u);
  EXPECT_EQ(s.consistency.decided, 1u);
  EXPECT_GT(s.consistency.work, 0u);
  EXPECT_NE(s.strategies_to_string().find("\nconsistency  "),
            std::string::npos);
}

// Facts that contradict each other, as one strategy of those that look for it
// finds out; facts-enumeration and facts-reordering find some of random facts
// (WhatContradictsHasNoPoint, NoOrderOfTheFactsHidesAContradiction).
struct Contradiction {
  Strategy strategy;
  std::string symbols, facts, question;
};

std::string many_facts() {
  std::string facts = "u0 + u1 > 2*u2; u0 <= u2; u0 + 3*u1 <= 4*u2";
  for (int i = 0; i < 60; ++i) facts += "; u0 != " + std::to_string(1000 + i);
  return facts;
}

const Contradiction kContradictions[] = {
    {Strategy::kOppositeRefutation, "",
     "u0 + u1 > 2*u2; u0 <= u2; u0 + 3*u1 <= 4*u2", "u1 > u2"},
    {Strategy::kFactsRefutation, "u9:0..", many_facts(), "u9 >= 3"},
};

TEST(Strategies, EachThatLooksForContradictionsFindsItsOwn) {
  StrategySet all;
  for (Strategy s : {Strategy::kFactsEnumeration, Strategy::kOppositeRefutation,
                     Strategy::kFactsReordering, Strategy::kFactsRefutation}) {
    all.insert(s);
  }
  for (const Contradiction& row : kContradictions) {
    SolverOptions none = testing::native_only();
    none.disabled_strategies.insert(all);
    SolverOptions one = none;
    one.disabled_strategies.erase(row.strategy);
    Case with(row.symbols, row.facts, one),
        without(row.symbols, row.facts, none);
    EXPECT_TRUE(with.ask(row.question).is_contradiction) << row.facts;
    EXPECT_EQ(with.context.statistics().by_strategy[row.strategy].decided, 1u)
        << row.facts;
    EXPECT_FALSE(without.ask(row.question).is_contradiction) << row.facts;
  }
}

// u2 >= 5 answers the question, and has no part in the contradiction.
TEST(Strategies, AContradictionNamesNoFactOfTheAnswerAlone) {
  Case c("", "u0 + u1 > 2*u2; u0 <= u2; u0 + 3*u1 <= 4*u2; u2 >= 5");
  const Answer answer = c.ask("u2 >= 4");
  EXPECT_TRUE(answer.is_contradiction);
  EXPECT_THAT(answer.facts, ::testing::SizeIs(3));
}

TEST(Strategies, CandidateModelsLeaveNothingToProve) {
  Case c("s0:2.. s1:2..", "");
  EXPECT_EQ(c.context.ask_quick(c.p("s0*s1 >= s0 + s1 + 5")),
            Verdict::kUnknown);
  const auto& counts = c.context.statistics().by_strategy;
  EXPECT_EQ(counts[Strategy::kCandidateModels].tried, 1u);
  EXPECT_EQ(counts[Strategy::kLinearRefutation].tried, 0u);
}

TEST(Strategies, ModelRepairFindsWhatCandidatesMiss) {
  Case c("u0:0.. u1:0..", "u0*u1 >= 1", only(Strategy::kModelRepair));
  EXPECT_EQ(c.context.ask_quick(c.p("u0*u1 == 12")), Verdict::kUnknown);
  EXPECT_EQ(c.context.statistics().by_strategy[Strategy::kModelRepair].tried,
            1u);
}

// Searches one symbol after another spend their share at small y; restarts, to
// which they left it, took 38,000 units.
TEST(Strategies, SmallBoxesHavePointsThatSearchesMiss) {
  Case c("n:.. x:0.. y:0..31", "x < 0 + n*n; n*n != 0; n != 0");
  EXPECT_EQ(c.context.ask_quick(
                c.p("((((((x*32) + y)//(n*n)) % 32)*(n*n)) + "
                    "(((((x*32) + y)//n) % n)*n)) + (((x*32) + y) % n) >= 0")),
            Verdict::kUnknown);
  const auto& counts = c.context.statistics().by_strategy;
  EXPECT_EQ(counts[Strategy::kQuickModelSearch].tried, 1u);
  EXPECT_EQ(counts[Strategy::kRestarts].tried, 0u);
}

TEST(Strategies, RestartsDecideWhatTheGivenOrderDoesNot) {
  const char* symbols = "u0:-2.. u1:2.. u2:2..";
  const char* facts = "Mod(u0, 4) == 1; Mod(u0, u1*u2) == 1";
  const char* question = "max(u0 % u2, min(0, u1)) < 5";
  Case all(symbols, facts);
  EXPECT_EQ(all.ask(question).strategy, Strategy::kRestarts);
  SolverOptions without = testing::native_only();
  without.disabled_strategies.insert(Strategy::kRestarts);
  Case c(symbols, facts, without);
  EXPECT_EQ(c.ask(question).verdict, Verdict::kUnknown);
}

// Without facts no order is another: six tries of this took 47,000 units.
TEST(Strategies, RestartsTryOrdersThatAreAlikeOnce) {
  Case c("x:.. y:..", "");
  const auto truncated = [](const std::string& x, const char* otherwise) {
    return "(" + x + "//10 if " + x + " >= 0 else " + otherwise + ")";
  };
  const Answer a = c.ask("max(" + truncated("x", "-((-x)//10)") + ", " +
                         truncated("y", "-((-y)//10)") + ") == " +
                         truncated("max(x, y)", "-((-max(x, y))//10)"));
  EXPECT_EQ(a.strategy, Strategy::kRestarts);
  EXPECT_LT(c.context.statistics().by_strategy[Strategy::kRestarts].work,
            20'000u);
}

TEST(Strategies, ModelSearchShowsBothSides) {
  Case c("s0:2.. s1:2..", "s0*s1 == 12", only(Strategy::kModelSearch));
  const Answer a = c.ask("s0 < s1");
  EXPECT_EQ(a.verdict, Verdict::kUnknown);
  EXPECT_TRUE(a.witness && a.counterexample);
}

TEST(Strategies, CountsSayWhoDecided) {
  Case c("s0:0..5", "");
  EXPECT_EQ(c.ask("s0*s0 - 3*s0 <= 10").strategy, Strategy::kLinearRefutation);
  const Statistics& s = c.context.statistics();
  const StrategyCount& linear = s.by_strategy[Strategy::kLinearRefutation];
  EXPECT_EQ(linear.tried, 1u);
  EXPECT_EQ(linear.decided, 1u);
  EXPECT_GT(linear.work, 0u);
  EXPECT_THAT(s.strategies_to_string(),
              ::testing::HasSubstr("linear-refutation"));
}

// What is missing here is not a strategy that proves alone: it looks for
// models, or runs the others again, or after them, or looks at the facts.
TEST(Strategies, EachThatProvesHasARowHereAndAllAreDocumented) {
  const std::set<Strategy> others = {
      Strategy::kCandidateModels,    Strategy::kModelRepair,
      Strategy::kQuickModelSearch,   Strategy::kRestarts,
      Strategy::kModelSearch,        Strategy::kZ3,
      Strategy::kFewModels,          Strategy::kModelOfFacts,
      Strategy::kFactsRefutation,    Strategy::kFactsEnumeration,
      Strategy::kOppositeRefutation, Strategy::kFactsReordering};
  std::set<Strategy> rows;
  for (const Row& row : kRows) rows.insert(row.strategy);
  std::ifstream file(PROVISO_SOURCE_DIR "/docs/solver.md");
  std::stringstream manual;
  manual << file.rdbuf();
  for (Strategy strategy : all_strategies()) {
    const std::string name(name_of(strategy));
    EXPECT_NE(rows.contains(strategy), others.contains(strategy)) << name;
    EXPECT_THAT(manual.str(), ::testing::HasSubstr(name)) << "docs/solver.md";
  }
}

TEST(Strategies, NamesDiffer) {
  for (Strategy strategy : all_strategies()) {
    EXPECT_FALSE(fragment_of(strategy).empty());
    EXPECT_EQ(strategy_named(name_of(strategy)), strategy);
  }
  EXPECT_EQ(strategy_named(""), std::nullopt);
  EXPECT_EQ(name_of(Strategy::kNone), "");
}

}  // namespace
}  // namespace proviso
