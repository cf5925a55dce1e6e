// The tiers, by questions from real programs: what each must decide, what must
// stay open, and that a named set of facts is enough.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "tests/solver/support.h"

namespace proviso {
namespace {

using testing::Case;

struct Row {
  const char* what;
  const char* symbols;
  const char* facts;
  const char* question;
  Verdict expected;
  Tier at_most;  // the last tier that may be needed
};

constexpr Verdict kYes = Verdict::kYes, kNo = Verdict::kNo,
                  kOpen = Verdict::kUnknown;

const Row kRows[] = {
    // linear arithmetic
    {"sum of two sizes", "s0:2.. s1:2..", "", "s0 + s1 >= 4", kYes,
     Tier::kRanges},
    {"terms cancel", "s0:2..", "", "2*s0 - s0 == s0", kYes, Tier::kStructure},
    {"gcd with the constant rounded", "s0:2..", "2*s0 > 9", "s0 >= 5", kYes,
     Tier::kRanges},
    {"an odd value is not even", "s0:2..", "", "2*s0 == 7", kNo,
     Tier::kStructure},
    {"one range bounds the other", "s0:2.. s1:2..", "s0 + s1 == 10", "s0 <= 8",
     kYes, Tier::kLinear},
    {"two rows together", "s0:2.. s1:2..", "s0 + 2*s1 <= 20; s0 >= 10",
     "s1 <= 5", kYes, Tier::kLinear},
    {"no integer between", "u0:.. u1:..",
     "3*u0 + 5*u1 <= 7; 3*u0 + 5*u1 >= 7; u0 >= 0; u0 <= 4", "u0 == 4", kYes,
     Tier::kCases},
    {"strict gives weak", "u1:.. u2:..", "u1 < u2", "u1 <= u2", kYes,
     Tier::kRanges},
    {"strict gives unequal", "u1:.. u2:..", "u1 < u2", "u1 != u2", kYes,
     Tier::kRanges},
    {"a sum above 1 is not 0", "u0:.. u1:.. u2:..", "u0 + u1 + u2 > 1",
     "u0 + u1 + u2 == 0", kNo, Tier::kRanges},
    // chains
    {"a cycle of <= is equality", "s0:2.. s1:2.. s2:2..",
     "s0 <= s1; s1 <= s2; s2 <= s0", "s0 == s2", kYes, Tier::kLinear},
    {"two strict steps", "s0:2.. s1:2.. s2:2..", "s0 < s1; s1 < s2",
     "s2 >= s0 + 2", kYes, Tier::kLinear},
    {"not three", "s0:2.. s1:2.. s2:2..", "s0 < s1; s1 < s2", "s2 >= s0 + 3",
     kOpen, Tier::kModels},
    {"equalities compose", "s0:2.. s1:2.. s2:2.. s3:2..",
     "s0 == s1; s1 == s2; s2 == s3", "s0 - s3 == 0", kYes, Tier::kEqualities},
    {"unequal then ordered", "u0:.. u1:..", "u0 != u1; u0 <= u1", "u0 < u1",
     kYes, Tier::kRanges},
    // products
    {"a factor divides", "s0:1.. s1:1..", "", "(s0*s1)//s1 == s0", kYes,
     Tier::kEqualities},
    {"a common factor cancels", "s0:2.. s1:2.. s2:2..", "s0*s2 == s1*s2",
     "s0 == s1", kYes, Tier::kEqualities},
    {"it may be zero", "s0:2.. u0:0..", "s0*u0 == 4*u0", "s0 == 4", kOpen,
     Tier::kModels},
    {"a zero product, either factor", "u0:0.. u1:0..", "u0*u1 == 0", "u0 == 0",
     kOpen, Tier::kModels},
    {"squares are not negative", "u0:..", "", "u0*u0 >= 0", kYes,
     Tier::kRanges},
    {"a bound of a product", "s0:2.. s1:2..", "s0*s1 == 12", "s0 <= 6", kYes,
     Tier::kRanges},
    {"sizes of at least 2", "s0:2.. s1:2..", "", "s0*s1 >= s0 + s1", kYes,
     Tier::kRanges},
    {"both may be negative", "u0:.. u1:..", "u0*u1 >= 1", "u0 >= 1", kOpen,
     Tier::kModels},
    {"row-major offsets stay inside",
     "s0:2.. s1:2.. s2:2.. u0:0.. u1:0.. u2:0..", "u0 < s0; u1 < s1; u2 < s2",
     "u0*s1*s2 + u1*s2 + u2 < s0*s1*s2", kYes, Tier::kLinear},
    // division
    {"a remainder is below the divisor", "u0:0.. s0:2..", "", "u0 % s0 < s0",
     kYes, Tier::kRanges},
    {"a small numerator", "u0:0.. s0:1..", "u0 < s0", "u0//s0 == 0", kYes,
     Tier::kEqualities},
    {"a part of a multiple", "s0:2.. s1:2..", "",
     "(s0 + s1) % (s0*s0 + s0*s1) != 0", kYes, Tier::kEqualities},
    {"of one that may be the same", "s0:1.. s1:2..", "",
     "(s0 + s1) % (s0*s0 + s0*s1) != 0", kOpen, Tier::kModels},
    {"or may be 0", "s0:2.. u0:..", "",
     "(s0 + u0) % (s0*s0 + s0*u0) == s0 + u0", kOpen, Tier::kModels},
    {"floors nest", "u0:0..", "", "(u0//2)//3 == u0//6", kYes,
     Tier::kStructure},
    {"but not with a negative outer divisor", "u0:..", "",
     "(u0//2)//(-1) == u0//(-2)", kOpen, Tier::kModels},
    {"halves", "s0:2..", "", "s0//2 + (s0 + 1)//2 == s0", kYes, Tier::kLinear},
    {"remainder twice", "u0:0.. s0:1..", "", "(u0 % s0) % s0 == u0 % s0", kYes,
     Tier::kEqualities},
    {"what is rounded down", "s0:2..", "", "s0 - s0 % 8 >= 0", kYes,
     Tier::kRanges},
    {"ceil to a multiple", "u0:0..", "", "(u0 + 7)//8*8 >= u0", kYes,
     Tier::kLinear},
    {"pad to 64", "s0:64..128", "", "(s0 + (64 - s0 % 64) % 64) % 64 == 0",
     kYes, Tier::kLinear},
    {"a multiple's product", "s0:2.. s1:2..", "s1 % 16 == 0",
     "(s0*s1) % 16 == 0", kYes, Tier::kEqualities},
    {"divisors divide", "s0:2..", "s0 % 8 == 0", "s0 % 4 == 0", kYes,
     Tier::kEqualities},
    {"but not multiples", "s0:2..", "s0 % 4 == 0", "s0 % 8 == 0", kOpen,
     Tier::kModels},
    {"2 and 3 make 6", "u0:..", "u0 % 2 == 0; u0 % 3 == 0", "u0 % 6 == 0", kYes,
     Tier::kEqualities},
    {"a symbolic divisor", "u0:0.. u1:0..",
     "(2*u0) % (u0 + u1) == 0; (2*u0)//(u0 + u1) != 0",
     "(2*u0)//(u0 + u1) == 0", kNo, Tier::kRanges},
    {"residues are exact", "u0:-5..2", "u0 % 4 == 2", "u0 == 2 or u0 == -2",
     kYes, Tier::kCases},
    // Min, Max, Abs
    {"Min and Max share the sum", "s0:2.. s1:2..", "",
     "min(s0, s1) + max(s0, s1) == s0 + s1", kYes, Tier::kStructure},
    {"Min is below", "s0:0.. s1:0..", "", "min(s1, s0 - 1) <= s0 - 1", kYes,
     Tier::kLinear},
    {"a clamp", "u0:..", "", "min(max(u0, 0), 9) <= 9", kYes, Tier::kLinear},
    {"Max resolved by a fact", "u0:0.. s0:2..", "u0 <= s0", "max(u0, s0) == s0",
     kYes, Tier::kEqualities},
    {"Abs", "u0:..", "", "abs(u0) >= u0", kYes, Tier::kLinear},
    // cases
    {"a disjunction's parts agree", "u0:0..", "u0 == 1 or u0 == 2", "u0 != 3",
     kYes, Tier::kCases},
    {"an even square has an even root", "u0:.. s0:2..", "4*s0 == u0*u0",
     "u0 % 2 == 0", kYes, Tier::kCases},
    {"n*(n+1) is even", "u0:..", "", "(u0*(u0 + 1)) % 2 == 0", kYes,
     Tier::kCases},
    // rationals and bits
    {"a rounded quotient", "u0:..", "",
     "TruncToInt(IntTrueDiv(4*u0, 2)) == 2*u0", kYes, Tier::kCases},
    {"ceil of a half", "s0:2..", "",
     "CeilToInt(IntTrueDiv(s0, 2)) == (s0 + 1)//2", kYes, Tier::kLinear},
    {"mask is a remainder", "u0:..", "", "u0 & 7 == u0 % 8", kYes,
     Tier::kStructure},
    {"or keeps at least either", "u0:0.. u1:0..", "", "(u0 | u1) >= u1", kYes,
     Tier::kLinear},
    // exact integers
    {"2**64 fits", "u0:0..", "u0 >= 18446744073709551616",
     "2*u0 >= 36893488147419103232", kYes, Tier::kRanges},
    {"a square root of a big square", "u0:0..", "u0 >= 4294967296",
     "u0*u0 >= 18446744073709551616", kYes, Tier::kRanges},
};

TEST(Tiers, DecidesWhatFollowsAndNothingElse) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(std::string(row.what) + ": " + row.facts + " |- " +
                 row.question);
    Case c(row.symbols, row.facts);
    Expr question = c.p(row.question);
    Answer answer = c.context.ask(question);
    EXPECT_EQ(name_of(answer.verdict), name_of(row.expected)) << answer.reason;
    EXPECT_LE(answer.tier, row.at_most) << name_of(answer.tier);
    EXPECT_EQ(c.context.ask_quick(question), row.expected);
    EXPECT_EQ(testing::check_points(c.context, question, answer), "");
    if (row.expected == kOpen) {
      EXPECT_TRUE(answer.counterexample && answer.witness) << answer.reason;
    } else {
      EXPECT_TRUE(testing::reproduces(c.context, question, answer))
          << answer.reason;
    }
  }
}

