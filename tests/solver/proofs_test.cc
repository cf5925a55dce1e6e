// Each strategy that proves from the domain, alone: what it decides is so at
// every point of a box at which the facts of its reason hold, and its example
// is decided, by the facts that it needs.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>

#include "solver/engine/search.h"
#include "solver/strategies/min_max.h"
#include "solver/strategies/residues.h"
#include "tests/solver/boxed_facts.h"

namespace proviso {
namespace {
using namespace internal;

using testing::BoxedFacts;
using testing::Choices;

constexpr uint64_t kUnits = 4000;

// What a part decides of a question.
using Decide = std::function<Decision(BoxedFacts&, const std::string&)>;
// Some facts, and a question, of the kind that it is made for.
struct Problems {
  std::vector<std::string> facts;
  std::function<std::string(Choices&)> question;
};

struct Tally {
  size_t decided = 0, yes = 0, no = 0, by_some = 0;  // by some of the facts
};

Tally check(const char* part, uint32_t rounds, const Problems& problems,
            const Decide& decide) {
  Tally tally;
  for (uint32_t seed = 0; seed < rounds && !::testing::Test::HasFailure();
       ++seed) {
    Choices choices(seed);
    const std::vector<std::string> facts = choices.some(problems.facts, 1, 2);
    BoxedFacts boxed(facts);
    if (boxed.domain().conflict()) continue;
    for (int n = 0; n < 8; ++n) {
      const std::string question = problems.question(choices);
      const Decision d = decide(boxed, question);
      if (!d.value) continue;
      ++tally.decided;
      ++(*d.value ? tally.yes : tally.no);
      const size_t used = boxed.facts_in(d.why).size();
      tally.by_some += used > 0 && used < facts.size();
      EXPECT_EQ(boxed.failure(question, *d.value, d.why), "") << seed;
    }
  }
  std::cout << part << ": " << tally.yes << " yes, " << tally.no << " no, "
            << tally.by_some << " by some of the facts\n";
  return tally;
}

// The facts by whose numbers the part decides the question, or "quiet".
std::string decided_by(const std::vector<std::string>& facts,
                       const std::string& question, const Decide& decide) {
  BoxedFacts boxed(facts);
  const Decision d = decide(boxed, question);
  if (!d.value) return "quiet";
  std::string text = *d.value ? "yes" : "no";
  for (FactId f : boxed.facts_in(d.why)) text += " " + std::to_string(f);
  return text;
}

const std::vector<std::string> kSlacks = {
    "(y - x)",     "(z - y)", "(z - x - 1)", "(y + z - x)", "(x + 2)",
    "(y - x - 1)", "(4 - x)", "(z - 2)",     "(6 - y)"};
const std::vector<std::string> kFactors = {"x",       "y", "z",  "(y + 1)",
                                           "(x + 2)", "2", "y*z"};
const std::vector<std::string> kRelations = {" >= 0", " < 0", " != 0", " == 0"};

// What slacks and their products are at least, or a little more.
std::string product_question(Choices& choices) {
  std::string sum = choices.number(-1, 2);
  for (int n = choices.between(1, 2); n > 0; --n) {
    sum += " + " + choices.of(kFactors) + "*" + choices.of(kSlacks);
  }
  if (choices.one_in(2)) sum += " + " + choices.of(kSlacks);
  if (choices.one_in(4)) sum = "-(" + sum + ")";
  return sum + choices.of(kRelations);
}

const std::vector<std::string> kOrders = {
    "x <= y",  "x < y",  "y <= z", "x + 1 <= z", "z >= 0",
    "y >= 0",  "x >= 0", "y >= 1", "x <= 4",     "x <= y + z",
    "x >= -2", "z <= 3", "z >= 2", "x >= y + 1", "y <= 6"};

// --- nonnegative combinations

Decision combination(BoxedFacts& facts, const std::string& question) {
  return facts.proofs().combination.decide(facts.formula(question));
}

TEST(Combination, OfLinearisedIndices) {
  const std::vector<std::string> facts = {"i <= m - 1", "j <= n - 1", "n >= 0",
                                          "m >= 2"};
  EXPECT_EQ(decided_by(facts, "i*n + j < m*n", combination), "yes 0 1 2");
  EXPECT_EQ(decided_by(facts, "i*n + j >= m*n", combination), "no 0 1 2");
  EXPECT_EQ(decided_by(facts, "i*n + j < m*n - 1", combination), "quiet");
}

TEST(Combination, NeedsTheSignOfWhatItMultipliesBy) {
  EXPECT_EQ(decided_by({"x <= y", "z >= -1"}, "x*z <= y*z", combination),
            "quiet");
  EXPECT_EQ(decided_by({"x <= y", "z <= 0"}, "x*z >= y*z", combination),
            "yes 0 1");
}

TEST(Combination, HoldsWhereItsFactsDo) {
  const Tally tally =
      check("combination", 400, {kOrders, product_question}, combination);
  EXPECT_GE(tally.by_some, 100u);
  EXPECT_GE(tally.no, 30u);
}

// --- division by what is asserted

Decision reduction(BoxedFacts& facts, const std::string& question) {
  return facts.proofs().reduction.decide(facts.formula(question), kUnits);
}

TEST(PolynomialReduction, DividesByInequalities) {
  const std::vector<std::string> facts = {"x > y", "y >= 1", "z >= 5"};
  EXPECT_EQ(decided_by(facts, "x*x > y*y", reduction), "yes 0 1");
  EXPECT_EQ(decided_by(facts, "x*x <= y*y", reduction), "no 0 1");
  EXPECT_EQ(decided_by(facts, "x*x > y*y + 3", reduction), "quiet");
}

TEST(PolynomialReduction, DividesByEqualities) {
  BoxedFacts facts({"x*y == 6*z", "z >= 2"});
  Reason why = 0;
  const auto rest =
      facts.proofs().reduction.remainder(facts.poly("x*y - 3*x"), why);
  ASSERT_TRUE(rest);
  EXPECT_EQ(*rest, facts.poly("6*z - 3*x"));
  EXPECT_EQ(facts.facts_in(why), (std::vector<FactId>{0}));
  EXPECT_FALSE(facts.proofs().reduction.remainder(facts.poly("x + y"), why));
}

const std::vector<std::string> kProducts = {
    "x*y == 3*z",     "x*x <= y*z",       "x*y >= z + 1", "x > y",
    "y >= 1",         "x*y + z == 6",     "2*x*z == y*y", "x*y*z >= 4",
    "x*x*x == 2*y*z", "(x - y)*z >= 2*x", "z >= 0",       "x >= 1",
    "y <= 5",         "x*z - y == 2"};

std::string divided_question(Choices& choices) {
  const std::vector<std::string> slacks = {
      "(x*y - 3*z)", "(y*z - x*x)",   "(x*y - z - 1)",    "(x - y - 1)",
      "(y - 1)",     "(x*y*z - 4)",   "(x*y + z - 6)",    "(x - 1)",
      "(z)",         "(y*y - 2*x*z)", "((x - y)*z - 2*x)"};
  std::string sum = choices.number(-1, 2);
  for (int n = choices.between(1, 2); n > 0; --n) {
    sum += " + " + choices.of(kFactors) + "*" + choices.of(slacks);
  }
  if (choices.one_in(4)) sum = "-(" + sum + ")";
  return sum + choices.of(kRelations);
}

TEST(PolynomialReduction, HoldsWhereItsFactsDo) {
  const Tally tally =
      check("reduction", 400, {kProducts, divided_question}, reduction);
  EXPECT_GE(tally.by_some, 100u);
  EXPECT_GE(tally.no, 30u);
}

// p times something positive, less multiples of what is 0.
TEST(PolynomialReduction, ARemainderHasTheSameSign) {
  size_t found = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Choices choices(seed);
    BoxedFacts facts(choices.some(kProducts, 1, 2));
    if (facts.domain().conflict()) continue;
    for (int n = 0; n < 4; ++n) {
      const std::string text =
          choices.sum({"x*y", "x*x*x", "x*z", "x*y*z", "y*y", "z", "x"}, 4, 5);
      const Poly p = facts.poly(text);
      Reason why = 0;
      const auto rest = facts.proofs().reduction.remainder(p, why);
      if (!rest) continue;
      ++found;
      Point point(facts.forms());
      facts.where_hold(why, [&](const Assignment& at) {
        facts.move(point, at);
        const Point::Value v = point.value(p), r = point.value(*rest);
        if (!v || !r) return true;
        const bool is_same = (*v > 0) == (*r > 0) && (*v < 0) == (*r < 0);
        EXPECT_TRUE(is_same)
            << text << " at " << at.to_string() << facts.in_words(why);
        return is_same;
      });
    }
  }
  EXPECT_GE(found, 100u);
}

// --- ratios of products

Decision ratios(BoxedFacts& facts, const std::string& question) {
  const FormulaId f = facts.formula(question);
  if (!facts.proofs().ratios.applies(f)) return {};
  return facts.proofs().ratios.decide(f, kUnits);
}

TEST(MonomialRatios, FollowEqualitiesOfProducts) {
  const std::vector<std::string> facts = {
      "a*b == 2*c*d", "c*d == e*f", "a >= 1", "b >= 1", "c >= 1",
      "d >= 1",       "e >= 1",     "f >= 1", "g >= 1"};
  EXPECT_EQ(decided_by(facts, "a*b > e*f", ratios), "yes 0 1 2 3 4 6");
  EXPECT_EQ(decided_by(facts, "(a*b) % (e*f) == 0", ratios), "yes 0 1 2 3 4 6");
  EXPECT_EQ(decided_by(facts, "a*b == e*f", ratios), "no 0 1 2 3 4 6");
  EXPECT_EQ(decided_by(facts, "a*b > e*g", ratios), "quiet");
}

TEST(MonomialRatios, NeedPositiveFactors) {
  EXPECT_EQ(decided_by({"x*y == y*z", "x >= 1", "z >= 1", "y >= 0"}, "x == z",
                       ratios),
            "quiet");
  EXPECT_EQ(decided_by({"x + y >= 0"}, "x*y == y*z", ratios), "quiet");
}

TEST(MonomialRatios, HoldWhereTheirFactsDo) {
  const std::vector<std::string> facts = {
      "x*y == z*z",     "x*y == 2*z*z", "2*x*z == 3*y*y", "x*x*y == z*z*z",
      "x*z*z == 4*y*x", "x >= 1",       "y >= 1",         "z >= 1",
      "x >= 1",         "y >= 1",       "z >= 2",         "x <= 6"};
  const std::vector<std::string> powers = {"x",   "y",   "z",   "x*y",  "z*z",
                                           "x*z", "y*y", "x*x", "z*z*z"};
  const auto question = [&](Choices& choices) {
    const std::string a = choices.number(1, 4) + "*" + choices.of(powers),
                      b = choices.number(1, 4) + "*" + choices.of(powers);
    if (choices.one_in(3)) return "(" + a + ") % (" + b + ") == 0";
    return a + " - " + b + " + " + choices.number(-1, 1) +
           choices.of(kRelations);
  };
  const Tally tally = check("ratios", 600, {facts, question}, ratios);
  EXPECT_GE(tally.by_some, 100u);
  EXPECT_GE(tally.no, 30u);
}

// --- floors by symbols

Decision deep_floors(BoxedFacts& facts, const std::string& question) {
  const FormulaId f = facts.formula(question);
  if (!facts.proofs().deep_floors.applies(f)) return {};
  return facts.proofs().deep_floors.decide(f, kUnits);
}

TEST(DeepFloors, MergeNestedOnes) {
  const std::vector<std::string> facts = {"y >= 1", "z >= 1", "x >= 5"};
  EXPECT_EQ(decided_by(facts, "(x//y)//z == x//(y*z)", deep_floors), "yes 1");
  EXPECT_EQ(decided_by({"y >= 1"}, "(x//y)//z == x//(y*z)", deep_floors),
            "quiet");
  EXPECT_EQ(decided_by(facts, "x//4 == 2", deep_floors), "quiet");
}

TEST(DeepFloors, KnowRemainders) {
  const std::vector<std::string> facts = {"x >= 0", "x <= y - 1", "w >= 7"};
  EXPECT_EQ(decided_by(facts, "(z*y + x)//y == z", deep_floors), "yes 0 1");
  EXPECT_EQ(decided_by(facts, "(z*y + x) % y == x", deep_floors), "yes 0 1");
}

TEST(DeepFloors, HoldWhereTheirFactsDo) {
  const std::vector<std::string> facts = {"y >= 1", "z >= 1",     "x >= 0",
                                          "x < y",  "x <= z - 1", "y >= 2",
                                          "z <= 4", "x < y*z",    "x >= 1"};
  const std::vector<std::string> floors = {
      "(x//y)//z",        "x//(y*z)",      "(z*y + x)//y", "(x + y)//y",
      "(x*y + x)//y",     "((x//z)//y)",   "(x*z)//(y*z)", "x//y",
      "(z*y + x)//(y*z)", "(y*z + x) % y", "x % y",        "z + x//y"};
  const auto question = [&](Choices& choices) {
    const std::vector<std::string> relations = {" == ", " <= ", " != ", " > "};
    return choices.of(floors) + choices.of(relations) +
           (choices.one_in(3) ? choices.of({"x", "z", "0", "1"})
                              : choices.of(floors)) +
           " + " + choices.number(-1, 1);
  };
  const Tally tally = check("deep floors", 500, {facts, question}, deep_floors);
  EXPECT_GE(tally.by_some, 100u);
  EXPECT_GE(tally.no, 30u);
}

// --- cases

Decision cases(BoxedFacts& facts, const std::string& question) {
  return facts.proofs().cases.decide(facts.formula(question), kUnits);
}

TEST(CaseAnalysis, OfAssertedDisjunctions) {
  const std::vector<std::string> facts = {"x == 1 or x == y", "y >= 1",
                                          "z == 1 or z == 2"};
  EXPECT_EQ(decided_by(facts, "x <= y", cases), "yes 0 1");
  EXPECT_EQ(decided_by(facts, "x > y", cases), "no 0 1");
  EXPECT_EQ(decided_by(facts, "x < y", cases), "quiet");
}

TEST(CaseAnalysis, OfMaximaAndSignsOfDivisors) {
  EXPECT_EQ(decided_by({}, "max(x, y) >= min(x, y)", cases), "yes");
  EXPECT_EQ(decided_by({"y >= 3"}, "max(x, y) >= 3", cases), "yes 0");
  EXPECT_EQ(decided_by({}, "max(x, y) >= x + 1", cases), "quiet");
}

TEST(CaseAnalysis, HoldsWhereItsFactsDo) {
  const std::vector<std::string> facts = {"x == 1 or x == y",
                                          "x <= 0 or y >= 3",
                                          "z == 2 or z == x + 1",
                                          "y >= 1",
                                          "x <= 5",
                                          "x >= 0",
                                          "y != 3 or z != x",
                                          "max(x, y) <= z",
                                          "y <= 4",
                                          "x < z or y < z or z < 0"};
  const std::vector<std::string> terms = {"x",
                                          "y",
                                          "z",
                                          "max(x, y)",
                                          "min(y, z)",
                                          "max(0, x - z)",
                                          "(x if y > 2 else z)",
                                          "(x//y)",
                                          "abs(z)"};
  const auto question = [&](Choices& choices) {
    return choices.sum(terms, 3, 2) + choices.of(kRelations);
  };
  const Tally tally = check("cases", 400, {facts, question}, cases);
  EXPECT_GE(tally.by_some, 100u);
  EXPECT_GE(tally.no, 30u);
}

// --- refutation

Decision refutation(Tier tier, BoxedFacts& facts, const std::string& question) {
  const FormulaId goal = facts.formula(question);
  for (bool value : {true, false}) {
    Refutation::Tried tried;
    const auto proof = facts.proofs().refutation.refute(
        value ? negate(goal) : goal, tier, kUnits, tried);
    if (proof) return {.value = value, .why = proof->why};
  }
  return {};
}
Decision linear(BoxedFacts& facts, const std::string& question) {
  return refutation(Tier::kLinear, facts, question);
}
Decision splitting(BoxedFacts& facts, const std::string& question) {
  return refutation(Tier::kCases, facts, question);
}

TEST(Refutation, PutsConstraintsTogether) {
  const std::vector<std::string> facts = {"x + y <= 2*z", "y + z <= 2*x",
                                          "x >= -1", "y <= 8"};
  EXPECT_EQ(decided_by(facts, "y <= x or y <= z", linear), "yes 0 1");
  EXPECT_EQ(
      decided_by({"x*y >= 6", "y >= 1", "x <= 2", "z >= 0"}, "y >= 3", linear),
      "yes 0 1 2");
  EXPECT_EQ(decided_by(facts, "y < z", linear), "quiet");
}

TEST(Refutation, SplitsWhereConstraintsDoNotDo) {
  EXPECT_EQ(decided_by({"z >= 0"}, "x*(x//2) >= 0", splitting), "yes");
  EXPECT_EQ(decided_by({"x >= 0"}, "x*(x//2) >= 1", splitting), "quiet");
}

TEST(Refutation, NamesFactsThatContradictEachOther) {
  BoxedFacts facts({"x + y > 2*z", "x <= z", "w >= 3", "x + 3*y <= 4*z"});
  ASSERT_FALSE(facts.domain().conflict());
  const std::vector<AtomId> seeds = {facts.atom("x")};
  const auto proof = facts.proofs().refutation.refute_facts(seeds, kUnits);
  ASSERT_TRUE(proof);
  EXPECT_EQ(facts.facts_in(proof->why), (std::vector<FactId>{0, 1, 3}));
  const std::vector<AtomId> apart = {facts.atom("w")};
  EXPECT_FALSE(facts.proofs().refutation.refute_facts(apart, kUnits));
}

const std::vector<std::string> kMixed = {"x + y <= 2*z",
                                         "2*x >= y + 1",
                                         "x*y >= 4",
                                         "y >= 0",
                                         "x >= 0",
                                         "z <= 5",
                                         "x - 2*z <= 1",
                                         "x == 2*(y//2)",
                                         "y % 3 == 1",
                                         "x != 2",
                                         "x == y or z == 1",
                                         "x*y == 2*z",
                                         "max(x, z) <= y + 1",
                                         "x <= 5",
                                         "y <= 6"};

std::string mixed_question(Choices& choices) {
  return choices.sum({"x", "y", "z", "x*y", "x*x", "(x//2)", "max(x, y)"}, 3,
                     3) +
         choices.of(kRelations);
}

TEST(Refutation, HoldsWhereItsFactsDo) {
  const Tally by_constraints =
      check("linear refutation", 250, {kMixed, mixed_question}, linear);
  EXPECT_GE(by_constraints.by_some, 100u);
  EXPECT_GE(by_constraints.no, 30u);
  const Tally by_cases =
      check("refutation by cases", 120, {kMixed, mixed_question}, splitting);
  EXPECT_GE(by_cases.by_some, 100u);
}

// --- residues

TEST(Residues, FindNoRootWhereThereIsOne) {
  size_t without = 0;
  BoxedFacts facts({});
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    Choices choices(seed);
    const std::string text = choices.sum(
        {"x*x", "x", "8*y", "y*y", "3*y", "x*y", "x*x*x", "4*z"}, 3, 5);
    const Poly p = facts.poly(text);
    if (p.is_constant() || !has_no_root(facts.domain(), p)) continue;
    ++without;
    EXPECT_EQ(facts.failure(facts.forms().formulas.ne(p), true, 0), "");
  }
  EXPECT_GE(without, 200u);
}

