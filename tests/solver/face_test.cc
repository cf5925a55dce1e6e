// What programs lean on beside answers: moves, ids of facts, reasons of bounds,
// ranges with a step, the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sym/operators.h"
#include "tests/solver/support.h"

namespace proviso {
namespace {

using testing::Case;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ids = std::vector<FactId>;

TEST(Face, AContextIsMoveAssigned) {
  ExprPool pool, other;
  const Expr n = pool.symbol("n", SymbolKind::kBackedSize);
  const Expr k = other.symbol("k", SymbolKind::kBackedSize);
  Context a(pool), b(other);
  a.assume(n >= 8);
  b.assume(k >= 9);
  a = std::move(b);
  EXPECT_EQ(&a.pool(), &other);
  EXPECT_EQ(a.ask_quick(k > 8), Verdict::kYes);
  EXPECT_THROW((void)b.facts(), Error);
  b = Context(pool);
  EXPECT_EQ(b.ask_quick(n >= 8), Verdict::kUnknown);
  std::vector<Context> many;  // as a container moves them about
  for (int i = 0; i < 20; ++i) many.emplace_back(pool).assume(n >= i);
  std::ranges::reverse(many);
  EXPECT_EQ(many.front().ask_quick(n >= 19), Verdict::kYes);
}

TEST(Face, AScopeOfAContextThatIsGivenUpDoesNothing) {
  ExprPool pool;
  const Expr n = pool.symbol("n", SymbolKind::kBackedSize);
  Context a(pool);
  {
    Scope scope(a);
    a = Context(pool);
    a.push();
    a.assume(n >= 3);
  }
  EXPECT_EQ(a.depth(), 1u);
  EXPECT_EQ(a.ask_quick(n >= 3), Verdict::kYes);
  a.pop();
}

TEST(Face, NoTwoFactsHaveOneId) {
  ExprPool pool;
  const Expr n = pool.symbol("n", SymbolKind::kBackedSize);
  Context context(pool, testing::native_only());
  const FactId first = context.assume(n >= 1, {"first"});
  context.push();
  const FactId inner = context.assume(n >= 2, {"inner"});
  EXPECT_EQ(context.ask(n >= 2).facts, Ids{inner});
  context.pop();
  const FactId later = context.assume(n >= 3, {"later"});
  EXPECT_LT(first, inner);
  EXPECT_LT(inner, later);
  EXPECT_THROW((void)context.fact(inner), Error);
  EXPECT_EQ(context.fact(later).origin.text, "later");
  EXPECT_EQ(context.ask(n >= 2).facts, Ids{later});

  Context clone = context.clone();
  const FactId here = context.assume(n <= 50), there = clone.assume(n <= 60);
  EXPECT_NE(here, there);
  EXPECT_EQ(clone.fact(first).origin.text, "first");
  EXPECT_THROW((void)clone.fact(here), Error);
  EXPECT_EQ(clone.ask(n < 61).facts, Ids{there});
  EXPECT_EQ(context.ask(n < 61).facts, Ids{here});  // and back again
  EXPECT_EQ(context.facts_used(n < 61), Ids{here});
  clone.assume(n < 3);
  ASSERT_TRUE(clone.contradiction());
  EXPECT_EQ(clone.fact(clone.contradiction()->front()).origin.text, "later");
}

TEST(Face, AFactSaysInWhichScopeItIs) {
  ExprPool pool;
  const Expr n = pool.symbol("n", SymbolKind::kBackedSize);
  Context context(pool);
  context.assume(n >= 1);
  context.push();
  Context clone = context.clone();
  clone.assume(n >= 2);
  clone.push();
  clone.push();
  clone.assume(n >= 3);
  std::vector<uint32_t> depths;
  for (const Fact& fact : clone.facts()) depths.push_back(fact.depth);
  EXPECT_THAT(depths, ElementsAre(0u, 1u, 3u));
}

// --- reasons

// Facts named for a result give at least as much alone.
struct Reasons {
  Case c{"n:1..100 m:1..", "m <= n; m % 8 == 0; k == 3*m; j >= 5"};
  Ids facts;

