#include "solver/normal/ranges.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "solver/fixed_limits.h"
#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
// --- atoms

Ranges::Cached& Ranges::cached(const AtomRecord& r) {
  const uint32_t slot = state_.atoms.cache_of(r);
  if (slot >= of_atoms_.size()) of_atoms_.resize(slot + 1);
  return of_atoms_[slot];
}

const Range& Ranges::derived(AtomId a, const AtomRecord& r) {
  Cached& known = cached(r);
  if (known.stamp == state_.trail.stamp()) return known.range;
  if (cut_ != kNoId) return r.own;
  if (nested_ == fixed::nested_ranges) {
    cut_ = a;
    return r.own;
  }
  derive(a, r, known);
  if (cut_ != kNoId && nested_ == 0) [[unlikely]]
    derive_from_within(a);
  return known.range;
}

// `a`, in which an atom was too deep: that one first.
void Ranges::derive_from_within(AtomId a) {
  std::vector<AtomId> waiting{a};
  while (!waiting.empty()) {
    const AtomId inner = std::exchange(cut_, kNoId);
    if (inner != kNoId) {
      if (stamp_to_keep() == 0) return;  // it would not be remembered
      waiting.push_back(inner);
    } else {
      waiting.pop_back();
      if (waiting.empty()) return;
    }
    const AtomRecord& r = state_.atoms.of(waiting.back());
    derive(waiting.back(), r, cached(r));
  }
}

void Ranges::derive(AtomId a, const AtomRecord& r, Cached& known) {
  struct Level {
    explicit Level(Ranges& all) : all(all) { ++all.nested_; }
    ~Level() {
      if (--all.nested_ == 0 && std::uncaught_exceptions() > 0)
        all.cut_ = kNoId;
    }
    Ranges& all;
  } const level(*this);
  if (is_variable(r.kind)) {
    const Substitution::Solved& solved = state_.substitution.solved(r);
    known.range = of_value(forms_.polys[solved.value]);
    known.range.lower = join(known.range.lower, solved.why);
    known.range.upper = join(known.range.upper, solved.why);
  } else {
    state_.meter.spend(1);
    known.range = of_parts(forms_.atoms[a]);
  }
  narrow(reasons_, known.range, r.own);
  known.stamp = stamp_to_keep();
}

// What a solved variable's value is known to be, but for ranges of its parts.
Range Ranges::of_value(const Poly& value) {
  if (value.is_constant()) return point(value.constant);
  if (!is_single(forms_, value)) return asserted(value);
  const AtomId x = forms_.monomials.single(value.terms[0].mono);
  if (!forms_.atoms.is_variable(x)) return {};
  return shifted(scaled(state_.bounds.own(x), value.terms[0].coef),
                 value.constant);
}

Range Ranges::of_parts(const Atom& atom) {
  switch (atom.kind) {
    case AtomKind::kFloor: {
      const Poly& divisor = forms_.polys[atom.b];
      Range x = of(forms_.polys[atom.a], 1);
      if (!divisor.is_constant()) return quotient(reasons_, x, of(divisor, 1));
      if (divisor.constant.sign() <= 0 || x.span.is_empty()) {
        return quotient(reasons_, x, point(divisor.constant));
      }
      OptionalInt low = x.span.lower(), high = x.span.upper();
      if (low) low = floor_div(*low, divisor.constant);
      if (high) high = floor_div(*high, divisor.constant);
      x.span = Interval::of(std::move(low), std::move(high));
      return x;
    }
    case AtomKind::kPos: return nonnegative_part(of(forms_.polys[atom.a], 1));
    case AtomKind::kIte: {
      const Range x = of(forms_.polys[atom.a], 1);
      return hull(reasons_, x, of(forms_.polys[atom.b], 1));
    }
    case AtomKind::kNamed: return of(forms_.polys[atom.a], 1);
    case AtomKind::kFunc: return of_function(atom);
    case AtomKind::kOpaque:
      if (!atom.expr.is(Op::kDenseIndicator)) return {};
      return {Interval(0, 1), 0, 0};
    case AtomKind::kSymbol:
    case AtomKind::kFresh: break;
  }
  return {};
}

Range Ranges::of_function(const Atom& atom) {
  const Range x = of(forms_.polys[atom.a], 1), y = of(forms_.polys[atom.b], 1);
  if (atom.op == Op::kBitAnd) return of_bits(x, y);
  return atom.op == Op::kPow ? of_power(x, y) : Range{};
}

