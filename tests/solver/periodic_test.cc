// The window of one variable (solver/strategies/periodic.h): what a formula is
// at a point beyond it, it is at one inside of it.
#include "solver/strategies/periodic.h"

#include <gtest/gtest.h>

#include <random>

#include "solver/lower.h"
#include "solver/point.h"
#include "tests/solver/support.h"
#include "tests/support/random_expr.h"

namespace proviso {
namespace {
using namespace internal;

class Window {
 public:
  explicit Window(const std::string& text)
      : forms_(Forms::of(pool_)),
        x_(pool_.symbol("x", SymbolKind::kUnbackedInt)),
        formula_(forms_.lower.condition(parse(pool_, text))) {}

  std::optional<Interval> of(const Interval& range = Interval::all()) {
    const FormulaId all[] = {formula_};
    return representative_window(forms_.pool, all, forms_.pool.atoms.symbol(x_),
                                 {}, range);
  }
  std::optional<bool> truth(int64_t x) {
    Point point(forms_.pool);
    point.set(forms_.pool.atoms.symbol(x_), x);
    return point.truth(formula_);
  }

 private:
  ExprPool pool_;
  Forms& forms_;
  Expr x_;
  FormulaId formula_;
};

std::string window_of(const std::string& text) {
  const auto window = Window(text).of();
  return window ? window->to_string() : "none";
}

TEST(Periodic, HasAPeriodEachWay) {
  EXPECT_EQ(window_of("Eq(Mod(x, 4), 3)"), "[-3, 3]");
  EXPECT_EQ(window_of("x >= 100"), "[0, 101]");
}

TEST(Periodic, IsQuietOnProductsAndOnOtherVariables) {
  EXPECT_EQ(window_of("x*x >= x"), "none");
  EXPECT_EQ(window_of("x >= y"), "none");
  EXPECT_EQ(window_of("5//x >= 1"), "none");
  EXPECT_EQ(window_of("Where(Eq(Mod(x, 3), 0), x, 0) >= 1"), "none");
}

// Formulas of floors, remainders, Min, Max and Where over x.
class RandomFormula {
 public:
  explicit RandomFormula(uint32_t seed) : random_(seed) {}

  std::string term(int depth) {
    if (depth == 0) {
      switch (pick(3)) {
        case 0: return std::to_string(pick(41) - 20);
        case 1: return "x";
        default:
          return "(" + std::to_string(pick(9) - 4) + "*x + " +
                 std::to_string(pick(31) - 15) + ")";
      }
    }
    const std::string a = term(depth - 1), b = term(depth - 1);
    const std::string k = std::to_string(pick(2) ? pick(6) + 2 : -pick(5) - 1);
    switch (pick(7)) {
      case 0: return "(" + a + "//" + k + ")";
      case 1: return "Mod(" + a + ", " + k + ")";
      case 2: return "Min(" + a + ", " + b + ")";
      case 3: return "Max(" + a + ", " + b + ")";
      case 4: return "Where(" + relation(depth - 1) + ", " + a + ", " + b + ")";
      case 5: return "(" + a + " - " + b + ")";
      default: return "(" + a + " + " + b + ")";
    }
  }
  std::string relation(int depth) {
    static const char* const kOps[] = {"<=", "<", ">="};
    const std::string a = term(depth), b = term(depth);
    if (pick(3) == 0) return "Eq(" + a + ", " + b + ")";
    return "(" + a + " " + kOps[pick(3)] + " " + b + ")";
  }
  std::string condition(int depth) {
    if (pick(3) > 0) return relation(depth);
    return "((" + relation(depth) + (pick(2) ? ") & (" : ") | (") +
           relation(depth) + "))";
  }
  int pick(int n) {
    return static_cast<int>(random_() % static_cast<uint32_t>(n));
  }

 private:
  std::mt19937 random_;
};

// A formula is as true beyond the window as at some point inside of it: whoever
// finds it true (false) at all of these may say so of all.
TEST(Periodic, BeyondTheWindowNothingIsNew) {
  RandomFormula random(testing::seed_or(20));
  size_t with_window = 0, decided = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = random.condition(1 + random.pick(3));
    Window window(text);
    const Interval ranges[] = {Interval::all(),
                               Interval::at_least(random.pick(30) - 10),
                               Interval::at_most(random.pick(30) - 10)};
    const Interval& range = ranges[random.pick(3)];
    const auto found = window.of(range);
    if (!found || *found->upper() - *found->lower() > Int(4000)) continue;
    ++with_window;
    bool seen[2] = {false, false};
    const int64_t low = *found->lower()->to_int64(),
                  high = *found->upper()->to_int64();
    for (int64_t x = low; x <= high; ++x) seen[*window.truth(x)] = true;
    decided += seen[0] != seen[1];
    for (int64_t out = 1; out < 600; ++out) {
      for (const int64_t x : {low - out, high + out}) {
        if (!range.contains(Int(x))) continue;
        ASSERT_TRUE(seen[*window.truth(x)])
            << text << " at " << x << ", window " << found->to_string();
      }
    }
  }
  EXPECT_GT(with_window, 1500u);
  EXPECT_GT(decided, 500u);
}

TEST(Periodic, DecidesWhatOneVariableSays) {
  ExprPool pool;
  Context context(pool, testing::native_only());
  const auto ask = [&](const char* text) {
    return context.ask(parse(pool, text)).verdict;
  };
  EXPECT_EQ(ask("Eq(Mod(Mod(x, 60), 15), Mod(x, 15))"), Verdict::kYes);
  EXPECT_EQ(
      ask("Eq(Max(x//6, -(-x//6)), x//6 + Where(Eq(Mod(x, 6), 0), 0, 1))"),
      Verdict::kYes);
  EXPECT_EQ(ask("Where(x >= 0, x//3, -(-x//3))*3 - x >= 3"), Verdict::kNo);
}

}  // namespace
}  // namespace proviso
