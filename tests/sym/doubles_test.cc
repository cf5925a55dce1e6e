// Floats as programs compute them: what an expression is in a pool of doubles
// is what C++ computes, simplified or not, and no answer rests on what a
// rounding changes.
#include "sym/doubles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "solver/solver.h"
#include "sym/budget.h"
#include "sym/canonical.h"
#include "sym/evaluate.h"
#include "sym/parse.h"
#include "tests/support/small_stack.h"

namespace proviso {
namespace {

struct Row {
  const char* text;  // over s0 and s1
  std::function<double(double, double)> computed;
};

const Row kRows[] = {
    {"TruncToInt(0.6*ToFloat(s0))",
     [](double x, double) { return std::trunc(x * 0.6); }},
    {"FloorToInt(ToFloat(s0)*0.1*3.0)",
     [](double x, double) { return std::floor(x * 0.1 * 3.0); }},
    {"CeilToInt(1.1*ToFloat(s0))",
     [](double x, double) { return std::ceil(x * 1.1); }},
    {"TruncToInt(FloatTrueDiv(ToFloat(s0), 0.1))",
     [](double x, double) { return std::trunc(x / 0.1); }},
    {"FloorToInt(IntTrueDiv(s0, s1))",
     [](double x, double y) { return std::floor(x / y); }},
    {"RoundToInt(IntTrueDiv(s0, 2))",
     [](double x, double) { return std::nearbyint(x / 2); }},
    {"FloorToInt(ToFloat(s0)*2.5 + 1.5)",
     [](double x, double) { return std::floor(x * 2.5 + 1.5); }},
    {"FloorToInt(IntTrueDiv(s0, 3) + IntTrueDiv(s1, 3))",
     [](double x, double y) { return std::floor(x / 3 + y / 3); }},
    {"FloorToInt(IntTrueDiv(s0, s1)*ToFloat(s1))",
     [](double x, double y) { return std::floor(x / y * y); }},
    {"0.6*ToFloat(s0) >= 3.0",
     [](double x, double) { return (x * 0.6 >= 3.0) ? 1.0 : 0.0; }},
    {"Eq(IntTrueDiv(s0, 10), 0.1)",
     [](double x, double) { return (x / 10 == 0.1) ? 1.0 : 0.0; }},
    {"IntTrueDiv(s0, s1) <= 0.25",
     [](double x, double y) { return (x / y <= 0.25) ? 1.0 : 0.0; }},
    {"Eq(IntTrueDiv(s0, 3), IntTrueDiv(s1, 7))",
     [](double x, double y) { return (x / 3 == y / 7) ? 1.0 : 0.0; }},
    {"Eq(ToFloat(s0)*0.1*3.0, ToFloat(s0)*0.3)",
     [](double x, double) { return (x * 0.1 * 3.0 == x * 0.3) ? 1.0 : 0.0; }},
    {"Eq((ToFloat(s0) + 0.1) + 0.2, ToFloat(s0) + (0.1 + 0.2))",
     [](double x, double) {
       return ((x + 0.1) + 0.2 == x + (0.1 + 0.2)) ? 1.0 : 0.0;
     }},
};

double number(Expr e, const Assignment& point) {
  const Evaluation value = evaluate(e, point);
  if (!value.defined()) return NAN;
  if (const auto* truth = std::get_if<bool>(&*value.value)) return *truth;
  return std::get<Int>(*value.value).to_double();
}

TEST(Doubles, AreWhatAProgramComputes) {
  for (const Row& row : kRows) {
    ExprPool pool(FloatArithmetic::kDouble);
    const Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize);
    const Expr s1 = pool.symbol("s1", SymbolKind::kBackedSize);
    const Expr e = parse(pool, row.text), simple = canonical(e);
    for (int x = 0; x <= 120; ++x) {
      for (int y = 1; y <= 12; ++y) {
        Assignment point;
        point.set(s0, Int(x));
        point.set(s1, Int(y));
        const double expected = row.computed(x, y);
        EXPECT_EQ(number(e, point), expected) << row.text << x << ' ' << y;
        EXPECT_EQ(number(simple, point), expected) << row.text << x << ' ' << y;
      }
    }
  }
}

// A yes (no) under s0 == x, s1 == y, and under ranges, is what is computed.
TEST(Doubles, NoAnswerRestsOnWhatARoundingChanges) {
  int decided = 0;
  for (const Row& row : kRows) {
    for (int x = 0; x <= 24; ++x) {
      for (int y = 1; y <= 10; y += 3) {
        ExprPool pool(FloatArithmetic::kDouble);
        const Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize);
        const Expr s1 = pool.symbol("s1", SymbolKind::kBackedSize);
        const Expr e = parse(pool, row.text);
        for (int width : {0, 2}) {
          Context context(pool);
          context.declare(s0, Interval(Int(x), Int(x + width)));
          context.declare(s1, Interval(Int(y), Int(y + width)));
          const double here = row.computed(x, y);
          const Expr claim =
              e.is_bool() ? e : eq(e, static_cast<int64_t>(here));
          const Answer answer = context.ask(claim);
          if (answer.verdict == Verdict::kUnknown) continue;
          ++decided;
          for (int u = x; u <= x + width; ++u) {
            for (int v = y; v <= y + width; ++v) {
              const double there = row.computed(u, v);
              const bool holds = e.is_bool() ? there != 0 : there == here;
              EXPECT_EQ(answer.verdict == Verdict::kYes, holds)
                  << row.text << " at " << u << ' ' << v;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(decided, 500);
}

TEST(Doubles, WhatNoRoundingChangesIsReasonedAbout) {
  ExprPool pool(FloatArithmetic::kDouble);
  Context context(pool);
  pool.symbol("s0", SymbolKind::kBackedSize);
  for (const char* text :
       {"Eq(FloorToInt(IntTrueDiv(s0, 3)), s0//3)",
        "Eq(TruncToInt(ToFloat(s0)*0.5), s0//2)",
        "Eq(FloorToInt(ToFloat(s0)*1.5), (3*s0)//2)",
        "Eq(CeilToInt(IntTrueDiv(s0, 4)), (s0 + 3)//4)",
        "(zf0 > 0.5) | (zf0 <= 0.6)", "ToFloat(s0)*0.25 >= 0.0",
        "Eq(ToFloat(s0) + 1.0, ToFloat(s0 + 1))"}) {
    EXPECT_EQ(context.ask(parse(pool, text)).verdict, Verdict::kYes) << text;
  }
  for (const char* text : {"Eq(TruncToInt(0.6*ToFloat(s0)), (3*s0)//5)",
                           "Eq(ToFloat(s0)*0.1*3.0, ToFloat(s0)*0.3)"}) {
    EXPECT_NE(context.ask(parse(pool, text)).verdict, Verdict::kYes) << text;
  }
}

// Each level of the first is one node and twice the tree; the second is deep.
TEST(Doubles, WhatIsSharedOrDeepIsLookedAtOnce) {
  ExprPool pool(FloatArithmetic::kDouble);
  const Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize);
  const Expr start = parse(pool, "ToFloat(s0)*0.5");
  Expr shared = start, deep = start;
  for (int i = 0; i < 60; ++i) shared = pool.make(Op::kAdd, {shared, shared});
  for (int i = 0; i < 20000; ++i) deep = pool.make(Op::kIdentity, {deep});
  const size_t stack = testing::stack_used_by([&] {
    const Budget all(Budget::kUnlimited);
    const uint64_t before = Budget::units_left();
    for (Expr e : {shared, deep}) {
      EXPECT_FALSE(internal::is_exact_double(e));
      EXPECT_FALSE(internal::rounds_exactly(e));
      EXPECT_FALSE(internal::compares_exactly(e, s0));
    }
    EXPECT_LE(before - Budget::units_left(), 2000u);
  });
  EXPECT_LE(stack, size_t{64} << 10);
}

TEST(Doubles, ExactPoolsHaveThirds) {
  ExprPool pool;
  Context context(pool);
  EXPECT_EQ(context.ask(parse(pool, "Eq(IntTrueDiv(s0, 3)*3.0, ToFloat(s0))"))
                .verdict,
            Verdict::kYes);
}

}  // namespace
}  // namespace proviso
