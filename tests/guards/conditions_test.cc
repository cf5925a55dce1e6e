// Conditions taken apart and said again: conjuncts, guesses of relations,
// remedies; each beside the values at all points of a box.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "guards/conjuncts.h"
#include "guards/refusal.h"
#include "guards/relation_guess.h"
#include "tests/solver/support.h"
#include "tests/support/random_expr.h"

namespace proviso {
namespace {
using namespace internal;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Points {
 public:
  explicit Points(ExprPool& pool)
      : symbols{pool.symbol("u0", SymbolKind::kUnbackedInt),
                pool.symbol("u1", SymbolKind::kUnbackedInt)} {
    for (int a = -3; a <= 12; ++a) {
      for (int b = -3; b <= 12; ++b) {
        Assignment point;
        point.set(symbols[0], Int(a));
        point.set(symbols[1], Int(b));
        all.push_back(std::move(point));
      }
    }
  }
  const std::vector<Expr> symbols;
  std::vector<Assignment> all;
};

// --- conjuncts

TEST(Conjuncts, TogetherSayWhatTheConditionSays) {
  size_t several = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    ExprPool pool;
    const Points points(pool);
    testing::RandomExpr random(pool, points.symbols, seed);
    const Expr condition = random.boolean(3);
    const std::vector<Expr> parts = conjuncts(condition);
    several += parts.size() > 1;
    const Expr together = conjunction(pool, parts);
    const Expr canonical_together = canonical_conjunction(pool, parts);
    const Expr negated = negate(condition);
    for (const Assignment& point : points.all) {
      const Evaluation e = evaluate(condition, point);
      if (!e.defined()) continue;
      EXPECT_EQ(evaluate(together, point).is_true(), e.is_true())
          << condition << " at " << point.to_string();
      EXPECT_EQ(evaluate(canonical_together, point).is_true(), e.is_true())
          << condition << " at " << point.to_string();
      EXPECT_EQ(evaluate(negated, point).is_false(), e.is_true())
          << condition << " at " << point.to_string();
    }
  }
  EXPECT_GE(several, 40u);
}

TEST(Conjuncts, AreParts) {
  ExprPool pool;
  const auto p = [&](const char* text) { return parse(pool, text); };
  EXPECT_THAT(conjuncts(p("((u0 > 1) & (u1 > 2)) & ~((u0 > 9) | Eq(u1, 7))")),
              ElementsAre(p("u0 > 1"), p("u1 > 2"), negate(p("u0 > 9")),
                          negate(p("Eq(u1, 7)"))));
  EXPECT_EQ(conjunction(pool, {}), pool.boolean(true));
  EXPECT_EQ(conjunction(pool, {p("u0 > 1")}), p("u0 > 1"));
  std::vector<Expr> all = {p("u0 > 1")};
  add_once(all, p("u0 > 1"));
  add_once(all, p("u0 > 2"));
  EXPECT_THAT(all, ElementsAre(p("u0 > 1"), p("u0 > 2")));
}

// --- guesses

TEST(RelationGuess, IsTheSameUnderTheFacts) {
  size_t found = 0, none = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    ExprPool pool;
    const Points points(pool);
    std::mt19937 random(seed);
    const auto below = [&](int n) {
      return static_cast<int>(random() % unsigned(n));
    };
    Context context(pool, testing::native_only());
    for (Expr s : points.symbols)
      context.declare(s, Interval(below(4) - 3, 8 + below(5)));
    if (below(3) == 0) context.assume(le(points.symbols[0], points.symbols[1]));
    const Expr u0 = points.symbols[0], u1 = points.symbols[1];
    const Expr sides[] = {u0 * (2 + below(3)),
                          u0 + below(9) - 4,
                          mod(u0 * 3, pool.integer(4 + below(3))),
                          u0 * u1,
                          u0 - u1,
                          floor_div(u0, pool.integer(2 + below(3))),
                          max(u0, u1)};
    const Expr side = sides[below(7)], number = pool.integer(below(13) - 2);
    const Expr condition = below(3) == 0   ? eq(side, number)
                           : below(2) == 0 ? ne(side, number)
                                           : le(side, number);
    const auto guess = relations_over(context, condition, {u0, u1});
    if (!guess) {
      ++none;
      continue;
    }
    ++found;
    for (const Assignment& point : points.all) {
      bool holds = true;
      for (const Fact& fact : context.facts())
        holds = holds && evaluate(fact.condition, point).is_true();
      const Evaluation e = evaluate(condition, point);
      if (!holds || !e.defined()) continue;
      bool all = true;
      for (Expr part : *guess) all = all && evaluate(part, point).is_true();
      ASSERT_EQ(all, e.is_true())
          << condition << " as " << conjunction(pool, *guess) << " at "
          << point.to_string();
    }
  }
  std::cout << found << " guessed, " << none << " not\n";
  EXPECT_GE(found, 45u);
}

