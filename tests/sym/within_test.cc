#include "sym/within.h"

#include <gtest/gtest.h>

#include <atomic>

namespace proviso {
namespace {
using internal::try_within;

constexpr uint64_t kMillisecond = 20'000;

uint64_t spent_by(const auto& work) {
  const Budget all(Budget::kUnlimited);
  const uint64_t before = Budget::units_left();
  work();
  return before - Budget::units_left();
}

bool spends(uint64_t units) {
  for (uint64_t i = 0; i < units; ++i) Budget::spend(1);
  return true;
}

TEST(Within, WhatIsSpentInsideIsSpentOutside) {
  EXPECT_EQ(spent_by([] {
              EXPECT_TRUE(try_within(1000, nullptr, [] {
                Budget::spend(7);
                return try_within(100, nullptr, [] { return spends(30); });
              }));
            }),
            37u);
}

TEST(Within, TheOuterLimitEndsTheInnerWork) {
  bool has_gone_on = false;
  EXPECT_FALSE(try_within(100, nullptr, [&] {
    EXPECT_FALSE(try_within(1000, nullptr, [] { return spends(200); }));
    Budget::check();
    has_gone_on = true;
    return true;
  }));
  EXPECT_FALSE(has_gone_on);
}

// Each has done less than what is done between two looks at the flag.
TEST(Within, ManyShortOnesInARowAreInterrupted) {
  for (uint64_t each : {30u, 1'000u, 4'000u, 8'000u}) {
    std::atomic<bool> interrupted{false};
    uint64_t after = 0;
    try_within(Budget::kUnlimited, &interrupted, [&] {
      spends(100);
      interrupted = true;
      after = spent_by([&] {
        for (uint64_t i = 0; i < 10 * kMillisecond / each; ++i)
          try_within(200'000, nullptr, [&] { return spends(each); });
      });
      return true;
    });
    EXPECT_LT(after, kMillisecond) << each;
  }
}

}  // namespace
}  // namespace proviso
