// A walk from atom to atom through the constraints that both are in.
//
//   8*t - x - 3 >= 0, u - t >= 0, z >= 4          about x
//     x        8*t - x - 3 >= 0, and t comes next
//     t        u - t >= 0, and u comes next
//     bounds   of x, t and u; z is never met
//
// An atom costs its constraints, which are brought into normal form.  What is
// left out past the limits leaves less to refute with: no proof is wrong.
#include "solver/strategies/relevance.h"

#include <algorithm>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
namespace {

// Bounds of machine integers are noise unless the question is about them.
bool is_big(const Int& v) { return v.bit_length() > 61; }

}  // namespace

void push_constraint(std::vector<LinearConstraint>& constraints, const Poly& p,
                     bool equality, Reason why) {
  LinearConstraint r;
  r.terms.reserve(p.terms.size());
  for (const Term& t : p.terms) {
    if (t.coef.bit_length() > 62) return;
    r.terms.push_back({t.mono, *t.coef.to_int64()});
  }
  r.constant = p.constant;
  r.equality = equality;
  r.why = why;
  constraints.push_back(std::move(r));
}

Poly poly_of(const LinearConstraint& constraint) {
  Poly p = Poly::number(constraint.constant);
  for (const LinearTerm& t : constraint.terms)
    p.terms.push_back({t.unknown, t.coef});
  return p;
}

// Where facts contradict each other bound propagation may not end (x > y*y, 2*y
// > x*x): then a part of the way is enough.
OptionalInt useful_end(const Range& r, bool lower, bool big) {
  constexpr int64_t kFar = int64_t{1} << 30;
  const OptionalInt& end = lower ? r.span.lower() : r.span.upper();
  if (!end || big || !is_big(*end)) return end;
  if ((end->sign() > 0) != lower) return std::nullopt;
  return Int(lower ? kFar : -kFar);
}

RelevantConstraints Relevance::gather(std::span<const AtomId> seeds) {
  RelevantConstraints relevant;
  relevant.linear.reserve(16);
  seen_atoms_.clear(forms_.atoms.size());
  seen_constraints_.clear(domain_.constraints().size());
  queue_.clear();
  visit_all(seeds);
  for (uint32_t i = first_new_; i < domain_.constraints().size(); ++i) {
    const Constraint& constraint = domain_.constraints()[i];
    if (constraint.is_active)
      visit_all(forms_.occurrences.of_formula(constraint.formula));
  }
  for (size_t i = 0; i < queue_.size() && i < limits().relevant_atoms; ++i) {
    visit(queue_[i], relevant);
  }
  // Definitions and lemmas may bring new monomials: their bounds come last.
  for (size_t i = 0; i < relevant.monos.size(); ++i) {
    add_bounds(relevant.monos[i], relevant);
  }
  return relevant;
}

void Relevance::visit(AtomId a, RelevantConstraints& relevant) {
  domain_.spend(1);
  relevant.atoms.push_back(a);
  visit_all(forms_.occurrences.of_atom(a));
  if (domain_.is_solved(a)) {
    visit_all(forms_.occurrences.of_poly(domain_.solved_form(a)));
  } else {
    add_definition(a, relevant);
  }
  for (uint32_t i : Ids(domain_.constraints_of(a)))
    visit_constraint(i, relevant);
  visit_all(domain_.dependents_of(a));
}

void Relevance::visit_constraint(uint32_t i, RelevantConstraints& relevant) {
  const Constraint& constraint = domain_.constraints()[i];
  if (!constraint.is_active || constraint.is_original ||
      relevant.linear.size() >= limits().relevant_constraints ||
      !seen_constraints_.insert(i)) {
    return;
  }
  const Formula& f = forms_.formulas[constraint.formula];
  if (f.kind == FormulaKind::kOr) {
    relevant.clauses.push_back(i);
    visit_all(forms_.occurrences.of_formula(constraint.formula));
  } else if (f.kind == FormulaKind::kNe) {
    relevant.disequalities.push_back(i);
  } else {
    const bool equality = f.kind == FormulaKind::kEq;
    look_at(add_constraint(forms_.polys[f.poly], equality, constraint.why,
                           relevant),
            relevant);
  }
}

void Relevance::add_impossible(Reason why, RelevantConstraints& relevant) {
  LinearConstraint constraint;  // -1 >= 0
  constraint.constant = -1;
  constraint.why = why;
  relevant.linear.push_back(std::move(constraint));
}

Normal Relevance::add_constraint(const Poly& p, bool equality, Reason why,
                                 RelevantConstraints& relevant) {
  Normal n = domain_.normal(p);
  n.why = reasons_.join(why, n.why);
  push_constraint(relevant.linear, n.poly, equality, n.why);
  relevant.has_big_constants |= is_big(n.poly.constant);
  for (const Term& t : n.poly.terms) {
    if (!relevant.mentions(t.mono)) {
      if (t.mono >= relevant.is_mentioned.size()) {
        relevant.is_mentioned.resize(t.mono + 1 + t.mono / 2);
      }
      relevant.is_mentioned[t.mono] = true;
      relevant.monos.push_back(t.mono);
    }
    for (AtomId a : forms_.monomials.factors(t.mono))
      visit_all(forms_.occurrences.of_atom(a));
  }
  return n;
}

