// Bounds in chosen symbols, relations solved, common divisors: by example, and
// at every point of small boxes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solver/solve.h"
#include "solver/symbolic_bounds.h"
#include "tests/solver/support.h"
#include "tests/support/random_expr.h"

namespace proviso {
namespace {

using testing::Case;
using ::testing::HasSubstr;

std::string text(const std::optional<Expr>& e) {
  return e ? to_string(*e) : "none";
}

struct BoundCase {
  const char* symbols;
  const char* facts;
  const char* e;
  const char* over;
  const char* lower;
  const char* upper;
};

TEST(SymbolicBounds, AreOverTheChosenSymbols) {
  const BoundCase cases[] = {
      {"n:1.. m:1..", "n <= m", "n", "m", "1", "m"},
      {"n:1.. m:1..", "n <= m", "2*n + m", "m", "m + 2", "3*m"},
      {"n:1..", "", "n", "", "1", "none"},
      {"n:1..64", "", "n", "", "1", "64"},
      {"n:1..64 m:1..", "n <= m", "n", "m", "1", "Min(64, m)"},
      {"tile:1.. tiles:1.. n:1.. pad:0..", "n <= tile*tiles; pad < tile",
       "n + pad", "tile tiles", "1", "tile*tiles + tile - 1"},
      {"n:1.. m:0..", "n <= m", "n//8", "m", "0", "(m//8)"},
      {"n:1.. m:0..", "", "Mod(n, 8) + m", "m", "m", "m + 7"},
      {"n:1.. m:1.. k:1..", "n <= k", "n*m", "m k", "m", "k*m"},
      {"n:1.. m:1.. k:1..", "n <= k; m <= 8", "n*m", "k", "1", "8*k"},
      {"a:0.. b:0.. s:0..", "a + b == s", "a + b", "s", "s", "s"},
      {"a:0.. b:0.. s:0..", "a + b == s", "a", "s", "0", "s"},
      {"a:0.. b:0.. c:0.. n:0..", "a <= b; b <= c; c <= n", "a + b + c", "n",
       "0", "3*n"},
      {"a:0.. n:0.. m:0..", "a <= n; a <= m", "Max(a, n)", "n m", "n", "n"},
      {"a:0.. n:0.. m:0..", "a <= n; a <= m", "a", "n m", "0", "Min(m, n)"},
      {"n:.. m:..", "3*n <= m", "n", "m", "none", "(m//3)"},
      {"n:.. m:..", "3*n <= m", "6*n", "m", "none", "2*m"},
      {"n:.. m:..", "2*n >= m", "n", "m", "-((-m)//2)", "none"},
  };
  for (const BoundCase& c : cases) {
    Case here(c.symbols, c.facts);
    std::vector<Expr> over;
    for (const std::string& name : testing::split(c.over, ' '))
      over.push_back(here.p(name));
    const Expr e = here.p(c.e);
    const auto low = lower_bound(here.context, e, over);
    const auto high = upper_bound(here.context, e, over);
    // The same value, however it is written.
    const auto expect = [&](const std::optional<Expr>& got,
                            const char* wanted) {
      if (!got || std::string(wanted) == "none") {
        EXPECT_EQ(text(got), wanted) << c.e << " given " << c.facts;
        return;
      }
      EXPECT_EQ(here.context.equivalent(*got, here.p(wanted)), Verdict::kYes)
          << c.e << " given " << c.facts << ": " << text(got) << " for "
          << wanted;
    };
    expect(low, c.lower);
    expect(high, c.upper);
  }
}

TEST(SymbolicBounds, NameTheFactsThatImplyThem) {
  Case c("n:1.. m:1.. k:1..", "n <= m; k <= 7");
  std::vector<FactId> facts;
  const std::vector<Expr> over = {c.p("m")};
  EXPECT_EQ(text(upper_bound(c.context, c.p("2*n"), over, &facts)), "2*m");
  EXPECT_EQ(facts, std::vector<FactId>{3});
}

TEST(SymbolicBounds, MisuseIsAnError) {
  Case c("n:1..", "");
  ExprPool other;
  const Expr n = c.p("n"), theirs = parse(other, "n");
  EXPECT_THROW(upper_bound(c.context, theirs, {n}), Error);
  EXPECT_THROW(upper_bound(c.context, n, {theirs}), Error);
  EXPECT_THROW(upper_bound(c.context, n, {n + 1}), Error);
  EXPECT_THROW(upper_bound(c.context, n, {Expr()}), Error);
  EXPECT_THROW(upper_bound(c.context, Expr(), {n}), Error);
  EXPECT_THROW(upper_bound(c.context, c.p("n > 2"), {n}), Error);
}

// Every point of [-3, 5]**3 at which the facts hold and e is defined.
template <typename Visit>
void each_point(const std::vector<Expr>& symbols,
                const std::vector<Expr>& facts, Visit visit) {
  for (int i = 0; i < 9 * 9 * 9; ++i) {
    Assignment point;
    for (size_t s = 0, rest = size_t(i); s < 3; ++s, rest /= 9)
      point.set(symbols[s], Int(int64_t(rest % 9) - 3));
    const bool holds = std::ranges::all_of(
        facts, [&](Expr fact) { return evaluate(fact, point).is_true(); });
    if (holds) visit(point);
  }
}

TEST(SymbolicBounds, HoldAtEveryPoint) {
  const char* rounds = std::getenv("PROVISO_TEST_SESSIONS");
  const int count = rounds ? std::atoi(rounds) : 400;
  int found = 0;
  for (int round = 0; round < count; ++round) {
    ExprPool pool;
    std::vector<Expr> symbols;
    for (const char* name : {"u0", "u1", "u2"})
      symbols.push_back(pool.symbol(name, SymbolKind::kUnbackedInt));
    testing::RandomExpr random(pool, symbols, static_cast<uint32_t>(round));
    Context context(pool, testing::native_only());
    std::vector<Expr> facts;
    for (Expr s : symbols) {
      facts.push_back(ge(s, -3));
      if (random.below(2)) facts.push_back(le(s, 5));
    }
    for (int i = random.below(4); i > 0; --i)
      facts.push_back(le(random.integer(1), random.integer(1)));
    for (Expr fact : facts) context.assume(fact);
    const Expr e = random.integer(1 + random.below(3));
    std::vector<Expr> over;
    for (Expr s : symbols) {
      if (random.below(2)) over.push_back(s);
    }
    const auto low = lower_bound(context, e, over);
    const auto high = upper_bound(context, e, over);
    found += low.has_value() + high.has_value();
    for (const auto& end : {low, high}) {
      if (!end) continue;
      for (Expr s : free_symbols(*end))
        EXPECT_EQ(std::ranges::count(over, s), 1);
    }
    each_point(symbols, facts, [&](const Assignment& point) {
      const Evaluation value = evaluate(e, point);
      if (!value.defined()) return;
      if (low) {
        EXPECT_TRUE(evaluate(le(*low, e), point).is_true())
            << "seed " << round << ": " << *low << " <= " << e << " at "
            << point.to_string();
      }
      if (high) {
        EXPECT_TRUE(evaluate(le(e, *high), point).is_true())
            << "seed " << round << ": " << e << " <= " << *high << " at "
            << point.to_string();
      }
    });
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(found, count / 2);
}

struct SolveCase {
  const char* facts;
  const char* relation;
  const char* solution;  // of x
};

std::string text(const std::optional<Solution>& s) {
  if (!s) return "none";
  return std::string(name_of(s->side)) + " " + to_string(s->value) +
         (s->condition.is_true() ? "" : " if " + to_string(s->condition));
}

TEST(Solve, GivesTheSymbolAndWhatElseIsNeeded) {
  const SolveCase cases[] = {
      {"", "Eq(x, n)", "== n"},
      {"", "Eq(n, x + 3)", "== n - 3"},
      {"", "Eq(4*x + 3, n)", "== ((n - 3)//4) if Eq(Mod(n, 4), 3)"},
      {"n % 4 == 3", "Eq(4*x + 3, n)", "== ((n - 3)//4)"},
      {"", "x + 1 < n", "<= n - 2"},
      {"", "2*x <= n", "<= (n//2)"},
      {"", "n <= 2*x", ">= CeilDiv(n, 2)"},
      {"", "n - 2*x <= 0", ">= CeilDiv(n, 2)"},
      {"", "~(x < n)", ">= n"},
      {"k >= 1", "x*k <= n", "<= (n//k)"},
      {"k >= 1", "Eq(x*k, n)", "== (n//k) if Eq(Mod(n, k), 0)"},
      {"", "x*k <= n", "none"},
      {"", "x*x <= n", "none"},
      {"", "x//8 >= n", ">= 8*n"},
      {"", "x//8 < n", "<= 8*n - 1"},
      {"", "Eq(x//8, n)", "none"},
      {"x % 8 == 0", "Eq(x//8, n)", "== 8*n"},
      {"", "Max(x, k) <= n", "<= n if k <= n"},
      {"", "Min(x, k) >= n", ">= n if n <= k"},
      {"", "CeilDiv(x, 8) <= n", "<= 8*n"},
      {"", "CeilDiv(x, 8) > n", ">= 8*n + 1"},
      {"", "8*CeilDiv(x, 8) <= n", "<= 8*(n//8)"},
      {"", "CeilDiv(x + 3, 8) + k <= n", "<= 8*(n - k) - 3"},
      {"k >= 1", "CeilDiv(x, k) >= n", ">= n*k - k + 1"},
      {"k >= 1", "x*k >= n", ">= CeilDiv(n, k)"},
      {"", "Eq(CeilDiv(x, 8), n)", "none"},
      {"x % 8 == 0", "Eq(CeilDiv(x, 8), n)", "== 8*n"},
      {"", "Max(x, k) >= n", "none"},
      {"", "3*(x//8) + 1 <= n", "<= 8*CeilDiv(n, 3) - 1"},
      {"", "x <= x + 1", "none"},
      {"", "Max(x//x, n) <= 0", "none"},
  };
  for (const SolveCase& c : cases) {
    Case here("x:.. n:.. k:..", c.facts);
    EXPECT_EQ(text(solve(here.context, here.p(c.relation), here.p("x"))),
              c.solution)
        << c.relation << " given " << c.facts;
  }
}

TEST(Solve, MisuseIsAnError) {
  Case c("x:.. n:..", "");
  ExprPool other;
  const Expr x = c.p("x");
  EXPECT_THROW(solve(c.context, c.p("x + n"), x), Error);
  EXPECT_THROW(solve(c.context, c.p("Ne(x, n)"), x), Error);
  EXPECT_THROW(solve(c.context, c.p("Eq(x, n) & (x < 3)"), x), Error);
  EXPECT_THROW(solve(c.context, c.p("x < n"), c.p("n + 1")), Error);
  EXPECT_THROW(solve(c.context, c.p("x < n"), parse(other, "x")), Error);
  EXPECT_THROW(solve(c.context, parse(other, "x < n"), x), Error);
  EXPECT_THROW(solve(c.context, Expr(), x), Error);
  EXPECT_THROW(solve(c.context, c.p("x < n"), Expr()), Error);
}

TEST(Solve, IsTheRelationAtEveryPoint) {
  int found = 0;
  for (uint32_t round = 0; round < 3000; ++round) {
    ExprPool pool;
    std::vector<Expr> symbols;
    for (const char* name : {"u0", "u1", "u2"})
      symbols.push_back(pool.symbol(name, SymbolKind::kUnbackedInt));
    testing::RandomExpr random(pool, symbols, round);
    Context context(pool, testing::native_only());
    std::vector<Expr> facts;
    for (Expr s : symbols) {
      facts.push_back(ge(s, random.below(2) ? 1 : -3));
      context.assume(facts.back());
    }
    static constexpr Op kRelations[] = {Op::kEq, Op::kLt, Op::kLe};
    const Expr relation =
        pool.make(kRelations[random.below(3)],
                  {random.integer(1) * (1 + random.below(3)) + symbols[0],
                   random.integer(2)});
    const auto solution = solve(context, relation, symbols[0]);
    if (!solution) continue;
    ++found;
    const Expr solved = logical_and(solution->condition,
                                    solution->side == Solution::Side::kEqual
                                        ? eq(symbols[0], solution->value)
                                    : solution->side == Solution::Side::kAtMost
                                        ? le(symbols[0], solution->value)
                                        : ge(symbols[0], solution->value));
    each_point(symbols, facts, [&](const Assignment& point) {
      const Evaluation truth = evaluate(relation, point);
      if (!truth.defined()) return;
      EXPECT_EQ(evaluate(solved, point).is_true(), truth.is_true())
          << "seed " << round << ": " << relation << " as " << solved << " at "
          << point.to_string();
    });
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(found, 300);
}

TEST(CommonDivisor, HasFactorsAndNumbers) {
  Case c("n:1.. k:1.. m:1..", "m % 8 == 0");
  const auto divisor = [&](const char* a, const char* b) {
    return to_string(common_divisor(c.context, c.p(a), c.p(b)));
  };
  EXPECT_EQ(divisor("6*n*k", "4*n"), "2*n");
  EXPECT_EQ(divisor("n*n*k + n*n", "3*n"), "n");
  EXPECT_EQ(divisor("m", "12"), "4");
  EXPECT_EQ(divisor("n + 1", "n"), "1");
  EXPECT_EQ(divisor("0", "6*n"), "6*n");
  EXPECT_EQ(divisor("0", "0"), "0");
}

}  // namespace
}  // namespace proviso