  Context alone() {
    Context fresh(c.pool, testing::native_only());
    for (FactId id : facts) fresh.assume(c.context.fact(id).condition);
    return fresh;
  }
};

TEST(Face, BoundsNameTheirFacts) {
  Reasons r;
  EXPECT_EQ(r.c.context.bounds(r.c.p("m"), &r.facts).to_string(), "[8, 96]");
  EXPECT_EQ(r.alone().bounds(r.c.p("m")).to_string(), "[8, 96]");
  EXPECT_THAT(r.facts, ::testing::Not(::testing::Contains(FactId{5})));
  EXPECT_EQ(r.c.context.bounds(r.c.p("m*0 + 4"), &r.facts).to_string(),
            "[4, 4]");
  EXPECT_TRUE(r.facts.empty());
}

TEST(Face, DivisorsValuesAndFormsNameTheirFacts) {
  Reasons r;
  EXPECT_EQ(r.c.context.multiple_of(r.c.p("k"), &r.facts), Int(24));
  EXPECT_THAT(r.facts, ElementsAre(3u, 4u));
  EXPECT_EQ(r.alone().multiple_of(r.c.p("k")), Int(24));

  r.c.context.assume(r.c.p("n <= 20"));
  const auto values = r.c.context.values(r.c.p("m"), 64, &r.facts);
  ASSERT_TRUE(values);
  EXPECT_THAT(*values, ElementsAre(Int(8), Int(16)));
  EXPECT_EQ(r.alone().values(r.c.p("m")), values);

  const Expr e = r.c.p("m - Mod(m, 8)");
  EXPECT_EQ(to_string(r.c.context.simplify(e, &r.facts)), "m");
  EXPECT_EQ(to_string(r.alone().simplify(e)), "m");
  EXPECT_THAT(r.facts, ElementsAre(3u));

  EXPECT_EQ(r.c.context.simplify(r.c.p("n"), &r.facts), r.c.p("n"));
  EXPECT_TRUE(r.facts.empty());
}

TEST(Face, WhatContradictsIsTheReasonWhereNothingIsLeft) {
  Case c("n:1..9", "n > 20");
  Ids facts;
  EXPECT_TRUE(c.context.bounds(c.p("n"), &facts).is_empty());
  EXPECT_THAT(facts, ElementsAre(0u, 1u));
}

// --- ranges with a step

TEST(Face, RangesHaveStartStopAndStep) {
  Case c("n:1..4 m:0.. k:..", "Mod(m, 8) == 3; Mod(k, 6) == 2");
  const auto range = [&](const char* e) {
    return c.context.strided(c.p(e)).to_string();
  };
  const auto strided = [](const Interval& span, int step, int residue) {
    return Strided(span, step, residue).to_string();
  };
  EXPECT_EQ(range("16*n + 1"), strided({17, 65}, 16, 1));
  EXPECT_EQ(range("m"), strided(Interval::at_least(3), 8, 3));
  EXPECT_EQ(range("2*m + 1"), strided(Interval::at_least(7), 16, 7));
  EXPECT_EQ(range("k + m"), strided(Interval(), 2, 1));
  EXPECT_EQ(range("n"), strided({1, 4}, 1, 0));
  EXPECT_TRUE(c.context.strided(c.p("n - n + 7")).is_point());
  EXPECT_TRUE(c.context.strided(c.p("16*n + 1")).contains(33));
  EXPECT_FALSE(c.context.strided(c.p("16*n + 1")).contains(34));
  Ids facts;
  c.context.strided(c.p("m"), &facts);
  EXPECT_THAT(facts, ElementsAre(1u, 3u));
}

TEST(Face, RangesWithAStepAreDeclared) {
  ExprPool pool;
  const Expr n = pool.symbol("n", SymbolKind::kBackedSize);
  Context context(pool);
  context.declare(n, Strided({16, 100}, 16, 0));
  EXPECT_EQ(context.strided(n), Strided({16, 96}, 16, 0));
  EXPECT_EQ(context.ask_quick(n % 16 == 0), Verdict::kYes);
  EXPECT_THAT(*context.values(n), ElementsAre(Int(16), Int(32), Int(48),
                                              Int(64), Int(80), Int(96)));
  context.declare(n, Strided::point(32));
  EXPECT_EQ(context.ask_quick(n == 32), Verdict::kYes);
  EXPECT_THROW(context.declare(n + 1, Strided()), Error);
}

// --- the log

TEST(Face, TheLogHasEachCallOfAContextAndItsClones) {
  ExprPool pool;
  const Expr n = pool.symbol("n", SymbolKind::kBackedSize);
  Context context(pool, {.budget = 20000});
  context.assume(n >= 2);
  context.push();
  std::vector<std::string> lines;
  context.set_log([&](std::string_view line) { lines.emplace_back(line); });
  context.declare(n, Interval(1, 64));
  (void)context.ask_quick(n >= 1);
  (void)context.ask(n >= 3);
  (void)context.bounds(n + 1);
  {
    Context clone = context.clone();
    const Scope scope(clone);
    clone.assume(n % 8 == 0);
    (void)clone.simplify(n % 4);
    (void)clone.multiple_of(n);
    (void)clone.values(n, 2);
    (void)clone.equivalent(n, n + 1);
  }
  context.pop();
  context.set_log({});
  (void)context.ask_quick(n >= 1);
  EXPECT_THAT(
      lines,
      ElementsAre("@1 pool 1", "@1 option budget 20000",
                  "@1 symbol n backed_size", "@1 assume n >= 2", "@1 push",
                  "@1 range n [1, 64]", "@1 ask quick n >= 1 ; truth valid",
                  "@1 ask prove n >= 3 ; truth open",
                  "@1 bounds n + 1 = [3, 65]", "@2 clone 1", "@2 push",
                  "@2 assume Eq(Mod(n, 8), 0)", "@2 simplify Mod(n, 4) = 0",
                  "@2 multiple_of n = 8", "@2 values 2 n = many",
                  "@2 ask quick Eq(n, n + 1) ; truth refuted", "@2 pop",
                  "@2 end", "@1 pop"));
}

TEST(Face, WhatALogAsksHasNoLine) {
  ExprPool pool;
  const Expr n = pool.symbol("n", SymbolKind::kBackedSize);
  Context context(pool);
  std::vector<std::string> lines;
  context.set_log([&](std::string_view line) {
    lines.emplace_back(line);
    EXPECT_EQ(context.ask(n >= 0).verdict, Verdict::kYes);
    EXPECT_FALSE(context.clone().bounds(n).is_empty());
  });
  EXPECT_EQ(context.ask_quick(n + 1 > n), Verdict::kYes);
  EXPECT_THAT(lines,
              ::testing::ElementsAre("@1 pool 1", "@1 symbol n backed_size",
                                     "@1 ask quick n < n + 1 ; truth valid"));
}

TEST(Face, ALogThatThrowsLeavesTheContextAsItIs) {
  ExprPool pool;
  const Expr n = pool.symbol("n", SymbolKind::kBackedSize);
  Context context(pool);
  context.set_log([](std::string_view) { throw Error("the disk is full"); });
  EXPECT_THROW(context.assume(n >= 3), Error);
  EXPECT_THROW((void)context.ask_quick(n >= 3), Error);
  context.set_log({});
  EXPECT_EQ(context.ask_quick(n >= 3), Verdict::kUnknown);
}

TEST(Face, ExpressionsAreRewritten) {
  ExprPool pool;
  const Expr e = parse(pool, "Mod(n, 8) + Mod(n + 1, 8)*2");
  int seen = 0;
  const Expr result = rewrite(e, [&](Expr node) {
    ++seen;
    return node.is(Op::kMod) ? node.arg(0) : node;
  });
  EXPECT_EQ(to_string(result), to_string(parse(pool, "n + (n + 1)*2")));
  EXPECT_EQ(seen, 9);  // each node once: n, 8, Mod, 1, n + 1, Mod, 2, *, +
}

}  // namespace
}  // namespace proviso