TEST(Tiers, NamesOnlyTheFactsThatMatter) {
  Case c("s0:2.. s1:2.. u0:..", "s1 % 3 == 0; s0 % 8 == 0; u0 < s1");
  Answer answer = c.ask("s0 % 4 == 0");
  EXPECT_EQ(answer.verdict, kYes);
  EXPECT_EQ(answer.tier, Tier::kEqualities);
  EXPECT_EQ(answer.facts, std::vector<FactId>{4});
  EXPECT_EQ(answer.reason, "it follows from  s0 % 8 == 0");
}

TEST(Tiers, OrderOfFactsDoesNotMatterHere) {
  for (const char* facts : {"u0 != u1; u0 <= u1", "u0 <= u1; u0 != u1"}) {
    Case c("u0:.. u1:..", facts);
    EXPECT_EQ(c.ask("u0 + 1 <= u1").verdict, kYes) << facts;
  }
}

// Offsets of ragged rows: hundreds of inequalities, one after another.
TEST(Tiers, FollowsLongChainsInAnyOrder) {
  constexpr int kLength = 1500;
  std::vector<std::string> facts;
  std::string symbols;
  for (int i = 0; i <= kLength; ++i) {
    symbols += "u" + std::to_string(i) + ":.. ";
  }
  for (int i = 0; i < kLength; ++i) {
    const std::string from = std::to_string(i), to = std::to_string(i + 1);
    facts.push_back("u" + from + (i % 500 == 7 ? " < u" : " <= u") + to + ";");
  }
  const std::string first = "u0", last = "u" + std::to_string(kLength);
  for (int turn = 0; turn < 3; ++turn) {
    if (turn == 1) std::reverse(facts.begin(), facts.end());
    if (turn == 2) std::shuffle(facts.begin(), facts.end(), std::mt19937(3));
    Case c(symbols, std::accumulate(facts.begin(), facts.end(), std::string()));
    const Answer yes = c.ask(first + " + 3 <= " + last);
    EXPECT_EQ(yes.verdict, kYes);
    EXPECT_EQ(yes.facts.size(), kLength);
    EXPECT_EQ(c.ask(last + " < " + first + " + 3").verdict, kNo);
    EXPECT_EQ(c.ask(first + " + 4 <= " + last).verdict, kOpen);
    EXPECT_EQ(c.ask(last + " <= " + first + " + 3").verdict, kOpen);
  }
}

