// Ranges of sums whose terms move together.
//
//   x - 8*(x//8)              in [0, 7]: what is left of x
//   y - max(0, y - 3)         at most 3: y, or y - (y - 3)
//   i*n + j - m*n  with i <= m - 1, 0 <= j <= n - 1, all from their ends
//
// Each step gives a superset: p with a floor put below and above its numerator,
// both readings of a maximum, variables as the distance from an end.  None is
// complete; depth is limited by limits().correlation_depth, and the cost of a
// step by the terms that it makes.
#include <algorithm>

#include "solver/limits_in_force.h"
#include "solver/normal/ranges.h"

namespace proviso::inline v0_2::internal {
namespace {

// p but for one of its terms.
Poly without(const Poly& p, const Term& term) {
  Poly rest = Poly::number(p.constant);
  for (const Term& t : p.terms) {
    if (&t != &term) rest.terms.push_back(t);
  }
  return rest;
}

}  // namespace

// The terms of the highest degree keep their coefficients, but for the sign:
// whether all have one sign then.
bool Ranges::may_shift(const Poly& p, size_t degree) {
  bool up = true, down = true;
  for (const Term& t : p.terms) {
    if (forms_.monomials.factors(t.mono).size() != degree) continue;
    bool positive = t.coef.sign() > 0;
    for (AtomId a : forms_.monomials.factors(t.mono)) {
      positive ^= !of_atom(a).span.lower().has_value();
    }
    (positive ? down : up) = false;
  }
  return up || down;
}

// Every atom x put as low + t (or high - t), t >= 0: when all coefficients but
// the constant have one sign, the constant is a bound.
Range Ranges::by_shift(const Poly& p) {
  if (p.terms.size() < 2) return {};  // a product of ranges is as good
  size_t degree = 0;
  for (const Term& t : p.terms) {
    degree = std::max(degree, forms_.monomials.factors(t.mono).size());
  }
  if (degree < 2 || degree > limits().shift_degree) return {};
  if (p.terms.size() > limits().shift_terms || !may_shift(p, degree)) return {};
  Poly shifted = Poly::number(p.constant);
  Reason why = 0;
  SmallVector<Term, 8> parts;  // of one term; mono 0 is 1
  for (const Term& t : p.terms) {
    parts.clear();
    parts.push_back({0, t.coef});
    for (AtomId a : forms_.monomials.factors(t.mono)) {
      const Range& r = of_atom(a);
      if (r.span.is_empty()) return {};
      const bool low = r.span.lower().has_value();
      if (!low && !r.span.upper()) return {};
      why = join(why, low ? r.lower : r.upper);
      const Int& end = low ? *r.span.lower() : *r.span.upper();
      const size_t count = parts.size();
      for (size_t i = 0; i < count; ++i) {
        const Term part = parts[i];
        if (!end.is_zero()) parts.push_back({part.mono, part.coef * end});
        parts[i] = {forms_.monomials.product(part.mono, forms_.monomials.of(a)),
                    low ? part.coef : -part.coef};
      }
    }
    for (const Term& part : parts) {
      append(shifted, part.mono, part.coef);
    }
    state_.meter.spend(4);
    if (shifted.terms.size() > limits().shifted_terms) return {};
  }
  merge_terms(shifted);
  bool up = true, down = true;
  for (const Term& t : shifted.terms) {
    (t.coef.sign() > 0 ? down : up) = false;
  }
  Range r;
  if (up) r = {Interval::at_least(shifted.constant), why, 0};
  if (down) narrow(reasons_, r, {Interval::at_most(shifted.constant), 0, why});
  return r;
}

// c*pos(d) is max(0, c*d) for c > 0 and min(0, c*d) for c < 0: p lies between
// the ends of its two readings.
Range Ranges::clamped(const Poly& p, const Term& t, int depth) {
  const Atom& atom = forms_.atoms[forms_.monomials.single(t.mono)];
  Poly rest = without(p, t);
  Range x = of(rest, depth + 1);
  Range y = of(add(rest, forms_.polys[atom.a], t.coef), depth + 1);
  if (x.span.is_empty() || y.span.is_empty()) return {};
  bool is_max = t.coef.sign() > 0;
  Range r;
  r.span = is_max ? max(x.span, y.span) : min(x.span, y.span);
  // The end that both readings share, and the one that either gives.
  Reason both_low = join(x.lower, y.lower), both_high = join(x.upper, y.upper);
  auto same = [](const OptionalInt& a, const OptionalInt& b) {
    return a && a == b;
  };
  r.lower = !is_max                                ? both_low
            : same(r.span.lower(), x.span.lower()) ? x.lower
                                                   : y.lower;
  r.upper = is_max                                 ? both_high
            : same(r.span.upper(), x.span.upper()) ? x.upper
                                                   : y.upper;
  return r;
}

// In p = rest + c*d*floor(a/d) the product d*floor(a/d) is a minus a remainder
// in [0, d-1] (d > 0) or [d+1, 0] (d < 0): p lies between rest + c*a and, for
// d > 0, rest + c*a - c*(d-1).  A content of d need not divide c: everything is
// scaled first.  Nullopt where p is not of this form for q, a factor of its
// term t, or t is not the first term of the product.
std::optional<Ranges::Unfloored> Ranges::without_floor(const Poly& p,
                                                       const Term& t,
                                                       AtomId q) {
  const Atom& atom = forms_.atoms[q];
  if (atom.kind != AtomKind::kFloor) return std::nullopt;
  const Poly& d = forms_.polys[atom.b];
  MonoId first = forms_.monomials.of(q);
  if (!d.is_constant())
    first = forms_.monomials.product(first, d.terms[0].mono);
  if (first != t.mono) return std::nullopt;
  const Range divisor = of(d, limits().correlation_depth);
  if (divisor.span.is_empty()) return std::nullopt;
  const bool negative = at_most(divisor, -1);
  if (!negative && !at_least(divisor, 1)) return std::nullopt;
  const Int& unit = d.is_constant() ? d.constant : d.terms[0].coef;
  Int g = gcd(t.coef, unit);
  if (unit.sign() < 0) g = -g;
  const Int scale = floor_div(unit, g), c = floor_div(t.coef, g);
  Poly most;
  if (has_short_divisor(atom)) {
    most = without(p, t);
    if (!scale.is_one()) most = most * scale;
  } else {
    const Poly product = mul(forms_, d, variable(forms_, q));
    most = add(p * scale, product, -c);
    if (most.terms.size() + product.terms.size() != p.terms.size()) return {};
  }
  most = add(most, forms_.polys[atom.a], c);
  Poly least = add(most, d, -c);
  least.constant += negative ? -c : c;
  if ((c.sign() < 0) != negative) std::swap(least, most);
  return Unfloored{std::move(least), std::move(most), scale,
                   negative ? divisor.upper : divisor.lower};
}

// One product, or a constant: what costs little to substitute.
bool Ranges::has_short_divisor(const Atom& atom) const {
  if (atom.kind != AtomKind::kFloor) return false;
  const Poly& d = forms_.polys[atom.b];
  return d.is_constant() || (d.terms.size() == 1 && d.constant.is_zero());
}

// Stops where the lower end is `enough`.
Range Ranges::correlated(const Poly& p, int depth, std::optional<int> enough) {
  Range best;
  if (p.terms.size() > limits().correlated_terms) return best;
  const bool alone = p.terms.size() == 1 && p.constant.is_zero();
  for (const Term& t : p.terms) {
    for (AtomId q : forms_.monomials.factors(t.mono)) {
      const Atom& atom = forms_.atoms[q];
      if (atom.kind == AtomKind::kPos && forms_.monomials.single(t.mono) == q) {
        narrow(reasons_, best, clamped(p, t, depth));
        if (best.span.is_empty()) return best;
      }
      if (alone || !has_short_divisor(atom)) continue;
      const std::optional<Unfloored> u = without_floor(p, t, q);
      if (!u) continue;
      const Range low = of(u->low, depth + 1);
      if (low.span.is_empty()) continue;
      OptionalInt lower, upper;
      if (low.span.lower()) lower = -floor_div(-*low.span.lower(), u->scale);
      if (enough && lower && *lower >= Int(*enough)) {
        return {Interval::at_least(*lower), join(low.lower, u->why), 0};
      }
      const Range high = u->low.terms == u->high.terms
                             ? shifted(low, u->high.constant - u->low.constant)
                             : of(u->high, depth + 1);
      if (high.span.is_empty()) continue;
      if (high.span.upper()) upper = floor_div(*high.span.upper(), u->scale);
      narrow(reasons_, best,
             {Interval::of(std::move(lower), std::move(upper)),
              join(low.lower, u->why), join(high.upper, u->why)});
      if (best.span.is_empty()) return best;
    }
  }
  return best;
}

}  // namespace proviso::inline v0_2::internal
