// Polynomials and conditions with what is known put in: normal forms under the
// facts, and what ranges and assumed conditions decide of them.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "solver/domain.h"
#include "solver/limits.h"

namespace proviso {

constinit const Domain::Image Domain::kItself = {};

Normal Domain::normal(const Poly& p) {
  Normal n;
  if (!rewrite(p, n)) n.poly = p;
  return n;
}

bool Domain::rewrite(const Poly& p, Normal& n) {
  spend(p.terms.size());
  for (const Term& t : p.terms) {
    const AtomId single = forms_.single(t.mono);
    const Image& image = single != kNoId ? image_of(single) : kItself;
    bool changed = image.poly != kNoId;
    if (single == kNoId) {
      for (AtomId a : forms_.factors(t.mono)) {
        changed = changed || image_of(a).poly != kNoId;
      }
    }
    if (!changed) {
      if (n.changed) n.poly.terms.push_back(t);
      continue;
    }
    if (!n.changed) {  // the terms before stay
      n.changed = true;
      n.poly.constant = p.constant;
      for (const Term& s : p.terms) {
        if (&s == &t) break;
        n.poly.terms.push_back(s);
      }
    }
    auto append = [&n](const Poly& q, const Int& times) {
      n.poly.constant.add_product(q.constant, times);
      for (const Term& s : q.terms) {
        n.poly.terms.push_back({s.mono, s.coef * times});
      }
    };
    if (single != kNoId) {
      n.why = join(n.why, image.why);
      append(forms_.poly(image.poly), t.coef);
      continue;
    }
    Int coef = t.coef;
    Factors same;
    SmallVector<PolyId, 4> images;
    for (AtomId a : forms_.factors(t.mono)) {
      const Image& of_factor = image_of(a);
      n.why = join(n.why, of_factor.why);
      if (of_factor.poly == kNoId) {
        same.push_back(a);
      } else if (forms_.poly(of_factor.poly).is_constant()) {
        coef *= forms_.poly(of_factor.poly).constant;
      } else {
        images.push_back(of_factor.poly);
      }
    }
    if (coef.is_zero()) continue;
    Poly product = same.empty() ? FormPool::constant(coef)
                                : forms_.monomial(forms_.mono(same), coef);
    for (PolyId p_of : images) product = forms_.mul(product, forms_.poly(p_of));
    append(product, 1);
  }
  if (n.changed) FormPool::merge_terms(n.poly);
  return n.changed;
}

const Domain::Image& Domain::derived_image(AtomId a, AtomState& s) {
  Derived& d = derived(s);
  if (d.normal_stamp == stamp_) return d.image;
  if (s.visiting) return kItself;  // a cycle through definitions: stays
  if (image_nesting_ == kMaxImageNesting) make_images_below(a);
  s.visiting = true;
  ++image_nesting_;
  Image image;
  try {
    if (s.solved != kNoId) {
      Normal n = normal(forms_.poly(s.solved));
      image = {forms_.intern(n.poly), join(n.why, s.solved_why)};
    } else {
      image = rebuild_atom(a);
    }
  } catch (const OutOfBudget&) {
    s.visiting = false;
    --image_nesting_;
    throw;
  }
  s.visiting = false;
  --image_nesting_;
  // Each substitution may put atoms within atoms: past a depth they stay.
  if (image.poly != kNoId &&
      forms_.depth(forms_.poly(image.poly)) > kMaxImageDepth) {
    image = {};
  }
  d.image = image;
  d.normal_stamp = stamp_;
  return d.image;
}

// The images of all that the image of `a` is made of, from the bottom up, so
// that a long chain of definitions is no concern of the machine's stack.
void Domain::make_images_below(AtomId a) {
  std::vector<std::pair<AtomId, bool>> stack{{a, false}};
  std::unordered_set<AtomId> seen;
  auto push = [&](PolyId p) {
    if (p == kNoId) return;
    for (const Term& t : forms_.poly(p).terms) {
      for (AtomId x : forms_.factors(t.mono)) {
        if (!seen.contains(x)) stack.push_back({x, false});
      }
    }
  };
  while (!stack.empty()) {
    const auto [next, is_open] = stack.back();
    spend(1);
    if (is_open || seen.contains(next)) {
      stack.pop_back();
      if (!is_open || next == a) continue;
      const int outer = std::exchange(image_nesting_, 0);
      image_of(next);
      image_nesting_ = outer;
      continue;
    }
    stack.back().second = true;
    seen.insert(next);
    const Atom& atom = forms_.atom(next);
    if (is_solved(next)) {
      push(solved_form(next));
    } else if (!is_variable(atom.kind)) {
      push(atom.a);
      push(atom.b);
    }
  }
}

// The value where both arguments are constant; x & (2**k - 1) is x % 2**k and
// x & -1 is x; b**(e + c) is b**c * b**e where
// e >= 0.
Poly Domain::func_in_context(Op op, const Poly& x, const Poly& y, Reason& why) {
  int64_t n = -1;
  if (y.is_constant()) n = y.constant.to_int64().value_or(-1);
  if (op == Op::kBitAnd && x.is_constant() && y.is_constant()) {
    return FormPool::constant(bit_and(x.constant, y.constant));
  }
  if (op == Op::kBitAnd && (x.is_constant() || y.is_constant())) {
    const Poly& other = x.is_constant() ? y : x;
    const Int bits = (x.is_constant() ? x : y).constant + 1;
    if (bits.is_zero()) return other;
    // 2**k - 1, and 0 among them
    if (bits.sign() > 0 && bit_and(bits, bits - 1).is_zero()) {
      return forms_.mod(other, FormPool::constant(bits));
    }
  }
  if (op == Op::kPow && n >= 0 && n <= 8) {
    return forms_.pow(x, static_cast<unsigned>(n));
  }
  if (op == Op::kPow && x.is_constant() && n >= 0 && n < 4096) {
    if (auto value = pow(x.constant, static_cast<uint64_t>(n))) {
      return FormPool::constant(*value);
    }
  }
  if (op == Op::kPow && x.is_constant() && y.constant.sign() > 0 &&
      y.constant <= Int(limits().pulled_out)) {
    Poly e = y;
    e.constant = 0;
    Range r = range(e);
    auto power = pow(x.constant, static_cast<uint64_t>(*y.constant.to_int64()));
    if (power && at_least(r, 0)) {
      why = join(why, r.lower);
      return forms_.scale(forms_.func(op, x, e), *power);
    }
  }
  return forms_.func(op, x, y);
}

Domain::Image Domain::rebuild_atom(AtomId a) {
  const Atom& atom = forms_.atom(a);
  const Poly nothing;
  Normal n;
  const Poly& first = forms_.poly(atom.a);
  const Poly& second = atom.b == kNoId ? nothing : forms_.poly(atom.b);
  Normal nx, ny;
  const Poly& x = rewrite(first, nx) ? nx.poly : first;
  const Poly& y = rewrite(second, ny) ? ny.poly : second;
  n.why = join(nx.why, ny.why);
  const bool changed = nx.changed || ny.changed;
  spend(1 + x.terms.size() + y.terms.size());
  switch (atom.kind) {
    case AtomKind::kFloor:
      if (!changed && y.is_constant() && quotients_ == nullptr) {
        const Range& r = atom_range(a);
        if (!r.span.is_point()) return {};
        n.why = join(r.lower, r.upper);
        n.poly = FormPool::constant(*r.span.lower());
      } else {
        n.poly = floor_in_context(x, y, n.why);
      }
      break;
    case AtomKind::kPos: {
      Range d = range(x);
      if (d.span.is_empty()) return {};
      if (at_least(d, 0)) {
        n.poly = x;
        n.why = join(n.why, d.lower);
      } else if (at_most(d, 0)) {
        n.poly = {};
        n.why = join(n.why, d.upper);
      } else if (!changed) {
        return {};
      } else {
        n.poly = forms_.pos(x);
      }
      break;
    }
    case AtomKind::kIte: {
      Decision c = decide(atom.condition);
      if (!c.value && !changed) return {};
      if (c.value) {
        n.poly = *c.value ? x : y;
        n.why = join((*c.value ? nx : ny).why, c.why);
      } else {
        n.poly = forms_.ite(atom.condition, x, y);
      }
      break;
    }
    case AtomKind::kNamed:
      if (!changed) return {};
      n.poly = x;
      break;
    default: n.poly = func_in_context(atom.op, x, y, n.why); break;
  }
  if (forms_.as_atom(n.poly) == a) return {};
  // The rewritten atom may itself have been solved for.
  bool again = false;
  for (const Term& t : n.poly.terms) {
    for (AtomId f : forms_.factors(t.mono)) again |= is_solved(f);
  }
  if (again) {
    Normal m = normal(n.poly);
    if (m.changed) n.poly = m.poly, n.why = join(n.why, m.why);
  }
  return {forms_.intern(n.poly), n.why};
}

Decision Domain::known_nonzero(const Poly& p) {
  Decision d;
  if (p.is_constant()) {
    d.value = !p.constant.is_zero();
    return d;
  }
  if (decides(FormulaKind::kNe, plain_range(p), d)) return d;
  FormulaId id = forms_.ne(p);
  if (id <= kTrue) {  // 2*u0 + 1 is never 0
    d.value = id == kTrue;
    return d;
  }
  decide_literal(id, d);
  return d;
}

// floor(f*a / (f*b)) == floor(a/b) for f != 0.
bool Domain::cancel_common(Poly& num, Poly& den, Reason& why) {
  if (!num.constant.is_zero() || !den.constant.is_zero()) return false;
  if (num.terms.empty() || den.terms.empty()) return false;
  Factors common = forms_.factors(num.terms[0].mono);
  for (const Poly* p : {&num, &den}) {
    for (const Term& t : p->terms) {
      const Factors& f = forms_.factors(t.mono);
      Factors both;
      std::set_intersection(common.begin(), common.end(), f.begin(), f.end(),
                            std::back_inserter(both));
      common = std::move(both);
    }
  }
  bool any = false;
  for (AtomId a : common) {
    Decision nonzero = known_nonzero(forms_.variable(a));
    if (nonzero.value != true) continue;
    why = join(why, nonzero.why);
    any = true;
    for (Poly* p : {&num, &den}) {
      Poly reduced;
      for (const Term& t : p->terms) {
        FormPool::append(reduced, forms_.quotient(t.mono, forms_.mono(a)),
                         t.coef);
      }
      FormPool::merge_terms(reduced);
      *p = std::move(reduced);
    }
  }
  return any;
}

// Takes t out of floor((den*t + r) / den): leaves r in num, returns t.
// Requires den != 0.
Poly Domain::pull_out(Poly& num, const Poly& den) {
  Poly outside;
  if (den.terms.empty()) return outside;
  // The leading term: of highest degree, then the oldest.
  const Term* lead = &den.terms[0];
  for (const Term& t : den.terms) {
    if (forms_.factors(t.mono).size() > forms_.factors(lead->mono).size()) {
      lead = &t;
    }
  }
  bool single = den.terms.size() == 1 && den.constant.is_zero();
  for (size_t i = 0; i < num.terms.size();) {
    Term t = num.terms[i++];
    const MonoId q = forms_.quotient(t.mono, lead->mono);
    if (q == kNoId) continue;
    Int c = floor_div(t.coef, lead->coef);
    if (c.is_zero()) continue;
    Poly times = forms_.monomial(q, c);
    Poly next = forms_.sub(num, forms_.mul(times, den));
    if (!single && next.terms.size() >= num.terms.size()) continue;
    spend(den.terms.size() + num.terms.size());
    outside = forms_.add(outside, times);
    num = std::move(next);
    i = 0;
    if (outside.terms.size() > 64) break;
  }
  return outside;
}

// Whether 0 <= num < den, by more than ranges.
bool Domain::is_remainder(const Poly& num, const Poly& den, Reason& why) {
  Reason both = why;
  Poly room = forms_.sub(den, num);
  room.constant -= 1;
  if (!quotients_->is_nonnegative(num, both)) return false;
  if (!quotients_->is_nonnegative(room, both)) return false;
  why = both;
  return true;
}

// floor((floor(x/m) + e) / d) == floor((x + m*e) / (m*d)) for d > 0, also where
// m < 0: the inner floor only drops what is less than one d-th.
bool Domain::merge_nested_floor(Poly& num, Poly& den, Reason& why) {
  if (num.terms.size() > limits().quotient_terms) return false;
  const Range divisor = range(den);
  if (!at_least(divisor, 1)) return false;
  for (const Term& t : num.terms) {
    const AtomId f = forms_.single(t.mono);
    if (!t.coef.is_one() || f == kNoId) continue;
    const Atom& inner = forms_.atom(f);
    if (inner.kind != AtomKind::kFloor) continue;
    const Poly &x = forms_.poly(inner.a), &m = forms_.poly(inner.b);
    const Poly rest = forms_.sub(num, forms_.monomial(t.mono, 1));
    spend(x.terms.size() + m.terms.size() * (rest.terms.size() + 1));
    num = forms_.add(x, forms_.mul(m, rest));
    den = forms_.mul(m, den);
    why = join(why, divisor.lower);
    return true;
  }
  return false;
}

// a/(k*a) is 1/k where a != 0.
void Domain::cancel_numerator(Poly& num, Poly& den, Reason& why) {
  spend(den.terms.size() + num.terms.size());
  const std::optional<Poly> k = forms_.exact_quotient(den, num);
  if (!k) return;
  const Decision nonzero = known_nonzero(num);
  if (nonzero.value != true) return;
  why = join(why, nonzero.why);
  num = Poly();
  num.constant = 1;
  den = *k;
}

Poly Domain::floor_in_context(Poly num, Poly den, Reason& why) {
  Poly outside;
  if (!den.is_constant()) {
    cancel_common(num, den, why);
    Int g =
        gcd(gcd(num.content(), num.constant), gcd(den.content(), den.constant));
    if (!g.is_one() && !g.is_zero()) {
      num = FormPool::over(num, g);
      den = FormPool::over(den, g);
    }
  }
  if (den.terms.size() > 1 || (!den.is_constant() && !den.constant.is_zero())) {
    spend(den.terms.size() + num.terms.size());
    if (std::optional<Poly> q = forms_.exact_quotient(num, den)) {
      Decision nonzero = known_nonzero(den);
      if (nonzero.value == true) {
        why = join(why, nonzero.why);
        return *q;
      }
    }
  }
  if (!num.is_constant() && den.terms.size() > 1)
    cancel_numerator(num, den, why);
  if (!den.is_constant()) {
    Poly rest = num;
    Poly pulled = pull_out(rest, den);
    if (!pulled.is_zero()) {
      Decision nonzero = known_nonzero(den);
      if (nonzero.value == true) {
        why = join(why, nonzero.why);
        outside = pulled;
        num = rest;
      }
    }
    // 0 <= num < den: 0.  -den <= num < 0: -1.
    Range n = range(num);
    if (n.span.is_empty()) return forms_.floor_div(num, den);
    Poly room = forms_.sub(den, num);
    room.constant -= 1;
    if (at_least(n, 0)) {
      Range r = range(room);
      if (at_least(r, 0)) {
        why = join(why, join(n.lower, r.lower));
        return outside;
      }
    } else if (at_most(n, -1)) {
      Range r = range(forms_.add(den, num));
      if (at_least(r, 0)) {
        why = join(why, join(n.upper, r.lower));
        outside.constant -= 1;
        return outside;
      }
    }
  }
  if (quotients_ != nullptr) {
    if (auto known = quotients_->known_quotient(num, den, why)) {
      outside.constant += *known;
      return outside;
    }
    if (!den.is_constant() && is_remainder(num, den, why)) return outside;
    if (merge_nested_floor(num, den, why)) {
      return forms_.add(outside, floor_in_context(num, den, why));
    }
  }
  if (num.is_zero() && !den.is_zero()) {
    Decision nonzero = known_nonzero(den);
    if (nonzero.value == true) {
      why = join(why, nonzero.why);
      return outside;
    }
  }
  Poly q = forms_.floor_div(num, den);
  std::optional<AtomId> atom = forms_.as_atom(q);
  if (atom && forms_.atom(*atom).kind == AtomKind::kFloor) {
    const Atom& a = forms_.atom(*atom);
    Range r = quotient(range(forms_.poly(a.a)), range(forms_.poly(a.b)));
    if (r.span.is_point() && known_nonzero(forms_.poly(a.b)).value == true) {
      why = join(why, join(r.lower, r.upper));
      why = join(why, known_nonzero(forms_.poly(a.b)).why);
      q = FormPool::constant(*r.span.lower());
    }
  }
  return forms_.add(outside, q);
}

// --- deciding

bool Domain::is_assumed(FormulaId f, Decision& d) {
  if (f <= kTrue) {
    d.value = f == kTrue;
    return true;
  }
  const uint32_t known = assumed_.get(f >> 1);
  if (known == kNoId) return false;
  d.value = (known & 1) == (f & 1);
  d.why = known >> 1;
  return true;
}

bool Domain::decides(FormulaKind kind, const Range& r, Decision& d) {
  if (r.span.is_empty()) return false;
  const OptionalInt &low = r.span.lower(), &high = r.span.upper();
  const bool above = low && low->sign() >= (kind == FormulaKind::kGe ? 0 : 1);
  if (!above && !(high && high->sign() < 0)) return false;
  d.value = kind == FormulaKind::kGe ? above : kind == FormulaKind::kNe;
  d.why = above ? r.lower : r.upper;
  return true;
}

// Of 0, where decides() is false.
bool Domain::decides_at_point(FormulaKind kind, const Range& r, Decision& d) {
  if (kind == FormulaKind::kGe || !r.span.is_point()) return false;
  d.value = kind == FormulaKind::kEq;
  d.why = join(r.lower, r.upper);
  return true;
}

// By what was assumed of it and of its form, and by the ranges of its atoms; r
// is then what these say.
bool Domain::decide_cheaply(FormulaId f, Range& r, Decision& d) {
  if (is_assumed(f, d)) return true;
  const Formula& formula = forms_.formula(f);
  const Poly& p = forms_.poly(formula.poly);
  r = plain_range(p);
  if (decides(formula.kind, r, d)) return true;
  if (!is_single(p) && !r.span.is_point() &&
      narrow(r, form_range(formula.poly)) && decides(formula.kind, r, d)) {
    return true;
  }
  return decides_at_point(formula.kind, r, d);
}

// By ranges that look at more than one atom at a time; r is narrowed.
bool Domain::decide_dearly(FormulaId f, Range& r, Decision& d) {
  const Formula& formula = forms_.formula(f);
  const Poly& p = forms_.poly(formula.poly);
  if (is_single(p)) return false;
  auto decided_by = [&](const Range& other) {
    return narrow(r, other) && decides(formula.kind, r, d);
  };
  if (decided_by(chained_range(p)) || decided_by(difference_range(p))) {
    return true;
  }
  const bool products = forms_.single(p.terms[0].mono) == kNoId ||
                        forms_.single(p.terms.back().mono) == kNoId;
  if (products && decided_by(factored_range(p))) return true;
  if (decided_by(shifted_range(p))) return true;
  const int enough = formula.kind == FormulaKind::kGe ? 0 : 1;
  if (decided_by(correlated_range(p, 0, enough))) return true;
  return decides_at_point(formula.kind, r, d);
}

bool Domain::decide_literal(FormulaId f, Decision& d) {
  Range r;
  return decide_cheaply(f, r, d) || decide_dearly(f, r, d);
}

bool Domain::decide_by_kids(const Formula& formula, Decision& d) {
  const bool absorbing = formula.kind == FormulaKind::kOr;
  bool all = true;
  Decision together;
  together.value = !absorbing;
  for (FormulaId kid : formula.kids) {
    const Decision k = decide(kid);
    all &= k.value.has_value();
    if (!k.value) continue;
    if (*k.value == absorbing) {
      d = k;
      return true;
    }
    together.why = join(together.why, k.why);
    together.used_equalities |= k.used_equalities;
  }
  if (all) d = together;
  return all;
}

bool Domain::decide(FormulaId f, Decision& d) {
  const Formula& formula = forms_.formula(f);
  switch (formula.kind) {
    case FormulaKind::kFalse:
    case FormulaKind::kTrue:
    case FormulaKind::kOpaque: return is_assumed(f, d);
    case FormulaKind::kAnd:
    case FormulaKind::kOr:
      return is_assumed(f, d) || decide_by_kids(formula, d);
    default: break;
  }
  Range r;
  if (decide_cheaply(f, r, d)) return true;
  Normal n;
  if (rewrite(forms_.poly(formula.poly), n)) {
    FormulaId g = forms_.relation(formula.kind, n.poly);
    if (g <= kTrue ? is_assumed(g, d) : decide_literal(g, d)) {
      d.used_equalities = true;
      d.why = join(d.why, n.why);
      return true;
    }
  }
  return decide_dearly(f, r, d);
}

}  // namespace proviso
