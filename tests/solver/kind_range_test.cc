// What a symbol's kind says of it without a fact: sizes are at least 0.
#include "solver/kind_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solver/z3_backend.h"
#include "tests/solver/support.h"
#include "tests/support/random_expr.h"

namespace proviso {
namespace {
using namespace internal;

using testing::Case;
using ::testing::HasSubstr;
using testing::native_only;
using testing::RandomExpr;

TEST(KindRange, ASizeIsNotNegative) {
  Case c("", "");
  for (const char* yes : {"s0 >= 0", "s0*s1 >= 0", "Max(s0, -3) == s0",
                          "(s0 + 7)//8 >= 0", "abs(s0) == s0"}) {
    const Answer answer = c.ask(yes);
    EXPECT_EQ(answer.verdict, Verdict::kYes) << yes;
    EXPECT_TRUE(answer.facts.empty()) << yes;
  }
  EXPECT_EQ(c.ask("s0 < 0").verdict, Verdict::kNo);
  EXPECT_EQ(c.ask("s0 > 0").verdict, Verdict::kUnknown);
  EXPECT_EQ(c.ask("n >= 0").verdict, Verdict::kUnknown);
  EXPECT_EQ(c.ask("u0 >= 0").verdict, Verdict::kUnknown);
  EXPECT_EQ(c.context.bounds(c.p("s0")), Interval::at_least(0));
  EXPECT_EQ(to_string(c.context.simplify(c.p("Max(s0, 0)"))), "s0");
}

TEST(KindRange, ATruthValueIsZeroOrOne) {
  ExprPool pool;
  Context context(pool, native_only());
  const Expr u = pool.symbol("u0", SymbolKind::kUnbackedBool);
  EXPECT_EQ(context.bounds(u), Interval(0, 1));
  EXPECT_EQ(context.ask(parse(pool, "u0*u0 == u0")).verdict, Verdict::kYes);
}

TEST(KindRange, ItIsKnownOfWhatAnEqualitySays) {
  Case c("", "s0 == u0 - 3");
  const Answer answer = c.ask("u0 >= 3");
  EXPECT_EQ(answer.verdict, Verdict::kYes);
  EXPECT_EQ(answer.facts.size(), 1u);
}

TEST(KindRange, NegativeFactsContradictIt) {
  Case c("", "");
  c.context.declare(c.p("s0"), Interval(-5, -1), {"negative"});
  EXPECT_TRUE(c.context.contradiction());
}

TEST(KindRange, ADeclaredNameOfNegativeNumbersIsNoSize) {
  for (const char* text : {"s0 in [-5, 9]", "s0 in [-int_oo, 9]"}) {
    ExprPool pool;
    const Expr s0 = declared_symbol(pool, parse_range(text));
    EXPECT_EQ(s0.symbol().kind, SymbolKind::kBackedInt) << text;
    EXPECT_EQ(declared_symbol(pool, parse_range("s0 in [2, 9]")), s0);
  }
  ExprPool pool;
  const Expr s0 = declared_symbol(pool, parse_range("s0 in [0, int_oo]"));
  EXPECT_EQ(s0.symbol().kind, SymbolKind::kBackedSize);
  EXPECT_EQ(declared_symbol(pool, parse_range("s0 in [-4, 9]")), s0);
}

TEST(KindRange, SmtlibSaysItToo) {
  Case c("", "s0 < s1");
  EXPECT_THAT(c.context.to_smtlib(c.p("s1 > 0")),
              HasSubstr("(assert (<= 0 s0))"));
}

// Answers without a fact, beside all points of a box and Z3's.
TEST(KindRange, AnswersHoldAtEveryPoint) {
  constexpr int kSide = 7;
  int yes = 0, no = 0;
  for (uint32_t seed = 1; seed <= 1500; ++seed) {
    ExprPool pool;
    const Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize);
    const Expr s1 = pool.symbol("s1", SymbolKind::kBackedSize);
    RandomExpr random(pool, {s0, s1}, seed);
    SolverOptions options;
    options.use_z3 = Z3Backend::is_built() && seed % 5 == 0;
    Context context(pool, options);
    if (seed % 3 == 0) {
      const Expr fact = random.boolean(1);
      context.assume(fact);
      if (context.contradiction()) continue;
    }
    const Expr question = random.boolean(2);
    const Answer answer = context.ask(question);
    for (const auto& point : {answer.witness, answer.counterexample}) {
      if (!point) continue;
      for (const auto& [symbol, value] : point->entries())
        EXPECT_GE(std::get<Int>(value), Int(0)) << seed;
    }
    if (answer.verdict == Verdict::kUnknown) continue;
    ++(answer.verdict == Verdict::kYes ? yes : no);
    for (int i = 0; i < kSide * kSide; ++i) {
      Assignment point;
      point.set(s0, Int(i / kSide));
      point.set(s1, Int(i % kSide));
      bool holds = true;
      for (const Fact& fact : context.facts())
        holds = holds && evaluate(fact.condition, point).is_true();
      if (!holds) continue;
      const Evaluation value = evaluate(question, point);
      EXPECT_TRUE(answer.verdict == Verdict::kYes ? value.is_true()
                                                  : value.is_false())
          << "seed " << seed << ": " << to_string(question) << " at "
          << point.to_string();
    }
  }
  EXPECT_GT(yes, 150);
  EXPECT_GT(no, 100);
}

}  // namespace
}  // namespace proviso