TEST(Residues, OfSquares) {
  BoxedFacts facts({});
  const auto has_none = [&](const char* p) {
    return has_no_root(facts.domain(), facts.poly(p));
  };
  EXPECT_TRUE(has_none("x*x - 8*y - 5"));
  EXPECT_TRUE(has_none("x*x + y*y - 4*z - 3"));
  EXPECT_TRUE(has_none("x*x*x - 7*y - 3"));
  EXPECT_FALSE(has_none("x*x - 8*y - 1"));
}

// --- trees of Min and Max

Decision lattice(BoxedFacts& facts, const std::string& question) {
  MinMaxLattice lattice(facts.domain(), facts.reasoner().lower());
  const Search search(facts.expr(question), facts.formula(question));
  if (!lattice.applies(search)) return {};
  return lattice.decide(search);
}

TEST(MinMaxLattice, KnowsTheOrderOfLeaves) {
  EXPECT_EQ(
      decided_by({}, "min(max(x, y), max(x, z)) == max(min(y, z), x)", lattice),
      "yes");
  EXPECT_EQ(decided_by({"z >= 1"}, "min(x, 4) <= max(y, 5)", lattice), "yes");
  EXPECT_EQ(decided_by({"z >= 1", "x <= y"}, "max(x, z) <= max(y, z)", lattice),
            "yes 1");
  EXPECT_EQ(decided_by({}, "max(x, z) <= max(y, z)", lattice), "quiet");
}

