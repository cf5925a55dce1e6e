// Bounds of what an inequality is a polynomial in.
//
//   x*x <= 2*x + 35                x <= 7
//   x*x <= y*x + 35, y <= 2        the same
//
// Coefficients are taken at their upper ends, for x >= 0 and for x <= 0.  Below
// Cauchy's bound of roots, bisection finds where the polynomial and all its
// derivatives are not positive from there on (by Taylor coefficients): that is
// the last root or beyond it.  The cost is the square of the degree for each
// bit of the bound; limits().root_degree and root_bits end it.
#include <algorithm>

#include "solver/limits_in_force.h"
#include "solver/propagate/propagators.h"

namespace proviso::inline v0_2::internal {
namespace {

using Coefficients = SmallVector<Int, 8>;  // of 1, x, x**2, ...

// Whether c is negative at y and beyond, as its Taylor coefficients there show.
bool is_negative_from(const Int& y, Coefficients c) {
  for (size_t i = 0; i < c.size(); ++i) {
    for (size_t k = c.size() - 1; k-- > i;) c[k] += y * c[k + 1];
  }
  return c[0].sign() < 0 &&
         std::all_of(
             c.begin(), c.end(), [](const Int& v) { return v.sign() <= 0; });
}

// The least x >= -1 beyond which c is negative.  Requires the last to be;
// starts from Cauchy's bound of roots.
Int last_root(const Coefficients& c) {
  if (is_negative_from(0, c)) return -1;
  Int most = 0;
  for (const Int& v : c) most = std::max(most, v);
  Int low = -1, high = 2 + floor_div(most, abs(c.back()));
  while (high - low > Int(1)) {
    const Int middle = floor_div(low + high, 2);
    (is_negative_from(middle + 1, c) ? high : low) = middle;
  }
  return high;
}

}  // namespace

// For x >= 0 (x <= 0) each coefficient of p >= 0, as a polynomial in x, is at
// most the upper end of its range.
void RootPropagator::tighten(const Poly& p, AtomId x, bool upper, Reason why) {
  SmallVector<Poly, 4> parts;  // the coefficients of 1, x, x**2, ...
  parts.push_back(Poly::number(p.constant));
  for (const Term& t : p.terms) {
    Factors rest;
    for (AtomId a : forms_.monomials.factors(t.mono)) {
      if (a != x) rest.push_back(a);
    }
    const size_t k = forms_.monomials.factors(t.mono).size() - rest.size();
    if (k > limits().root_degree) return;
    while (parts.size() <= k) parts.emplace_back();
    if (rest.empty()) {
      parts[k].constant += t.coef;
    } else {
      parts[k].terms.push_back({forms_.monomials.of(rest), t.coef});
    }
  }
  Coefficients c;
  for (size_t k = 0; k < parts.size(); ++k) {
    Poly& part = parts[k];
    merge_terms(part);
    const bool up = upper || k % 2 == 0;  // else of -x
    auto end_of = [up](const Range& r) {
      return up ? r.span.upper() : r.span.lower();
    };
    Range r = ranges_.plain(part);
    if (!r.span.is_empty() && !end_of(r)) r = ranges_.of(part);
    const OptionalInt end = end_of(r);
    if (r.span.is_empty() || !end) return;
    c.push_back(up ? *end : -*end);
    why = join(why, up ? r.upper : r.lower);
  }
  while (!c.empty() && c.back().is_zero()) c.pop_back();
  if (c.size() < 3 || c.back().sign() > 0) return;
  if (std::any_of(c.begin(), c.end(), [](const Int& v) {
        return v.bit_length() > limits().root_bits;
      })) {
    return;
  }
  state_.meter.spend(c.size() * c.size());
  // Is there news?
  const Interval& span = ranges_.of_atom(x).span;
  const OptionalInt& end = upper ? span.upper() : span.lower();
  if (end) {
    const Int size = upper ? *end : -*end;
    if (size.sign() < 0 || !is_negative_from(size, c)) return;
  }
  const Int root = last_root(c);
  to_.bound(x, !upper, upper ? root : -root, why);
}

// Bounds each x whose square is in p beside another term about x.
void RootPropagator::on_inequality(const Poly& p, Reason why, When) {
  if (p.terms.size() < 2 || p.terms.size() > limits().root_terms) return;
  SmallVector<AtomId, 4> seen;
  for (const Term& t : p.terms) {
    const Factors& factors = forms_.monomials.factors(t.mono);
    for (size_t i = 1; i < factors.size(); ++i) {
      const AtomId x = factors[i];
      if (x != factors[i - 1]) continue;
      if (std::find(seen.begin(), seen.end(), x) != seen.end()) continue;
      seen.push_back(x);
      const auto mentions =
          std::count_if(p.terms.begin(), p.terms.end(), [&](const Term& other) {
            const Factors& f = forms_.monomials.factors(other.mono);
            return std::binary_search(f.begin(), f.end(), x);
          });
      if (mentions < 2) continue;
      for (bool upper : {true, false}) {
        if (!to_.has_conflict()) tighten(p, x, upper, why);
      }
    }
  }
}

}  // namespace proviso::inline v0_2::internal
