// Systems of constraints beside every whole point of a box: what is said to be
// a contradiction has no point, and the constraints that it names have none
// either.
#include "solver/linear.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace proviso {
namespace {
using namespace internal;

constexpr uint64_t kUnits = 100000;
constexpr uint32_t kUnknowns = 3;
constexpr int64_t kLow = -3, kHigh = 4;  // of each

class System {
 public:
  // coefs * (x, y, z) + constant >= 0, or == 0.
  void add(std::array<int64_t, kUnknowns> coefs, const Int& constant,
           bool equality = false) {
    LinearConstraint row;
    // Unknowns are whatever numbers the caller has.
    for (uint32_t x = 0; x < kUnknowns; ++x) {
      if (coefs[x] != 0) row.terms.push_back({10 + 7 * x, coefs[x]});
    }
    row.constant = constant;
    row.equality = equality;
    row.why = reasons_.leaf(static_cast<uint32_t>(rows_.size()));
    rows_.push_back(std::move(row));
  }
  // low <= each unknown <= high, so that the box has all points.
  void add_box() {
    for (uint32_t x = 0; x < kUnknowns; ++x) {
      std::array<int64_t, kUnknowns> up{}, down{};
      up[x] = 1, down[x] = -1;
      add(up, -kLow);
      add(down, kHigh);
    }
  }
  const std::vector<LinearConstraint>& rows() const { return rows_; }

  // The constraints that contradict each other, by number.
  std::optional<std::vector<uint32_t>> contradiction(uint64_t units = kUnits) {
    return contradiction_of(rows_, units);
  }
  std::optional<std::vector<uint32_t>> contradiction_of(
      const std::vector<LinearConstraint>& rows, uint64_t units = kUnits) {
    LinearSystem system(reasons_, rows.size());
    for (const LinearConstraint& row : rows) system.add(row);
    const std::optional<Reason> why = system.contradiction(units);
    if (!why) return std::nullopt;
    return reasons_.facts(*why);
  }
  bool holds_at(const std::array<int64_t, kUnknowns>& at,
                const LinearConstraint& row) const {
    Int sum = row.constant;
    for (const LinearTerm& t : row.terms) {
      sum += Int(t.coef) * Int(at[(t.unknown - 10) / 7]);
    }
    return row.equality ? sum.is_zero() : sum.sign() >= 0;
  }
  // Whether these constraints hold at some point of the box.
  bool has_point(const std::vector<uint32_t>& which) const {
    for (int64_t x = kLow; x <= kHigh; ++x) {
      for (int64_t y = kLow; y <= kHigh; ++y) {
        for (int64_t z = kLow; z <= kHigh; ++z) {
          bool all = true;
          for (uint32_t i : which) all = all && holds_at({x, y, z}, rows_[i]);
          if (all) return true;
        }
      }
    }
    return false;
  }
  std::vector<uint32_t> all() const {
    std::vector<uint32_t> numbers;
    for (uint32_t i = 0; i < rows_.size(); ++i) numbers.push_back(i);
    return numbers;
  }

