// What a refutation is made of, each by itself: the rows near a condition,
// lemmas about products, what to split on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solver/forms/form_text.h"
#include "solver/limits_in_force.h"
#include "solver/strategies/lemmas.h"
#include "solver/strategies/relevance.h"
#include "solver/strategies/splits.h"
#include "tests/solver/assumed_domain.h"

namespace proviso {
namespace {
using namespace internal;

using ::testing::Contains;
using ::testing::Not;

// Facts about x and y, of every kind that rows, lemmas and splits are made of.
constexpr const char* kFacts[] = {
    "x >= 2; x <= 5; y >= 1; y <= 4",
    "x >= 0; y >= 1; x - y >= 1; x <= 8",
    "x*y >= 6; x >= 1; y >= 1; x <= 4",
    "x*y == 12; x >= 1; y >= 2",
    "x//4 >= 1; y >= 0; y <= x; x*y <= 40",
    "x % 3 == 1; y != 2; x*x >= y",
    "x == 1 or y == 2; x >= -1; y >= 0",
    "max(x, y) <= 6; x*x + y*y >= 4",
    "y*(x//2) >= 3; y >= 1; x >= 0",
    "x & 5 >= 1; x >= 0; y <= 3; y >= -3",
};
constexpr const char* kConditions[] = {"x*y >= 3", "x <= y + 2", "x*x >= 4*y",
                                       "(x//4)*y >= 1", "max(x, y)*x >= 2"};

// The constraints relevant to a condition that is assumed besides.
class Near {
 public:
  Near(const char* facts, const char* condition)
      : facts_(facts), relevance_(facts_.domain()) {
    relevance_.start();
    facts_.assume(condition);
    relevant_ = relevance_.gather(facts_.atoms_of(condition));
  }

  testing::AssumedDomain& facts() { return facts_; }
  Domain& domain() { return facts_.domain(); }
  const RelevantConstraints& near() const { return relevant_; }
  std::vector<std::string> texts(const std::vector<LinearRow>& rows) {
    std::vector<std::string> all;
    for (const LinearRow& row : rows) all.push_back(facts_.text_of(row));
    return all;
  }
  std::string row(const char* poly, const char* relation = " >= 0") {
    return to_string(facts_.forms(), facts_.poly(poly)) + relation;
  }

