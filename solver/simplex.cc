// Each row is scale * basic == cells * nonbasic + constant, and nonbasic
// variables are 0: where all constants are >= 0, that is a solution.
//
//   a: x - y - 1 >= 0,  b: y - x >= 0           x, y free; a, b rows
//     a is -1       x enters: x == a + y + 1, and b == -a - 1
//     b is -1       a may only grow, and lowers b: a and b are in conflict
//
// Bland's rule, the first row and the first column that will do, never goes
// round in a circle.  A pivot costs the cells of the tableau.  Numbers past 62
// bits end it without an answer; otherwise, and within `units`, complete over
// the rationals.
#include "solver/simplex.h"

#include <algorithm>
#include <numeric>

namespace proviso::inline v0_2::internal {
namespace {

using Wide = __int128;

constexpr size_t kNone = ~size_t{0};
constexpr uint64_t kCellsPerUnit = 32, kLargeCellsPerUnit = 4;
constexpr Wide kSmallNumber = Wide{1} << 30;

bool fits(Wide v) {
  return v <= LinearSystem::kMaxCoefficient &&
         v >= -LinearSystem::kMaxCoefficient;
}

bool is_small(Wide v) { return v < kSmallNumber && v > -kSmallNumber; }

// Most values have 64 bits, of which the machine's own division takes care.
Wide gcd_of(Wide a, Wide b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b != 0) {
    if (fits(a) && fits(b)) {
      return std::gcd(static_cast<int64_t>(a), static_cast<int64_t>(b));
    }
    Wide r = a % b;
    a = b;
    b = r;
  }
  return a;
}

Wide quotient(Wide a, Wide g) {
  if (!fits(a) || !fits(g)) return a / g;
  return static_cast<int64_t>(a) / static_cast<int64_t>(g);
}

}  // namespace

bool Simplex::add(const LinearConstraint& constraint) {
  uint32_t variable = static_cast<uint32_t>(free_) + slacks_++;
  std::optional<int64_t> constant = constraint.constant.to_int64();
  if (!constant || !fits(*constant)) return false;
  Row r{std::vector<int64_t>(columns_), *constant, 1, variable};
  for (const LinearTerm& t : constraint.terms) r.cells[t.unknown] = t.coef;
  rows_.push_back(std::move(r));
  return true;
}

// Bland's rule: the first that is negative and must not be.
size_t Simplex::violated() const {
  size_t best = kNone;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].constant >= 0) continue;
    if (best == kNone || rows_[i].basic < rows_[best].basic) best = i;
  }
  return best;
}

// A column that can raise the row: any unknown that is free, else the first
// inequality that may grow with it.
size_t Simplex::entering(const Row& row) const {
  size_t best = kNone;
  for (size_t j = 0; j < columns_; ++j) {
    int64_t c = row.cells[j];
    if (c == 0 || (c < 0 && !is_free(nonbasic_[j]))) continue;
    if (best == kNone || nonbasic_[j] < nonbasic_[best]) best = j;
  }
  return best;
}

// Row r's basic unknown and column q's change places.  False when a number
// outgrows its place.
bool Simplex::pivot(size_t r, size_t q) {
  Row& p = rows_[r];
  const int64_t c = p.cells[q];
  const int64_t sign = c > 0 ? -1 : 1;
  for (int64_t& cell : p.cells) cell *= sign;
  p.cells[q] = -sign * p.scale;
  p.constant *= sign;
  p.scale = -sign * c;
  std::swap(p.basic, nonbasic_[q]);
  std::vector<Wide> next(columns_);
  for (size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    const int64_t k = i == r ? 0 : row.cells[q];
    if (k == 0) continue;
    row.cells[q] = 0;
    Wide scale = static_cast<Wide>(row.scale) * p.scale;
    Wide constant = static_cast<Wide>(row.constant) * p.scale +
                    static_cast<Wide>(p.constant) * k;
    bool small = is_small(scale) && is_small(constant);
    for (size_t j = 0; j < columns_; ++j) {
      next[j] = static_cast<Wide>(row.cells[j]) * p.scale +
                static_cast<Wide>(p.cells[j]) * k;
      small = small && is_small(next[j]);
    }
    // What is small is left as it is: its products fit too.
    Wide g = small ? 1 : gcd_of(scale, constant);
    for (size_t j = 0; j < columns_ && g != 1; ++j) {
      if (next[j] != 0) g = gcd_of(g, next[j]);
    }
    scale = quotient(scale, g);
    constant = quotient(constant, g);
    if (!fits(scale) || !fits(constant)) return false;
    row.scale = static_cast<int64_t>(scale);
    row.constant = static_cast<int64_t>(constant);
    for (size_t j = 0; j < columns_; ++j) {
      if (g != 1) next[j] = quotient(next[j], g);
      if (!fits(next[j])) return false;
      row.cells[j] = static_cast<int64_t>(next[j]);
    }
    work_ += 1 + columns_ / (small ? kCellsPerUnit : kLargeCellsPerUnit);
  }
  // What is free is never violated: once basic, its row is not needed.
  if (is_free(p.basic)) {
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(r));
  }
  return true;
}

std::optional<std::vector<uint32_t>> Simplex::infeasible(uint64_t units) {
  nonbasic_.resize(columns_);
  std::iota(nonbasic_.begin(), nonbasic_.end(), 0u);
  const uint64_t limit = work_ + units;
  while (work_ < limit) {
    ++work_;
    size_t r = violated();
    if (r == kNone) return std::nullopt;
    size_t q = entering(rows_[r]);
    if (q != kNone) {
      if (!pivot(r, q)) return std::nullopt;
      continue;
    }
    // Every term is at most 0, and so is the constant: the row and the
    // inequalities in it are at odds.
    std::vector<uint32_t> conflict;
    conflict.push_back(rows_[r].basic - static_cast<uint32_t>(free_));
    for (size_t j = 0; j < columns_; ++j) {
      if (rows_[r].cells[j] == 0) continue;
      conflict.push_back(nonbasic_[j] - static_cast<uint32_t>(free_));
    }
    std::sort(conflict.begin(), conflict.end());
    return conflict;
  }
  return std::nullopt;
}

}  // namespace proviso::inline v0_2::internal
