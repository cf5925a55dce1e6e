#include "solver/domain.h"

#include <algorithm>

namespace proviso {
namespace {

constexpr int kMaxNesting = 24;
// Bounds that creep (x < y, y < x) are the linear tier's to refute.
constexpr size_t kMaxVisits = 400;
constexpr uint8_t kMaxRounds = 4;  // of one item
constexpr size_t kMaxExpandedPos = 3;
// x*x <= 3*x makes bounds of x that square for ever.
constexpr size_t kMaxBoundBits = 1024;

Int ceil_div(const Int& a, const Int& b) { return -floor_div(-a, b); }

}  // namespace

Domain::AtomState& Domain::new_state(AtomId a) {
  slot_of_.set(a, static_cast<uint32_t>(atoms_.size()));
  AtomState& s = atoms_.emplace_back();
  s.kind = forms_.atom(a).kind;
  if (s.kind == AtomKind::kSymbol) s.own.span = symbols_;
  return s;
}

// Named by where it comes from, so that equal work makes equal forms; twice in
// use, it would be one variable for two things.
AtomId Domain::fresh(uint32_t origin) {
  for (uint32_t copy = 0;; ++copy) {
    AtomId a = forms_.fresh(origin, copy);
    AtomState& s = state(a);
    if (s.in_use) continue;
    s.in_use = true;
    trail_.push_back({Undo::kFresh, a, {}});
    return a;
  }
}

Domain::FormState& Domain::form_state(PolyId form) {
  uint32_t slot = form_slot_of_.get(form);
  if (slot != kNoId) return form_states_[slot];
  form_slot_of_.set(form, static_cast<uint32_t>(form_states_.size()));
  return form_states_.emplace_back();
}

// --- undo

void Domain::undo(const Mark& mark) {
  while (trail_.size() > mark.trail) {
    Undo u = std::move(trail_.back());
    trail_.pop_back();
    switch (u.kind) {
      case Undo::kLow: {
        Range& own = state(u.index).own;
        own.span = Interval::of(u.old.value, own.span.upper());
        own.lower = u.old.why;
        break;
      }
      case Undo::kHigh: {
        Range& own = state(u.index).own;
        own.span = Interval::of(own.span.lower(), u.old.value);
        own.upper = u.old.why;
        break;
      }
      case Undo::kSolved: {
        AtomState& s = state(u.index);
        for (AtomId a : forms_.atoms_of(s.solved)) {
          state(a).dependents.pop_back();
        }
        s.solved = kNoId;
        break;
      }
      case Undo::kItem:
        index_item(u.index, false);
        items_.pop_back();
        break;
      case Undo::kKilled: items_[u.index].alive = true; break;
      case Undo::kFormLow: form_state(u.index).low = std::move(u.old); break;
      case Undo::kFormHigh:
        form_state(u.index).high = std::move(u.old);
        break;
      case Undo::kTold: told_.set(u.index, kNoId); break;
      case Undo::kFresh: state(u.index).in_use = false; break;
      case Undo::kConflict: conflict_.reset(); break;
    }
  }
  for (uint32_t i : queue_) queued_[i] = false, rounds_[i] = 0;
  queue_.clear();
  queued_.resize(items_.size());
  rounds_.resize(items_.size());
  nesting_ = 0;
  if (mark.stamp > forgotten_) {
    stamp_ = mark.stamp;
  } else {
    change();
  }
}

void Domain::raise_conflict(Reason why) {
  if (conflict_) return;
  conflict_ = why;
  trail_.push_back({Undo::kConflict, 0, {}});
}

// --- telling

void Domain::tell(FormulaId f, Reason why) {
  assert_formula(f, why);
  propagate();
}

// False when it was told before.
bool Domain::set_told(FormulaId f, Reason why) {
  if (told_.get(f) != kNoId) return false;
  told_.set(f, why);
  trail_.push_back({Undo::kTold, f, {}});
  return true;
}

void Domain::assert_formula(FormulaId f, Reason why) {
  if (conflict_ || f == kTrue) return;
  if (f == kFalse) return raise_conflict(why);
  const Formula& formula = forms_.formula(f);
  if (formula.kind == FormulaKind::kAnd) {
    for (FormulaId kid : formula.kids) assert_formula(kid, why);
    return;
  }
  Reason opposite = told_.get(forms_.negate(f));
  if (opposite != kNoId) return raise_conflict(join(why, opposite));
  if (!set_told(f, why)) return;
  change();
  if (formula.kind == FormulaKind::kOr) return assert_clause(f, why);
  if (formula.kind == FormulaKind::kOpaque) return;
  assert_literal(formula.kind, forms_.poly(formula.poly), why, f);
}

// `known` is the formula itself where the caller has it.
void Domain::assert_literal(FormulaKind kind, const Poly& p, Reason why,
                            FormulaId known) {
  if (conflict_) return;
  if (nesting_ >= kMaxNesting) return;  // what is not derived is not known
  spend(1);
  ++nesting_;
  FormulaId f = known;
  if (std::optional<Normal> n = rewritten(p)) {
    if (kind != FormulaKind::kNe && says_more_as_told(p)) {
      const FormulaId told = forms_.relation(kind, p);
      if (told > kTrue) revisit(add_item(told, why, true));
    }
    why = join(why, n->why);
    f = forms_.relation(kind, n->poly);
  } else if (known == kNoId) {
    f = forms_.relation(kind, p);
  }
  if (f == kFalse) {
    raise_conflict(why);
  } else if (f != kTrue) {
    const Poly& canonical = forms_.poly(forms_.formula(f).poly);
    switch (kind) {
      case FormulaKind::kGe: assert_ge(canonical, why); break;
      case FormulaKind::kEq: assert_eq(canonical, why); break;
      default: assert_ne(canonical, why); break;
    }
  }
  --nesting_;
}

void Domain::assert_ge(const Poly& p, Reason why) {
  if (is_single(p)) {
    // A compound atom's normal form may change: the row is looked at again.
    if (!forms_.is_variable(forms_.factors(p.terms[0].mono)[0])) {
      if (at_least(plain_range(p), 0)) return;
      add_item(forms_.ge(p), why);
    }
    tighten_term(p.terms[0], p.constant, why);
    return expand_pos(p, why);
  }
  // Against ranges alone: the form's own entry may come from this very row.
  Range r = plain_range(p);
  if (r.span.is_empty()) return raise_conflict(join(r.lower, r.upper));
  if (at_least(r, 0)) return;
  if (at_most(r, -1)) return raise_conflict(join(why, r.upper));
  Range f = form_range(p);
  if (at_most(f, -1)) return raise_conflict(join(why, f.upper));
  if (at_least(f, 0) && is_row(p)) return;  // or a tighter one
  set_form_bound(p, why, add_item(forms_.ge(p), why));
  tighten(p, why);
  expand_pos(p, why);
  expand_floor(p, why);
  expand_factor(p, why);
  expand_roots(p, why);
}

// For c < 0, r + c*pos(d) >= 0 says r >= 0 and r + c*d >= 0; for c > 0 it says
// one of them, which tells where ranges rule out the other.
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
  if (!found || negative > kMaxExpandedPos) return;
  const PolyId d = forms_.atom(forms_.factors(found->mono)[0]).a;
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

// r + c*floor(a/d) >= 0, d > 0, says d*r + c*a >= 0 for c > 0 and, with the
// largest remainder, d*r + c*(a - d + 1) >= 0 for c < 0: where r and a have
// atoms in common, this may bound what the row does not.
void Domain::expand_floor(const Poly& p, Reason why) {
  if (p.terms.size() < 2) return;
  for (const Term& t : p.terms) {
    const Factors& factors = forms_.factors(t.mono);
    const Atom& atom = forms_.atom(factors[0]);
    if (factors.size() != 1 || atom.kind != AtomKind::kFloor) continue;
    const Poly& a = forms_.poly(atom.a);
    const Poly& d = forms_.poly(atom.b);
    if (!d.is_constant() || d.constant.sign() <= 0) continue;
    const std::vector<AtomId>& inside = forms_.atoms_of(atom.a);
    const bool in_common = std::any_of(
        p.terms.begin(), p.terms.end(), [&](const Term& other) {
          const Factors& f = forms_.factors(other.mono);
          return &other != &t && std::any_of(f.begin(), f.end(), [&](AtomId x) {
            return std::binary_search(inside.begin(), inside.end(), x);
          });
        });
    if (!in_common) continue;
    Poly rest = forms_.sub(p, forms_.monomial(t.mono, t.coef));
    Poly row = forms_.add(forms_.scale(rest, d.constant), a, t.coef);
    if (t.coef.sign() < 0) row.constant += t.coef * (1 - d.constant);
    return assert_literal(FormulaKind::kGe, row, why);  // sees to the others
  }
}

// x*r + c >= 0 with x >= 1 bounds r: by 1 where c < 0, else by -c over the
// least x.  Where c < 0, x >= 0 makes x >= 1.
void Domain::expand_factor(const Poly& p, Reason why) {
  if (p.terms.size() < 2) return;  // tighten_factors() has seen to it
  const bool positive = p.constant.sign() < 0;
  for (AtomId a : forms_.factors(p.terms[0].mono)) {
    const Range x = atom_range(a);
    if (conflict_ || !at_least(x, positive ? 0 : 1)) continue;
    Poly product = p;
    product.constant = 0;
    std::optional<Poly> rest = divided(product, a);
    if (!rest) continue;
    rest->constant -=
        positive ? Int(1) : ceil_div(-p.constant, *x.span.lower());
    assert_literal(FormulaKind::kGe, *rest, join(why, x.lower));
    if (positive) set_bound(a, true, 1, join(why, x.lower));
  }
}

void Domain::assert_ne(const Poly& p, Reason why) {
  // A product is not zero when no factor is.
  if (p.constant.is_zero()) {
    for (AtomId a : forms_.factors(p.terms[0].mono)) {
      std::optional<Poly> rest = divided(p, a);
      if (!rest || rest->is_constant()) continue;
      assert_literal(FormulaKind::kNe, forms_.variable(a), why);
      return assert_literal(FormulaKind::kNe, *rest, why);
    }
  }
  const FormulaId f = forms_.ne(p);
  set_told(f, why);
  revisit(add_item(f, why));
}

void Domain::assert_clause(FormulaId f, Reason why) {
  revisit(add_item(f, why));
}

uint32_t Domain::add_item(FormulaId f, Reason why, bool as_told) {
  uint32_t i = static_cast<uint32_t>(items_.size());
  items_.push_back({f, why, true, as_told});
  queued_.push_back(false);
  rounds_.push_back(0);
  index_item(i, true);
  trail_.push_back({Undo::kItem, i, {}});
  change();
  return i;
}

// Whether the row, once equalities are put in, no longer bounds what it did:
// one product of variables, as in a told number of elements, or a row about a
// symbol that was solved for by a sum, or a product with a symbol that was
// solved for.
bool Domain::says_more_as_told(const Poly& p) const {
  if (p.terms.size() == 1) {
    const Factors& factors = forms_.factors(p.terms[0].mono);
    if (factors.size() > 1) {
      return std::all_of(factors.begin(), factors.end(),
                         [this](AtomId a) { return forms_.is_variable(a); });
    }
  }
  return std::any_of(p.terms.begin(), p.terms.end(), [this](const Term& t) {
    const Factors& factors = forms_.factors(t.mono);
    return std::any_of(factors.begin(), factors.end(), [&](AtomId x) {
      if (!forms_.is_variable(x) || !is_solved(x)) return false;
      const Poly& value = forms_.poly(solved_form(x));
      return value.terms.size() > 1 ||
             (factors.size() > 1 && !value.is_constant());
    });
  });
}

void Domain::index_item(uint32_t i, bool add) {
  auto enter = [i, add](Ids& list) {
    if (add) {
      list.push_back(i);
    } else {
      list.pop_back();
    }
  };
  FormulaId f = items_[i].formula;
  const Formula& formula = forms_.formula(f);
  for (AtomId a : forms_.atoms_of_formula(f)) {
    enter(state(a).items);
    // Its sign, once told, tells what the atom is.
    const Atom& atom = forms_.atom(a);
    if (atom.kind != AtomKind::kPos) continue;
    enter(form_state(view(forms_.poly(atom.a)).form).watchers);
  }
  if (formula.kind == FormulaKind::kNe) {
    enter(form_state(view(forms_.poly(formula.poly)).form).watchers);
  }
}

void Domain::kill_item(uint32_t i) {
  if (!items_[i].alive) return;
  items_[i].alive = false;
  trail_.push_back({Undo::kKilled, i, {}});
}

void Domain::wake(AtomId a) {
  for (uint32_t i : state(a).items) {
    if (items_[i].alive && !queued_[i]) {
      queued_[i] = true;
      queue_.push_back(i);
    }
  }
}

void Domain::propagate() {
  size_t visits = 0;
  for (size_t next = 0; next < queue_.size(); ++next) {
    uint32_t i = queue_[next];
    queued_[i] = false;
    if (conflict_ || visits >= kMaxVisits || rounds_[i] >= kMaxRounds) continue;
    if (!items_[i].alive) continue;
    ++visits;
    ++rounds_[i];
    revisit(i);
  }
  for (uint32_t i : queue_) rounds_[i] = 0;
  queue_.clear();
}

void Domain::revisit(uint32_t i) {
  Item item = items_[i];
  const Formula& f = forms_.formula(item.formula);
  if (f.kind == FormulaKind::kOr) {
    std::vector<FormulaId> open;
    Reason why = item.why;
    for (FormulaId kid : f.kids) {
      Decision d = decide(kid);
      if (d.value == true) return kill_item(i);
      if (d.value == false) {
        why = join(why, d.why);
      } else {
        open.push_back(kid);
      }
    }
    if (open.empty()) return raise_conflict(why);
    if (open.size() > 1) return;
    kill_item(i);
    return assert_formula(open[0], why);
  }
  const Poly& p = forms_.poly(f.poly);
  if (item.as_told) {
    tighten(p, item.why);
    expand_roots(p, item.why);
    if (f.kind != FormulaKind::kEq) return;
    const Poly opposite = forms_.scale(p, -1);
    tighten(opposite, item.why);
    return expand_roots(opposite, item.why);
  }
  if (std::optional<Normal> n = rewritten(p)) {
    kill_item(i);
    if (says_more_as_told(p) && f.kind != FormulaKind::kNe) {
      add_item(item.formula, item.why, true);
    }
    return assert_literal(f.kind, n->poly, join(item.why, n->why));
  }
  if (f.kind == FormulaKind::kNe) {
    Range r = range(p);
    if (!r.span.contains(Int(0))) {
      if (r.span.is_empty()) raise_conflict(join(r.lower, r.upper));
      return kill_item(i);
    }
    bool up = at_least(r, 0);
    if (!up && !at_most(r, 0)) return;
    Poly edge = up ? p : forms_.scale(p, -1);
    edge.constant -= 1;
    kill_item(i);
    return assert_literal(FormulaKind::kGe, edge,
                          join(item.why, up ? r.lower : r.upper));
  }
  Range r = plain_range(p);  // what costs more is left to questions
  narrow(r, form_range(p));
  if (r.span.is_empty()) return raise_conflict(join(r.lower, r.upper));
  if (at_most(r, -1)) return raise_conflict(join(item.why, r.upper));
  tighten(p, item.why);
  expand_factor(p, item.why);
  expand_roots(p, item.why);
  if (f.kind == FormulaKind::kEq) {
    const Poly opposite = forms_.scale(p, -1);
    tighten(opposite, item.why);
    expand_factor(opposite, item.why);
    expand_roots(opposite, item.why);
    if (!conflict_ && !p.constant.is_zero()) bound_divisors(p, item.why);
    Poly q = p;
    Reason why = item.why;
    if (!conflict_ && cancel_factor(q, why) && q != p) {
      kill_item(i);
      assert_literal(FormulaKind::kEq, q, why);
    }
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
      const std::optional<Int>& low = tops[i].span.lower();
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

// From a bound of a product to its factors (and their powers), where the others
// are known to be nonnegative or positive.
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
      rest = mono_range(*forms_.quotient(m, forms_.mono(power)));
    }
    if (rest.span.is_empty()) return;
    if (!at_least(rest, lower && bound.sign() > 0 ? 0 : 1)) continue;
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
    tighten_power(factors[i], static_cast<unsigned>(power.size()), lower, value,
                  because);
  }
}

