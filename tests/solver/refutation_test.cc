// What a refutation is made of, each by itself: the constraints near a
// condition, lemmas about products, what to split on.
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

// Facts about x and y, of every kind that constraints, lemmas and splits are
// made of.
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
class Gathered {
 public:
  Gathered(const char* facts, const char* condition)
      : facts_(facts), relevance_(facts_.domain()) {
    relevance_.start();
    facts_.assume(condition);
    relevant_ = relevance_.gather(facts_.atoms_of(condition));
  }

  testing::AssumedDomain& facts() { return facts_; }
  Domain& domain() { return facts_.domain(); }
  const RelevantConstraints& relevant() const { return relevant_; }
  std::vector<std::string> texts(
      const std::vector<LinearConstraint>& constraints) {
    std::vector<std::string> all;
    for (const LinearConstraint& constraint : constraints)
      all.push_back(facts_.text_of(constraint));
    return all;
  }
  std::string constraint(const char* poly, const char* relation = " >= 0") {
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
      Gathered n(facts, condition);
      EXPECT_EQ(n.facts().broken(n.relevant().linear), "")
          << facts << " |- " << condition;
    }
  }
}

TEST(Relevance, FollowsConstraintsAndNotWhatIsUnconnected) {
  Gathered n("x - y >= 3; y - z >= 1; v - w >= 1", "x >= 5");
  const std::vector<std::string> constraints = n.texts(n.relevant().linear);
  EXPECT_THAT(constraints, Contains(n.constraint("x - y - 3")));
  EXPECT_THAT(constraints, Contains(n.constraint("y - z - 1")));
  EXPECT_THAT(constraints, Not(Contains(n.constraint("v - w - 1"))));
}

TEST(Relevance, LeavesOutTheFarthest) {
  auto few = std::make_shared<Limits>();
  few->relevant_atoms = 2;
  SolverOptions options;
  options.limits = few;
  const LimitsInForce in_force(limits_of(options));
  Gathered n("x - y >= 3; y - z >= 1; z - w >= 1", "x >= 5");
  const std::vector<std::string> constraints = n.texts(n.relevant().linear);
  EXPECT_THAT(constraints, Contains(n.constraint("x - y - 3")));
  EXPECT_THAT(constraints, Not(Contains(n.constraint("z - w - 1"))));
}

TEST(Relevance, DefinesFloorsMaximaAndMonomials) {
  Gathered floor("x >= 0", "x//4 >= 1");
  EXPECT_THAT(floor.texts(floor.relevant().linear),
              Contains(floor.constraint("x - 4*(x//4)")));
  EXPECT_THAT(floor.texts(floor.relevant().linear),
              Contains(floor.constraint("3 - x + 4*(x//4)")));
  Gathered maximum("", "max(0, x - 5) <= y");
  EXPECT_THAT(maximum.texts(maximum.relevant().linear),
              Contains(maximum.constraint("max(0, x - 5) - x + 5")));
  Gathered product("x >= 2; x <= 5; y >= 1; y <= 4", "x*y >= 3");
  EXPECT_THAT(product.texts(product.relevant().linear),
              Contains(product.constraint("20 - x*y")));
}

TEST(Relevance, KeepsWhatIsNoRowApart) {
  Gathered n("x + y != 3; x == 1 or y == 2", "x >= y");
  EXPECT_EQ(n.relevant().disequalities.size(), 1u);
  EXPECT_EQ(n.relevant().clauses.size(), 1u);
}

// --- lemmas about products

TEST(ProductLemmas, HoldWhereTheFactsDo) {
  size_t count = 0;
  for (const char* facts : kFacts) {
    for (const char* condition : kConditions) {
      Gathered n(facts, condition);
      ProductLemmas lemmas(n.domain());
      for (const auto& constraints : {lemmas.of_bounds(n.relevant()),
                                      lemmas.of_constraints(n.relevant())}) {
        count += constraints.size();
        EXPECT_EQ(n.facts().broken(constraints), "")
            << facts << " |- " << condition;
      }
    }
  }
  EXPECT_GE(count, 100u);
}

TEST(ProductLemmas, AreCornersOfABox) {
  Gathered n("x >= 2; x <= 5; y >= 1; y <= 4", "x*y >= x + 2*y");
  ProductLemmas lemmas(n.domain());
  const auto found = n.texts(lemmas.of_bounds(n.relevant()));
  EXPECT_THAT(found, Contains(n.constraint("(x - 2)*(y - 1)")));
  EXPECT_THAT(found, Contains(n.constraint("(5 - x)*(4 - y)")));
  EXPECT_THAT(found, Contains(n.constraint("(x - 2)*(4 - y)")));
}

TEST(ProductLemmas, MultiplyRowsByFactors) {
  Gathered n("x - y >= 1; x >= 0; y >= 2; z >= 3", "x*z >= y*z");
  ProductLemmas lemmas(n.domain());
  EXPECT_THAT(n.texts(lemmas.of_bounds(n.relevant())),
              Contains(n.constraint("(x - y - 1)*(z - 3)")));
}

TEST(ProductLemmas, MultiplyShortRowsByOneAnother) {
  Gathered n("x - y >= 0; x + y >= 3", "x*x <= x*y + 40");
  ProductLemmas lemmas(n.domain());
  EXPECT_THAT(n.texts(lemmas.of_constraints(n.relevant())),
              Contains(n.constraint("(x - y)*(x + y - 3)")));
}

TEST(ProductLemmas, AreNoneWithoutProducts) {
  Gathered n("x - y >= 0; x >= 2; x <= 5", "x >= y");
  ProductLemmas lemmas(n.domain());
  EXPECT_TRUE(lemmas.of_bounds(n.relevant()).empty());
  EXPECT_TRUE(lemmas.of_constraints(n.relevant()).empty());
}

// --- what to split on

TEST(CaseSplits, SomeBranchHoldsWhereverTheFactsDo) {
  size_t count = 0;
  for (const char* facts : kFacts) {
    for (const char* condition : kConditions) {
      Gathered n(facts, condition);
      const auto split = CaseSplits(n.domain()).choose(n.relevant());
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
  const SplitRow constraints[] = {
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
  for (const SplitRow& constraint : constraints) {
    Gathered n(constraint.facts, constraint.condition);
    const auto split = CaseSplits(n.domain()).choose(n.relevant());
    ASSERT_TRUE(split.has_value()) << constraint.facts;
    std::vector<FormulaId> wanted;
    for (const char* branch : constraint.branches) {
      wanted.push_back(n.facts().formula(branch));
    }
    EXPECT_THAT(split->branches, ::testing::UnorderedElementsAreArray(wanted))
        << constraint.facts << " |- " << constraint.condition;
  }
}

TEST(CaseSplits, ByResiduesOfAFactor) {
  Gathered n("", "x*(x//4) >= 3");
  const auto split = CaseSplits(n.domain()).choose(n.relevant());
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->branches.size(), 4u);
  EXPECT_EQ(split->branches[1], n.facts().formula("x % 4 == 1"));
}

TEST(CaseSplits, AreNoneWhereNothingIsOpen) {
  Gathered n("x - y >= 1", "x >= y");
  EXPECT_FALSE(CaseSplits(n.domain()).choose(n.relevant()).has_value());
}

}  // namespace
}  // namespace proviso
