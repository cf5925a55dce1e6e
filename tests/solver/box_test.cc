// A box says what the reasoner says, sooner: compared with every point of small
// boxes, and with a context whose facts are no box.
#include "solver/engine/box.h"

#include <gtest/gtest.h>

#include <random>

#include "solver/fixed_limits.h"
#include "sym/canonical.h"
#include "sym/cost.h"
#include "tests/solver/support.h"
#include "tests/support/random_index.h"

namespace proviso::testing {
namespace {
using namespace internal;

struct RandomBox {
  explicit RandomBox(uint32_t seed) : random(seed) {
    for (const char* name : {"x", "y", "z"}) {
      const Expr s = pool.symbol(name, SymbolKind::kUnbackedInt);
      symbols.push_back(s);
      const int low = below(12) - 4, high = low + 1 + below(12);
      const Expr from = pool.integer(low), to = pool.integer(high);
      add(logical_and(le(from, s), below(2) ? le(s, to) : lt(s, to + 1)));
      if (below(4) == 0) {
        const int m = 2 + below(2);
        add(eq(mod(s, pool.integer(m)), below(2)));
      }
    }
  }
  int below(int n) { return static_cast<int>(random() % unsigned(n)); }
  void add(Expr fact) {
    facts.push_back(canonical(fact));
    box.add(facts.back());
  }
  // Every point at which the facts hold.
  std::vector<Assignment> points() {
    std::vector<Assignment> all;
    for (int x = -4; x < 20; ++x) {
      for (int y = -4; y < 20; ++y) {
        for (int z = -4; z < 20; ++z) {
          Assignment point;
          point.set(symbols[0], Int(x));
          point.set(symbols[1], Int(y));
          point.set(symbols[2], Int(z));
          const bool holds =
              std::all_of(facts.begin(), facts.end(),
                          [&](Expr f) { return evaluate(f, point).is_true(); });
          if (holds) all.push_back(std::move(point));
        }
      }
    }
    return all;
  }
  // A context with these facts and one about other symbols, that is no range.
  Context reasoner() {
    Context context(pool, native_only());
    for (Expr fact : facts) context.assume(fact);
    context.assume(lt(pool.symbol("p", SymbolKind::kUnbackedInt),
                      pool.symbol("q", SymbolKind::kUnbackedInt)));
    return context;
  }

  std::mt19937 random;
  ExprPool pool;
  std::vector<Expr> symbols, facts;
  Box box{Interval()};
};

TEST(Box, DecidesAndBoundsWhatHoldsAtEveryPointAndTheReasonerProves) {
  size_t decided = 0, bounded = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    RandomBox r(seed);
    const std::vector<Assignment> points = r.points();
    if (!r.box.is_exact()) {
      EXPECT_TRUE(points.empty()) << seed;
      continue;
    }
    ASSERT_FALSE(points.empty()) << seed;
    Context reasoner = r.reasoner();
    RandomIndex index(r.pool, r.symbols, seed);
    for (int i = 0; i < 12; ++i) {
      const Expr question = index.boolean(1), e = index.integer(1);
      const std::optional<bool> value = r.box.decide(question);
      const std::optional<Strided> range = r.box.range_of(e);
      for (const Assignment& point : points) {
        if (value) {
          ASSERT_EQ(evaluate(question, point).is_true(), *value)
              << seed << " " << question << " at " << point.to_string();
        }
        if (range) {
          const Evaluation at = evaluate(e, point);
          ASSERT_TRUE(at.defined() && range->contains(std::get<Int>(*at.value)))
              << seed << " " << e << " at " << point.to_string();
        }
      }
      bounded += range.has_value();
      if (!value) continue;
      ++decided;
      EXPECT_EQ(reasoner.ask_quick(question),
                *value ? Verdict::kYes : Verdict::kNo)
          << seed << " " << question;
    }
  }
  EXPECT_GT(decided, 100u);
  EXPECT_GT(bounded, 100u);
}

TEST(Box, SimplifiesToWhatCostsNoMoreThanTheSearchFinds) {
  size_t decided = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RandomBox r(seed);
    if (!r.box.is_exact()) continue;
    const std::vector<Assignment> points = r.points();
    Context reasoner = r.reasoner();
    RandomIndex index(r.pool, r.symbols, seed);
    for (int i = 0; i < 8; ++i) {
      const Expr e = index.integer(i % 2);
      const std::optional<Expr> form = r.box.simplify(e);
      if (!form) continue;
      ++decided;
      for (const Assignment& point : points) {
        const Evaluation at = evaluate(e, point);
        if (!at.defined()) continue;
        const Evaluation now = evaluate(*form, point);
        ASSERT_TRUE(now.defined() && now.value == at.value)
            << seed << " " << e << " -> " << *form << " at "
            << point.to_string();
      }
      EXPECT_LE(cost(*form), cost(reasoner.simplify(e)))
          << seed << " " << e << " -> " << *form << ", searched "
          << reasoner.simplify(e);
    }
  }
  EXPECT_GT(decided, 100u);
}

