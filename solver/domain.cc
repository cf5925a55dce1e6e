#include "solver/domain.h"

#include <algorithm>

#include "solver/limits.h"

namespace proviso {
namespace {

// Bounds that grow without end (x < y, y < x) are the linear tier's to refute.

}  // namespace

uint32_t Domain::new_slot(AtomId a) {
  const auto made = static_cast<uint32_t>(atoms_.size());
  slot_of_.set(a, made);
  AtomState& s = atoms_.emplace_back();
  s.kind = forms_.atom(a).kind;
  if (s.kind == AtomKind::kSymbol) s.own.span = symbols_;
  return made;
}

Domain::Derived& Domain::derived(AtomState& s) {
  if (s.derived != kNoId) return derived_[s.derived];
  s.derived = static_cast<uint32_t>(derived_.size());
  return derived_.emplace_back();
}

// Named by where it comes from, so that equal work makes equal forms; twice in
// use, it would be one variable for two things.
AtomId Domain::fresh(uint32_t origin) {
  for (uint32_t copy = 0;; ++copy) {
    AtomId a = forms_.fresh(origin, copy);
    AtomState& s = state(a);
    if (s.in_use) continue;
    s.in_use = true;
    note(Undo::kFresh, a);
    return a;
  }
}

Domain::FormState& Domain::form_state(PolyId form) {
  uint32_t& slot = form_slot_of_.at(form);
  if (slot != kNoId) return form_states_[slot];
  slot = static_cast<uint32_t>(form_states_.size());
  return form_states_.emplace_back();
}

// --- undo

void Domain::undo(const Mark& mark) {
  while (trail_.size() > mark.trail) {
    const Undo u = trail_.back();
    trail_.pop_back();
    End old;
    if (u.has_end) {
      old = std::move(ends_.back());
      ends_.pop_back();
    }
    switch (u.kind) {
      case Undo::kLow: {
        Range& own = state(u.index).own;
        own.span.set_lower(std::move(old.value));
        own.lower = old.why;
        break;
      }
      case Undo::kHigh: {
        Range& own = state(u.index).own;
        own.span.set_upper(std::move(old.value));
        own.upper = old.why;
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
        constraints_.pop_back();
        break;
      case Undo::kDeactivated: constraints_[u.index].active = true; break;
      case Undo::kFormLow: form_state(u.index).low = std::move(old); break;
      case Undo::kFormHigh: form_state(u.index).high = std::move(old); break;
      case Undo::kAssumed: assumed_.set(u.index >> 1, kNoId); break;
      case Undo::kFresh: state(u.index).in_use = false; break;
      case Undo::kLinked: unlink(u.index); break;
      case Undo::kConflict: conflict_.reset(); break;
    }
  }
  for (uint32_t i : queue_) queued_[i] = false, rounds_[i] = 0;
  queue_.clear();
  queued_.resize(constraints_.size());
  rounds_.resize(constraints_.size());
  nesting_ = image_nesting_ = 0;
  if (mark.stamp > forgotten_) {
    stamp_ = mark.stamp;
  } else {
    change();
  }
}

void Domain::raise_conflict(Reason why) {
  if (conflict_) return;
  conflict_ = why;
  note(Undo::kConflict, 0);
}

// --- assumptions

void Domain::assume(FormulaId f, Reason why) {
  assert_formula(f, why);
  propagate();
}

void Domain::assume_alone(FormulaId f, Reason why) {
  if (conflict_ || f == kTrue) return;
  if (f == kFalse) return raise_conflict(why);
  if (set_assumed(f, why)) return change();
  const uint32_t known = assumed_.get(f >> 1);
  if ((known & 1) != (f & 1)) raise_conflict(join(why, known >> 1));
}

// False when it, or its negation, was assumed before.
bool Domain::set_assumed(FormulaId f, Reason why) {
  uint32_t& known = assumed_.at(f >> 1);
  if (known != kNoId) return false;
  known = packed(f, why);
  note(Undo::kAssumed, f);
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
  if (!set_assumed(f, why)) {
    const uint32_t known = assumed_.get(f >> 1);
    if ((known & 1) != (f & 1)) raise_conflict(join(why, known >> 1));
    return;
  }
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
  if (Normal n; rewrite(p, n)) {
    if (kind != FormulaKind::kNe && original_says_more(p)) {
      const FormulaId assumed = forms_.relation(kind, p);
      if (assumed > kTrue) revisit(add_constraint(assumed, why, true));
    }
    why = join(why, n.why);
    f = forms_.relation(kind, n.poly);
  } else if (known == kNoId) {
    f = forms_.relation(kind, p);
  }
  if (f == kFalse) {
    raise_conflict(why);
  } else if (f != kTrue) {
    switch (forms_.formula(f).kind) {  // p >= 0 may be p == 0
      case FormulaKind::kGe: assert_ge(f, why); break;
      case FormulaKind::kEq: assert_eq(f, why); break;
      default: assert_ne(f, why); break;
    }
  }
  --nesting_;
}

// p >= 0, p == 0 or p != 0; p is in normal form and not constant.
void Domain::assert_ge(FormulaId f, Reason why) {
  const PolyId id = forms_.formula(f).poly;
  const Poly& p = forms_.poly(id);
  if (is_single(p)) {
    if (forms_.is_variable(forms_.single(p.terms[0].mono))) {
      return tighten_term(p.terms[0], p.constant, why);
    }
    if (at_least(plain_range(p), 0)) return;
    // Its normal form may change: it is looked at again.
    add_constraint(f, why);
    tighten_term(p.terms[0], p.constant, why);
    return expand_pos(p, why);
  }
  // Against ranges alone: the form's own entry may come from this very row.
  Range r = plain_range(p);
  if (r.span.is_empty()) return raise_conflict(join(r.lower, r.upper));
  if (at_least(r, 0)) return;
  if (at_most(r, -1)) return raise_conflict(join(why, r.upper));
  r = form_range(id);
  if (at_most(r, -1)) return raise_conflict(join(why, r.upper));
  if (at_least(r, 0) && is_row(id)) return;  // or a tighter one
  set_bound(forms_.view(id), p.constant, why, add_constraint(f, why));
  link(p, why);
  bound_by(p, why);
  expand_pos(p, why);
  expand_floor(p, why);
}

void Domain::assert_ne(FormulaId f, Reason why) {
  const Poly& p = forms_.poly(forms_.formula(f).poly);
  // A product is not zero when no factor is.
  if (p.constant.is_zero()) {
    for (AtomId a : forms_.factors(p.terms[0].mono)) {
      std::optional<Poly> rest = divided(p, a);
      if (!rest || rest->is_constant()) continue;
      assert_literal(FormulaKind::kNe, forms_.variable(a), why);
      return assert_literal(FormulaKind::kNe, *rest, why);
    }
  }
  set_assumed(f, why);
  revisit(add_constraint(f, why));
}

void Domain::assert_clause(FormulaId f, Reason why) {
  revisit(add_constraint(f, why));
}

uint32_t Domain::add_constraint(FormulaId f, Reason why, bool is_original) {
  prepare_index(f);
  uint32_t i = static_cast<uint32_t>(constraints_.size());
  constraints_.push_back({f, why, true, is_original});
  queued_.push_back(false);
  rounds_.push_back(0);
  index_item(i, true);
  note(Undo::kItem, i);
  change();
  return i;
}

// Whether the row, once equalities are put in, no longer bounds what it did:
// one product of variables, as in an assumed number of elements, or a row about
// a symbol that was solved for by a sum, or a product with a symbol that was
// solved for.
bool Domain::original_says_more(const Poly& p) const {
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

// Makes what index_item() reads, so that the budget cannot end within it.
void Domain::prepare_index(FormulaId f) {
  for (AtomId a : forms_.atoms_of_formula(f)) {
    const Atom& atom = forms_.atom(a);
    if (atom.kind == AtomKind::kPos) forms_.view(atom.a);
  }
  const Formula& formula = forms_.formula(f);
  if (formula.kind == FormulaKind::kNe) forms_.view(formula.poly);
}

void Domain::index_item(uint32_t i, bool add) {
  auto enter = [i, add](Ids& list) {
    if (add) {
      list.push_back(i);
    } else {
      list.pop_back();
    }
  };
  FormulaId f = constraints_[i].formula;
  const Formula& formula = forms_.formula(f);
  for (AtomId a : forms_.atoms_of_formula(f)) {
    enter(state(a).constraints);
    // Its sign, once assumed, decides the atom.
    const Atom& atom = forms_.atom(a);
    if (atom.kind != AtomKind::kPos) continue;
    enter(form_state(forms_.view(atom.a).form).watchers);
  }
  if (formula.kind == FormulaKind::kNe) {
    enter(form_state(forms_.view(formula.poly).form).watchers);
  }
}

void Domain::deactivate(uint32_t i) {
  if (!constraints_[i].active) return;
  constraints_[i].active = false;
  note(Undo::kDeactivated, i);
}

void Domain::wake(AtomId a) {
  for (uint32_t i : state(a).constraints) {
    if (constraints_[i].active && !queued_[i]) {
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
    if (conflict_ || visits >= limits().propagations ||
        rounds_[i] > limits().propagation_rounds)
      continue;
    if (!constraints_[i].active) continue;
    if (rounds_[i] == limits().propagation_rounds) {
      ++rounds_[i];
      look_for_cycle(i);
      continue;
    }
    ++visits;
    ++rounds_[i];
    revisit(i);
  }
  for (uint32_t i : queue_) rounds_[i] = 0;
  queue_.clear();
}

void Domain::revisit(uint32_t i) {
  Constraint constraint = constraints_[i];
  const Formula& f = forms_.formula(constraint.formula);
  if (f.kind == FormulaKind::kOr) {
    for (FormulaId kid : f.kids) {  // a proof by cases may know it
      Decision d;
      if (is_assumed(kid, d) && *d.value) return deactivate(i);
    }
    std::vector<FormulaId> open;
    Reason why = constraint.why;
    for (FormulaId kid : f.kids) {
      Decision d = decide(kid);
      if (d.value == true) return deactivate(i);
      if (d.value == false) {
        why = join(why, d.why);
      } else {
        open.push_back(kid);
      }
    }
    if (open.empty()) return raise_conflict(why);
    if (open.size() > 1) return;
    deactivate(i);
    return assert_formula(open[0], why);
  }
  const Poly& p = forms_.poly(f.poly);
  if (constraint.is_original) {
    bound_original(p, constraint.why);
    if (f.kind != FormulaKind::kEq) return;
    return bound_original(forms_.scale(p, -1), constraint.why);
  }
  if (Normal n; rewrite(p, n)) {
    deactivate(i);
    if (original_says_more(p) && f.kind != FormulaKind::kNe) {
      add_constraint(constraint.formula, constraint.why, true);
    }
    return assert_literal(f.kind, n.poly, join(constraint.why, n.why));
  }
  if (f.kind == FormulaKind::kNe) {
    Range r = range(p);
    if (!r.span.contains(Int(0))) {
      if (r.span.is_empty()) raise_conflict(join(r.lower, r.upper));
      return deactivate(i);
    }
    bool up = at_least(r, 0);
    if (!up && !at_most(r, 0)) return;
    Poly edge = up ? p : forms_.scale(p, -1);
    edge.constant -= 1;
    deactivate(i);
    return assert_literal(FormulaKind::kGe, edge,
                          join(constraint.why, up ? r.lower : r.upper));
  }
  Range r = plain_range(p);  // what costs more is left to questions
  narrow(r, form_range(f.poly));
  if (r.span.is_empty()) return raise_conflict(join(r.lower, r.upper));
  if (at_most(r, -1)) return raise_conflict(join(constraint.why, r.upper));
  bound_by(p, constraint.why);
  if (f.kind != FormulaKind::kEq) return;
  bound_by(forms_.scale(p, -1), constraint.why);
  if (!conflict_ && !p.constant.is_zero()) bound_divisors(p, constraint.why);
  Poly q = p;
  Reason why = constraint.why;
  if (!conflict_ && cancel_factor(q, why)) {
    deactivate(i);
    assert_literal(FormulaKind::kEq, q, why);
  }
}

}  // namespace proviso
