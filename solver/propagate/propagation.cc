#include "solver/propagate/propagation.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "solver/forms/form_ring.h"
#include "solver/limits.h"

namespace proviso::inline v0_2::internal {

Propagation::Propagation(State& state, Ranges& ranges, Literals& literals,
                         NormalForm& normal)
    : state_(state),
      forms_(state.forms),
      reasons_(state.reasons),
      ranges_(ranges),
      literals_(literals),
      normal_(normal),
      to_(state, ranges),
      equalities_(state, ranges, normal, to_),
      propagators_(state, ranges, literals, to_) {}

// Assumes f and all that follows from it.
void Propagation::assume_with_all(FormulaId f, Reason why) {
  assume_part(f, why);
  if (to_.has_visits()) take_visits();
  to_.clear();
}

// Asserts the formula and takes what it brings; visits of constraints are left.
void Propagation::assume_part(FormulaId f, Reason why) {
  const Formula& formula = forms_.formulas[f];
  if (formula.kind == FormulaKind::kAnd) {
    for (FormulaId kid : formula.kids) assume_part(kid, why);
    return;
  }
  assert_formula(f, why);
  take_waiting();
}

void Propagation::assume_alone(FormulaId f, Reason why) {
  if (to_.has_conflict() || f == kTrue) return;
  if (f == kFalse) return to_.conflict(why);
  if (state_.assertions.add_or_conflict(f, why)) state_.trail.advance();
}

// --- the loop

void Propagation::take_waiting() {
  if (!to_.has_waiting()) return;
  Consequence c;
  while (to_.has_waiting() && !to_.has_conflict()) {
    to_.next(c);
    take(c);
  }
}

void Propagation::take_visits() {
  while (!to_.has_conflict()) {
    const auto visit = to_.next_visit();
    if (!visit) return;
    if (visit->is_last) {
      look_for_cycle(visit->constraint);
    } else {
      revisit(visit->constraint);
    }
    take_waiting();
  }
}

void Propagation::take(const Consequence& c) {
  switch (c.kind) {
    case Consequence::kFormula: return assert_formula(c.id, c.why);
    case Consequence::kLiteral: return assert_literal(c.literal, c.poly, c.why);
    case Consequence::kAtomBound:
      for (Propagator* p : propagators_.for_atom_bounds) {
        p->on_atom_bound(forms_.atoms[c.id], c.lower, c.poly.constant, c.why);
      }
      return;
    case Consequence::kProductBound:
      return propagators_.product.on_product_bound(c.id, c.lower,
                                                   c.poly.constant, c.why);
  }
}

void Propagation::call_on_inequality(const Poly& p, Reason why, When when) {
  for (Propagator* propagator : propagators_.for_inequalities) {
    if (to_.has_conflict()) return;
    propagator->on_inequality(p, why, when);
  }
}

// --- asserting

void Propagation::assert_formula(FormulaId f, Reason why) {
  if (to_.has_conflict() || f == kTrue) return;
  if (f == kFalse) return to_.conflict(why);
  const Formula& formula = forms_.formulas[f];
  if (formula.kind == FormulaKind::kAnd) {
    for (FormulaId kid : formula.kids) to_.derive(kid, why);
    return;
  }
  if (!state_.assertions.add_or_conflict(f, why)) return;
  state_.trail.advance();
  if (formula.kind == FormulaKind::kOr) return revisit(add(f, why));
  if (formula.kind == FormulaKind::kOpaque) return;
  assert_literal(formula.kind, forms_.polys[formula.poly], why, f);
}

void Propagation::assert_literal(FormulaKind kind, const Poly& p, Reason why,
                                 FormulaId known) {
  if (to_.has_conflict()) return;
  state_.meter.spend(1);
  FormulaId f = known;
  if (Normal n; normal_.rewrite(p, n)) {
    if (kind != FormulaKind::kNe) keep_original(kind, p, why);
    why = join(why, n.why);
    f = forms_.formulas.relation(kind, n.poly);
  } else if (known == kNoId) {
    f = forms_.formulas.relation(kind, p);
  }
  if (f == kFalse) return to_.conflict(why);
  if (f == kTrue) return;
  switch (forms_.formulas[f].kind) {  // p >= 0 may be p == 0
    case FormulaKind::kGe: return assert_ge(f, why);
    case FormulaKind::kEq: return assert_eq(f, why);
    case FormulaKind::kNe: return assert_ne(f, why);
    case FormulaKind::kConstantFalse:
    case FormulaKind::kConstantTrue:
    case FormulaKind::kAnd:
    case FormulaKind::kOr:
    case FormulaKind::kOpaque: break;
  }
  assert(false && "a relation to 0 that is no constant is a literal");
}

void Propagation::assert_ge(FormulaId f, Reason why) {
  const PolyId id = forms_.formulas[f].poly;
  const Poly& p = forms_.polys[id];
  if (is_single(forms_, p)) {
    if (forms_.atoms.is_variable(forms_.monomials.single(p.terms[0].mono))) {
      return to_.bound(p.terms[0], p.constant, why);
    }
    if (at_least(ranges_.plain(p), 0)) return;
    // Its normal form may change: it is looked at again.
    add(f, why);
    to_.bound(p.terms[0], p.constant, why);
    return propagators_.maximum.on_inequality(p, why, When::kNew);
  }
  // Against ranges alone: the form's own entry may come from this very
  // inequality.
  Range r = ranges_.plain(p);
  if (r.span.is_empty()) return to_.conflict(join(r.lower, r.upper));
  if (at_least(r, 0)) return;
  if (at_most(r, -1)) return to_.conflict(join(why, r.upper));
  r = ranges_.asserted(id);
  if (at_most(r, -1)) return to_.conflict(join(why, r.upper));
  if (at_least(r, 0) && is_known_inequality(id)) return;  // or a tighter one
  to_.bound_form(forms_.polys.primitive_part(id), p.constant, why, add(f, why));
  if (const auto conflict = state_.differences.add(p, why)) {
    return to_.conflict(*conflict);
  }
  call_on_inequality(p, why, When::kNew);
}

void Propagation::assert_eq(FormulaId f, Reason why) {
  const Poly& p = forms_.polys[forms_.formulas[f].poly];
  if (p.constant.is_zero()) {
    Poly rest = p;
    if (propagators_.product.cancel(rest, why)) {
      return to_.derive(FormulaKind::kEq, std::move(rest), why);
    }
  }
  Range r = ranges_.plain(p);
  narrow(reasons_, r, ranges_.asserted(p));
  if (!r.span.contains(Int(0))) {
    const bool above = r.span.lower() && r.span.lower()->sign() > 0;
    return to_.conflict(join(why, above ? r.lower : r.upper));
  }
  if (!equalities_.solve(p, why)) keep_equality(f, why);
}

void Propagation::keep_equality(FormulaId f, Reason why) {
  const Poly& p = forms_.polys[forms_.formulas[f].poly];
  const Poly opposite = -p;
  if (!is_single(forms_, p) ||
      !forms_.atoms.is_variable(forms_.monomials.single(p.terms[0].mono))) {
    add(f, why);
  }
  to_.bound_form(p, why);
  to_.bound_form(opposite, why);
  call_on_inequality(p, why, When::kNew);
  call_on_inequality(opposite, why, When::kNew);
  for (Propagator* propagator : propagators_.for_equalities) {
    if (to_.has_conflict()) return;
    propagator->on_equality(p, why, When::kNew);
  }
}

// A product is not zero when no factor is.
void Propagation::assert_ne(FormulaId f, Reason why) {
  const Poly& p = forms_.polys[forms_.formulas[f].poly];
  if (p.constant.is_zero()) {
    for (AtomId a : forms_.monomials.factors(p.terms[0].mono)) {
      std::optional<Poly> rest =
          without_monomial(FormRing(forms_), p, forms_.monomials.of(a));
      if (!rest || rest->is_constant()) continue;
      to_.derive(FormulaKind::kNe, variable(forms_, a), why);
      return to_.derive(FormulaKind::kNe, *std::move(rest), why);
    }
  }
  state_.assertions.add(f, why);
  revisit(add(f, why));
}

// Whether a constraint bounds the form of p on this side.
bool Propagation::is_known_inequality(PolyId p) {
  const PrimitivePart& v = forms_.polys.primitive_part(p);
  const uint32_t constraint =
      state_.bounds.end_of(v.part, v.content.sign() > 0).constraint;
  return constraint != kNoId && state_.constraints[constraint].is_active;
}

// --- originals

// Whether the constraint, once equalities are substituted, no longer bounds
// what it did: one product of variables, as in an assumed number of elements,
// or an inequality about a symbol that was solved for by a sum, or a product
// with a symbol that was solved for.
bool Propagation::original_says_more(const Poly& p) const {
  if (p.terms.size() == 1) {
    const Factors& factors = forms_.monomials.factors(p.terms[0].mono);
    if (factors.size() > 1) {
      return std::all_of(factors.begin(), factors.end(), [this](AtomId a) {
        return forms_.atoms.is_variable(a);
      });
    }
  }
  return std::any_of(p.terms.begin(), p.terms.end(), [this](const Term& t) {
    const Factors& factors = forms_.monomials.factors(t.mono);
    return std::any_of(factors.begin(), factors.end(), [&](AtomId x) {
      if (!forms_.atoms.is_variable(x) || !state_.substitution.is_solved(x)) {
        return false;
      }
      const Poly& value = forms_.polys[state_.substitution.value_of(x)];
      return value.terms.size() > 1 ||
             (factors.size() > 1 && !value.is_constant());
    });
  });
}

void Propagation::keep_original(FormulaKind kind, const Poly& p, Reason why) {
  if (!original_says_more(p)) return;
  const FormulaId f = forms_.formulas.relation(kind, p);
  if (f > kTrue) revisit(add(f, why, true));
}

// --- visits

void Propagation::revisit(uint32_t i) {
  const Constraint constraint = state_.constraints[i];
  const Formula& f = forms_.formulas[constraint.formula];
  if (f.kind == FormulaKind::kOr) return revisit_clause(i, f, constraint.why);
  if (constraint.is_original) return revisit_original(f, constraint.why);
  const Poly& p = forms_.polys[f.poly];
  if (Normal n; normal_.rewrite(p, n)) {
    state_.constraints.deactivate(i);
    if (f.kind != FormulaKind::kNe && original_says_more(p)) {
      add(constraint.formula, constraint.why, true);
    }
    return assert_literal(f.kind, n.poly, join(constraint.why, n.why));
  }
  if (f.kind == FormulaKind::kNe) {
    return revisit_disequality(i, p, constraint.why);
  }
  revisit_inequality(i, f, constraint.why);
}

void Propagation::revisit_original(const Formula& f, Reason why) {
  const Poly& p = forms_.polys[f.poly];
  call_on_inequality(p, why, When::kOriginal);
  if (f.kind != FormulaKind::kEq) return;
  call_on_inequality(-p, why, When::kOriginal);
}

void Propagation::revisit_clause(uint32_t i, const Formula& f, Reason why) {
  for (FormulaId kid : f.kids) {  // a proof by cases may know it
    Decision d;
    if (literals_.is_asserted(kid, d) && *d.value) {
      return state_.constraints.deactivate(i);
    }
  }
  std::vector<FormulaId> open;
  for (FormulaId kid : f.kids) {
    Decision d;
    if (!normal_.decide(kid, d)) {
      open.push_back(kid);
    } else if (*d.value) {
      return state_.constraints.deactivate(i);
    } else {
      why = join(why, d.why);
    }
  }
  if (open.empty()) return to_.conflict(why);
  if (open.size() > 1) return;
  state_.constraints.deactivate(i);
  to_.derive(open[0], why);
}

// Where an end of p's range is 0, p != 0 moves it in.
void Propagation::revisit_disequality(uint32_t i, const Poly& p, Reason why) {
  const Range r = ranges_.of(p);
  if (!r.span.contains(Int(0))) {
    if (r.span.is_empty()) to_.conflict(join(r.lower, r.upper));
    return state_.constraints.deactivate(i);
  }
  const bool up = at_least(r, 0);
  if (!up && !at_most(r, 0)) return;
  Poly edge = up ? p : -p;
  edge.constant -= 1;
  state_.constraints.deactivate(i);
  to_.derive(FormulaKind::kGe, std::move(edge),
             join(why, up ? r.lower : r.upper));
}

void Propagation::revisit_inequality(uint32_t i, const Formula& f, Reason why) {
  const Poly& p = forms_.polys[f.poly];
  Range r = ranges_.plain(p);  // what costs more is left to questions
  narrow(reasons_, r, ranges_.asserted(f.poly));
  if (r.span.is_empty()) return to_.conflict(join(r.lower, r.upper));
  if (at_most(r, -1)) return to_.conflict(join(why, r.upper));
  call_on_inequality(p, why, When::kAgain);
  if (f.kind != FormulaKind::kEq) return;
  call_on_inequality(-p, why, When::kAgain);
  for (Propagator* propagator : propagators_.for_equalities) {
    if (to_.has_conflict()) return;
    propagator->on_equality(p, why, When::kAgain);
  }
  Poly rest = p;
  if (!to_.has_conflict() && propagators_.product.cancel(rest, why)) {
    state_.constraints.deactivate(i);
    to_.derive(FormulaKind::kEq, std::move(rest), why);
  }
}

// Bounds that grow without end may go round in a circle.
void Propagation::look_for_cycle(uint32_t i) {
  const Formula& f = forms_.formulas[state_.constraints[i].formula];
  if (f.kind != FormulaKind::kGe) return;
  const auto cycle = state_.differences.find_cycle(forms_.polys[f.poly]);
  if (cycle) to_.conflict(*cycle);
}

}  // namespace proviso::inline v0_2::internal