 private:
  testing::AssumedDomain facts_;
  Relevance relevance_;
  RelevantConstraints relevant_;
};

// --- relevance

TEST(Relevance, RowsHoldWhereTheFactsDo) {
  for (const char* facts : kFacts) {
    for (const char* condition : kConditions) {
      Near n(facts, condition);
      EXPECT_EQ(n.facts().broken(n.near().rows), "")
          << facts << " |- " << condition;
    }
  }
}

TEST(Relevance, FollowsConstraintsAndNotWhatIsUnconnected) {
  Near n("x - y >= 3; y - z >= 1; v - w >= 1", "x >= 5");
  const std::vector<std::string> rows = n.texts(n.near().rows);
  EXPECT_THAT(rows, Contains(n.row("x - y - 3")));
  EXPECT_THAT(rows, Contains(n.row("y - z - 1")));
  EXPECT_THAT(rows, Not(Contains(n.row("v - w - 1"))));
}

TEST(Relevance, LeavesOutTheFarthest) {
  auto few = std::make_shared<Limits>();
  few->relevant_atoms = 2;
  SolverOptions options;
  options.limits = few;
  const LimitsInForce in_force(limits_of(options));
  Near n("x - y >= 3; y - z >= 1; z - w >= 1", "x >= 5");
  const std::vector<std::string> rows = n.texts(n.near().rows);
  EXPECT_THAT(rows, Contains(n.row("x - y - 3")));
  EXPECT_THAT(rows, Not(Contains(n.row("z - w - 1"))));
}

TEST(Relevance, DefinesFloorsMaximaAndMonomials) {
  Near floor("x >= 0", "x//4 >= 1");
  EXPECT_THAT(floor.texts(floor.near().rows),
              Contains(floor.row("x - 4*(x//4)")));
  EXPECT_THAT(floor.texts(floor.near().rows),
              Contains(floor.row("3 - x + 4*(x//4)")));
  Near maximum("", "max(0, x - 5) <= y");
  EXPECT_THAT(maximum.texts(maximum.near().rows),
              Contains(maximum.row("max(0, x - 5) - x + 5")));
  Near product("x >= 2; x <= 5; y >= 1; y <= 4", "x*y >= 3");
  EXPECT_THAT(product.texts(product.near().rows),
              Contains(product.row("20 - x*y")));
}

TEST(Relevance, KeepsWhatIsNoRowApart) {
  Near n("x + y != 3; x == 1 or y == 2", "x >= y");
  EXPECT_EQ(n.near().disequalities.size(), 1u);
  EXPECT_EQ(n.near().clauses.size(), 1u);
}

// --- lemmas about products

TEST(ProductLemmas, HoldWhereTheFactsDo) {
  size_t count = 0;
  for (const char* facts : kFacts) {
    for (const char* condition : kConditions) {
      Near n(facts, condition);
      ProductLemmas lemmas(n.domain());
      for (const auto& rows :
           {lemmas.of_bounds(n.near()), lemmas.of_rows(n.near())}) {
        count += rows.size();
        EXPECT_EQ(n.facts().broken(rows), "") << facts << " |- " << condition;
      }
    }
  }
  EXPECT_GE(count, 100u);
}

TEST(ProductLemmas, AreCornersOfABox) {
  Near n("x >= 2; x <= 5; y >= 1; y <= 4", "x*y >= x + 2*y");
  ProductLemmas lemmas(n.domain());
  const auto found = n.texts(lemmas.of_bounds(n.near()));
  EXPECT_THAT(found, Contains(n.row("(x - 2)*(y - 1)")));
  EXPECT_THAT(found, Contains(n.row("(5 - x)*(4 - y)")));
  EXPECT_THAT(found, Contains(n.row("(x - 2)*(4 - y)")));
}

TEST(ProductLemmas, MultiplyRowsByFactors) {
  Near n("x - y >= 1; x >= 0; y >= 2; z >= 3", "x*z >= y*z");
  ProductLemmas lemmas(n.domain());
  EXPECT_THAT(n.texts(lemmas.of_bounds(n.near())),
              Contains(n.row("(x - y - 1)*(z - 3)")));
}

TEST(ProductLemmas, MultiplyShortRowsByOneAnother) {
  Near n("x - y >= 0; x + y >= 3", "x*x <= x*y + 40");
  ProductLemmas lemmas(n.domain());
  EXPECT_THAT(n.texts(lemmas.of_rows(n.near())),
              Contains(n.row("(x - y)*(x + y - 3)")));
}

TEST(ProductLemmas, AreNoneWithoutProducts) {
  Near n("x - y >= 0; x >= 2; x <= 5", "x >= y");
  ProductLemmas lemmas(n.domain());
  EXPECT_TRUE(lemmas.of_bounds(n.near()).empty());
  EXPECT_TRUE(lemmas.of_rows(n.near()).empty());
}

// --- what to split on

TEST(CaseSplits, SomeBranchHoldsWhereverTheFactsDo) {
  size_t count = 0;
  for (const char* facts : kFacts) {
    for (const char* condition : kConditions) {
      Near n(facts, condition);
      const auto split = CaseSplits(n.domain()).choose(n.near());
      if (!split) continue;
      ++count;
      n.facts().at_each_point([&](Point& point) {
        bool holds = false;
        for (FormulaId branch : split->branches) {
          const std::optional<bool> t = point.truth(branch);
          holds = holds || !t || *t;  // nothing is known of new variables
        }
        EXPECT_TRUE(holds) << facts << " |- " << condition;
      });
    }
  }
  EXPECT_GE(count, 20u);
}

struct SplitRow {
  const char* facts;
  const char* condition;
  std::vector<const char*> branches;
};

TEST(CaseSplits, TakeTheSmallestFirst) {
  const SplitRow rows[] = {
      // a clause before all else
      {"x == 1 or x - y >= 7; x >= 0; x <= 3; y >= -20",
       "x*y <= 3",
       {"x == 1", "x - y >= 7"}},
      // few values before a disequality
      {"x >= 0; x <= 2; x + y != 4", "x*y >= 3", {"x == 1", "x == 2"}},
      // a disequality where no variable has few
      {"x >= 0; x <= 90; x - y != 4; y >= 0; y <= 90",
       "x*y >= 3",
       {"x - y >= 5", "x - y <= 3"}},
      // an end of a factor's range where nothing else is left
      {"x >= 0; y >= 5", "x*y >= 3", {"x == 1", "x >= 2"}},
  };
  for (const SplitRow& row : rows) {
    Near n(row.facts, row.condition);
    const auto split = CaseSplits(n.domain()).choose(n.near());
    ASSERT_TRUE(split.has_value()) << row.facts;
    std::vector<FormulaId> wanted;
    for (const char* branch : row.branches) {
      wanted.push_back(n.facts().formula(branch));
    }
    EXPECT_THAT(split->branches, ::testing::UnorderedElementsAreArray(wanted))
        << row.facts << " |- " << row.condition;
  }
}

TEST(CaseSplits, ByResiduesOfAFactor) {
  Near n("", "x*(x//4) >= 3");
  const auto split = CaseSplits(n.domain()).choose(n.near());
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->branches.size(), 4u);
  EXPECT_EQ(split->branches[1], n.facts().formula("x % 4 == 1"));
}

TEST(CaseSplits, AreNoneWhereNothingIsOpen) {
  Near n("x - y >= 1", "x >= y");
  EXPECT_FALSE(CaseSplits(n.domain()).choose(n.near()).has_value());
}

}  // namespace
}  // namespace proviso
