// Rows are kept in echelon form over whole exponents: a row that would need a
// fraction is raised to a power, and one that outgrows limits().ratio_exponent
// or ratio_bits is left out.  A reduction costs the rows times the factors.
#include "solver/monomials.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
namespace {

std::optional<Rational> power(const Rational& base, int64_t n) {
  const auto size = static_cast<uint64_t>(std::abs(n));
  if (base == Rational(1)) return base;
  const size_t bits =
      std::max(base.num().bit_length(), base.den().bit_length());
  if (bits * size > limits().ratio_bits) return std::nullopt;
  const auto num = pow(base.num(), size), den = pow(base.den(), size);
  if (!num || !den) return std::nullopt;
  return n >= 0 ? Rational(*num, *den) : Rational(*den, *num);
}

size_t first_nonzero(const Exponents& e) {
  size_t i = 0;
  while (i < e.size() && e[i] == 0) ++i;
  return i;
}

void unite(std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  for (uint32_t name : b) {
    if (std::find(a.begin(), a.end(), name) == a.end()) a.push_back(name);
  }
}

}  // namespace

// False where a number grows too large.
bool MonomialEqualities::reduce(Row& row, int64_t& times) const {
  times = 1;
  for (const Row& r : rows_) {
    row.powers.resize(std::max(row.powers.size(), r.powers.size()));
    const int64_t a = row.powers[r.pivot], b = r.powers[r.pivot];
    if (a == 0) continue;
    const int64_t g = std::gcd(a, b);
    const int64_t up = std::abs(b / g), down = (b < 0 ? -a : a) / g;
    times *= up;
    if (times > limits().ratio_exponent) return false;
    for (size_t i = 0; i < row.powers.size(); ++i) {
      const int64_t other = i < r.powers.size() ? r.powers[i] : 0;
      row.powers[i] = row.powers[i] * up - other * down;
      if (std::abs(row.powers[i]) > limits().ratio_exponent) return false;
    }
    const auto mine = power(row.value, up), its = power(r.value, -down);
    if (!mine || !its) return false;
    row.value = *mine * *its;
    unite(row.uses, r.uses);
  }
  return true;
}

void MonomialEqualities::add(Exponents powers, const Rational& value,
                             uint32_t name) {
  if (rows_.size() >= limits().ratio_equalities ||
      powers.size() > limits().ratio_factors) {
    return;
  }
  Row row{std::move(powers), value, {name}, 0};
  int64_t times = 1;
  if (!reduce(row, times)) return;
  row.pivot = first_nonzero(row.powers);
  if (row.pivot == row.powers.size()) return;  // it follows, or contradicts
  const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) {
    return r.pivot > row.pivot;
  });
  rows_.insert(at, std::move(row));
}

std::optional<MonomialEqualities::Ratio> MonomialEqualities::reduced(
    Exponents powers) const {
  Row row{std::move(powers), Rational(1), {}, 0};
  int64_t times = 1;
  if (!reduce(row, times)) return std::nullopt;
  // product**times * row.value is the product of what is left.
  const bool is_determined = first_nonzero(row.powers) == row.powers.size();
  if (times != 1 && !(is_determined && row.value == Rational(1))) {
    return std::nullopt;
  }
  return Ratio{Rational(1) / row.value, std::move(row.powers),
               std::move(row.uses)};
}

// One for each factor that is no pivot, from the last row to the first.
std::vector<Exponents> MonomialEqualities::invariant_scalings(
    size_t factors, size_t most) const {
  std::vector<Exponents> found;
  std::vector<bool> is_pivot(factors);
  for (const Row& r : rows_) is_pivot[r.pivot] = true;
  for (size_t free = factors; free-- > 0 && found.size() < most;) {
    if (is_pivot[free]) continue;
    Exponents w(factors);
    w[free] = 1;
    bool fits = true;
    for (size_t k = rows_.size(); fits && k-- > 0;) {
      const Row& r = rows_[k];
      int64_t sum = 0;  // of the other factors' powers
      for (size_t i = r.pivot + 1; i < r.powers.size(); ++i) {
        sum += r.powers[i] * w[i];
      }
      const int64_t p = r.powers[r.pivot];
      const int64_t g = std::gcd(sum, p), up = std::abs(p / g);
      for (int64_t& x : w) x *= up;
      w[r.pivot] = (p < 0 ? sum : -sum) / g;
      fits = std::all_of(w.begin(), w.end(), [](int64_t x) {
        return std::abs(x) <= limits().ratio_exponent;
      });
    }
    if (fits) found.push_back(std::move(w));
  }
  return found;
}

}  // namespace proviso::inline v0_2::internal