TEST(MinMaxLattice, HoldsWhereItsFactsDo) {
  const std::vector<std::string> facts = {"x <= y", "y < z",  "x >= 0",
                                          "z <= 5", "y <= 2", "x + 2 <= z"};
  std::function<std::string(Choices&, int)> tree = [&](Choices& choices,
                                                       int depth) {
    const std::vector<std::string> leaves = {"x", "y",     "z",  "x + 1",
                                             "2", "y - 1", "2*x"};
    if (depth == 0 || choices.one_in(5)) return choices.of(leaves);
    const std::string inner = choices.of({"min(", "max("}) +
                              tree(choices, depth - 1) + ", " +
                              tree(choices, depth - 1) + ")";
    if (choices.one_in(8)) return "(" + inner + ")//2";
    if (choices.one_in(8)) return "-(" + inner + ")";
    return choices.one_in(8) ? inner + " + " + choices.number(-1, 1) : inner;
  };
  const auto question = [&](Choices& choices) {
    const std::vector<std::string> relations = {" <= ", " < ", " == ", " != "};
    const std::string left = tree(choices, 2);
    return left + choices.of(relations) + tree(choices, 2);
  };
  const Tally tally = check("lattice", 1500, {facts, question}, lattice);
  EXPECT_GE(tally.by_some, 100u);
  EXPECT_GE(tally.no, 30u);
}

