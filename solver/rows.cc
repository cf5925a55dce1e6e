// What a row p >= 0 implies for its parts.
#include <algorithm>

#include "solver/domain.h"
#include "solver/limits.h"

namespace proviso {
namespace {

// x*x <= 3*x makes bounds of x that square for ever.

Int ceil_div(const Int& a, const Int& b) { return -floor_div(-a, b); }

}  // namespace

// Once more when ranges of its parts change.
void Domain::bound_by(const Poly& p, Reason why) {
  tighten(p, why);
  expand_factor(p, why);
  expand_roots(p, why);
}

// Of a row that another has taken the place of: what follows for its factors
// has been assumed.
void Domain::bound_original(const Poly& p, Reason why) {
  tighten(p, why);
  expand_roots(p, why);
}

// For c < 0, r + c*pos(d) >= 0 says r >= 0 and r + c*d >= 0; for c > 0 it says
// one of them, which decides where ranges rule out the other.
void Domain::expand_pos(const Poly& p, Reason why) {
  const Term* found = nullptr;
  size_t negative = 0;
  for (const Term& t : p.terms) {
    const Factors& factors = forms_.factors(t.mono);
    if (factors.size() != 1) continue;
    if (forms_.atom(factors[0]).kind != AtomKind::kPos) continue;
    negative += t.coef.sign() < 0;
    const bool first = !found || (found->coef.sign() > 0 && t.coef.sign() < 0);
    if (first) found = &t;
  }
  if (!found || negative > limits().expanded_extrema) return;
  const PolyId d = forms_.atom(forms_.single(found->mono)).a;
  const Poly without = forms_.sub(p, forms_.monomial(found->mono, found->coef));
  const Poly with = forms_.add(without, forms_.poly(d), found->coef);
  if (negative > 0) {
    assert_literal(FormulaKind::kGe, without, why);
    return assert_literal(FormulaKind::kGe, with, why);
  }
  for (const auto& [one, other] :
       {std::pair(&without, &with), std::pair(&with, &without)}) {
    const Range r = plain_range(*one);
    if (r.span.is_empty() || !at_most(r, -1)) continue;
    return assert_literal(FormulaKind::kGe, *other, join(why, r.upper));
  }
}

// r + c*d*floor(a/d) >= 0, d > 0, says r + c*a >= 0 for c > 0 and, with the
// largest remainder, r + c*(a - d + 1) >= 0 for c < 0: where r and a have atoms
// in common, this may bound what the row does not.
void Domain::expand_floor(const Poly& p, Reason why) {
  if (p.terms.size() < 2) return;
  for (const Term& t : p.terms) {
    for (AtomId q : forms_.factors(t.mono)) {
      const Atom& atom = forms_.atom(q);
      if (atom.kind != AtomKind::kFloor) continue;
      const Atoms& inside = forms_.atoms_of(atom.a);
      const bool in_common =
          std::any_of(p.terms.begin(), p.terms.end(), [&](const Term& other) {
            const Factors& f = forms_.factors(other.mono);
            return &other != &t &&
                   std::any_of(f.begin(), f.end(), [&](AtomId x) {
                     return std::binary_search(inside.begin(), inside.end(), x);
                   });
          });
      if (!in_common) continue;
      const std::optional<Unfloored> u = without_floor(p, t, q);
      if (!u) continue;
      const Reason because = join(why, u->why);
      // A remainder that is at most 0 is 0.
      const Range high = plain_range(u->high);
      if (at_most(high, 0) && high.span.contains(Int(0))) {
        return assert_formula(forms_.eq(p), join(because, high.upper));
      }
      // Which sees to the others.
      return assert_literal(FormulaKind::kGe, u->high, because);
    }
  }
}

// x*r + c >= 0 with x >= 1 bounds r: by 1 where c < 0, else by -c over the
// least x.  Where c < 0, x >= 0 makes x >= 1.  Where r has a sign, it bounds x.
void Domain::expand_factor(const Poly& p, Reason why) {
  if (p.terms.size() < 2) return;  // tighten_factors() has seen to it
  const bool positive = p.constant.sign() < 0;
  Poly product = p;
  product.constant = 0;
  for (AtomId a : forms_.factors(p.terms[0].mono)) {
    if (conflict_) return;
    std::optional<Poly> rest = divided(product, a);
    if (!rest) continue;
    Range r = plain_range(*rest);
    const bool negative = at_most(r, -1);
    if (negative) r = scaled(r, -1);
    tighten_factor(a, 1, r, !negative, negative ? p.constant : -p.constant,
                   why);
    const Range x = atom_range(a);
    if (conflict_ || !at_least(x, positive ? 0 : 1)) continue;
    rest->constant -=
        positive ? Int(1) : ceil_div(-p.constant, *x.span.lower());
    assert_literal(FormulaKind::kGe, *rest, join(why, x.lower));
    if (positive) set_bound(a, true, 1, join(why, x.lower));
  }
}

// --- bounds from a row p >= 0

void Domain::tighten(const Poly& p, Reason why) {
  if (conflict_ || nesting_ >= kMaxNesting) return;
  ++nesting_;
  spend(p.terms.size());
  // The largest value of the terms; at most one may be without end.
  Int total = p.constant;
  Reason reasons = why;
  const Term* open = nullptr;
  bool several = false;
  SmallVector<Range, 4> tops;
  for (const Term& t : p.terms) {
    Range r = scaled(mono_range(t.mono), t.coef);
    if (r.span.is_empty()) {
      raise_conflict(join(r.lower, r.upper));
      break;
    }
    tops.push_back(r);
    if (!r.span.upper()) {
      several = open != nullptr;
      open = &t;
      if (several) break;
    } else {
      total += *r.span.upper();
    }
  }
  if (!conflict_ && !several) {
    for (size_t i = 0; i < p.terms.size() && !conflict_; ++i) {
      const Term& t = p.terms[i];
      if (open && open != &t) continue;
      Int slack = total;
      if (!open) slack -= *tops[i].span.upper();
      // Without news the bound is looked at before its reason is made.
      Reason all = reasons;
      const OptionalInt& low = tops[i].span.lower();
      if (low && *low >= -slack) continue;
      for (size_t j = 0; j < tops.size(); ++j) {
        if (j != i) all = join(all, tops[j].upper);
      }
      tighten_term(t, slack, all);
    }
  }
  --nesting_;
}

// coef * mono >= -slack.
void Domain::tighten_term(const Term& t, const Int& slack, Reason why) {
  bool lower = t.coef.sign() > 0;
  Int bound = lower ? ceil_div(-slack, t.coef) : floor_div(slack, -t.coef);
  const Factors& factors = forms_.factors(t.mono);
  if (factors.size() == 1) return set_bound(factors[0], lower, bound, why);
  Poly row = forms_.monomial(t.mono, lower ? 1 : -1);
  row.constant = lower ? -bound : bound;
  set_form_bound(row, why);
  tighten_factors(t.mono, lower, bound, why);
}

// From a bound of a product to its factors (and their powers).
void Domain::tighten_factors(MonoId m, bool lower, const Int& bound,
                             Reason why) {
  const Factors& factors = forms_.factors(m);
  for (size_t i = 0; i < factors.size() && !conflict_; ++i) {
    if (i > 0 && factors[i] == factors[i - 1]) continue;
    Factors power;
    for (AtomId a : factors) {
      if (a == factors[i]) power.push_back(a);
    }
    Range rest{Interval::point(1), 0, 0};
    if (power.size() < factors.size()) {
      rest = mono_range(forms_.quotient(m, forms_.mono(power)));
    }
    tighten_factor(factors[i], static_cast<unsigned>(power.size()), rest, lower,
                   bound, why);
  }
}

// x**k * rest >= bound, or <= where not `lower`, where the rest is known to be
// nonnegative or positive.
void Domain::tighten_factor(AtomId x, unsigned k, const Range& rest, bool lower,
                            const Int& bound, Reason why) {
  if (rest.span.is_empty()) return;
  if (!at_least(rest, lower && bound.sign() > 0 ? 0 : 1)) return;
  // x*rest >= 1 with rest >= 0 makes rest >= 1.
  Int least = *rest.span.lower();
  if (least.is_zero()) least = 1;
  Reason because = join(why, rest.lower);
  Int value;
  bool by_least = lower ? bound.sign() <= 0 : bound.sign() >= 0;
  if (by_least) {
    value = lower ? ceil_div(bound, least) : floor_div(bound, least);
  } else if (rest.span.upper()) {
    if (rest.span.upper()->sign() <= 0) {  // x*0 >= 1
      return raise_conflict(join(because, rest.upper));
    }
    value = lower ? ceil_div(bound, *rest.span.upper())
                  : floor_div(bound, *rest.span.upper());
    because = join(because, rest.upper);
  } else {
    value = lower ? 1 : -1;
  }
  tighten_power(x, k, lower, value, because);
}

// x**k >= bound, or <= where not `lower`.
void Domain::tighten_power(AtomId x, unsigned k, bool lower, const Int& bound,
                           Reason why) {
  if (k == 1) return set_bound(x, lower, bound, why);
  if (bound.bit_length() > limits().bound_bits) return;
  auto least_root = [k](const Int& v) { return integer_root(v - 1, k) + 1; };
  if (k % 2 == 1) {
    const bool outward = (bound.sign() > 0) == lower;  // away from 0
    const Int size = abs(bound);
    const Int root = size.is_zero() ? Int(0)
                     : outward      ? least_root(size)
                                    : integer_root(size, k);
    return set_bound(x, lower, bound.sign() < 0 ? -root : root, why);
  }
  if (!lower) {
    if (bound.sign() < 0) return raise_conflict(why);
    const Int root = integer_root(bound, k);
    set_bound(x, false, root, why);
    return set_bound(x, true, -root, why);
  }
  if (bound.sign() <= 0) return;
  const Int root = least_root(bound);  // x <= -root or x >= root
  const Range r = atom_range(x);
  if (at_least(r, 1 - root)) {
    set_bound(x, true, root, join(why, r.lower));
  } else if (at_most(r, root - 1)) {
    set_bound(x, false, -root, join(why, r.upper));
  }
}

void Domain::set_bound(AtomId a, bool lower, const Int& value, Reason why) {
  if (conflict_ || value.bit_length() > limits().bound_bits) return;
  const Range& now = atom_range(a);
  if (now.span.is_empty()) return raise_conflict(join(now.lower, now.upper));
  const OptionalInt& end = lower ? now.span.lower() : now.span.upper();
  if (end && (lower ? *end >= value : *end <= value)) return;
  const OptionalInt& other = lower ? now.span.upper() : now.span.lower();
  if (other && (lower ? *other < value : *other > value)) {
    return raise_conflict(join(why, lower ? now.upper : now.lower));
  }
  AtomState& s = state(a);
  if (lower) {
    note_end(Undo::kLow, a, {s.own.span.lower(), s.own.lower});
    s.own.span.set_lower(value);
    s.own.lower = why;
  } else {
    note_end(Undo::kHigh, a, {s.own.span.upper(), s.own.upper});
    s.own.span.set_upper(value);
    s.own.upper = why;
  }
  change();
  wake(a);
  for (AtomId b : s.dependents) wake(b);
  push_down(a, lower, value, why);
  if (conflict_) return;
  if (s.solved != kNoId) {
    Poly row = forms_.scale(forms_.poly(s.solved), lower ? 1 : -1);
    row.constant += lower ? -value : value;
    return assert_literal(FormulaKind::kGe, row, join(why, s.solved_why));
  }
  if (is_variable(s.kind) && s.own.span.is_point()) {
    solve_for(a, FormPool::constant(*s.own.span.lower()),
              join(s.own.lower, s.own.upper));
  }
}

// From a bound of an atom to what it is made of.
void Domain::push_down(AtomId a, bool lower, const Int& value, Reason why) {
  const Atom& atom = forms_.atom(a);
  if (atom.kind == AtomKind::kFunc) {
    return push_into_power(atom, lower, value, why);
  }
  if (atom.kind != AtomKind::kFloor && atom.kind != AtomKind::kPos &&
      atom.kind != AtomKind::kNamed) {
    return;
  }
  const Poly& x = forms_.poly(atom.a);
  Poly row;
  if (atom.kind == AtomKind::kFloor) {
    const Poly& d = forms_.poly(atom.b);
    Range divisor = range(d);
    if (!at_least(divisor, 1)) return;
    why = join(why, divisor.lower);
    row = lower ? forms_.add(x, d, -value)
                : forms_.sub(forms_.scale(d, value + 1), x);
    if (!lower) row.constant -= 1;
  } else {
    if (atom.kind == AtomKind::kPos && lower && value.sign() <= 0) return;
    row = lower ? x : forms_.scale(x, -1);
    row.constant += lower ? -value : value;
  }
  assert_literal(FormulaKind::kGe, row, why);
}

// For b >= 2 and n >= 0: b**n <= v makes n at most the logarithm of v, and
// b**n >= v at least that.
void Domain::push_into_power(const Atom& atom, bool lower, const Int& value,
                             Reason why) {
  const Poly& base = forms_.poly(atom.a);
  const Poly& exponent = forms_.poly(atom.b);
  if (atom.op != Op::kPow || !base.is_constant() || base.constant < Int(2)) {
    return;
  }
  Range n = range(exponent);
  if (!at_least(n, 0) || value.sign() <= 0) return;
  Int power = 1;
  int64_t log = 0;  // the least with b**log >= v; the largest with b**log <= v
  while (lower ? power < value : power * base.constant <= value) {
    power *= base.constant;
    ++log;
  }
  spend(static_cast<uint64_t>(log));
  Poly row = lower ? exponent : forms_.scale(exponent, -1);
  row.constant += lower ? -log : log;
  assert_literal(FormulaKind::kGe, row, join(why, n.lower));
}

// Whether a constraint bounds the form of p on this side.
bool Domain::is_row(PolyId p) {
  const FormPool::View& v = forms_.view(p);
  const FormState& f = form_state(v.form);
  const uint32_t constraint = (v.scale.sign() > 0 ? f.low : f.high).constraint;
  return constraint != kNoId && constraints_[constraint].active;
}

// Symbols that were solved for by (a multiple of) the form: by way of its term
// on which fewest depend.
void Domain::wake_solved_by(const Poly& form) {
  const Ids* fewest = nullptr;
  size_t at = 0;
  for (size_t i = 0; i < form.terms.size(); ++i) {
    const AtomId a = forms_.factors(form.terms[i].mono)[0];
    const Ids& of_term = state(a).dependents;
    if (fewest && fewest->size() <= of_term.size()) continue;
    fewest = &of_term;
    at = i;
  }
  for (AtomId x : *fewest) {
    const Poly& value = forms_.poly(solved_form(x));
    if (value.terms.size() == form.terms.size() &&
        value.terms[at].mono == form.terms[at].mono) {
      wake(x);
    }
  }
}

void Domain::set_form_bound(const Poly& p, Reason why) {
  if (!is_single(p)) set_bound(forms_.view(p), p.constant, why, kNoId);
}

void Domain::set_bound(const FormPool::View& v, const Int& constant, Reason why,
                       uint32_t constraint) {
  bool lower = v.scale.sign() > 0;
  Int bound =
      lower ? ceil_div(-constant, v.scale) : floor_div(constant, -v.scale);
  FormState& f = form_state(v.form);
  End& slot = lower ? f.low : f.high;
  if (slot.value && (lower ? *slot.value >= bound : *slot.value <= bound)) {
    return;
  }
  note_end(lower ? Undo::kFormLow : Undo::kFormHigh, v.form, slot);
  slot = {bound, why, constraint};
  change();
  for (uint32_t i : f.watchers) {
    if (constraints_[i].active && !queued_[i]) {
      queued_[i] = true;
      queue_.push_back(i);
    }
  }
  wake_solved_by(forms_.poly(v.form));
  if (!f.low.value || !f.high.value || *f.low.value < *f.high.value) return;
  const Reason both = join(f.low.why, f.high.why);
  if (*f.low.value > *f.high.value) return raise_conflict(both);
  Poly equal = forms_.poly(v.form);
  equal.constant -= *f.low.value;
  assert_literal(FormulaKind::kEq, equal, both);
}

}  // namespace proviso