 private:
  ReasonArena reasons_;
  std::vector<LinearConstraint> rows_;
};

using Numbers = std::vector<uint32_t>;

TEST(LinearSystem, NamesTheConstraintsInConflict) {
  System system;
  system.add({1, 0, 0}, -3);   // x >= 3
  system.add({0, 0, 1}, 0);    // z >= 0
  system.add({-1, 1, 0}, -1);  // y >= x + 1
  system.add({0, -1, 0}, 3);   // y <= 3
  EXPECT_EQ(system.contradiction(), (Numbers{0, 2, 3}));
}

TEST(LinearSystem, RoundsToWholeNumbers) {
  System odd;
  odd.add({2, -2, 0}, -1, true);  // 2x - 2y == 1
  EXPECT_EQ(odd.contradiction(), (Numbers{0}));
  System between;
  between.add({3, 0, 0}, -4);  // x >= 4/3
  between.add({-3, 0, 0}, 5);  // x <= 5/3
  EXPECT_EQ(between.contradiction(), (Numbers{0, 1}));
  System ends;
  ends.add({3, 0, 0}, -4);
  ends.add({-3, 0, 0}, 6);
  EXPECT_EQ(ends.contradiction(), std::nullopt);
}

TEST(LinearSystem, SolvesEqualitiesWithoutUnits) {
  System system;
  system.add({6, 10, 15}, -1, true);  // has solutions
  EXPECT_EQ(system.contradiction(), std::nullopt);
  system.add({6, 10, 0}, -4, true);  // so 15z == -3
  EXPECT_EQ(system.contradiction(), (Numbers{0, 1}));
}

TEST(LinearSystem, OppositeInequalitiesAreAnEquality) {
  System system;
  system.add({3, -5, 0}, 0);
  system.add({-3, 5, 0}, 0);  // 3x == 5y
  system.add({1, 0, 0}, -1);  // x >= 1
  system.add({-1, 0, 0}, 4);  // x <= 4: x is a multiple of 5
  EXPECT_EQ(system.contradiction(), (Numbers{0, 1, 2, 3}));
}

TEST(LinearSystem, KeepsTheTightestOfTwo) {
  System system;
  system.add({1, 1, 0}, 0);
  system.add({1, 1, 0}, -4);  // x + y >= 4
  system.add({1, 1, 0}, -2);
  system.add({-1, -1, 0}, 3);  // x + y <= 3
  EXPECT_EQ(system.contradiction(), (Numbers{1, 3}));
}

TEST(LinearSystem, EndsWithItsUnits) {
  System system;
  system.add({1, 1, 0}, -3);
  system.add({-1, 1, -1}, 0);
  system.add({0, -1, 0}, 0);
  system.add({1, -2, 1}, -1);
  system.add({-1, 0, 0}, 2);
  ASSERT_TRUE(system.contradiction());
  EXPECT_EQ(system.contradiction(1), std::nullopt);
}

// A coefficient that outgrows its place loses a constraint, and no more.
TEST(LinearSystem, DropsWhatOutgrowsItsPlace) {
  constexpr int64_t kMost = LinearSystem::kMaxCoefficient;
  System system;
  system.add({kMost, -1, 0}, 0);
  system.add({-kMost + 1, 3, 0}, 0);
  system.add({3, kMost, 1}, 0);
  system.add({0, 0, 1}, -1);
  EXPECT_EQ(system.contradiction(), std::nullopt);
  system.add({0, 0, -1}, 0);
  EXPECT_EQ(system.contradiction(), (Numbers{3, 4}));
}

// Random constraints; in every other round with the box among them, where what
// has no point should be found to have none, most often.
TEST(LinearSystem, AContradictionHasNoPoint) {
  size_t refuted = 0, without_point = 0, found_of_these = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int low, int high) {
      return low + static_cast<int64_t>(random() % unsigned(high - low + 1));
    };
    System system;
    const bool boxed = seed % 2 == 0;
    if (boxed) system.add_box();
    for (int64_t n = pick(2, 7); n > 0; --n) {
      std::array<int64_t, kUnknowns> coefs{};
      for (int64_t& c : coefs) c = pick(0, 2) == 0 ? 0 : pick(-5, 5);
      system.add(coefs, pick(-9, 9), pick(0, 3) == 0);
    }
    const auto found = system.contradiction();
    if (found) {
      ++refuted;
      ASSERT_FALSE(system.has_point(*found)) << seed;
      std::vector<LinearConstraint> named;
      for (uint32_t i : *found) named.push_back(system.rows()[i]);
      EXPECT_TRUE(system.contradiction_of(named)) << seed;
    }
    if (boxed && !system.has_point(system.all())) {
      ++without_point;
      found_of_these += found.has_value();
    }
  }
  EXPECT_GT(without_point, 500u);
  EXPECT_GE(found_of_these * 100, without_point * 99);
  EXPECT_GT(refuted, 1500u);
}

