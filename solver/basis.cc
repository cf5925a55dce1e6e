// Unimodular changes of unknowns that make coefficients small.
//
//   3000*x - 2999*y >= 1000, 2000 >= 3000*x - 2998*y     t = x - y:
//   3000*t + y >= 1000,      2000 >= 3000*t + 2*y
//
// Thin polyhedra without integer points escape elimination with rounding while
// their coefficients are large: nearly parallel columns differ by little, and
// subtracting one from the other is a change of unknowns that loses no integer
// point.  Columns are reduced pair by pair, as Gauss reduces a lattice basis of
// two vectors (compare Lovasz and Scarf, The generalized basis reduction
// algorithm, 1992, which does it by directions of small width).
#include <algorithm>
#include <cstdlib>

#include "solver/limits_in_force.h"
#include "solver/linear.h"

namespace proviso::inline v0_2::internal {
namespace {

constexpr int64_t kLarge = int64_t{1} << 40;  // whose squares fit in Wide

using Wide = __int128;
using Column = std::vector<int64_t>;

Wide dot(const Column& a, const Column& b) {
  Wide sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += Wide{a[i]} * b[i];
  return sum;
}

// The nearest whole number to a / b, for b > 0.
Wide rounded_quotient(Wide a, Wide b) {
  const Wide twice = 2 * a + b;
  Wide q = twice / (2 * b);
  if (twice % (2 * b) < 0) --q;
  return q;
}

// Whether some multiple of a was taken from b.
bool reduce(Column& b, const Column& a) {
  const Wide length = dot(a, a);
  if (length == 0) return false;
  const Wide q = rounded_quotient(dot(a, b), length);
  if (q == 0 || q > kLarge || q < -kLarge) return false;
  Column shorter = b;
  for (size_t i = 0; i < b.size(); ++i) {
    const Wide value = b[i] - q * a[i];
    if (value > kLarge || value < -kLarge) return false;
    shorter[i] = static_cast<int64_t>(value);
  }
  if (dot(shorter, shorter) >= dot(b, b)) return false;
  b = std::move(shorter);
  return true;
}

}  // namespace

std::optional<std::vector<LinearConstraint>> with_short_columns(
    const std::vector<LinearConstraint>& constraints) {
  if (constraints.size() > limits().basis_constraints) return std::nullopt;
  std::vector<uint32_t> unknowns;
  size_t large = 0;
  for (const LinearConstraint& r : constraints) {
    bool is_large = false;
    for (const LinearTerm& t : r.terms) {
      if (std::abs(t.coef) > kLarge) return std::nullopt;
      is_large |=
          std::abs(t.coef) > limits().small_coefficient && r.terms.size() > 1;
      unknowns.push_back(t.unknown);
    }
    large += is_large;
  }
  if (large < 2) return std::nullopt;
  std::sort(unknowns.begin(), unknowns.end());
  unknowns.erase(std::unique(unknowns.begin(), unknowns.end()), unknowns.end());
  if (unknowns.size() < 2 || unknowns.size() > limits().basis_unknowns) {
    return std::nullopt;
  }
  std::vector<Column> columns(unknowns.size(), Column(constraints.size()));
  for (size_t i = 0; i < constraints.size(); ++i) {
    for (const LinearTerm& t : constraints[i].terms) {
      const auto at =
          std::lower_bound(unknowns.begin(), unknowns.end(), t.unknown);
      columns[static_cast<size_t>(at - unknowns.begin())][i] = t.coef;
    }
  }
  bool any = false;
  for (int step = 0, last = 0; step - last < 2 && step < limits().basis_passes;
       ++step) {
    for (Column& b : columns) {
      for (const Column& a : columns) {
        if (&a != &b && reduce(b, a)) any = true, last = step;
      }
    }
  }
  if (!any) return std::nullopt;
  std::vector<LinearConstraint> reduced = constraints;
  for (size_t i = 0; i < constraints.size(); ++i) {
    reduced[i].terms.clear();
    for (size_t k = 0; k < unknowns.size(); ++k) {
      if (columns[k][i] == 0) continue;
      reduced[i].terms.push_back({unknowns[k], columns[k][i]});
    }
  }
  return reduced;
}

}  // namespace proviso::inline v0_2::internal