// --- what strategies share

TEST(Splits, SomeBranchHoldsWhereverTheirFactsDo) {
  const std::vector<std::string> facts = {
      "x >= -1", "x <= 2", "y >= 0", "y <= 3", "z >= 2", "y != 0", "x <= y"};
  size_t values = 0, divisors = 0, conditions = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Choices choices(seed);
    BoxedFacts boxed(choices.some(facts, 2, 3));
    if (boxed.domain().conflict()) continue;
    const auto expect_cover = [&](const Split& split, const Poly& divisor) {
      Point point(boxed.forms());
      boxed.where_hold(split.why, [&](const Assignment& at) {
        boxed.move(point, at);
        if (point.value(divisor) == 0) return true;  // nothing is said then
        bool holds = false;
        for (FormulaId branch : split.branches)
          holds = holds || point.truth(branch) == true;
        EXPECT_TRUE(holds) << at.to_string() << boxed.in_words(split.why);
        return holds;
      });
    };
    const AtomId x = boxed.atom("x");
    const Range range = boxed.domain().atom_range(x);
    if (range.span.lower() && range.span.upper() &&
        !boxed.domain().is_solved(x)) {
      const Split split = split_values(boxed.domain(), x, range);
      expect_cover(split, Poly::number(1));
      EXPECT_EQ(Int(static_cast<int64_t>(split.branches.size())),
                *range.span.upper() - *range.span.lower() + 1);
      ++values;
    }
    if (const auto split = split_divisor(boxed.domain(), boxed.atom("z//y"))) {
      expect_cover(*split, boxed.poly("y"));
      ++divisors;
    }
    for (AtomId a :
         boxed.forms().occurrences.of_formula(boxed.formula("max(x, y) > 1"))) {
      const auto split = split_condition(boxed.domain(), a);
      if (!split) continue;
      expect_cover(*split, Poly::number(1));
      ++conditions;
    }
  }
  EXPECT_GE(values, 10u);
  EXPECT_GE(divisors, 10u);
  EXPECT_GE(conditions, 10u);
}

