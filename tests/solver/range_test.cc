// Ranges in a small world: the interval is that of interval.h, and the reason
// of an end is enough for it: with the other ends taken away, it stays.
#include "solver/state/range.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace proviso {
namespace {
using namespace internal;

constexpr int kEnd = 3;

// Two ranges, whose four ends have a leaf each.
struct World {
  ReasonArena reasons;
  Reason leaves[4];
  World() {
    for (uint32_t i = 0; i < 4; ++i) leaves[i] = reasons.leaf(i);
  }
  Range with_reasons(const Interval& span, uint32_t first) const {
    return {span, span.lower() ? leaves[first] : 0,
            span.upper() ? leaves[first + 1] : 0};
  }
  // What is left of a range's interval when only the facts of `why` are known.
  Interval because(const Interval& span, uint32_t first, Reason why) const {
    OptionalInt low, high;
    if (reasons.uses(why, first)) low = span.lower();
    if (reasons.uses(why, first + 1)) high = span.upper();
    return Interval::of(low, high);
  }
};

std::vector<Interval> small_world() {
  std::vector<Interval> all = {Interval::all()};
  for (int low = -kEnd; low <= kEnd; ++low) {
    all.push_back(Interval::at_least(low));
    all.push_back(Interval::at_most(low));
    for (int high = low; high <= kEnd; ++high) all.emplace_back(low, high);
  }
  return all;
}

using Spans = std::function<Interval(const Interval&, const Interval&)>;
using Ranges = std::function<Range(ReasonArena&, const Range&, const Range&)>;

void check(const char* name, const Spans& spans, const Ranges& ranges) {
  const std::vector<Interval> all = small_world();
  for (const Interval& a : all) {
    for (const Interval& b : all) {
      SCOPED_TRACE(std::string(name) + " " + a.to_string() + " " +
                   b.to_string());
      World world;
      const Range r = ranges(world.reasons, world.with_reasons(a, 0),
                             world.with_reasons(b, 2));
      const Interval expected = spans(a, b);
      if (expected.is_empty()) continue;  // contradictions have tests below
      ASSERT_EQ(r.span, expected);
      auto still = [&](Reason why) {
        return spans(world.because(a, 0, why), world.because(b, 2, why));
      };
      if (r.span.lower()) {
        const Interval left = still(r.lower);
        ASSERT_TRUE(left.lower() && *left.lower() >= *r.span.lower())
            << left.to_string();
      }
      if (r.span.upper()) {
        const Interval left = still(r.upper);
        ASSERT_TRUE(left.upper() && *left.upper() <= *r.span.upper())
            << left.to_string();
      }
    }
  }
}

TEST(Range, ProductsAndQuotientsNameWhatTheyRestOn) {
  check(
      "product", [](const Interval& a, const Interval& b) { return a * b; },
      product);
  check(
      "quotient",
      [](const Interval& a, const Interval& b) { return floor_div(a, b); },
      quotient);
}

TEST(Range, HullAndIntersection) {
  check(
      "hull", [](const Interval& a, const Interval& b) { return hull(a, b); },
      [](ReasonArena& reasons, const Range& a, const Range& b) {
        return hull(reasons, a, b);
      });
  check(
      "narrow",
      [](const Interval& a, const Interval& b) { return intersect(a, b); },
      [](ReasonArena& reasons, const Range& a, const Range& b) {
        Range r = a;
        const bool changed = narrow(reasons, r, b);
        EXPECT_EQ(changed, r.span != a.span);
        return r;
      });
}

TEST(Range, OfOneValue) {
  for (int k = -2; k <= 2; ++k) {
    check(
        "scaled",
        [k](const Interval& a, const Interval&) {
          return a * Interval::point(k);
        },
        [k](ReasonArena&, const Range& a, const Range&) {
          return scaled(a, k);
        });
    check(
        "shifted",
        [k](const Interval& a, const Interval&) { return a.shifted(k); },
        [k](ReasonArena&, const Range& a, const Range&) {
          return shifted(a, k);
        });
  }
  for (unsigned n = 1; n <= 4; ++n) {
    check(
        "power", [n](const Interval& a, const Interval&) { return pow(a, n); },
        [n](ReasonArena& reasons, const Range& a, const Range&) {
          return power(reasons, a, n);
        });
  }
  check(
      "nonnegative_part",
      [](const Interval& a, const Interval&) {
        return max(a, Interval::point(0));
      },
      [](ReasonArena&, const Range& a, const Range&) {
        return nonnegative_part(a);
      });
}

TEST(Range, AnEmptyIntersectionNamesBothEnds) {
  World world;
  Range r = world.with_reasons(Interval(3, 5), 0);
  EXPECT_TRUE(narrow(world.reasons, r, world.with_reasons(Interval(0, 2), 2)));
  EXPECT_TRUE(r.span.is_empty());
  EXPECT_EQ(world.reasons.facts(r.lower), (std::vector<uint32_t>{0, 3}));
  EXPECT_EQ(r.lower, r.upper);
}

}  // namespace
}  // namespace proviso
