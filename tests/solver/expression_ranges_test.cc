// Where expressions lie, read and then proved, and what they are simplified to,
// beside their values at every point of a box at which the facts hold.
#include "solver/engine/expression_ranges.h"

#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "solver/engine/fact_stack.h"
#include "solver/engine/simplification.h"
#include "tests/solver/support.h"
#include "tests/support/random_facts.h"

namespace proviso {
namespace {
using namespace internal;

class Parts {
 public:
  explicit Parts(ExprPool& pool) : facts{pool, options, statistics} {}

  SolverOptions options = testing::native_only();
  Statistics statistics;
  FactStack facts;
  NativeAnswers native{facts};
  // Made when the facts have been assumed.
  RangeReading reading{facts.reasoner()};
  ExpressionRanges ranges{facts.reasoner(), native, reading};
  Simplification simplification{facts, native, reading, ranges};
};

constexpr int kLow = -3, kHigh = 6;

TEST(ExpressionRanges, HaveEveryValue) {
  size_t asked = 0, exact = 0, closer = 0, strided = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    ExprPool pool;
    std::vector<Expr> symbols;
    Assignment hidden;
    std::mt19937 random(seed);
    for (int i = 0; i < 2; ++i) {
      symbols.push_back(
          pool.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt));
      hidden.set(symbols.back(), Int(static_cast<int>(random() % 5)));
    }
    testing::RandomFacts make(pool, symbols, hidden, seed);
    testing::RandomExpr any(pool, symbols, seed + 1);
    std::vector<Expr> conditions;
    for (Expr s : symbols) {
      conditions.push_back(ge(s, kLow));
      conditions.push_back(le(s, kHigh));
    }
    for (uint32_t n = seed % 4; n > 0; --n) conditions.push_back(make.fact());
    Parts parts(pool);
    for (Expr c : conditions) parts.facts.assume(c, {});
    if (parts.facts.conflict()) continue;
    for (int n = 0; n < 4; ++n) {
      const Expr e = any.integer(2);
      std::set<Int> values;
      const Expr forms[] = {parts.simplification.simplify(e),
                            parts.simplification.canonical(e),
                            parts.simplification.substitute(e)};
      for (int a = kLow; a <= kHigh; ++a) {
        for (int b = kLow; b <= kHigh; ++b) {
          Assignment point;
          point.set(symbols[0], Int(a));
          point.set(symbols[1], Int(b));
          bool holds = true;
          for (Expr c : conditions)
            holds = holds && evaluate(c, point).is_true();
          const Evaluation v = evaluate(e, point);
          if (!holds || !v.defined()) continue;
          values.insert(std::get<Int>(*v.value));
          for (Expr form : forms) {
            const Evaluation w = evaluate(form, point);
            EXPECT_TRUE(w.defined() && *w.value == *v.value)
                << to_python(e) << " as " << to_python(form) << " at "
                << point.to_string() << ", seed " << seed;
          }
        }
      }
      if (values.empty()) continue;
      ++asked;
      const Interval read = parts.reading.range_of(e);
      const Strided stride = parts.reading.strided_of(e);
      const Interval quick = parts.ranges.bounds_quick(e);
      const Interval proved = parts.ranges.bounds(e);
      const Strided proved_stride = parts.ranges.strided(e);
      const Int divisor = parts.ranges.multiple_of(e);
      const auto list = parts.ranges.values(e, 64);
      for (const Int& v : values) {
        const std::string where = to_python(e) + " is " + v.to_string() +
                                  ", seed " + std::to_string(seed);
        EXPECT_TRUE(read.contains(v)) << where;
        EXPECT_TRUE(stride.contains(v)) << where;
        EXPECT_TRUE(quick.contains(v)) << where;
        EXPECT_TRUE(proved.contains(v)) << where;
        EXPECT_TRUE(proved_stride.contains(v)) << where;
        EXPECT_TRUE(divisor.is_zero() ? v.is_zero()
                                      : floor_mod(v, divisor).is_zero())
            << where;
        if (list) {
          EXPECT_TRUE(std::find(list->begin(), list->end(), v) != list->end())
              << where;
        }
      }
      EXPECT_TRUE(!list || std::is_sorted(list->begin(), list->end()));
      EXPECT_TRUE(quick.contains(proved)) << to_python(e);
      exact += proved == Interval(*values.begin(), *values.rbegin());
      closer += proved != quick;
      strided += !stride.stride().is_one() && !stride.is_point();
      if (const auto constant = parts.ranges.constant_of(e)) {
        EXPECT_EQ(values, std::set<Int>{*constant}) << to_python(e);
      }
    }
  }
  std::cout << asked << " asked, " << exact << " exact, " << closer
            << " closer by a proof, " << strided << " with a stride\n";
  EXPECT_GE(exact * 2, asked);
  EXPECT_GE(closer, 20u);
  EXPECT_GE(strided, 10u);
}

}  // namespace
}  // namespace proviso