TEST(RelationGuess, SaysFactorsAndRemainders) {
  ExprPool pool;
  const auto p = [&](const char* text) { return parse(pool, text); };
  Context context(pool, testing::native_only());
  context.assume(p("u0 >= 0"));
  context.assume(p("u1 >= 0"));
  const auto guess = [&](const char* condition) {
    std::string text;
    const auto found =
        relations_over(context, p(condition), {p("u0"), p("u1")});
    if (!found) return std::string("none");
    for (Expr part : *found) text += to_string(part) + "; ";
    return text;
  };
  EXPECT_EQ(guess("Ne(8*u0*u1, 0)"), "u0 >= 1; u1 >= 1; ");
  EXPECT_EQ(guess("Eq(Mod(6*u0, 24), 0)"), "Eq(Mod(u0, 4), 0); ");
  EXPECT_EQ(guess("4*u0 <= 4000"), "u0 <= 1000; ");
  EXPECT_EQ(guess("Eq(507 - u0, 0)"), "Eq(u0, 507); ");
  EXPECT_EQ(guess("Eq(3*u0 - 3*u1, 0)"), "Eq(u0, u1); ");
  EXPECT_EQ(guess("u0*u0 + u1*u1*u1 <= 7*u0 + 50"), "none");
}

// --- remedies

SourceLocation at(const char* file, int line, const char* code) {
  SourceLocation where;
  where.file = file;
  where.line = line;
  where.code = code;
  return where;
}

TEST(Refusal, NamesEachPlace) {
  EXPECT_EQ(needed_at({}), "");
  const std::string text =
      needed_at({at("model.py", 7, "if n > 3:"), SourceLocation{},
                 at("model.py", 9, "x.view(4, -1)")});
  EXPECT_THAT(text, StartsWith("\n  needed at model.py:7 in `if n > 3:`"));
  EXPECT_THAT(text, HasSubstr("\n        and model.py:9"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(Refusal, SaysWhatToChange) {
  ExprPool pool;
  InputDim dim;
  dim.expr = pool.symbol("s0", SymbolKind::kBackedSize);
  dim.constraint.policy = DimPolicy::kStatic;
  EXPECT_THAT(size_remedy(dim, Int(3), {}), HasSubstr("static"));
  dim.constraint.policy = DimPolicy::kDynamic;
  dim.constraint.max = Int(9);
  EXPECT_THAT(size_remedy(dim, Int(12), {}), HasSubstr("widen it to allow 12"));
  EXPECT_THAT(size_remedy(dim, Int(8), {at("m.py", 7, "if n > 3:")}),
              HasSubstr("needed at m.py:7"));
  EXPECT_THAT(size_remedy(dim, Int(1), {}), HasSubstr("example of size 1"));
  dim.expr = pool.integer(1);
  dim.hint = Int(1);
  EXPECT_THAT(size_remedy(dim, Int(8), {}), HasSubstr("became a constant"));
  InputDim first, second;
  EXPECT_THAT(equal_sizes_remedy(first, second), HasSubstr("duck_shape"));
  first.constraint.name = second.constraint.name = "batch";
  EXPECT_THAT(equal_sizes_remedy(first, second), HasSubstr("Dim batch"));
  Guard guard;
  guard.origins = {at("m.py", 7, "if n > 3:")};
  EXPECT_THAT(guard_remedy(guard), HasSubstr("needed at m.py:7"));
  guard.promised = true;
  EXPECT_THAT(guard_remedy(guard), HasSubstr("promise less"));
}

}  // namespace
}  // namespace proviso