// --- definedness

struct Undefined {
  const char* symbols;
  const char* facts;
  const char* question;
  Verdict expected;
};

TEST(Definedness, AnAnswerNeedsEveryReachedDivisorToBeNonzero) {
  const Undefined rows[] = {
      {"u0:0..", "", "u0//u0 == u0//u0", kOpen},
      {"u0:1..", "", "u0//u0 == 1", kYes},
      {"u0:0..", "4//u0 >= 0", "u0 != 0", kYes},  // assumed, so defined
      {"u0:0..", "", "(7 % u0) < u0", kOpen},
      {"u0:..", "", "Where(Ne(u0, 0), 4//u0, 0) <= 4", kYes},
      {"u0:..", "", "Where(u0 > 1, 4//u0, 4//u0) <= 4", kOpen},
      {"u0:0..", "", "(u0 >= 0) | (4//u0 == 1)", kOpen},  // both sides count
      {"u0:0..", "", "2**u0 >= 1", kYes},
      {"u0:..", "", "2**u0 >= 1", kOpen},
      {"u0:..", "", "IntTrueDiv(u0, u0) == 1.0", kOpen},
  };
  for (const Undefined& row : rows) {
    SCOPED_TRACE(row.question);
    Case c(row.symbols, row.facts);
    Answer answer = c.ask(row.question);
    EXPECT_EQ(name_of(answer.verdict), name_of(row.expected)) << answer.reason;
    EXPECT_EQ(testing::check_points(c.context, c.p(row.question), answer), "");
  }
}

