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

bool at_least(const Range& r, const Int& k) {
  return r.span.lower() && *r.span.lower() >= k;
}
bool at_most(const Range& r, const Int& k) {
  return r.span.upper() && *r.span.upper() <= k;
}

Int ceil_div(const Int& a, const Int& b) { return -floor_div(-a, b); }

}  // namespace

Domain::AtomState& Domain::state(AtomId a) {
  uint32_t slot = slot_of_.get(a);
  if (slot != kNoId) return atoms_[slot];
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

const std::vector<uint32_t>& Domain::items_of(AtomId a) {
  return state(a).items;
}

const std::vector<AtomId>& Domain::dependents_of(AtomId a) {
  return state(a).dependents;
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
  if (told_.get(f) != kNoId) return;
  told_.set(f, why);
  trail_.push_back({Undo::kTold, f, {}});
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
  Normal n = normal(p);
  why = join(why, n.why);
  FormulaId f = known != kNoId && !n.changed ? known
                : kind == FormulaKind::kGe   ? forms_.ge(n.poly)
                : kind == FormulaKind::kEq   ? forms_.eq(n.poly)
                                             : forms_.ne(n.poly);
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
  // Against ranges alone: the form's own entry may come from this very row.
  Range r = plain_range(p);
  if (r.span.is_empty()) return raise_conflict(join(r.lower, r.upper));
  if (at_least(r, 0)) return;
  if (at_most(r, -1)) return raise_conflict(join(why, r.upper));
  Range f = form_range(p);
  if (at_most(f, -1)) return raise_conflict(join(why, f.upper));
  bool single =
      p.terms.size() == 1 && forms_.factors(p.terms[0].mono).size() == 1;
  if (!single) {
    if (at_least(f, 0)) return;  // the same row, or a tighter one, is there
    add_item(forms_.ge(p), why);
    set_form_bound(p, why);
  }
  tighten(p, why);
  expand_pos(p, why);
}

// r - c*pos(d) >= 0, c > 0, says r >= 0 and r - c*d >= 0.
void Domain::expand_pos(const Poly& p, Reason why) {
  size_t count = 0;
  for (const Term& t : p.terms) {
    const std::vector<AtomId>& factors = forms_.factors(t.mono);
    bool is_pos = factors.size() == 1 &&
                  forms_.atom(factors[0]).kind == AtomKind::kPos;
    count += is_pos && t.coef.sign() < 0;
  }
  if (count == 0 || count > kMaxExpandedPos) return;
  for (const Term& t : p.terms) {
    const std::vector<AtomId>& factors = forms_.factors(t.mono);
    if (factors.size() != 1 || t.coef.sign() > 0) continue;
    const Atom& atom = forms_.atom(factors[0]);
    if (atom.kind != AtomKind::kPos) continue;
    Poly rest = forms_.sub(p, forms_.monomial(t.mono, t.coef));
    assert_literal(FormulaKind::kGe, rest, why);
    assert_literal(FormulaKind::kGe,
                   forms_.add(rest, forms_.poly(atom.a), t.coef), why);
    return;
  }
}

void Domain::assert_ne(const Poly& p, Reason why) {
  // A product is not zero when no factor is.
  if (p.constant.is_zero() && p.terms.size() == 1) {
    const std::vector<AtomId>& factors = forms_.factors(p.terms[0].mono);
    if (factors.size() > 1) {
      for (AtomId a : factors) {
        assert_literal(FormulaKind::kNe, forms_.variable(a), why);
      }
      return;
    }
  }
  uint32_t i = add_item(forms_.ne(p), why);
  FormView v = view(p);
  form_state(v.form).watchers.push_back(i);
  revisit(i);
}

void Domain::assert_clause(FormulaId f, Reason why) {
  revisit(add_item(f, why));
}

uint32_t Domain::add_item(FormulaId f, Reason why) {
  uint32_t i = static_cast<uint32_t>(items_.size());
  items_.push_back({f, why, true});
  queued_.push_back(false);
  rounds_.push_back(0);
  index_item(i, true);
  trail_.push_back({Undo::kItem, i, {}});
  change();
  return i;
}

void Domain::index_item(uint32_t i, bool add) {
  FormulaId f = items_[i].formula;
  const Formula& formula = forms_.formula(f);
  for (AtomId a : forms_.atoms_of_formula(f)) {
    std::vector<uint32_t>& list = state(a).items;
    if (add) {
      list.push_back(i);
    } else {
      list.pop_back();
    }
  }
  if (!add && formula.kind == FormulaKind::kNe) {
    form_state(view(forms_.poly(formula.poly)).form).watchers.pop_back();
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
  Normal n = normal(p);
  if (n.changed) {
    kill_item(i);
    return assert_literal(f.kind, n.poly, join(item.why, n.why));
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
  Range r = range(p);
  if (r.span.is_empty()) return raise_conflict(join(r.lower, r.upper));
  if (at_most(r, -1)) return raise_conflict(join(item.why, r.upper));
  tighten(p, item.why);
  if (f.kind == FormulaKind::kEq) {
    tighten(forms_.scale(p, -1), item.why);
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
  const std::vector<AtomId>& factors = forms_.factors(t.mono);
  if (factors.size() == 1) return set_bound(factors[0], lower, bound, why);
  Poly row = forms_.monomial(t.mono, lower ? 1 : -1);
  row.constant = lower ? -bound : bound;
  set_form_bound(row, why);
  tighten_factors(t.mono, lower, bound, why);
}

// From a bound of a product to its factors, where the others are known to be
// nonnegative or positive.
void Domain::tighten_factors(MonoId m, bool lower, const Int& bound,
                             Reason why) {
  std::vector<AtomId> factors = forms_.factors(m);
  for (size_t i = 0; i < factors.size() && !conflict_; ++i) {
    if (i > 0 && factors[i] == factors[i - 1]) continue;
    std::vector<AtomId> others = factors;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    Range rest = mono_range(forms_.mono(others));
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
    set_bound(factors[i], lower, value, because);
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
  for (AtomId b : std::vector<AtomId>(s.dependents)) wake(b);
  push_down(a, lower, value, why);
  if (conflict_ || s.solved != kNoId) return;
  bool variable = s.kind == AtomKind::kSymbol || s.kind == AtomKind::kFresh;
  if (variable && s.own.span.is_point()) {
    solve_for(a, FormPool::constant(*s.own.span.lower()),
              join(s.own.lower, s.own.upper));
  }
}

// From a bound of an atom to what it is made of.
void Domain::push_down(AtomId a, bool lower, const Int& value, Reason why) {
  const Atom& atom = forms_.atom(a);
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

void Domain::set_form_bound(const Poly& p, Reason why) {
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
  slot = {bound, why};
  change();
  for (uint32_t i : f.watchers) {
    if (items_[i].alive && !queued_[i]) {
      queued_[i] = true;
      queue_.push_back(i);
    }
  }
  if (f.low.value && f.high.value && *f.low.value > *f.high.value) {
    raise_conflict(join(f.low.why, f.high.why));
  }
}

// --- normal form

Normal Domain::normal(const Poly& p) {
  Normal result;
  spend(p.terms.size());
  result.poly.constant = p.constant;
  for (const Term& t : p.terms) {
    const std::vector<AtomId>& factors = forms_.factors(t.mono);
    bool changed = false;
    for (AtomId a : factors) changed |= image_of(a).poly != kNoId;
    if (!changed) {
      result.poly.terms.push_back(t);
      continue;
    }
    result.changed = true;
    Poly term = FormPool::constant(t.coef);
    for (AtomId a : factors) {
      Image image = image_of(a);
      result.why = join(result.why, image.why);
      term = forms_.mul(term, image.poly == kNoId ? forms_.variable(a)
                                                  : forms_.poly(image.poly));
    }
    result.poly.constant += term.constant;
    result.poly.terms.append(term.terms);
  }
  if (result.changed) result.poly = FormPool::collected(std::move(result.poly));
  return result;
}

Domain::Image Domain::image_of(AtomId a) {
  AtomState& s = state(a);
  bool plain = s.kind == AtomKind::kSymbol || s.kind == AtomKind::kFresh ||
               s.kind == AtomKind::kOpaque;
  if (s.solved == kNoId && plain) return {};
  if (s.normal_stamp == stamp_) return s.image;
  if (s.visiting) return {};  // a cycle through definitions: stays as it is
  s.visiting = true;
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
    throw;
  }
  s.visiting = false;
  s.image = image;
  s.normal_stamp = stamp_;
  return image;
}

// The value where both arguments are constant.
Poly Domain::func_in_context(Op op, const Poly& x, const Poly& y) {
  int64_t n = -1;
  if (y.is_constant()) n = y.constant.to_int64().value_or(-1);
  if (op == Op::kBitAnd && x.is_constant() && y.is_constant()) {
    return FormPool::constant(bit_and(x.constant, y.constant));
  }
  if (op == Op::kPow && n >= 0 && n <= 8) {
    return forms_.pow(x, static_cast<unsigned>(n));
  }
  if (op == Op::kPow && x.is_constant() && n >= 0 && n < 4096) {
    if (auto value = pow(x.constant, static_cast<uint64_t>(n))) {
      return FormPool::constant(*value);
    }
  }
  return forms_.func(op, x, y);
}

Domain::Image Domain::rebuild_atom(AtomId a) {
  const Atom& atom = forms_.atom(a);
  Normal n;
  Normal x = normal(forms_.poly(atom.a));
  Normal y = atom.b == kNoId ? Normal{} : normal(forms_.poly(atom.b));
  n.why = join(x.why, y.why);
  switch (atom.kind) {
    case AtomKind::kFloor:
      n.poly = floor_in_context(x.poly, y.poly, n.why);
      break;
    case AtomKind::kPos: {
      Range d = range(x.poly);
      if (d.span.is_empty()) return {};
      if (at_least(d, 0)) {
        n.poly = x.poly;
        n.why = join(n.why, d.lower);
      } else if (at_most(d, 0)) {
        n.poly = {};
        n.why = join(n.why, d.upper);
      } else {
        n.poly = forms_.pos(x.poly);
      }
      break;
    }
    case AtomKind::kIte: {
      Decision c = decide(atom.condition);
      if (c.value) {
        n.poly = *c.value ? x.poly : y.poly;
        n.why = join(*c.value ? x.why : y.why, c.why);
      } else {
        n.poly = forms_.ite(atom.condition, x.poly, y.poly);
      }
      break;
    }
    case AtomKind::kNamed:
      n.poly = x.changed ? x.poly : forms_.variable(a);
      break;
    default: n.poly = func_in_context(atom.op, x.poly, y.poly); break;
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
  if (settles(FormulaKind::kNe, plain_range(p), d)) return d;
  FormulaId id = forms_.ne(p);
  if (id <= kTrue) {  // 2*u0 + 1 is never 0
    d.value = id == kTrue;
    return d;
  }
  return decide_literal(id);
}

// floor(f*a / (f*b)) == floor(a/b) for f != 0.
bool Domain::cancel_common(Poly& num, Poly& den, Reason& why) {
  if (!num.constant.is_zero() || !den.constant.is_zero()) return false;
  if (num.terms.empty() || den.terms.empty()) return false;
  std::vector<AtomId> common = forms_.factors(num.terms[0].mono);
  for (const Poly* p : {&num, &den}) {
    for (const Term& t : p->terms) {
      const std::vector<AtomId>& f = forms_.factors(t.mono);
      std::vector<AtomId> both;
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
        reduced = forms_.add(
            reduced,
            forms_.monomial(*forms_.quotient(t.mono, forms_.mono(a)), t.coef));
      }
      *p = reduced;
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
    std::optional<MonoId> q = forms_.quotient(t.mono, lead->mono);
    if (!q) continue;
    Int c = floor_div(t.coef, lead->coef);
    if (c.is_zero()) continue;
    Poly times = forms_.monomial(*q, c);
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

Poly Domain::floor_in_context(Poly num, Poly den, Reason& why) {
  Poly outside;
  if (!den.is_constant()) {
    cancel_common(num, den, why);
    Int g = gcd(gcd(num.content(), num.constant),
                gcd(den.content(), den.constant));
    if (!g.is_one() && !g.is_zero()) {
      for (Poly* p : {&num, &den}) {
        p->constant = floor_div(p->constant, g);
        for (Term& t : p->terms) t.coef = floor_div(t.coef, g);
      }
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

Decision Domain::told(FormulaId f) {
  Decision d;
  if (f <= kTrue) {
    d.value = f == kTrue;
  } else if (Reason why = told_.get(f); why != kNoId) {
    d.value = true, d.why = why;
  } else if (why = told_.get(forms_.negate(f)); why != kNoId) {
    d.value = false, d.why = why;
  }
  return d;
}

bool Domain::settles(FormulaKind kind, const Range& r, Decision& d) {
  if (r.span.is_empty()) return false;
  bool above = at_least(r, kind == FormulaKind::kGe ? 0 : 1);
  bool below = at_most(r, -1);
  if (above || below) {
    d.value = kind == FormulaKind::kGe ? above : kind == FormulaKind::kNe;
    d.why = above ? r.lower : r.upper;
  }
  return d.value.has_value();
}

// By what was told of it and of its form, and by the ranges of its atoms.
Decision Domain::decide_cheaply(FormulaId f) {
  Decision d = told(f);
  if (d.value) return d;
  const Formula& formula = forms_.formula(f);
  const Poly& p = forms_.poly(formula.poly);
  Range r = plain_range(p);
  if (settles(formula.kind, r, d)) return d;
  if (!r.span.is_point() && !is_single(p)) {
    r = meet(r, form_range(p));
    if (settles(formula.kind, r, d)) return d;
  }
  if (r.span.is_point() && formula.kind != FormulaKind::kGe) {
    d.value = formula.kind == FormulaKind::kEq;  // of 0, or it was settled
    d.why = join(r.lower, r.upper);
  }
  return d;
}

// By ranges that look at more than one atom at a time.
Decision Domain::decide_dearly(FormulaId f) {
  Decision d;
  const Formula& formula = forms_.formula(f);
  const Poly& p = forms_.poly(formula.poly);
  if (is_single(p)) return d;
  Range r = difference_range(p);
  if (settles(formula.kind, r, d)) return d;
  r = meet(r, shifted_range(p));
  if (settles(formula.kind, r, d)) return d;
  r = meet(r, correlated_range(p, 0));
  if (settles(formula.kind, r, d)) return d;
  r = meet(r, meet(plain_range(p), form_range(p)));
  if (settles(formula.kind, r, d)) return d;
  if (r.span.is_point() && formula.kind != FormulaKind::kGe) {
    d.value = formula.kind == FormulaKind::kEq;
    d.why = join(r.lower, r.upper);
  }
  return d;
}

Decision Domain::decide_literal(FormulaId f) {
  Decision d = decide_cheaply(f);
  return d.value ? d : decide_dearly(f);
}

Decision Domain::decide(FormulaId f) {
  const Formula& formula = forms_.formula(f);
  Decision d;
  switch (formula.kind) {
    case FormulaKind::kFalse:
    case FormulaKind::kTrue:
    case FormulaKind::kOpaque: return told(f);
    case FormulaKind::kAnd:
    case FormulaKind::kOr: {
      d = told(f);
      if (d.value) return d;
      bool absorbing = formula.kind == FormulaKind::kOr;
      bool all = true;
      for (FormulaId kid : formula.kids) {
        Decision k = decide(kid);
        all &= k.value.has_value();
        if (!k.value) continue;
        if (*k.value == absorbing) return k;
        d.why = join(d.why, k.why);
        d.used_equalities |= k.used_equalities;
      }
      if (!all) return {};
      d.value = !absorbing;
      return d;
    }
    default: break;
  }
  d = decide_cheaply(f);
  if (d.value) return d;
  Normal n = normal(forms_.poly(formula.poly));
  if (!n.changed) return decide_dearly(f);
  FormulaId g = formula.kind == FormulaKind::kGe   ? forms_.ge(n.poly)
                : formula.kind == FormulaKind::kEq ? forms_.eq(n.poly)
                                                   : forms_.ne(n.poly);
  d = g <= kTrue ? told(g) : decide_literal(g);
  if (!d.value) return decide_dearly(f);
  d.used_equalities = true;
  d.why = join(d.why, n.why);
  return d;
}

}  // namespace proviso
