// What Context::simplify makes of expressions under facts: the classes of the
// peers' tests, a row or two of each.
#include <gtest/gtest.h>

#include "sym/cost.h"
#include "tests/solver/support.h"

namespace proviso {
namespace {

struct Row {
  const char* symbols;
  const char* facts;
  const char* input;
  const char* cheapest;
};

constexpr Row kRows[] = {
    // low parts that ranges or divisibility hold within a block
    {"y:0..31", "", "(32*x + y)//64", "x//2"},
    {"j:0..7", "Eq(Mod(i, 8), 0)", "(i + j)//8", "i//8"},
    {"", "Eq(Mod(s0, 8), 0)", "8*((s0 + 7)//8)", "s0"},
    {"", "Eq(Mod(x, 3), 2)", "(x + 5)//3", "x//3 + 2"},
    {"", "Eq(Mod(x, 2), 1)", "(x - 1)//2", "x//2"},
    {"", "Eq(Mod(x, 3), 2)", "(x - 1)//3", "x//3"},
    {"", "Eq(Mod(x, 4), 3)", "(x - 3)//4", "x//4"},
    {"", "Eq(Mod(x, 6), 5)", "(x - 1)//3", "x//3"},
    {"", "Eq(Mod(x, 4), 1)", "(x - 1)//8", "x//8"},
    {"", "Eq(Mod(x, 4), 1)", "(x - 1)//2", "x//2"},
    {"", "Eq(Mod(x, 4), 1)", "(x - 2)//4", "(x - 2)//4"},
    {"v:0..1", "", "8*x + 4*v < 16", "x < 2"},
    {"tx:0..31 ty:0..7 v:0..7", "",
     "5632*x + Mod(((z*8 + ty)*32 + tx)*8 + v, 5632) < 11008",
     "22*x + Mod(8*z + ty, 22) < 43"},
    // divisors whose sign is known
    {"a:1.. b:1..", "", "Mod(x//10, a) + a*Mod(x//(10*a), b)",
     "Mod(x//10, a*b)"},
    {"a:1.. b:1.. c:1..", "", "((x//a)//b)//c - x//(a*b*c)", "0"},
    {"p:1..", "", "Mod(-2, p + 3)", "p + 1"},
    {"p:1..", "", "Mod(-p - 5, -p - 3)", "-2"},
    {"", "Ne(t, 0)", "Mod(-Mod(x, t), -2*t)", "-Mod(x, t)"},
    {"", "Ne(t, 0)", "Mod(Mod(x, t), 2*t)", "Mod(x, t)"},
    {"", "Ne(a + b, 0)", "x - (a + b)*(x//(a + b))", "Mod(x, a + b)"},
    // bounds by symbols, which take a proof
    {"x:0.. y:0..31", "x < n", "Mod(32*x + y, 32*n)", "32*x + y"},
    {"x:0.. y:0..31", "x < n*m", "Mod(32*x + y, 32*n*m)", "32*x + y"},
    {"x:0.. y:0..", "x < n;y < m", "Mod(m*x + y, m*n)", "m*x + y"},
    {"x:0.. y:0..31", "x < n", "(32*x + y)//(32*n)", "0"},
    {"x:0.. y:0..31 z:0..", "x < n", "(32*n*z + 32*x + y)//(32*n)", "z"},
    // equalities that are known, either way round
    {"", "Eq(n, 4*m)", "n - 4*m", "0"},
    {"", "Eq(n, 4*m)", "4*m + 1", "n + 1"},
    {"", "Eq(a*b, c)", "a*b*d + c", "c*d + c"},
    {"", "Eq(a + b, 10)", "a + b + c", "c + 10"},
    {"n:8..8", "", "n*x + n", "8*(x + 1)"},
    // what ask() decides, within and on the whole
    {"", "x < y", "2*Min(x, y)", "2*x"},
    {"x:1..100 y:1..", "", "x*y + 1 > 1", "True"},
    {"x:0..7", "", "Mod(x, 8) + x//8", "x"},
    {"x:0..9", "", "Where(x < 20, x, y)", "x"},
    {"x:-1..0 y:-1..0", "", "Min(x | y, 0)", "x | y"},
    {"", "x >= 3", "(x > 1) & (y < 2)", "y < 2"},
    // bits with masks
    {"", "Eq(Mod(x, 8), 0)", "y + (x & -8)", "x + y"},
    {"", "Eq(Mod(x, 8), 0)", "y + (x | 7)", "x + y + 7"},
    {"", "Eq(Mod(x, 8), 3)", "x & -8", "x - 3"},
    {"", "", "x & -8", "x & -8"},
    // rounding towards 0
    {"x:0..", "", "Where(x >= 0, x//3, -((-x)//3))", "x//3"},
    {"", "", "Where(x >= 0, x//2, -((-x)//2)) > 3", "x > 7"},
    {"", "",
     "Max(Where(x >= 0, x//9, -((-x)//9)), Where(y >= 0, y//9, -((-y)//9)))",
     "Where(Max(x, y) >= 0, Max(x, y)//9, CeilDiv(Max(x, y), 9))"},
    // nothing is better than what is written
    {"", "", "CeilDiv(x, 16)", "CeilDiv(x, 16)"},
    {"", "", "x*(y + z)", "x*(y + z)"},
    {"", "", "(x | y) + LShift(x, 2)", "(x | y) + LShift(x, 2)"},
    {"", "", "ModularIndexing(x, 3, 5)", "ModularIndexing(x, 3, 5)"},
};

TEST(SimplifyUnderFacts, IsAsCheapAsTheRowSaysAndEqual) {
  for (const Row& row : kRows) {
    testing::Case c(row.symbols, row.facts);
    const Expr e = c.p(row.input), form = c.context.simplify(e);
    EXPECT_LE(cost(form), cost(c.p(row.cheapest)))
        << row.input << " -> " << form << ", not " << row.cheapest;
    EXPECT_NE(c.context.ask(eq(e, form)).verdict, Verdict::kNo)
        << row.input << " -> " << form;
    EXPECT_TRUE(c.context.simplify(form) == form) << form;
  }
}

TEST(SimplifyUnderFacts, OfContradictoryFactsIsTheCanonicalForm) {
  testing::Case c("x:5..", "x < 3");
  EXPECT_EQ(to_string(c.context.simplify(c.p("x + x"))), "2*x");
}

TEST(SimplifyUnderFacts, FollowsPushAndPop) {
  testing::Case c("", "");
  const Expr e = c.p("Max(x, y)");
  EXPECT_EQ(to_string(c.context.simplify(e)), "Max(x, y)");
  {
    Scope scope(c.context);
    c.context.assume(c.p("x < y"));
    EXPECT_EQ(to_string(c.context.simplify(e)), "y");
  }
  EXPECT_EQ(to_string(c.context.simplify(e)), "Max(x, y)");
}

// bounds() reads products and bit operations as they are written, and asks.
TEST(Bounds, AreAsNarrowAsAskProves) {
  struct BoundsRow {
    const char *symbols, *facts, *e, *bounds;
  };
  constexpr BoundsRow kBounds[] = {
      {"", "", "Mod(n, 8)*Mod(k, 8)*Mod(n, 4)", "[0, 147]"},
      {"x:-1..0 y:-1..0", "", "x | y", "[-1, 0]"},
      {"x:0..5 y:0..9", "", "x ^ y", "[0, 13]"},
      {"x:0..5 y:0..9", "", "x & y", "[0, 5]"},
      {"x:0.. y:0..", "x + y <= 7", "x*y", "[0, 12]"},
      {"x:0..9", "Ne(x, 9)", "x + 1", "[1, 9]"},
      {"", "Eq(Mod(x, 3), 1); x > 2; x < 9", "x", "[4, 7]"},
  };
  for (const BoundsRow& row : kBounds) {
    testing::Case c(row.symbols, row.facts);
    EXPECT_EQ(c.context.bounds(c.p(row.e)).to_string(), row.bounds) << row.e;
  }
}

}  // namespace
}  // namespace proviso