using Box = std::vector<std::pair<int, int>>;  // ends, by symbol

bool is_defined_in(Expr e, std::span<const Expr> symbols, const Box& box) {
  Assignment point;
  std::function<bool(size_t)> from = [&](size_t k) {
    if (k == box.size()) return evaluate(e, point).defined();
    for (int value = box[k].first; value <= box[k].second; ++value) {
      point.set(symbols[k], Int(value));
      if (!from(k + 1)) return false;
    }
    return true;
  };
  return from(0);
}

// Of real functions it is not known everywhere.
TEST(Definedness, IsThatOfEvaluateForEachOperator) {
  constexpr std::pair<int, int> kEnds[] = {
      {-2, 2}, {-2, -1}, {-1, 0}, {0, 2}, {1, 2}};
  ExprPool pool;
  const Expr symbols[] = {pool.symbol("x", SymbolKind::kUnbackedInt),
                          pool.symbol("y", SymbolKind::kUnbackedInt),
                          pool.symbol("z", SymbolKind::kUnbackedInt)};
  size_t defined = 0, undefined = 0;
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    if (is_leaf(row.op)) continue;
    const auto arity = static_cast<size_t>(row.max_args < 0 ? 2 : row.max_args);
    std::vector<Expr> args(symbols, symbols + arity);
    for (size_t k = 0; k < arity; ++k) {
      const bool is_truth = row.args == ArgClass::kBoolean ||
                            (row.args == ArgClass::kCondition && k == 0);
      if (is_truth) args[k] = lt(args[k], pool.integer(1));
    }
    const Expr e = pool.make(row.op, args);
    for (size_t n = 0; n < 5 * 5 * 5; ++n) {
      Box box = {kEnds[n % 5], kEnds[n / 5 % 5], kEnds[n / 25]};
      box.resize(arity);
      Context context(pool, testing::native_only());
      std::string where;
      for (size_t k = 0; k < arity; ++k) {
        const Interval range(box[k].first, box[k].second);
        context.declare(symbols[k], range);
        where += " " + to_string(symbols[k]) + " in " + range.to_string();
      }
      const Verdict verdict = context.ask(eq(e, e)).verdict;
      const bool is_defined = is_defined_in(e, symbols, box);
      ++(is_defined ? defined : undefined);
      if (is_defined && row.kind == OpKind::kReal) continue;
      EXPECT_EQ(name_of(verdict), name_of(is_defined ? kYes : kOpen))
          << to_string(e) << where;
    }
  }
  EXPECT_GT(std::min(defined, undefined), 500u);
}

TEST(Definedness, TheCounterexampleNamesTheDivisor) {
  Case c("u0:0..", "");
  Answer answer = c.ask("4//u0 >= 0");
  EXPECT_EQ(answer.verdict, kOpen);
  ASSERT_TRUE(answer.counterexample);
  EXPECT_EQ(answer.counterexample->to_string(), "u0 = 0");
  EXPECT_NE(answer.reason.find("divisor u0 is 0"), std::string::npos)
      << answer.reason;
}

}  // namespace
}  // namespace proviso