// x**k >= bound, or <= where not `lower`.
void Domain::tighten_power(AtomId x, unsigned k, bool lower, const Int& bound,
                           Reason why) {
  if (k == 1) return set_bound(x, lower, bound, why);
  if (bound.bit_length() > kMaxBoundBits) return;
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
  if (conflict_ || value.bit_length() > kMaxBoundBits) return;
  const Range now = atom_range(a);
  const std::optional<Int>& end = lower ? now.span.lower() : now.span.upper();
  if (end && (lower ? *end >= value : *end <= value)) return;
  const std::optional<Int>& other = lower ? now.span.upper() : now.span.lower();
  if (other && (lower ? *other < value : *other > value)) {
    return raise_conflict(join(why, lower ? now.upper : now.lower));
  }
  AtomState& s = state(a);
  if (lower) {
    trail_.push_back({Undo::kLow, a, {s.own.span.lower(), s.own.lower}});
    s.own.span = Interval::of(value, s.own.span.upper());
    s.own.lower = why;
  } else {
    trail_.push_back({Undo::kHigh, a, {s.own.span.upper(), s.own.upper}});
    s.own.span = Interval::of(s.own.span.lower(), value);
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

// Whether an item bounds the form of p on this side.
bool Domain::is_row(const Poly& p) {
  const FormView v = view(p);
  const FormState& f = form_state(v.form);
  const uint32_t item = (v.scale.sign() > 0 ? f.low : f.high).item;
  return item != kNoId && items_[item].alive;
}

void Domain::set_form_bound(const Poly& p, Reason why, uint32_t item) {
  if (p.terms.size() == 1 && forms_.factors(p.terms[0].mono).size() == 1) {
    return;
  }
  FormView v = view(p);
  bool lower = v.scale.sign() > 0;
  Int bound = lower ? ceil_div(-v.constant, v.scale)
                    : floor_div(v.constant, -v.scale);
  FormState& f = form_state(v.form);
  End& slot = lower ? f.low : f.high;
  if (slot.value && (lower ? *slot.value >= bound : *slot.value <= bound)) {
    return;
  }
  trail_.push_back({lower ? Undo::kFormLow : Undo::kFormHigh, v.form, slot});
  slot = {bound, why, item};
  change();
  for (uint32_t i : f.watchers) {
    if (items_[i].alive && !queued_[i]) {
      queued_[i] = true;
      queue_.push_back(i);
    }
  }
  if (!f.low.value || !f.high.value || *f.low.value < *f.high.value) return;
  const Reason both = join(f.low.why, f.high.why);
  if (*f.low.value > *f.high.value) return raise_conflict(both);
  Poly equal = forms_.poly(v.form);
  equal.constant -= *f.low.value;
  assert_literal(FormulaKind::kEq, equal, both);
}

}  // namespace proviso