TEST(Branches, AgreeOrDecideNothing) {
  BoxedFacts facts({"x == 0 or x == 2", "y >= x", "y <= 3", "z >= 4"});
  const Split split{{facts.formula("x == 0"), facts.formula("x == 2")},
                    facts.reasoner().reasons().leaf(0)};
  const auto never = [](std::optional<bool>) -> std::optional<Decision> {
    return std::nullopt;
  };
  const auto decide = [&](const char* question,
                          std::optional<bool> wanted = {}) {
    return decide_branches(facts.domain(), facts.formula(question), split,
                           wanted, never);
  };
  const auto both = decide("y >= 0");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->value, true);
  EXPECT_EQ(facts.facts_in(both->why), (std::vector<FactId>{0, 1}));
  EXPECT_FALSE(decide("x <= 1"));  // yes and no
  EXPECT_FALSE(decide("y <= 2"));  // not known
  EXPECT_FALSE(decide("y >= 0", false));
  // A branch that cannot be leaves the other.
  facts.assume("x <= 1");
  const auto one = decide("x <= 0");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->value, true);
  EXPECT_EQ(facts.facts_in(one->why), (std::vector<FactId>{0, 4}));
  // All are refuted, or nothing is.
  size_t asked = 0;
  const Reason leaf = facts.reasoner().reasons().leaf(3);
  const auto refuted = refute_branches(facts.domain(), split,
                                       [&](FormulaId) -> std::optional<Proof> {
                                         ++asked;
                                         return Proof{leaf, false};
                                       });
  ASSERT_TRUE(refuted);
  EXPECT_EQ(asked, 2u);
  EXPECT_TRUE(refuted->used_cases);
  EXPECT_EQ(facts.facts_in(refuted->why), (std::vector<FactId>{0, 3}));
  EXPECT_FALSE(refute_branches(facts.domain(), split,
                               [&](FormulaId branch) -> std::optional<Proof> {
                                 if (branch == split.branches[1])
                                   return std::nullopt;
                                 return Proof{leaf, false};
                               }));
}

}  // namespace
}  // namespace proviso
