// The facade: scopes, contradictions, bounds, simplify, errors, statistics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "solver/z3_backend.h"
#include "tests/solver/support.h"

namespace proviso {
namespace {
using namespace internal;

using testing::Case;
using ::testing::HasSubstr;

TEST(Context, ScopesForgetWhatWasAssumedInside) {
  Case c("s0:2.. s1:2..", "");
  Expr q = c.p("Eq(Mod(s0, 4), 0)");
  EXPECT_EQ(c.context.ask_quick(q), Verdict::kUnknown);
  {
    Scope scope(c.context);
    c.context.assume(c.p("Eq(Mod(s0, 8), 0)"));
    EXPECT_EQ(c.context.ask_quick(q), Verdict::kYes);
    {
      Scope inner(c.context);
      c.context.assume(c.p("Eq(s0, 12)"));
      EXPECT_TRUE(c.context.contradiction());
      EXPECT_EQ(c.context.ask_quick(q), Verdict::kUnknown);
    }
    EXPECT_FALSE(c.context.contradiction());
    EXPECT_EQ(c.context.ask_quick(q), Verdict::kYes);
    EXPECT_EQ(c.context.depth(), 1u);
  }
  EXPECT_EQ(c.context.ask_quick(q), Verdict::kUnknown);
  EXPECT_EQ(c.context.facts().size(), 2u);
}

TEST(Context, ContradictoryFactsAreNamedAndNotUsed) {
  Case c("u0:0..", "u0 > 5; u0 < 3");
  Answer answer = c.ask("u0 == 100");
  EXPECT_EQ(answer.verdict, Verdict::kUnknown);
  EXPECT_THAT(answer.reason, HasSubstr("contradictory facts"));
  EXPECT_THAT(answer.reason, HasSubstr("u0 > 5"));
  EXPECT_TRUE(answer.is_contradiction);
  EXPECT_EQ(c.context.contradiction(), (std::vector<FactId>{1, 2}));
}

TEST(Context, ContradictionsThatOnlyProofsSeeGiveNoAnswer) {
  Case c("u0:.. u1:.. u2:..", "u0 < u1; u1 < u2; u2 < u0");
  for (const char* question : {"u0 == 7", "u0 < u2"}) {
    const Answer answer = c.ask(question);
    EXPECT_EQ(answer.verdict, Verdict::kUnknown);
    EXPECT_TRUE(answer.is_contradiction);
    EXPECT_EQ(answer.facts.size(), 3u);
  }
  Case open("u0:.. u1:..", "u0 < u1");
  EXPECT_FALSE(open.ask("u0 == 7").is_contradiction);
}

TEST(Context, BoundsAreCorrelated) {
  Case c("s0:2.. u0:0.. u1:0..", "u0 + u1 <= 7; s0 <= 100");
  auto bounds = [&](const char* e) {
    return c.context.bounds(c.p(e)).to_string();
  };
  EXPECT_EQ(bounds("s0"), "[2, 100]");
  EXPECT_EQ(bounds("u0 + u1"), "[0, 7]");
  EXPECT_EQ(bounds("2*u0 + 2*u1 + 1"), "[1, 15]");
  EXPECT_EQ(bounds("s0 - Mod(s0, 8)"), "[0, 96]");
  EXPECT_EQ(bounds("Mod(s0, 8)"), "[0, 7]");
  EXPECT_EQ(bounds("Max(1, Min(u0, 5))"), "[1, 5]");
  EXPECT_EQ(bounds("u0*u0"), "[0, 49]");
  EXPECT_EQ(bounds("3"), "[3, 3]");
}

TEST(Context, SimplifyUsesWhatIsKnown) {
  Case c("s0:2.. u0:0.. s1:2..", "Eq(s1, 5); u0 < s0; Eq(Mod(s0, 8), 0)");
  auto simplified = [&](const char* e) {
    return to_string(c.context.simplify(c.p(e)));
  };
  EXPECT_EQ(simplified("s1 + s0"), "s0 + 5");
  EXPECT_EQ(simplified("Max(u0, 0)"), "u0");
  EXPECT_EQ(simplified("u0 < s0"), "True");
  EXPECT_EQ(simplified("Mod(s0, 4)"), "0");
}

TEST(Context, MachineIntegersHaveEnds) {
  SolverOptions options = testing::native_only();
  options.machine_int64 = true;
  Case machine("u0:..", "", options);
  EXPECT_EQ(machine.ask("u0 <= 9223372036854775807").verdict, Verdict::kYes);
  EXPECT_EQ(machine.ask("u0 <= 9223372036854775806").verdict,
            Verdict::kUnknown);
  Case exact("u0:..", "");
  EXPECT_EQ(exact.ask("u0 <= 9223372036854775807").verdict, Verdict::kUnknown);
}

TEST(Context, MistakesNameTheCallTheValueAndTheRemedy) {
  Case c("s0:2..", "");
  auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([&] { c.context.assume(c.p("s0 + 1")); }),
            "Context::assume: expected a boolean, got s0 + 1 (integer); "
            "compare it with something");
  EXPECT_THAT(message([&] { c.context.ask(c.p("s0")); }),
              HasSubstr("Context::ask: expected a boolean, got s0 (integer)"));
  EXPECT_THAT(message([&] { c.context.declare(c.p("s0 + 1"), Interval()); }),
              HasSubstr("Context::declare: expected a symbol"));
  EXPECT_THAT(message([&] { c.context.bounds(c.p("s0 > 1")); }),
              HasSubstr("Context::bounds: expected an integer"));
  EXPECT_THAT(message([&] { c.context.pop(); }), HasSubstr("push()"));
  EXPECT_THAT(message([&] { c.context.ask(Expr()); }), HasSubstr("null"));
  EXPECT_THAT(message([&] { (void)c.context.tier_of(c.p("s0")); }),
              HasSubstr("Context::tier_of: expected a boolean"));
  EXPECT_THAT(message([&] { (void)c.context.facts_used(c.p("s0")); }),
              HasSubstr("Context::facts_used: expected a boolean"));
  Context moved(c.pool);
  const Context to = std::move(moved);
  EXPECT_THAT(message([&] { moved.interrupt(); }), HasSubstr("moved from"));
  ExprPool other;
  EXPECT_THAT(message([&] { c.context.ask(parse(other, "s0 > 1")); }),
              HasSubstr("another ExprPool"));
}

TEST(Context, RepeatedQuestionsAreRemembered) {
  Case c("s0:2..", "");
  Expr q = c.p("s0 >= 1");
  EXPECT_EQ(c.context.ask_quick(q), Verdict::kYes);
  c.context.assume(c.p("s0 < 50"));
  EXPECT_EQ(c.context.ask_quick(q), Verdict::kYes);
  EXPECT_EQ(c.context.statistics().memo_hits, 1u);
  EXPECT_EQ(c.context.statistics().questions, 2u);
  EXPECT_THAT(c.context.statistics().to_string(), HasSubstr("ranges 1"));
}

// Whoever answers, and however often it is asked.
TEST(Context, EachQuestionIsCountedOnce) {
  Case c("s0:2.. u0:.. u1:..", "u0 + 3*u1 == 7; s0 % 4 == 0");
  const auto all = [&] {
    const Statistics& s = c.context.statistics();
    uint64_t sum = s.memo_hits;
    for (Tier tier : all_tiers()) sum += s.decided[tier];
    return sum;
  };
  for (int round = 0; round < 3; ++round) {
    for (const char* text :
         {"s0 > 1", "s0 % 2 == 0", "u0*u1 == 3", "u0 < 5", "u0 == 7 - 3*u1",
          "u0*u0 >= u1", "u0 // u1 == 2"}) {
      const Expr question = c.p(text);
      if (round != 1) (void)c.context.ask(question);
      if (round != 0) (void)c.context.ask_quick(question);
      (void)c.context.facts_used(question);
      EXPECT_EQ(all(), c.context.statistics().questions) << text;
    }
  }
  c.context.assume(c.p("u0 < 0"));
  c.context.assume(c.p("u0 > 0"));
  (void)c.context.ask(c.p("u0 < 5"));
  (void)c.context.ask_quick(c.p("u0 < 5"));
  EXPECT_EQ(all(), c.context.statistics().questions);
}

TEST(Context, ABudgetMayBeAnyNumber) {
  for (const uint64_t budget : {uint64_t{1} << 62, uint64_t{1} << 63,
                                std::numeric_limits<uint64_t>::max()}) {
    ExprPool pool;
    Context context(pool, {.use_z3 = false, .budget = budget});
    context.assume(parse(pool, "x + y <= 7"));
    context.assume(parse(pool, "x - y <= 3"));
    EXPECT_EQ(context.ask(parse(pool, "2*x + y <= 20")).verdict, Verdict::kYes)
        << budget;
  }
}

TEST(Context, AForgottenFactTakesItsAnswersAlong) {
  Case c("s0:2..", "");
  Expr q = c.p("s0 < 50");
  c.context.push();
  c.context.assume(q);
  EXPECT_EQ(c.context.ask_quick(q), Verdict::kYes);
  c.context.pop();
  EXPECT_EQ(c.context.ask_quick(q), Verdict::kUnknown);
  c.context.push();
  c.context.assume(c.p("s0 > 60"));
  EXPECT_EQ(c.context.ask_quick(q), Verdict::kNo);
  c.context.pop();
}

TEST(Context, SmtLibNamesEachFact) {
  Case c("s0:2..", "Eq(Mod(s0, 8), 0)");
  std::string text = c.context.to_smtlib(c.p("Eq(Mod(s0, 4), 0)"));
  EXPECT_THAT(text, HasSubstr("(declare-const s0 Int)"));
  EXPECT_THAT(text, HasSubstr("; fact 1: Eq(Mod(s0, 8), 0)"));
  EXPECT_THAT(text, HasSubstr("(check-sat)"));
}

// Not a benchmark: it fails when assuming or asking turns quadratic.
TEST(Context, ThousandsOfFactsAreAssumedOneByOne) {
  auto begin = std::chrono::steady_clock::now();
  ExprPool pool;
  Context context(pool, testing::native_only());
  std::vector<Expr> s;
  for (int i = 0; i < 2000; ++i) {
    s.push_back(pool.symbol("s" + std::to_string(i), SymbolKind::kBackedSize));
    context.declare(s.back(), Interval::at_least(2));
  }
  for (size_t i = 0; i + 1 < s.size(); ++i) {
    context.assume(le(s[i], s[i + 1] * 4));
  }
  EXPECT_EQ(context.ask_quick(ge(s[1000] * 4, s[999])), Verdict::kYes);
  EXPECT_EQ(context.ask_quick(ge(s[7] + s[9], 4)), Verdict::kYes);
  auto seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
  EXPECT_LT(seconds.count(), 5.0);  // measured well below 0.2
}

#ifdef PROVISO_WITH_Z3
TEST(Z3, DecidesWhatTheNativeTiersLeaveOpen) {
  // A strip without integers (Pugh, The Omega Test, 1991).
  const char* facts =
      "11*u0 + 13*u1 >= 27; 11*u0 + 13*u1 <= 45; "
      "7*u0 - 9*u1 >= -10";
  const char* question = "7*u0 - 9*u1 > 4";
  Case native("u0:.. u1:..", facts);
  EXPECT_EQ(native.ask(question).verdict, Verdict::kUnknown);
  Case c("u0:.. u1:..", facts, SolverOptions{});
  Answer answer = c.ask(question);
  EXPECT_EQ(answer.verdict, Verdict::kYes);
  EXPECT_EQ(answer.tier, Tier::kZ3);
}

TEST(Z3, FindsPointsWhereNoneWereSearched) {
  const char* symbols = "u0:-3.. u1:-3..0 u2:2..5";
  const char* question =
      "Max(u0, u1) - 2 + u2 + CeilDiv(u1, 3)//16 >= "
      "Min(Mod(u1, u2) + Max(u0, 1), Mod(u0*u0, 7))";
  SolverOptions options;
  options.search_models = options.restart = options.use_z3 = false;
  Case native(symbols, "", options);
  Answer without = native.ask(question);
  EXPECT_FALSE(without.counterexample && without.witness);
  options.use_z3 = true;
  Case c(symbols, "", options);
  Answer answer = c.ask(question);
  EXPECT_EQ(answer.verdict, Verdict::kUnknown);
  ASSERT_TRUE(answer.counterexample && answer.witness);
  for (const Fact& fact : c.context.facts()) {
    EXPECT_TRUE(evaluate(fact.condition, *answer.counterexample).is_true());
  }
  EXPECT_TRUE(
      evaluate(parse(c.pool, question), *answer.counterexample).is_false());
}

TEST(Z3, StopsAtItsLimit) {
  // One of its parts doubles the digits of bounds here and never looks up.
  const std::string big =
      "(((-2*(u0*u1) + 2*((u0*u0)*u0)) + "
      "3*((u1*u1)*u2))//5)";
  const std::string rest = "Mod((u0 + 2*u2) + 3*(u0*u1), 4)";
  Case c("u0:1.. u1:1.. u2:-1..8", big + " <= 52 + 1; " + rest + " <= 1 + 2");
  std::vector<Expr> facts;
  for (const Fact& f : c.context.facts()) facts.push_back(f.condition);
  const std::string a = "((52 + 1) - " + big + ")";
  const std::string b = "((1 + 2) - " + rest + ")";
  Expr question =
      c.p("((1*" + a + " + 1*" + b + ") + " + a + "*" + b + ") + 0 < 0");
  EXPECT_NE(Z3Backend().implied(facts, question, false, 400000).verdict,
            Z3Backend::Result::kYes);
}
#endif

// 2**40 is a shift and an exponent like any other: no value is too large.
TEST(Context, HugeShiftsAndExponentsAreDefined) {
  for (const char* fact :
       {"(u0 << 2**40) == 0", "(u0 >> 2**40) == 0", "u0*2**(2**40) == 0",
        "u0//2**(2**40) == 0", "u0**(2**40) == 0"}) {
    Case c("u0:..", fact);
    EXPECT_FALSE(c.context.contradiction()) << fact;
    EXPECT_NE(c.ask("u0 == 0").verdict, Verdict::kNo) << fact;
  }
  Case c("u0:..", "");
  EXPECT_EQ(c.ask("1**(2**40) == 1").verdict, Verdict::kYes);
}

}  // namespace
}  // namespace proviso