// --- other unknowns

using Columns = std::vector<std::vector<int64_t>>;

Columns columns_of(const std::vector<LinearConstraint>& rows,
                   uint32_t unknowns) {
  Columns columns(unknowns, std::vector<int64_t>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const LinearTerm& t : rows[i].terms) columns[t.unknown][i] = t.coef;
  }
  return columns;
}

// Whether some whole c has `column` == sum c[k]*basis[k], for two of them.
bool is_combination(const std::vector<int64_t>& column, const Columns& basis) {
  for (size_t i = 0; i < column.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const auto wide = [](int64_t v) { return static_cast<__int128>(v); };
      const __int128 det =
          wide(basis[0][i]) * basis[1][j] - wide(basis[0][j]) * basis[1][i];
      if (det == 0) continue;
      const __int128 a =
          wide(column[i]) * basis[1][j] - wide(column[j]) * basis[1][i];
      const __int128 b =
          wide(basis[0][i]) * column[j] - wide(basis[0][j]) * column[i];
      if (a % det != 0 || b % det != 0) return false;
      for (size_t k = 0; k < column.size(); ++k) {
        if (a / det * basis[0][k] + b / det * basis[1][k] != column[k])
          return false;
      }
      return true;
    }
  }
  return false;  // the basis has one direction alone
}

// The new columns span the lattice of the old ones: what whole numbers reach is
// the same.
TEST(ShortColumns, SpanTheSameLattice) {
  size_t changed = 0;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int low, int high) {
      return low + static_cast<int64_t>(random() % unsigned(high - low + 1));
    };
    std::vector<LinearConstraint> rows;
    const int64_t base = pick(100, 3000);
    for (int n = 0; n < 3; ++n) {
      LinearConstraint row;
      for (uint32_t x = 0; x < 2; ++x)
        row.terms.push_back({x, (n % 2 ? -1 : 1) * (base + pick(-9, 9))});
      row.constant = pick(-99, 99);
      row.equality = n == 2;
      rows.push_back(std::move(row));
    }
    const auto shorter = with_short_columns(rows);
    if (!shorter) continue;
    ++changed;
    const Columns before = columns_of(rows, 2), after = columns_of(*shorter, 2);
    int64_t length_before = 0, length_after = 0;  // squared
    for (uint32_t x = 0; x < 2; ++x) {
      EXPECT_TRUE(is_combination(after[x], before)) << seed;
      EXPECT_TRUE(is_combination(before[x], after)) << seed;
      for (size_t i = 0; i < rows.size(); ++i) {
        length_before += before[x][i] * before[x][i];
        length_after += after[x][i] * after[x][i];
      }
    }
    EXPECT_LT(length_after, length_before) << seed;
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ((*shorter)[i].constant, rows[i].constant);
      EXPECT_EQ((*shorter)[i].equality, rows[i].equality);
    }
  }
  EXPECT_GT(changed, 300u);
}

TEST(ShortColumns, ShowWhatRoundingHides) {
  System system;
  system.add({3000, -2999, 0}, -1000);
  system.add({-3000, 2998, 0}, 2000);
  const auto shorter = with_short_columns(system.rows());
  ASSERT_TRUE(shorter);
  for (const LinearConstraint& row : *shorter) {
    EXPECT_TRUE(
        std::any_of(row.terms.begin(), row.terms.end(),
                    [](const LinearTerm& t) { return std::abs(t.coef) <= 2; }));
  }
}

TEST(ShortColumns, LeaveSmallOnesAlone) {
  System system;
  system.add({16, -15, 1}, 0);
  system.add({3, 4, 5}, 0);
  system.add({100, 0, 0}, 0);  // one large row
  EXPECT_FALSE(with_short_columns(system.rows()));
}

}  // namespace
}  // namespace proviso
