#include "sym/operators.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

#include "solver/solver.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso {
namespace {

TEST(Operators, BuildWhatTheTextSays) {
  ExprPool pool;
  const Expr n = pool.symbol("n", SymbolKind::kBackedInt);
  const Expr m = pool.symbol("m", SymbolKind::kBackedInt);
  const std::pair<Expr, const char*> kCases[] = {
      {2 * n + 1, "2*n + 1"},
      {3 + n, "3 + n"},
      {3 - n, "3 - n"},
      {n / 8, "n // 8"},
      {8 / n, "8 // n"},
      {n / m, "n // m"},
      {floor_div(n, 8), "n // 8"},
      {n % 8, "n % 8"},
      {n % m, "n % m"},
      {mod(n, 8), "n % 8"},
      {9 % n, "9 % n"},
      {ceil_div(n, m), "CeilDiv(n, m)"},
      {ceil_div(n, 8), "CeilDiv(n, 8)"},
      {min(n, 8), "Min(n, 8)"},
      {max(n, 8), "Max(n, 8)"},
      {n % 8 == 0, "n % 8 == 0"},
      {0 == n % 8, "n % 8 == 0"},
      {n != 3, "n != 3"},
      {3 != n, "n != 3"},
      {n < 2, "n < 2"},
      {n <= 2, "n <= 2"},
      {n > 2, "n > 2"},
      {n > m, "n > m"},
      {n >= m, "n >= m"},
      {n >= 2 && n < m, "(n >= 2) & (n < m)"},
      {n > 2 || !(m <= n), "(n > 2) | ~(m <= n)"},
      {2 < n, "n > 2"},
      {2 >= n, "n <= 2"},
      {2 <= n, "n >= 2"},
      {2 > n, "n < 2"},
  };
  for (const auto& [built, text] : kCases) {
    EXPECT_EQ(built, parse(pool, text)) << to_string(built) << " " << text;
  }
}

TEST(Operators, AConditionHasNoTruthOfItsOwn) {
  static_assert(!std::is_constructible_v<bool, Condition>);
  static_assert(std::is_convertible_v<Condition, Expr>);
  ExprPool pool;
  Context context(pool);
  const Expr n = pool.symbol("n", SymbolKind::kBackedInt);
  context.assume(n % 8 == 0 && n >= 1);
  EXPECT_EQ(context.ask(n >= 8).verdict, Verdict::kYes);
  EXPECT_EQ(context.ask_quick(n < 8), Verdict::kNo);
}

TEST(Operators, ExpressionsAreKeys) {
  ExprPool pool;
  const Expr n = pool.symbol("n", SymbolKind::kBackedInt);
  const std::unordered_set<Expr> keys{n, 2 * n, 2 * n};
  EXPECT_EQ(keys.size(), 2u);
  EXPECT_TRUE(keys.contains(2 * n));
}

}  // namespace
}  // namespace proviso