// A constraint that is not linear, by all its factors at once.
void Relevance::look_at(const Normal& constraint,
                        RelevantConstraints& relevant) {
  if (constraint.poly.terms.size() > limits().nonlinear_terms ||
      is_linear(forms_, constraint.poly))
    return;
  Range r = domain_.range(constraint.poly);
  narrow(reasons_, r, domain_.factored_range(constraint.poly));
  if (r.span.is_empty()) {
    add_impossible(reasons_.join(r.lower, r.upper), relevant);
  } else if (at_most(r, -1)) {
    add_impossible(reasons_.join(constraint.why, r.upper), relevant);
  }
}

// What an atom is, as constraints.
void Relevance::add_definition(AtomId a, RelevantConstraints& relevant) {
  const Atom& atom = forms_.atoms[a];
  Poly self = variable(forms_, a);
  switch (atom.kind) {
    case AtomKind::kFloor: return add_floor(atom, self, relevant);
    case AtomKind::kPos:
      add_constraint(self, false, 0, relevant);
      add_constraint(self - forms_.polys[atom.a], false, 0, relevant);
      return;
    case AtomKind::kNamed:
      add_constraint(self - forms_.polys[atom.a], true, 0, relevant);
      return;
    case AtomKind::kFunc: return add_function(atom, self, relevant);
    case AtomKind::kSymbol:
    case AtomKind::kFresh:
    case AtomKind::kIte:
    case AtomKind::kOpaque: return;
  }
}

// 0 <= x & y <= x, y when both are nonnegative; for b >= 2 and n >= 0, b**n is
// at least n + 1, and at least b**d * b**m where n >= m + d, d >= 0, m >= 0.
void Relevance::add_function(const Atom& atom, const Poly& self,
                             RelevantConstraints& relevant) {
  const Poly& x = forms_.polys[atom.a];
  const Poly& y = forms_.polys[atom.b];
  Range rx = domain_.range(x), ry = domain_.range(y);
  Reason why = reasons_.join(rx.lower, ry.lower);
  if (atom.op == Op::kBitAnd && at_least(rx, 0) && at_least(ry, 0)) {
    add_constraint(x - self, false, why, relevant);
    add_constraint(y - self, false, why, relevant);
  } else if (atom.op == Op::kPow && at_least(rx, 2) && at_least(ry, 0)) {
    Poly constraint = self - y;
    constraint.constant -= 1;
    add_constraint(constraint, false, why, relevant);
    for (size_t i = 0; i + 1 < relevant.atoms.size(); ++i) {
      compare_powers(atom, forms_.atoms[relevant.atoms[i]], relevant);
      compare_powers(forms_.atoms[relevant.atoms[i]], atom, relevant);
    }
  }
}

void Relevance::compare_powers(const Atom& large, const Atom& small,
                               RelevantConstraints& relevant) {
  for (const Atom* atom : {&large, &small}) {
    if (atom->kind != AtomKind::kFunc || atom->op != Op::kPow) return;
  }
  const Poly& base = forms_.polys[large.a];
  if (large.a != small.a || !base.is_constant() || base.constant < Int(2)) {
    return;
  }
  Range least = domain_.range(forms_.polys[small.b]);
  Range step = domain_.range(forms_.polys[large.b] - forms_.polys[small.b]);
  if (!at_least(least, 0) || !at_least(step, 0)) return;
  Int d = std::min(*step.span.lower(), Int(limits().exponent_step));
  // 1 where the power would be too large: then no more than d >= 0 is used.
  const Int times =
      pow(base.constant, static_cast<uint64_t>(*d.to_int64())).value_or(Int(1));
  Poly constraint = func(forms_, Op::kPow, base, forms_.polys[large.b]) -
                    func(forms_, Op::kPow, base, forms_.polys[small.b]) * times;
  add_constraint(constraint, false, reasons_.join(least.lower, step.lower),
                 relevant);
}

// b*q <= x <= b*q + b - 1 for b > 0; x/b is (-x)/(-b).
void Relevance::add_floor(const Atom& atom, const Poly& q,
                          RelevantConstraints& relevant) {
  Poly x = forms_.polys[atom.a], b = forms_.polys[atom.b];
  Range divisor = domain_.range(b);
  Reason why = divisor.lower;
  if (divisor.span.is_empty()) return;
  if (divisor.span.upper() && divisor.span.upper()->sign() < 0) {
    x = -x;
    b = -b;
    why = divisor.upper;
  } else if (!divisor.span.lower() || divisor.span.lower()->sign() <= 0) {
    return;
  }
  Poly rest = x - mul(forms_, b, q);
  add_constraint(rest, false, why, relevant);
  Poly room = b - rest;
  room.constant -= 1;
  add_constraint(room, false, why, relevant);
}

void Relevance::add_bounds(MonoId m, RelevantConstraints& relevant) {
  Poly p = Poly::term(m, 1);
  const Range& r = relevant.bounds.emplace_back(domain_.range(p));
  if (r.span.is_empty()) {
    return add_impossible(reasons_.join(r.lower, r.upper), relevant);
  }
  if (auto low = useful_end(r, true, relevant.has_big_constants)) {
    p.constant = -*low;
    push_constraint(relevant.linear, p, false, r.lower);
  }
  if (auto high = useful_end(r, false, relevant.has_big_constants)) {
    Poly q = Poly::term(m, -1);
    q.constant = *high;
    push_constraint(relevant.linear, q, false, r.upper);
  }
}

}  // namespace proviso::inline v0_2::internal
