// Ranges of polynomials: interval sums, bounds assumed of the form itself, the
// shift to lower bounds, and the correlation of a floor with its numerator.
#include <algorithm>

#include "solver/domain.h"
#include "solver/limits.h"

namespace proviso {
namespace {

// p but for one of its terms.
Poly without(const Poly& p, const Term& term) {
  Poly rest = FormPool::constant(p.constant);
  for (const Term& t : p.terms) {
    if (&t != &term) rest.terms.push_back(t);
  }
  return rest;
}

}  // namespace

bool Domain::narrow_by(Range& a, const Range& b) {
  if (a.span.is_empty()) return false;
  if (b.span.is_empty()) {
    a = b;
    return true;
  }
  const OptionalInt &low = b.span.lower(), &high = b.span.upper();
  const bool above = low && (!a.span.lower() || *low > *a.span.lower());
  const bool below = high && (!a.span.upper() || *high < *a.span.upper());
  if (!above && !below) return false;
  if (above) a.lower = b.lower;
  if (below) a.upper = b.upper;
  if (above && below) {
    a.span = b.span;
  } else if (above) {
    a.span.set_lower(low);
  } else {
    a.span.set_upper(high);
  }
  if (a.span.is_empty()) a.lower = a.upper = join(a.lower, a.upper);
  return true;
}

Range Domain::scaled(const Range& a, const Int& k) {
  if (k.is_one() || a.span.is_empty()) return a;
  if (k.is_zero()) return {Interval::point(0), 0, 0};
  OptionalInt low, high;
  if (a.span.lower()) low = *a.span.lower() * k;
  if (a.span.upper()) high = *a.span.upper() * k;
  const bool up = k.sign() > 0;
  if (!up) std::swap(low, high);
  return {Interval::of(std::move(low), std::move(high)), up ? a.lower : a.upper,
          up ? a.upper : a.lower};
}

Range Domain::shift_by(Range a, const Int& k) {
  if (!k.is_zero()) a.span = a.span.shifted(k);
  return a;
}

Range Domain::product(const Range& a, const Range& b) {
  Interval span = a.span * b.span;
  auto nonnegative = [](const Range& r) {
    return r.span.lower() && r.span.lower()->sign() >= 0;
  };
  if (nonnegative(a) && nonnegative(b)) {
    Reason low = join(a.lower, b.lower);
    return {span, low, join(low, join(a.upper, b.upper))};
  }
  Reason all = join(join(a.lower, a.upper), join(b.lower, b.upper));
  return {span, all, all};
}

Range Domain::quotient(const Range& a, const Range& b) {
  // A constant divisor, or one that is known positive with a nonnegative
  // numerator, needs only some of the four ends.
  Interval span = floor_div(a.span, b.span);
  if (span.is_empty()) return {};  // x//0: any value
  if (b.span.is_point()) {
    Reason point = join(b.lower, b.upper);
    Reason low = join(a.lower, point), high = join(a.upper, point);
    if (b.span.lower()->sign() < 0) std::swap(low, high);
    return {span, low, high};
  }
  if (at_least(a, 0) && at_least(b, 1)) {
    Reason low = join(a.lower, b.lower);
    return {span, join(low, b.upper), join(low, a.upper)};
  }
  Reason all = join(join(a.lower, a.upper), join(b.lower, b.upper));
  return {span, all, all};
}

// --- atoms

const Range& Domain::derived_range(AtomId a, AtomState& s) {
  Derived& d = derived(s);
  if (d.range_stamp == stamp_) return d.range;
  if (is_variable(s.kind)) {
    d.range = rows_range(forms_.poly(s.solved));
    d.range.lower = join(d.range.lower, s.solved_why);
    d.range.upper = join(d.range.upper, s.solved_why);
  } else {
    spend(1);
    d.range = atom_range_from_parts(forms_.atom(a));
  }
  narrow(d.range, s.own);
  d.range_stamp = conflict_ ? 0 : stamp_;
  return d.range;
}

// What a solved variable's value is known to be, but for ranges of its parts.
Range Domain::rows_range(const Poly& value) {
  if (value.is_constant()) return {Interval::point(value.constant), 0, 0};
  if (!is_single(value)) return form_range(value);
  const AtomId x = forms_.single(value.terms[0].mono);
  if (!forms_.is_variable(x)) return {};
  return shift_by(scaled(state(x).own, value.terms[0].coef), value.constant);
}

Range Domain::atom_range_from_parts(const Atom& atom) {
  switch (atom.kind) {
    case AtomKind::kFloor: {
      const Poly& divisor = forms_.poly(atom.b);
      Range x = range(forms_.poly(atom.a), 1);
      if (!divisor.is_constant()) return quotient(x, range(divisor, 1));
      if (divisor.constant.sign() <= 0 || x.span.is_empty()) {
        return quotient(x, {Interval::point(divisor.constant), 0, 0});
      }
      OptionalInt low = x.span.lower(), high = x.span.upper();
      if (low) low = floor_div(*low, divisor.constant);
      if (high) high = floor_div(*high, divisor.constant);
      x.span = Interval::of(std::move(low), std::move(high));
      return x;
    }
    case AtomKind::kPos: {
      Range d = range(forms_.poly(atom.a), 1);
      Interval span = max(d.span, Interval::point(0));
      bool positive = d.span.lower() && d.span.lower()->sign() > 0;
      return {span, positive ? d.lower : 0, d.upper};
    }
    case AtomKind::kIte: {
      Range x = range(forms_.poly(atom.a), 1);
      Range y = range(forms_.poly(atom.b), 1);
      return {hull(x.span, y.span), join(x.lower, y.lower),
              join(x.upper, y.upper)};
    }
    case AtomKind::kNamed: return range(forms_.poly(atom.a), 1);
    case AtomKind::kFunc: return func_range(atom);
    case AtomKind::kOpaque:
      if (!atom.expr.is(Op::kDenseIndicator)) return {};
      return {Interval(0, 1), 0, 0};
    default: return {};
  }
}

// x & y clears bits of x: with y >= 0 it lies in [0, y], with y < 0 it is at
// most x.  b**n grows with n.
Range Domain::func_range(const Atom& atom) {
  Range x = range(forms_.poly(atom.a), 1), y = range(forms_.poly(atom.b), 1);
  if (atom.op == Op::kBitAnd) {
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
        narrow(result, {Interval::of(Int(0), mask.span.upper()), mask.lower,
                        join(mask.lower, mask.upper)});
      } else if (mask.span.upper() && mask.span.upper()->sign() < 0) {
        narrow(result, {Interval::of(std::nullopt, other.span.upper()), 0,
                        join(mask.upper, other.upper)});
      }
    }
    return result;
  }
  if (atom.op == Op::kPow && at_least(x, 1) && at_least(y, 0)) {
    auto power = [](const Interval& base, const Interval& n,
                    bool lower) -> std::optional<Int> {
      constexpr int64_t kMaxExponent = 1000;
      const auto &b = lower ? base.lower() : base.upper(),
                 &e = lower ? n.lower() : n.upper();
      if (!b || !e || *e >= Int(kMaxExponent)) return std::nullopt;
      return pow(*b, static_cast<uint64_t>(*e->to_int64()));
    };
    const Int low = power(x.span, y.span, true).value_or(Int(1));
    const OptionalInt high = power(x.span, y.span, false);
    const Reason why = join(x.lower, y.lower);
    return {Interval::of(low, high), why,
            high ? join(why, join(x.upper, y.upper)) : 0};
  }
  return {};
}