// x & y clears bits of x: with y >= 0 it lies in [0, y], with y < 0 it is at
// most x.
Range Ranges::of_bits(const Range& x, const Range& y) {
  Range result;
  if (x.span.lower() && y.span.lower()) {
    // Both at least -2**k, in k + 1 bits: so is what they have in common.
    Int low = -1;
    const Int least = std::min(*x.span.lower(), *y.span.lower());
    while (low > least && low.bit_length() < limits().mask_bits) low *= 2;
    if (low <= least) {
      result = {Interval::at_least(low), join(x.lower, y.lower), 0};
    }
  }
  for (const auto& [mask, other] : {std::pair(x, y), std::pair(y, x)}) {
    if (at_least(mask, 0)) {
      narrow(reasons_, result,
             {Interval::of(Int(0), mask.span.upper()), mask.lower,
              join(mask.lower, mask.upper)});
    } else if (mask.span.upper() && mask.span.upper()->sign() < 0) {
      narrow(reasons_, result,
             {Interval::of(std::nullopt, other.span.upper()), 0,
              join(mask.upper, other.upper)});
    }
  }
  return result;
}

// b**n grows with b >= 1 and with n >= 0.
Range Ranges::of_power(const Range& base, const Range& exponent) {
  if (!at_least(base, 1) || !at_least(exponent, 0)) return {};
  auto at_end = [&](bool lower) -> std::optional<Int> {
    const auto &b = lower ? base.span.lower() : base.span.upper(),
               &n = lower ? exponent.span.lower() : exponent.span.upper();
    if (!b || !n || *n >= Int(limits().range_exponent)) return std::nullopt;
    return pow(*b, static_cast<uint64_t>(*n->to_int64()));
  };
  const Int low = at_end(true).value_or(Int(1));
  const OptionalInt high = at_end(false);
  const Reason why = join(base.lower, exponent.lower);
  return {Interval::of(low, high), why,
          high ? join(why, join(base.upper, exponent.upper)) : 0};
}

const Range& Ranges::of_product(MonoId m) {
  uint32_t& slot = product_slot_of_.at(m);
  if (slot == kNoId) {
    slot = static_cast<uint32_t>(of_products_.size());
    of_products_.emplace_back();
  }
  Cached& known = of_products_[slot];
  if (known.stamp == state_.trail.stamp()) return known.range;
  known.range = of_factors(forms_.monomials.factors(m));
  known.stamp = stamp_to_keep();
  return known.range;
}

Range Ranges::of_factors(const Factors& factors) {
  Range total = point(1);
  for (size_t i = 0; i < factors.size();) {
    size_t j = i;
    while (j < factors.size() && factors[j] == factors[i]) ++j;
    const Range base = of_atom(factors[i]);
    const Range of_base = power(reasons_, base, static_cast<unsigned>(j - i));
    total = i == 0 ? of_base : product(reasons_, total, of_base);
    i = j;
  }
  return total;
}

// --- polynomials

Range Ranges::plain(const Poly& p) {
  if (p.terms.size() == 1 && p.terms[0].coef.is_one()) {
    state_.meter.spend(1);
    Range r = shifted(of_monomial(p.terms[0].mono), p.constant);
    if (r.span.is_empty()) r.lower = r.upper = join(r.lower, r.upper);
    return r;
  }
  Int low = p.constant, high = p.constant;
  bool has_low = true, has_high = true;
  Reason why_low = 0, why_high = 0;
  state_.meter.spend(p.terms.size());
  for (const Term& t : p.terms) {
    const Range* r = &of_monomial(t.mono);
    if (r->span.is_empty()) {
      Reason all = join(r->lower, r->upper);
      return {Interval::empty(), all, all};
    }
    bool up = t.coef.sign() > 0;
    const OptionalInt& down_end = up ? r->span.lower() : r->span.upper();
    const OptionalInt& up_end = up ? r->span.upper() : r->span.lower();
    has_low = has_low && down_end;
    has_high = has_high && up_end;
    if (!has_low && !has_high) return {};
    if (has_low) {
      low.add_product(*down_end, t.coef);
      why_low = join(why_low, up ? r->lower : r->upper);
    }
    if (has_high) {
      high.add_product(*up_end, t.coef);
      why_high = join(why_high, up ? r->upper : r->lower);
    }
  }
  Range total;
  if (has_low && has_high) {
    total.span = Interval(std::move(low), std::move(high));
  } else if (has_low) {
    total.span = Interval::at_least(low);
  } else {
    total.span = Interval::at_most(high);
  }
  total.lower = has_low ? why_low : 0;
  total.upper = has_high ? why_high : 0;
  return total;
}

Range Ranges::of(const Poly& p, int depth) {
  if (p.is_constant()) return point(p.constant);
  Range r = plain(p);
  if (r.span.is_empty() || is_single(forms_, p) || r.span.is_point()) return r;
  narrow(reasons_, r, asserted(p));
  narrow(reasons_, r, by_shift(p));
  if (depth < limits().correlation_depth)
    narrow(reasons_, r, correlated(p, depth));
  return r;
}

}  // namespace proviso::inline v0_2::internal
