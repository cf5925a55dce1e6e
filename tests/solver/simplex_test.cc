#include "solver/simplex.h"

#include <gtest/gtest.h>

#include <random>

namespace proviso {
namespace {
using namespace internal;

constexpr uint64_t kUnits = 1000000;

LinearConstraint row(std::initializer_list<int64_t> coefs, int64_t constant) {
  LinearConstraint r;
  uint32_t unknown = 0;
  for (int64_t c : coefs) {
    if (c != 0) r.terms.push_back({unknown, c});
    ++unknown;
  }
  r.constant = constant;
  return r;
}

// Systems that hold at a hidden point, and the same with the negation of a
// positive combination of their constraints.
class Systems {
 public:
  explicit Systems(uint32_t seed) : random_(seed) {}

  size_t unknowns = 0;
  std::vector<int64_t> point;
  std::vector<LinearConstraint> rows;

  void make() {
    unknowns = 1 + random_() % 5;
    point.assign(unknowns, 0);
    for (int64_t& v : point) v = pick(-9, 9);
    rows.clear();
    for (size_t n = 1 + random_() % 12; n > 0; --n) {
      LinearConstraint r;
      for (uint32_t x = 0; x < unknowns; ++x) {
        int64_t c = pick(-4, 4);
        if (c != 0) r.terms.push_back({x, c});
      }
      r.constant = pick(0, 2) - value(r);
      if (!r.terms.empty()) rows.push_back(r);
    }
  }

  // -(sum of some constraints, each a few times) - 1 >= 0
  LinearConstraint against() {
    std::vector<int64_t> sum(unknowns);
    Int constant = 0;
    for (const LinearConstraint& r : rows) {
      int64_t k = pick(0, 3);
      for (const LinearTerm& t : r.terms) sum[t.unknown] -= k * t.coef;
      constant -= r.constant * k;
    }
    LinearConstraint r;
    for (uint32_t x = 0; x < unknowns; ++x) {
      if (sum[x] != 0) r.terms.push_back({x, sum[x]});
    }
    r.constant = constant - 1;
    return r;
  }

  int64_t value(const LinearConstraint& r) const {
    int64_t sum = 0;
    for (const LinearTerm& t : r.terms) sum += t.coef * point[t.unknown];
    return sum + *r.constant.to_int64();
  }

 private:
  int64_t pick(int low, int high) {
    return low + static_cast<int64_t>(random_() % unsigned(high - low + 1));
  }
  std::mt19937 random_;
};

std::optional<std::vector<uint32_t>> conflict(
    size_t unknowns, const std::vector<LinearConstraint>& rows) {
  Simplex simplex(unknowns);
  for (const LinearConstraint& r : rows) EXPECT_TRUE(simplex.add(r));
  return simplex.infeasible(kUnits);
}

TEST(Simplex, NamesTheConstraintsInConflict) {
  // x >= 3, y >= x + 1, z <= 5, y <= 3
  std::vector<LinearConstraint> rows = {row({1}, -3), row({-1, 1}, -1),
                                        row({0, 0, -1}, 5), row({0, -1}, 3)};
  EXPECT_EQ(conflict(3, rows), (std::vector<uint32_t>{0, 1, 3}));
  rows.pop_back();
  EXPECT_FALSE(conflict(3, rows));
}

TEST(Simplex, KnowsNothingOfRounding) {
  EXPECT_FALSE(conflict(1, {row({2}, -1), row({-2}, 1)}));  // 2x == 1
  EXPECT_TRUE(conflict(1, {row({2}, -1), row({-3}, 1)}));   // 1/2 <= x <= 1/3
}

TEST(Simplex, NeverRefutesASystemThatHolds) {
  Systems systems(101);
  for (int i = 0; i < 3000; ++i) {
    systems.make();
    EXPECT_FALSE(conflict(systems.unknowns, systems.rows)) << "system " << i;
  }
}

TEST(Simplex, RefutesWhatOpposesASum) {
  Systems systems(202);
  for (int i = 0; i < 3000; ++i) {
    systems.make();
    std::vector<LinearConstraint> rows = systems.rows;
    rows.push_back(systems.against());
    auto found = conflict(systems.unknowns, rows);
    ASSERT_TRUE(found) << "system " << i;
    // What it names is in conflict by itself, with the constraint that opposes
    // the rest.
    EXPECT_EQ(found->back(), rows.size() - 1);
    std::vector<LinearConstraint> named;
    for (uint32_t k : *found) named.push_back(rows[k]);
    EXPECT_TRUE(conflict(systems.unknowns, named)) << "system " << i;
  }
}

TEST(Simplex, LeavesOutWhatIsTooLarge) {
  Simplex simplex(1);
  LinearConstraint huge = row({1}, 0);
  huge.constant = *pow(Int(2), 80);
  EXPECT_FALSE(simplex.add(huge));
  EXPECT_TRUE(simplex.add(row({1}, -1)));
  EXPECT_TRUE(simplex.add(row({-1}, 0)));
  EXPECT_EQ(simplex.infeasible(kUnits), (std::vector<uint32_t>{1, 2}));
}

TEST(Simplex, EndsWithItsUnits) {
  Simplex simplex(2);
  simplex.add(row({1, 1}, -3));
  simplex.add(row({-1, 1}, 0));
  simplex.add(row({0, -1}, 0));
  simplex.add(row({1, -2}, -1));
  EXPECT_FALSE(simplex.infeasible(1));
}

}  // namespace
}  // namespace proviso
