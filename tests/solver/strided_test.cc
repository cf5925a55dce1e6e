// The small world: every interval with ends in [-3, 3], half-infinite ones
// included, in every residue class of 1, 2 and 3, against the definition.
// Sound always, tight where promised.
#include "solver/strided.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace proviso {
namespace {

constexpr int kEnd = 3;
constexpr int kReach = 9;  // an infinite end is stood for by values so far

std::vector<Strided> small_world() {
  std::vector<Interval> spans = {Interval::all()};
  for (int low = -kEnd; low <= kEnd; ++low) {
    spans.push_back(Interval::at_least(low));
    spans.push_back(Interval::at_most(low));
    for (int high = low; high <= kEnd; ++high) spans.emplace_back(low, high);
  }
  std::vector<Strided> all = {Strided(Interval::empty())};
  std::set<std::string> seen;
  for (const Interval& span : spans) {
    for (int stride = 1; stride <= 3; ++stride) {
      for (int offset = 0; offset < stride; ++offset) {
        const Strided s(span, stride, offset);
        if (!s.is_empty() && seen.insert(s.to_string()).second) {
          all.push_back(s);
        }
      }
    }
  }
  return all;
}

std::vector<int> members(const Strided& a) {
  std::vector<int> result;
  for (int v = -kReach; v <= kReach; ++v) {
    if (a.contains(v)) result.push_back(v);
  }
  return result;
}

bool is_finite(const Strided& a) {
  return a.is_empty() || (a.span().lower() && a.span().upper());
}

// The least that holds all of a finite set.
Strided around(const std::set<int>& values) {
  if (values.empty()) return Strided(Interval::empty());
  Int stride = 0;
  for (int v : values) stride = gcd(stride, Int(v - *values.begin()));
  return Strided(Interval(*values.begin(), *values.rbegin()), stride,
                 *values.begin());
}

int python_div(int x, int y) {
  const int q = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}

using Binary = std::function<Strided(const Strided&, const Strided&)>;
using Definition = std::function<std::optional<int>(int, int)>;

void check(const char* name, const Binary& op, const Definition& definition,
           bool tight = false) {
  const std::vector<Strided> world = small_world();
  for (const Strided& a : world) {
    for (const Strided& b : world) {
      const Strided result = op(a, b);
      std::set<int> seen;
      for (int x : members(a)) {
        for (int y : members(b)) {
          const std::optional<int> value = definition(x, y);
          if (!value) continue;
          seen.insert(*value);
          ASSERT_TRUE(result.contains(*value))
              << x << " " << name << " " << y << " from " << a.to_string()
              << ", " << b.to_string() << " is not in " << result.to_string();
        }
      }
      if (tight && is_finite(a) && is_finite(b)) {
        ASSERT_EQ(result, around(seen))
            << name << " " << a.to_string() << ", " << b.to_string() << " -> "
            << result.to_string();
      }
    }
  }
}

void check_one(const char* name,
               const std::function<Strided(const Strided&)>& op,
               const std::function<int(int)>& definition, bool tight = false) {
  for (const Strided& a : small_world()) {
    const Strided result = op(a);
    std::set<int> seen;
    for (int x : members(a)) {
      seen.insert(definition(x));
      ASSERT_TRUE(result.contains(definition(x)))
          << name << " " << a.to_string() << " -> " << result.to_string();
    }
    if (tight && is_finite(a)) {
      ASSERT_EQ(result, around(seen)) << name << " " << a.to_string();
    }
  }
}

TEST(Strided, EndsAreMembers) {
  for (const Strided& a : small_world()) {
    for (const OptionalInt& end : {a.span().lower(), a.span().upper()}) {
      if (end) {
        EXPECT_TRUE(a.contains(*end)) << a.to_string();
      }
    }
  }
  EXPECT_EQ(Strided(Interval(1, 7), 4, 2).to_string(), "[2, 6] 4*k + 2");
  EXPECT_TRUE(Strided(Interval(1, 3), 4, 0).is_empty());
  EXPECT_EQ(Strided(Interval(1, 4), 4, 0), Strided::point(4));
}

TEST(Strided, SetOperations) {
  check(
      "intersect", [](auto& a, auto& b) { return intersect(a, b); },
      [](int x, int y) { return x == y ? std::optional(x) : std::nullopt; },
      true);
  for (const Strided& a : small_world()) {
    for (const Strided& b : small_world()) {
      const Strided both = hull(a, b);
      std::set<int> seen;
      for (const Strided* s : {&a, &b}) {
        for (int v : members(*s)) {
          seen.insert(v);
          ASSERT_TRUE(both.contains(v));
        }
      }
      if (is_finite(a) && is_finite(b)) {
        ASSERT_EQ(both, around(seen));
      }
    }
  }
}

TEST(Strided, Arithmetic) {
  check(
      "+", [](auto& a, auto& b) { return a + b; },
      [](int x, int y) { return x + y; });
  check(
      "-", [](auto& a, auto& b) { return a - b; },
      [](int x, int y) { return x - y; });
  check(
      "*", [](auto& a, auto& b) { return a * b; },
      [](int x, int y) { return x * y; });
  check(
      "min", [](auto& a, auto& b) { return min(a, b); },
      [](int x, int y) { return std::min(x, y); });
  check(
      "max", [](auto& a, auto& b) { return max(a, b); },
      [](int x, int y) { return std::max(x, y); });
  check_one("-", [](auto& a) { return -a; }, [](int x) { return -x; }, true);
  check_one(
      "abs", [](auto& a) { return abs(a); }, [](int x) { return std::abs(x); });
  for (unsigned n = 0; n <= 3; ++n) {
    check_one(
        "pow", [n](auto& a) { return pow(a, n); },
        [n](int x) {
          int y = 1;
          for (unsigned i = 0; i < n; ++i) y *= x;
          return y;
        });
  }
}

TEST(Strided, Division) {
  check(
      "//", [](auto& a, auto& b) { return floor_div(a, b); },
      [](int x, int y) {
        return y == 0 ? std::nullopt : std::optional(python_div(x, y));
      });
  check(
      "%", [](auto& a, auto& b) { return mod(a, b); },
      [](int x, int y) {
        return y == 0 ? std::nullopt : std::optional(x - y * python_div(x, y));
      });
}

TEST(Strided, CongruencesOfDivision) {
  const Strided x(Interval(0, 30), 8, 4);
  EXPECT_EQ(floor_div(x, Strided::point(4)), Strided(Interval(1, 7), 2, 1));
  EXPECT_EQ(mod(x, Strided::point(4)), Strided::point(0));
  EXPECT_EQ(mod(x, Strided::point(12)), Strided(Interval(0, 11), 4, 0));
  EXPECT_EQ(x.divisor(), Int(4));
  EXPECT_EQ(Strided::point(0).divisor(), Int(0));
  EXPECT_EQ((x * x).divisor(), Int(16));
}

}  // namespace
}  // namespace proviso