const Range& Domain::product_of_ranges(MonoId m) {
  uint32_t& slot = product_slot_of_.at(m);
  if (slot == kNoId) {
    slot = static_cast<uint32_t>(products_.size());
    products_.emplace_back();
  }
  ProductState& known = products_[slot];
  if (known.stamp == stamp_) return known.range;
  known.range = product_range(forms_.factors(m));
  known.stamp = conflict_ ? 0 : stamp_;
  return known.range;
}

Range Domain::product_range(const Factors& factors) {
  Range total{Interval::point(1), 0, 0};
  for (size_t i = 0; i < factors.size();) {
    size_t j = i;
    while (j < factors.size() && factors[j] == factors[i]) ++j;
    Range base = atom_range(factors[i]);
    unsigned n = static_cast<unsigned>(j - i);
    Range power = base;
    if (n > 1) {
      Reason all = join(base.lower, base.upper);
      bool nonnegative = base.span.lower() && base.span.lower()->sign() >= 0;
      power = {pow(base.span, n), nonnegative ? base.lower : all, all};
      // An even power is nonnegative without knowing anything.
      if (n % 2 == 0 && power.span.lower() && power.span.lower()->is_zero()) {
        power.lower = 0;
      }
    }
    total = i == 0 ? power : product(total, power);
    i = j;
  }
  return total;
}

