// The solver's normal form means what the expression means: every rewrite of
// the pool (floors merged and split, % as floor, Min, Max and Abs as clamps,
// rounding, bits, conditions) at every point of a small box.
#include <gtest/gtest.h>

#include <iostream>
#include <thread>

#include "solver/lower.h"
#include "solver/lowering/raising.h"
#include "solver/point.h"
#include "tests/solver/support.h"
#include "tests/support/random_facts.h"

namespace proviso {
namespace {
using namespace internal;

constexpr int kLow = -6, kHigh = 6;

// Where the expression is defined, `defined` holds and the values agree; where
// it is not, `defined` does not hold.  Returns the number of values compared.
size_t check_everywhere(ExprPool& pool, Expr e, Expr x, Expr y) {
  Forms& forms = Forms::of(pool);
  FormulaId defined = forms.lower.defined(e);
  size_t compared = 0;
  for (int a = kLow; a <= kHigh; ++a) {
    for (int b = kLow; b <= kHigh; ++b) {
      Assignment at;
      at.set(x, Int(a));
      at.set(y, Int(b));
      Point point(forms.pool);
      point.set(forms.pool.atoms.symbol(x), a);
      point.set(forms.pool.atoms.symbol(y), b);
      Evaluation expected = evaluate(e, at);
      std::optional<bool> is_defined = point.truth(defined);
      if (is_defined) {
        EXPECT_EQ(*is_defined, expected.defined())
            << to_string(e) << " at " << at.to_string();
      }
      if (!expected.defined()) continue;
      if (e.is_bool()) {
        std::optional<bool> t = point.truth(forms.lower.condition(e));
        if (!t) continue;
        EXPECT_EQ(*t, expected.is_true())
            << to_string(e) << " at " << at.to_string();
      } else {
        Point::Value v = point.value(forms.lower.integer(e));
        if (!v) continue;
        EXPECT_EQ(Int(*v), std::get<Int>(*expected.value))
            << to_string(e) << " at " << at.to_string();
      }
      ++compared;
    }
  }
  return compared;
}

TEST(Forms, MeanWhatEachOperatorMeans) {
  ExprPool pool;
  Expr x = pool.symbol("u0", SymbolKind::kUnbackedInt);
  Expr y = pool.symbol("u1", SymbolKind::kUnbackedInt);
  size_t compared = 0;
  for (const char* text : {"u0//u1",
                           "Mod(u0, u1)",
                           "PythonMod(u0, u1)",
                           "CeilDiv(u0, u1)",
                           "(u0 + 5)//3 - u0//3",
                           "(6*u0 + 4)//(-4)",
                           "((u0//2) + u1)//3",
                           "(u0//(-2))//(-2)",
                           "(u0//u1)//2",
                           "u0 - u1*(u0//u1)",
                           "ModularIndexing(u0, 2, 3)",
                           "ModularIndexing(u0, u1, 4)",
                           "Max(u0, u1) + Min(u0, u1)",
                           "Max(2*u0, 2*u1)",
                           "Abs(u0 - u1)",
                           "Min(Max(u0, -2), u1)",
                           "Where(u0 < u1, u0, u1)",
                           "Where(Ne(u1, 0), u0//u1, 7)",
                           "u0**3 - u1**2",
                           "TruncToInt(IntTrueDiv(u0, 4))",
                           "CeilToInt(IntTrueDiv(u0, u1))",
                           "FloorToInt(IntTrueDiv(u0, u1))",
                           "RoundToInt(IntTrueDiv(u0, 2))",
                           "RoundToInt(IntTrueDiv(u0, u1))",
                           "u0 & 7",
                           "u0 & u1",
                           "u0 | 3",
                           "u0 ^ u1",
                           "u0 << 2",
                           "u0 >> 1",
                           "Eq(u0, u1)",
                           "2*u0 <= 3*u1 + 1",
                           "Eq(4*u0, 2*u1 + 1)",
                           "Ne(6*u0, 3*u1)",
                           "Eq(u0 > 1, u1 > 1)",
                           "(u0 < u1) & (u1//u0 > 0)",
                           "~(u0*u1 > 4) | Eq(u0, 2)"}) {
    size_t n = check_everywhere(pool, parse(pool, text), x, y);
    EXPECT_GT(n, 0u) << text << " was nowhere understood";
    compared += n;
  }
  std::cout << compared << " values\n";
}

TEST(Forms, MeanWhatRandomExpressionsMean) {
  const uint32_t seed = testing::seed_or(31);
  ExprPool pool;
  Expr x = pool.symbol("u0", SymbolKind::kUnbackedInt);
  Expr y = pool.symbol("u1", SymbolKind::kUnbackedInt);
  testing::RandomExpr make(pool, {x, y}, seed);
  size_t compared = 0;
  for (int i = 0; i < 1500; ++i) {
    compared +=
        check_everywhere(pool, i % 2 ? make.boolean(3) : make.integer(3), x, y);
  }
  std::cout << "seed " << seed << ", " << compared << " values\n";
  EXPECT_GT(compared, 100000u);
}

// A sum of remainders is decided by structure alone, exactly where its ends
// decide it, whatever its symbols are.
TEST(Forms, KnowWhereRemaindersLie) {
  ExprPool pool;
  Expr x = pool.symbol("u0", SymbolKind::kUnbackedInt);
  Expr y = pool.symbol("u1", SymbolKind::kUnbackedInt);
  Forms& forms = Forms::of(pool);
  size_t decided = 0;
  for (int a = -3; a <= 3; ++a) {
    for (int b = -2; b <= 2; ++b) {
      for (int c = -12; c <= 12; ++c) {
        const std::string sum = std::to_string(a) + "*Mod(5*u0 + 3, 4) + " +
                                std::to_string(b) + "*Mod(u1 - u0, 3) + " +
                                std::to_string(c);
        bool always = true, never = true, meets = false;
        for (int m = 0; m < 4; ++m) {
          for (int n = 0; n < 3; ++n) {
            const int value = a * m + b * n + c;
            (value >= 0 ? never : always) = false;
            meets = meets || value == 0;
          }
        }
        const FormulaId ge = forms.lower.condition(parse(pool, sum + " >= 0"));
        EXPECT_EQ(ge == kTrue, always) << sum;
        EXPECT_EQ(ge == kFalse, never) << sum;
        const Expr is_zero = parse(pool, "Eq(" + sum + ", 0)");
        const FormulaId eq = forms.lower.condition(is_zero);
        EXPECT_FALSE(eq == kFalse && meets) << sum;
        EXPECT_TRUE(eq == kFalse || (!always && !never) || meets) << sum;
        decided += ge <= kTrue;
      }
    }
  }
  EXPECT_GT(decided, 300u);
  for (const char* text :
       {"Mod(Mod(u0, 6), 4) <= 3", "CeilDiv(u0, 16)*16 >= u0",
        "2*u0 - 6*((2*u0 + 1)//6) <= 4", "u0 - (u0//4)*4 < 4"}) {
    EXPECT_EQ(forms.lower.condition(parse(pool, text)), kTrue) << text;
    check_everywhere(pool, parse(pool, text), x, y);
  }
}

// What a form says is what its expression says.
TEST(Forms, GoBackToExpressions) {
  ExprPool pool;
  Expr x = pool.symbol("u0", SymbolKind::kUnbackedInt);
  Expr y = pool.symbol("u1", SymbolKind::kUnbackedInt);
  Forms& forms = Forms::of(pool);
  for (const char* text :
       {"2*u0*u1 - 3", "Max(u0, u1)//2 + u0 & 7", "Where(u0 < u1, u0//3, 5)"}) {
    Expr e = parse(pool, text);
    std::optional<Expr> back =
        to_expr(pool, forms.pool, forms.lower.integer(e));
    ASSERT_TRUE(back) << text;
    for (int a = kLow; a <= kHigh; ++a) {
      Assignment at;
      at.set(x, Int(a));
      at.set(y, Int(2 - a));
      EXPECT_EQ(evaluate(*back, at).value, evaluate(e, at).value) << text;
    }
  }
}

// Contexts of different pools share nothing.
TEST(Contexts, AnswerAlikeOnEveryThread) {
  auto work = [](std::vector<int>* answers) {
    for (uint32_t seed = 0; seed < 40; ++seed) {
      ExprPool pool;
      std::vector<Expr> symbols;
      Assignment hidden;
      for (int i = 0; i < 3; ++i) {
        symbols.push_back(
            pool.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt));
        hidden.set(symbols.back(), Int(2 + i));
      }
      Context context(pool, testing::native_only());
      testing::RandomFacts make(pool, symbols, hidden, seed);
      for (int i = 0; i < 4; ++i) context.assume(make.fact());
      for (int i = 0; i < 8; ++i) {
        answers->push_back(
            static_cast<int>(context.ask_quick(make.question())));
      }
    }
  };
  std::vector<std::vector<int>> answers(4);
  std::vector<std::thread> threads;
  for (auto& a : answers) threads.emplace_back(work, &a);
  for (std::thread& t : threads) t.join();
  for (const auto& a : answers) EXPECT_EQ(a, answers[0]);
}

// A question never takes more work than its budget allows; past it the answer
// is unknown.
TEST(Contexts, StopAtTheBudget) {
  std::string facts, question = "0";
  for (int i = 0; i < 12; ++i) {
    std::string u = "u" + std::to_string(i), v = "u" + std::to_string(i + 1);
    facts +=
        "(" + u + "*" + v + ") % 7 != " + v + "//(1 + " + u + "*" + u + ");";
    question += " + Max(" + u + ", " + v + ")*" + u;
  }
  SolverOptions options = testing::native_only();
  uint64_t last = 0;
  for (uint64_t budget : {100, 1000, 20000}) {
    options.budget = budget;
    testing::Case c("", facts, options);
    uint64_t before = c.context.statistics().work;
    EXPECT_EQ(c.context.ask_quick(c.p(question + " > 3")), Verdict::kUnknown);
    uint64_t spent = c.context.statistics().work - before;
    EXPECT_LE(spent, 8 * budget + 20000) << budget;
    EXPECT_GE(spent, last);
    last = spent;
  }
}

}  // namespace
}  // namespace proviso
