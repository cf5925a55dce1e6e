#include "guards/size_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <string>

#include "solver/solver.h"
#include "tests/guards/support.h"

namespace proviso {
namespace {

// What a Dim has to be for `condition` to hold, joined by "; ".
class Described {
 public:
  std::string operator()(const std::string& condition,
                         const PromisedSizes& promised = {
                             Interval::at_least(2)}) {
    auto set = sizes(condition, promised.range);
    if (!set) return "no table";
    std::string text;
    for (const std::string& line : describe(*set, "n", promised)) {
      text += (text.empty() ? "" : "; ") + line;
    }
    return text;
  }
  std::optional<SizeSet> sizes(const std::string& condition,
                               const Interval& range) {
    const Expr conditions[] = {parse(pool, condition)};
    return sizes_where(n, conditions, range,
                       [&](Expr c, const Interval& where) {
                         Context context(pool);
                         context.declare(n, where);
                         return context.ask(c).verdict == Verdict::kYes;
                       });
  }
  ExprPool pool;
  Expr n = pool.symbol("n", SymbolKind::kBackedSize);
};

TEST(SizeSet, FixesAreTheWeakest) {
  Described d;
  EXPECT_EQ(d("Eq(Mod(n, 2), 0)"), "_n = Dim('_n'); n = 2*_n");
  EXPECT_EQ(d("Eq(Mod(n, 3), 1)"), "_n = Dim('_n'); n = 3*_n + 1");
  EXPECT_EQ(d("(5 < n) & (n < 100)"), "n = Dim('n', min=6, max=99)");
  EXPECT_EQ(d("Ne(n, 5)"), "n != 5");
  EXPECT_EQ(d("Eq(n, 5) | Eq(n, 9) | Eq(n, 11)"), "n in {5, 9, 11}");
  EXPECT_EQ(d("Eq(Mod(n, 4), 0) | Eq(Mod(n, 4), 3)"), "n % 4 in {0, 3}");
  EXPECT_EQ(d("Eq(Mod(n, 4), 0) & (n > 9)"), "_n = Dim('_n', min=3); n = 4*_n");
  // The rounding of pt's dynamic_shape_round: ties go to even.
  EXPECT_EQ(d("2*RoundToInt(IntTrueDiv(n, 2)) >= n"), "n % 4 in {0, 2, 3}");
  EXPECT_EQ(d("Eq(3*(n//3), n) | Eq(2*(n//2), n)"), "n % 6 in {0, 2, 3, 4}");
  EXPECT_EQ(d("Eq(Mod(n, 8), 0)", {{2, 64}}),
            "_n = Dim('_n', max=8); n = 8*_n");
  EXPECT_EQ(d("Eq(Mod(n, 8), 0)", {{4, 64}, true}),
            "_n = Dim('_n', min=1, max=8); n = 8*_n");
}

TEST(SizeSet, WhatDoesNotRepeatIsProvedOrEnumerated) {
  Described d;
  EXPECT_EQ(d("Ne(Mod(n, n - 1), 0)"), "n = Dim('n', min=3)");        // F05
  EXPECT_EQ(d("Ne(Mod(1, n//2), 0)", {Interval::at_least(3), true}),  // F04
            "n = Dim('n', min=4)");
  EXPECT_EQ(d("n*n < 200"), "n = Dim('n', max=14)");
  EXPECT_EQ(d("Eq(Mod(60, n), 0)", {{2, 40}}),
            "n in {2, 3, 4, 5, 6, 10, 12, 15, 20, 30}");
}

TEST(SizeSet, NoTableIsBetterThanAWrongOne) {
  Described d;
  EXPECT_EQ(d("Ne(Mod(n, 100003), 0)"), "no table");
  EXPECT_EQ(d("Eq(Mod(n*n, n + 7), 1)"), "no table");
}

// Of each term the period is known at once, whatever it is: looked for size by
// size, those of this text took 0.3 s.
TEST(SizeSet, PeriodsOfManyTermsAreFoundAtOnce) {
  Described d;
  std::string text = "0";
  for (int k = 3001; k < 4001; ++k) text += " + n % " + std::to_string(k);
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    EXPECT_EQ(d(text + " > n"), "no table");
    least = std::min(least, double(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  EXPECT_LT(least, 0.15);
}

// Every table against evaluate(), far beyond where it was made.
TEST(SizeSet, TablesAgreeWithEvaluate) {
  Described d;
  std::mt19937 random(20261);
  const auto pick = [&](int low, int high) {
    return std::to_string(std::uniform_int_distribution(low, high)(random));
  };
  const auto term = [&]() -> std::string {
    switch (random() % 6) {
      case 0: return pick(-3, 3) + "*n + " + pick(-9, 9);
      case 1: return "Mod(" + pick(1, 5) + "*n + 3, " + pick(1, 7) + ")";
      case 2: return "((n + " + pick(-4, 4) + ")//" + pick(1, 6) + ")";
      case 3: return pick(-4, 4) + "*((2*n)//" + pick(1, 5) + ")";
      case 4: return "RoundToInt(IntTrueDiv(n, " + pick(1, 6) + "))";
      default: return "CeilToInt(IntTrueDiv(3*n, " + pick(1, 6) + "))";
    }
  };
  const char* relations[] = {" <= ", " < ", "Eq", "Ne"};
  int tables = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string op = relations[random() % 4];
    const std::string a = term() + " + " + term(), b = term();
    const std::string text =
        op[0] == ' ' ? a + op + b : op + "(" + a + ", " + b + ")";
    auto set = d.sizes(text, Interval::at_least(0));
    if (!set) continue;
    ++tables;
    const Expr condition = parse(d.pool, text);
    for (int64_t size = 0; size < 3000; ++size) {
      Assignment point;
      point.set(d.n, Int(size));
      ASSERT_EQ(set->contains(Int(size)), evaluate(condition, point).is_true())
          << text << " at n = " << size;
    }
  }
  EXPECT_GT(tables, 350);
}

}  // namespace
}  // namespace proviso