TEST(Box, ReadsRangesAndStridesOfSymbolsAndNothingElse) {
  ExprPool pool;
  const Expr n = pool.symbol("n", SymbolKind::kBackedSize);
  auto is_range = [&](const char* fact) {
    Box box{Interval()};
    box.add(parse(pool, fact));
    return box.is_exact();
  };
  EXPECT_TRUE(is_range("n >= 2"));
  EXPECT_TRUE(is_range("(2 <= n) & (n < 9)"));
  EXPECT_TRUE(is_range("Eq(n, 3)"));
  EXPECT_TRUE(is_range("Eq(Mod(n, 8), 3)"));
  EXPECT_TRUE(is_range("True"));
  EXPECT_FALSE(is_range("n < 0")) << "no size is left";
  EXPECT_FALSE(is_range("False"));
  EXPECT_FALSE(is_range("Eq(Mod(n, 8), 9)"));
  EXPECT_FALSE(is_range("Ne(n, 3)"));
  EXPECT_FALSE(is_range("2*n <= 9"));
  EXPECT_FALSE(is_range("n <= m"));
  EXPECT_FALSE(is_range("Mod(n, 8) <= 3"));
  EXPECT_FALSE(is_range("(n < 9) | (n > 11)"));

  Box box{Interval()};
  for (size_t i = 0; i < fixed::box_facts; ++i) box.add(ge(n, 1));
  EXPECT_TRUE(box.is_exact());
  box.add(ge(n, 1));
  EXPECT_FALSE(box.is_exact());
  box.clear();
  EXPECT_EQ(box.decide(ge(n, 0)), true) << "a size, without facts";
  EXPECT_EQ(box.decide(ge(n, 1)), std::nullopt);
  EXPECT_EQ(box.decide(eq(floor_div(n, n), 1)), std::nullopt)
      << "undefined where n is 0";
  EXPECT_EQ(box.decide(eq(floor_div(n, n) * 0, 0)), std::nullopt);
}

// What a context knows does not depend on whether it was asked before, in which
// scope, or whether something made it reason.
TEST(Box, ScopesAndClonesAreSeenWithAndWithoutAReasoner) {
  for (const bool reasons : {false, true}) {
    ExprPool pool;
    const Expr n = pool.symbol("n", SymbolKind::kBackedSize);
    const Expr m = pool.symbol("m", SymbolKind::kBackedSize);
    Context context(pool, native_only());
    if (reasons) context.ask(lt(n, m));
    context.declare(n, Interval(1, 8));
    context.push();
    context.declare(m, Interval(4, 8));
    EXPECT_EQ(context.ask_quick(le(n + m, 16)), Verdict::kYes);
    Context other = context.clone();
    other.assume(lt(n, m));
    EXPECT_EQ(other.ask_quick(le(n, 7)), Verdict::kYes);
    EXPECT_EQ(context.ask_quick(le(n, 7)), Verdict::kUnknown);
    context.push();
    context.assume(eq(n, 9));
    EXPECT_EQ(context.ask_quick(le(n, 7)), Verdict::kUnknown);
    EXPECT_TRUE(context.contradiction().has_value());
    context.pop();
    EXPECT_FALSE(context.contradiction().has_value());
    context.pop();
    EXPECT_EQ(context.ask_quick(le(n + m, 16)), Verdict::kUnknown);
    EXPECT_EQ(context.ask_quick(le(n, 8)), Verdict::kYes);
    EXPECT_EQ(context.tier_of(le(n, 8)), Tier::kRanges);
    EXPECT_EQ(context.facts_used(le(n, 8)).size(), 1u);
    EXPECT_EQ(context.facts().size(), 1u);
    EXPECT_EQ(other.facts().size(), 3u);
  }
}

}  // namespace
}  // namespace proviso::testing
