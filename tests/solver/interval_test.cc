// The small world: every interval with ends in [-6, 6], half-infinite ones
// included, against the definition.  Sound always, tight where promised.
#include "solver/interval.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "sym/budget.h"

namespace proviso {
namespace {

constexpr int kEnd = 6;
constexpr int kReach = 13;  // an infinite end is stood for by values so far

std::vector<Interval> small_world() {
  std::vector<Interval> all = {Interval::empty(), Interval::all()};
  for (int low = -kEnd; low <= kEnd; ++low) {
    all.push_back(Interval::at_least(low));
    all.push_back(Interval::at_most(low));
    for (int high = low; high <= kEnd; ++high) all.emplace_back(low, high);
  }
  return all;
}

// Members of `a`; an infinite end is stood for by members up to `reach`.
std::vector<int> members(const Interval& a, int reach) {
  std::vector<int> result;
  for (int v = -reach; v <= reach; ++v) {
    if (a.contains(v)) result.push_back(v);
  }
  return result;
}

int python_div(int x, int y) {
  int q = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}

using Binary = std::function<Interval(const Interval&, const Interval&)>;
using Definition = std::function<std::optional<int>(int, int)>;

struct Seen {
  std::optional<int> low, high;
  void add(int v) {
    low = low ? std::min(*low, v) : v;
    high = high ? std::max(*high, v) : v;
  }
};

bool finite(const Interval& a) {
  return a.is_empty() || (a.lower() && a.upper());
}

void check_pair(const Interval& a, const Interval& b, const Binary& op,
                const Definition& definition, bool tight) {
  Interval result = op(a, b);
  Seen seen;
  for (int x : members(a, kReach)) {
    for (int y : members(b, kReach)) {
      std::optional<int> value = definition(x, y);
      if (!value) continue;
      seen.add(*value);
      ASSERT_TRUE(result.contains(*value))
          << x << " and " << y << " from " << a.to_string() << ", "
          << b.to_string() << " give " << *value << " outside "
          << result.to_string();
    }
  }
  if (!tight) return;
  std::string what =
      a.to_string() + ", " + b.to_string() + " -> " + result.to_string();
  ASSERT_EQ(result.is_empty(), !seen.low.has_value()) << what;
  if (result.is_empty()) return;
  // A finite end is attained; an infinite one needs an infinite operand.
  if (result.lower()) {
    ASSERT_EQ(*result.lower(), Int(*seen.low)) << what;
  }
  if (result.upper()) {
    ASSERT_EQ(*result.upper(), Int(*seen.high)) << what;
  }
  if (finite(a) && finite(b)) {
    ASSERT_TRUE(finite(result)) << what;
  }
}

void check(const Binary& op, const Definition& definition, bool tight) {
  std::vector<Interval> world = small_world();
  for (const Interval& a : world) {
    for (const Interval& b : world) {
      ASSERT_NO_FATAL_FAILURE(check_pair(a, b, op, definition, tight));
    }
  }
}

TEST(Interval, SumAndDifferenceAreTight) {
  check([](auto& a, auto& b) { return a + b; },
        [](int x, int y) { return x + y; }, true);
  check([](auto& a, auto& b) { return a - b; },
        [](int x, int y) { return x - y; }, true);
}

TEST(Interval, ProductIsTight) {
  check([](auto& a, auto& b) { return a * b; },
        [](int x, int y) { return x * y; }, true);
}

TEST(Interval, FloorDivIsTightOnEverySmallCase) {
  check([](auto& a, auto& b) { return floor_div(a, b); },
        [](int x, int y) {
          return y == 0 ? std::nullopt : std::optional<int>(python_div(x, y));
        },
        true);
}

TEST(Interval, ModIsSoundWithPythonsSign) {
  check([](auto& a, auto& b) { return mod(a, b); },
        [](int x, int y) {
          return y == 0 ? std::nullopt
                        : std::optional<int>(x - y * python_div(x, y));
        },
        false);
}

TEST(Interval, MinMaxIntersectAndHullAreTight) {
  check([](auto& a, auto& b) { return min(a, b); },
        [](int x, int y) { return std::min(x, y); }, true);
  check([](auto& a, auto& b) { return max(a, b); },
        [](int x, int y) { return std::max(x, y); }, true);
  check([](auto& a, auto& b) { return intersect(a, b); },
        [](int x, int y) {
          return x == y ? std::optional<int>(x) : std::nullopt;
        },
        true);
  for (const Interval& a : small_world()) {
    for (const Interval& b : small_world()) {
      Interval both = hull(a, b);
      EXPECT_TRUE(both.contains(a) && both.contains(b));
      if (a.is_empty()) {
        EXPECT_EQ(both, b);
      }
    }
  }
}

TEST(Interval, AbsAndPowAreTight) {
  check([](auto& a, auto&) { return abs(a); },
        [](int x, int) { return x < 0 ? -x : x; }, false);
  EXPECT_EQ(abs(Interval(-5, 3)), Interval(0, 5));
  for (unsigned n = 0; n <= 4; ++n) {
    for (const Interval& a : small_world()) {
      Interval result = pow(a, n);
      Seen seen;
      for (int x : members(a, 2 * kEnd)) {
        int value = 1;
        for (unsigned i = 0; i < n; ++i) value *= x;
        seen.add(value);
        ASSERT_TRUE(result.contains(value));
      }
      if (result.is_empty()) continue;
      if (result.lower()) {
        EXPECT_EQ(*result.lower(), Int(*seen.low));
      }
      if (result.upper()) {
        EXPECT_EQ(*result.upper(), Int(*seen.high));
      }
    }
  }
}

TEST(Interval, BitsAreSoundAndWithinTheNextPowerOfTwo) {
  check([](auto& a, auto& b) { return bit_and(a, b); },
        [](int x, int y) { return x & y; }, false);
  check([](auto& a, auto& b) { return bit_or(a, b); },
        [](int x, int y) { return x | y; }, false);
  check([](auto& a, auto& b) { return bit_xor(a, b); },
        [](int x, int y) { return x ^ y; }, false);
  EXPECT_EQ(bit_xor(Interval(-4, 2), Interval(0, 3)), Interval(-4, 3));
  EXPECT_EQ(bit_xor(Interval(-5, 2), Interval(0, 3)), Interval(-8, 7));
  EXPECT_EQ(bit_xor(Interval(-1, 0), Interval(-1, 0)), Interval(-1, 0));
  EXPECT_EQ(bit_xor(Interval(0, 4), Interval(0, 3)), Interval(0, 7));
  EXPECT_EQ(bit_and(Interval(-4, 2), Interval(-1, 3)), Interval(-4, 3));
}

// Each bit of the power was a product of its own: 4 million units for two.
TEST(Interval, BitsOfLongNumbersTakeWhatReadingThemDoes) {
  const Int end = *pow(Int(7), 20'000);
  const Interval wide(-end, end), truth(0, 1);
  const Budget all(Budget::kUnlimited);
  const uint64_t before = Budget::units_left();
  EXPECT_TRUE(bit_xor(wide, truth).contains(end));
  EXPECT_TRUE(bit_and(wide, Interval(-3, 3)).contains(-end));
  EXPECT_LT(before - Budget::units_left(), 30'000u);
}

TEST(Interval, InfiniteOperandsGiveInfiniteEndsWhereValuesGrow) {
  EXPECT_EQ(Interval::at_least(1) * Interval::at_least(2),
            Interval::at_least(2));
  EXPECT_EQ(Interval::at_least(0) * Interval::at_most(0), Interval::at_most(0));
  EXPECT_EQ(floor_div(Interval(0, 31), Interval::at_least(2)), Interval(0, 15));
  EXPECT_EQ(floor_div(Interval::at_least(0), Interval::at_least(1)),
            Interval::at_least(0));
  EXPECT_EQ(floor_div(Interval(1, 2), Interval::point(0)), Interval::empty());
  EXPECT_EQ(mod(Interval::all(), Interval::point(8)), Interval(0, 7));
}

TEST(Interval, EndsSetInPlaceGiveWhatOfDoes) {
  for (const Interval& a : small_world()) {
    if (a.is_empty()) {
      Interval still = a;
      still.set_lower(Int(0));
      still.set_upper(Int(0));
      EXPECT_EQ(still, Interval::empty());
      continue;
    }
    for (int end = -kEnd; end <= kEnd; ++end) {
      Interval low = a, high = a;
      low.set_lower(Int(end));
      high.set_upper(Int(end));
      EXPECT_EQ(low, Interval::of(Int(end), a.upper()));
      EXPECT_EQ(high, Interval::of(a.lower(), Int(end)));
    }
    Interval open = a;
    open.set_lower(std::nullopt);
    open.set_upper(std::nullopt);
    EXPECT_EQ(open, Interval::all());
  }
}

TEST(Interval, PrintsAsPyTorchDoes) {
  EXPECT_EQ(Interval::at_least(2).to_string(), "[2, int_oo]");
  EXPECT_EQ(Interval(-1, 7).to_string(), "[-1, 7]");
  EXPECT_EQ(Interval::at_most(9).to_string(), "[-int_oo, 9]");
}

}  // namespace
}  // namespace proviso