// --- polynomials

Range Domain::plain_range(const Poly& p) {
  if (p.terms.size() == 1 && p.terms[0].coef.is_one()) {
    spend(1);
    Range r = shift_by(mono_range(p.terms[0].mono), p.constant);
    if (r.span.is_empty()) r.lower = r.upper = join(r.lower, r.upper);
    return r;
  }
  Int low = p.constant, high = p.constant;
  bool has_low = true, has_high = true;
  Reason why_low = 0, why_high = 0;
  spend(p.terms.size());
  for (const Term& t : p.terms) {
    const Range* r = &mono_range(t.mono);
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

// What was assumed of a form, for scale * form + constant.
Range Domain::bounds_of(const FormPool::View& v, const Int& constant) {
  uint32_t slot = form_slot_of_.get(v.form);
  if (slot == kNoId) return {};
  const FormState& f = form_states_[slot];
  Range r{Interval::of(f.low.value, f.high.value), f.low.why, f.high.why};
  if (r.span.is_empty()) r.lower = r.upper = join(f.low.why, f.high.why);
  return shift_by(scaled(r, v.scale), constant);
}

Range Domain::range(const Poly& p, int depth) {
  if (p.is_constant()) return {Interval::point(p.constant), 0, 0};
  Range r = plain_range(p);
  if (r.span.is_empty() || is_single(p) || r.span.is_point()) return r;
  narrow(r, form_range(p));
  narrow(r, shifted_range(p));
  if (depth < limits().correlation_depth) narrow(r, correlated_range(p, depth));
  return r;
}

// The terms of the highest degree keep their coefficients, but for the sign:
// whether all have one sign then.
bool Domain::may_shift(const Poly& p, size_t degree) {
  bool up = true, down = true;
  for (const Term& t : p.terms) {
    if (forms_.factors(t.mono).size() != degree) continue;
    bool positive = t.coef.sign() > 0;
    for (AtomId a : forms_.factors(t.mono)) {
      positive ^= !atom_range(a).span.lower().has_value();
    }
    (positive ? down : up) = false;
  }
  return up || down;
}

// Every atom x put as low + t (or high - t), t >= 0: when all coefficients but
// the constant have one sign, the constant is a bound.
Range Domain::shifted_range(const Poly& p) {
  if (p.terms.size() < 2) return {};  // a product of ranges is as good
  size_t degree = 0;
  for (const Term& t : p.terms) {
    degree = std::max(degree, forms_.factors(t.mono).size());
  }
  if (degree < 2 || degree > limits().shift_degree) return {};
  if (p.terms.size() > limits().shift_terms || !may_shift(p, degree)) return {};
  Poly shifted = FormPool::constant(p.constant);
  Reason why = 0;
  SmallVector<Term, 8> parts;  // of one term; mono 0 is 1
  for (const Term& t : p.terms) {
    parts.clear();
    parts.push_back({0, t.coef});
    for (AtomId a : forms_.factors(t.mono)) {
      const Range& r = atom_range(a);
      if (r.span.is_empty()) return {};
      const bool low = r.span.lower().has_value();
      if (!low && !r.span.upper()) return {};
      why = join(why, low ? r.lower : r.upper);
      const Int& end = low ? *r.span.lower() : *r.span.upper();
      const size_t count = parts.size();
      for (size_t i = 0; i < count; ++i) {
        const Term part = parts[i];
        if (!end.is_zero()) parts.push_back({part.mono, part.coef * end});
        parts[i] = {forms_.product(part.mono, forms_.mono(a)),
                    low ? part.coef : -part.coef};
      }
    }
    for (const Term& part : parts) {
      FormPool::append(shifted, part.mono, part.coef);
    }
    spend(4);
    if (shifted.terms.size() > 16 * limits().shift_terms) return {};
  }
  FormPool::merge_terms(shifted);
  bool up = true, down = true;
  for (const Term& t : shifted.terms) {
    (t.coef.sign() > 0 ? down : up) = false;
  }
  Range r;
  if (up) r = {Interval::at_least(shifted.constant), why, 0};
  if (down) narrow(r, {Interval::at_most(shifted.constant), 0, why});
  return r;
}

// c*pos(d) is max(0, c*d) for c > 0 and min(0, c*d) for c < 0: p lies between
// the ends of its two readings.
Range Domain::clamped_range(const Poly& p, const Term& t, int depth) {
  const Atom& atom = forms_.atom(forms_.single(t.mono));
  Poly rest = without(p, t);
  Range x = range(rest, depth + 1);
  Range y = range(forms_.add(rest, forms_.poly(atom.a), t.coef), depth + 1);
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
std::optional<Domain::Unfloored> Domain::without_floor(const Poly& p,
                                                       const Term& t,
                                                       AtomId q) {
  const Atom& atom = forms_.atom(q);
  if (atom.kind != AtomKind::kFloor) return std::nullopt;
  const Poly& d = forms_.poly(atom.b);
  MonoId first = forms_.mono(q);
  if (!d.is_constant()) first = forms_.product(first, d.terms[0].mono);
  if (first != t.mono) return std::nullopt;
  const Range divisor = range(d, limits().correlation_depth);
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
    if (!scale.is_one()) most = forms_.scale(most, scale);
  } else {
    const Poly product = forms_.mul(d, forms_.variable(q));
    most = forms_.add(forms_.scale(p, scale), product, -c);
    if (most.terms.size() + product.terms.size() != p.terms.size()) return {};
  }
  most = forms_.add(most, forms_.poly(atom.a), c);
  Poly least = forms_.add(most, d, -c);
  least.constant += negative ? -c : c;
  if ((c.sign() < 0) != negative) std::swap(least, most);
  return Unfloored{std::move(least), std::move(most), scale,
                   negative ? divisor.upper : divisor.lower};
}

// One product, or a constant: what costs little to put in.
bool Domain::has_short_divisor(const Atom& atom) const {
  if (atom.kind != AtomKind::kFloor) return false;
  const Poly& d = forms_.poly(atom.b);
  return d.is_constant() || (d.terms.size() == 1 && d.constant.is_zero());
}

// Stops where the lower end is `enough`.
Range Domain::correlated_range(const Poly& p, int depth,
                               std::optional<int> enough) {
  Range best;
  if (p.terms.size() > limits().correlated_terms) return best;
  const bool alone = p.terms.size() == 1 && p.constant.is_zero();
  for (const Term& t : p.terms) {
    for (AtomId q : forms_.factors(t.mono)) {
      const Atom& atom = forms_.atom(q);
      if (atom.kind == AtomKind::kPos && forms_.single(t.mono) == q) {
        narrow(best, clamped_range(p, t, depth));
        if (best.span.is_empty()) return best;
      }
      if (alone || !has_short_divisor(atom)) continue;
      const std::optional<Unfloored> u = without_floor(p, t, q);
      if (!u) continue;
      const Range low = range(u->low, depth + 1);
      if (low.span.is_empty()) continue;
      OptionalInt lower, upper;
      if (low.span.lower()) lower = -floor_div(-*low.span.lower(), u->scale);
      if (enough && lower && *lower >= Int(*enough)) {
        return {Interval::at_least(*lower), join(low.lower, u->why), 0};
      }
      const Range high = u->low.terms == u->high.terms
                             ? shift_by(low, u->high.constant - u->low.constant)
                             : range(u->high, depth + 1);
      if (high.span.is_empty()) continue;
      if (high.span.upper()) upper = floor_div(*high.span.upper(), u->scale);
      narrow(best, {Interval::of(std::move(lower), std::move(upper)),
                    join(low.lower, u->why), join(high.upper, u->why)});
      if (best.span.is_empty()) return best;
    }
  }
  return best;
}

}  // namespace proviso
