#include "solver/prover.h"

#include <algorithm>

#include "solver/limits.h"

namespace proviso {
namespace {

bool mark(std::vector<bool>& seen, uint32_t id) {
  if (id >= seen.size()) seen.resize(id + 1 + id / 2);
  if (seen[id]) return false;
  seen[id] = true;
  return true;
}

// Bounds of machine integers are noise unless the question is about them.
bool is_big(const Int& v) { return v.bit_length() > 61; }

}  // namespace

std::optional<Proof> Prover::refute(FormulaId f, Effort effort, uint64_t units,
                                    Tried& tried) {
  return within(units, [&] { return refute_condition(f, effort, tried); });
}

std::optional<Proof> Prover::refute_facts(std::span<const AtomId> seeds,
                                          uint64_t units) {
  return within(units, [&] {
    return contradiction(seeds, Effort::kCases, limits().split_depth);
  });
}

// A disjunction is refuted part by part; so is p != 0.
std::optional<Proof> Prover::refute_condition(FormulaId f, Effort effort,
                                              Tried& tried) {
  const Formula& formula = forms_.formula(f);
  std::vector<FormulaId> parts = {f};
  if (formula.kind == FormulaKind::kOr) parts = formula.kids;
  if (formula.kind == FormulaKind::kNe) {
    Poly p = forms_.poly(formula.poly);
    p.constant -= 1;
    Poly q = forms_.scale(forms_.poly(formula.poly), -1);
    q.constant -= 1;
    parts = {forms_.ge(p), forms_.ge(q)};
  }
  Proof total;
  for (FormulaId part : parts) {
    std::optional<Proof> proof = part != f
                                     ? refute_condition(part, effort, tried)
                                     : refute_literal(part, effort, tried);
    if (!proof) return std::nullopt;
    total.why = reasons_.join(total.why, proof->why);
    total.used_cases |= proof->used_cases;
  }
  return total;
}

std::optional<Proof> Prover::refute_literal(FormulaId f, Effort effort,
                                            Tried& tried) {
  if (f == kFalse) return Proof{};
  const Formula& formula = forms_.formula(f);
  if (effort == Effort::kCases) {
    if (auto proof = refute_by_residues(formula)) return proof;
  }
  Domain::Mark before = domain_.mark();
  Reason why = reasons_.leaf(kQuestionLeaf), because = why;
  std::optional<Poly> rest;
  if (formula.poly != kNoId) {
    rest = remainder(forms_.poly(formula.poly), because);
  }
  domain_.assume(f, why);
  if (rest) domain_.assume(forms_.relation(formula.kind, *rest), because);
  std::span<const AtomId> seeds = forms_.atoms_of_formula(f);
  std::optional<Proof> proof;
  if (domain_.conflict()) {
    proof = Proof{*domain_.conflict(), false};
  } else if (effort == Effort::kValues) {
    proof = refute_values(seeds, variables_near(f), kMaxValueDepth);
  } else if (std::find(tried.begin(), tried.end(), f) == tried.end()) {
    tried.push_back(f);
    proof = contradiction(seeds, effort, limits().split_depth);
    if (proof) std::erase(tried, f);
  } else if (effort == Effort::kCases) {
    proof = refute_cases(gather(seeds), seeds, limits().split_depth);
  }
  domain_.undo(before);
  return proof;
}

// Before it is assumed: it would be put into itself.  p >= 0 with p <= 2 is
// p == 0, p == 1 or p == 2.
std::optional<Proof> Prover::refute_by_residues(const Formula& formula) {
  if (formula.poly == kNoId || formula.kind == FormulaKind::kNe) {
    return std::nullopt;
  }
  Normal n = domain_.normal(forms_.poly(formula.poly));
  if (is_linear(n.poly)) return std::nullopt;
  Int most = 0;
  if (formula.kind == FormulaKind::kGe) {
    const Range r = domain_.range(n.poly);
    const OptionalInt& end = r.span.upper();
    if (r.span.is_empty() || !end || *end > Int(limits().roots))
      return std::nullopt;
    most = *end;
    n.why = reasons_.join(n.why, r.upper);
  }
  for (; most.sign() >= 0; most -= 1, n.poly.constant -= 1) {
    if (!has_no_root(n.poly)) return std::nullopt;
  }
  return Proof{reasons_.join(reasons_.leaf(kQuestionLeaf), n.why), false};
}

std::optional<Proof> Prover::contradiction(std::span<const AtomId> seeds,
                                           Effort effort, int depth) {
  if (domain_.conflict()) return Proof{*domain_.conflict(), false};
  const Neighborhood near = gather(seeds);
  auto why = solve(near.rows, product_lemmas(near));
  if (!why && effort == Effort::kLinear) {
    const std::vector<LinearRow> products = row_products(near);
    if (!products.empty()) why = solve(near.rows, products);
  }
  if (why) return Proof{*why, false};
  if (effort != Effort::kCases || depth == 0) return std::nullopt;
  return refute_cases(near, seeds, depth);
}

std::optional<Proof> Prover::refute_cases(const Neighborhood& near,
                                          std::span<const AtomId> seeds,
                                          int depth) {
  std::optional<Split> split = choose_split(near);
  // No branches would be a proof without any.
  if (!split || split->branches.empty()) return std::nullopt;
  return refute_branches(*split, [&](FormulaId branch) {
    std::vector<AtomId> near_branch(seeds.begin(), seeds.end());
    for (AtomId a : forms_.atoms_of_formula(branch)) near_branch.push_back(a);
    return contradiction(near_branch, Effort::kCases, depth - 1);
  });
}

std::optional<Reason> Prover::solve(const std::vector<LinearRow>& rows,
                                    const std::vector<LinearRow>& lemmas) {
  LinearSystem system(reasons_, rows.size() + lemmas.size());
  for (const LinearRow& r : rows) system.add(r);
  for (const LinearRow& r : lemmas) system.add(r);
  auto why = system.contradiction(domain_.units_left());
  domain_.spend(system.work() / 4);
  if (why) return why;
  // Of thin polyhedra: the same with smaller coefficients.
  const auto reduced = with_short_columns(rows);
  if (!reduced) return std::nullopt;
  LinearSystem again(reasons_, reduced->size());
  for (const LinearRow& r : *reduced) again.add(r);
  why = again.contradiction(domain_.units_left());
  domain_.spend(again.work() / 4);
  return why;
}

// --- gathering: breadth first from the condition's atoms, and from what its
// being assumed has made new: where that gave symbols their values, this may be
// about others.

Prover::Neighborhood Prover::gather(std::span<const AtomId> seeds) {
  Neighborhood near;
  near.rows.reserve(16);
  seen_atom_.assign(forms_.atom_count(), false);
  seen_constraint_.assign(domain_.constraints().size(), false);
  seen_mono_.clear();
  queue_.clear();
  visit_all(seeds);
  for (size_t i = first_new_; i < domain_.constraints().size(); ++i) {
    const Domain::Constraint& constraint = domain_.constraints()[i];
    if (constraint.active)
      visit_all(forms_.atoms_of_formula(constraint.formula));
  }
  for (size_t i = 0; i < queue_.size() && i < limits().relevant_atoms; ++i) {
    visit(queue_[i], near);
  }
  // Definitions and lemmas may bring new monomials: their bounds come last.
  for (size_t i = 0; i < near.monos.size(); ++i) {
    add_bounds(near.monos[i], near);
  }
  return near;
}

void Prover::visit_all(std::span<const AtomId> atoms) {
  for (AtomId a : atoms) {
    if (mark(seen_atom_, a)) queue_.push_back(a);
  }
}

void Prover::visit(AtomId a, Neighborhood& near) {
  domain_.spend(1);
  near.atoms.push_back(a);
  visit_all(forms_.atoms_within(a));
  if (domain_.is_solved(a)) {
    visit_all(forms_.atoms_of(domain_.solved_form(a)));
  } else {
    add_definition(a, near);
  }
  for (uint32_t i : Domain::Ids(domain_.constraints_of(a))) {
    const Domain::Constraint& constraint = domain_.constraints()[i];
    if (!constraint.active || constraint.is_original ||
        near.rows.size() >= limits().relevant_rows)
      continue;
    if (!mark(seen_constraint_, i)) continue;
    const Formula& f = forms_.formula(constraint.formula);
    if (f.kind == FormulaKind::kOr) {
      near.clauses.push_back(i);
      visit_all(forms_.atoms_of_formula(constraint.formula));
    } else if (f.kind == FormulaKind::kNe) {
      near.disequalities.push_back(i);
    } else {
      const bool equality = f.kind == FormulaKind::kEq;
      look_at(add_row(forms_.poly(f.poly), equality, constraint.why, near),
              near);
    }
  }
  visit_all(domain_.dependents_of(a));
}

// As a row, unless a coefficient is too large for one.
void Prover::push_row(std::vector<LinearRow>& rows, const Poly& p,
                      bool equality, Reason why) {
  LinearRow r;
  r.terms.reserve(p.terms.size());
  for (const Term& t : p.terms) {
    if (t.coef.bit_length() > 62) return;
    r.terms.push_back({t.mono, *t.coef.to_int64()});
  }
  r.constant = p.constant;
  r.equality = equality;
  r.why = why;
  rows.push_back(std::move(r));
}

void Prover::push_impossible(Reason why, Neighborhood& near) {
  LinearRow row;  // -1 >= 0
  row.constant = -1;
  row.why = why;
  near.rows.push_back(std::move(row));
}

Normal Prover::add_row(const Poly& p, bool equality, Reason why,
                       Neighborhood& near) {
  Normal n = domain_.normal(p);
  n.why = reasons_.join(why, n.why);
  push_row(near.rows, n.poly, equality, n.why);
  near.big_constants |= is_big(n.poly.constant);
  for (const Term& t : n.poly.terms) {
    if (mark(seen_mono_, t.mono)) near.monos.push_back(t.mono);
    for (AtomId a : forms_.factors(t.mono)) visit_all(forms_.atoms_within(a));
  }
  return n;
}

// A row that is not linear, by all its factors at once.
void Prover::look_at(const Normal& row, Neighborhood& near) {
  if (row.poly.terms.size() > limits().nonlinear_terms || is_linear(row.poly))
    return;
  Range r = domain_.range(row.poly);
  domain_.narrow(r, domain_.factored_range(row.poly));
  if (r.span.is_empty()) {
    push_impossible(reasons_.join(r.lower, r.upper), near);
  } else if (at_most(r, -1)) {
    push_impossible(reasons_.join(row.why, r.upper), near);
  }
}

// What an atom is, as rows.
void Prover::add_definition(AtomId a, Neighborhood& near) {
  const Atom& atom = forms_.atom(a);
  Poly self = forms_.variable(a);
  switch (atom.kind) {
    case AtomKind::kFloor: return add_floor_definition(atom, self, near);
    case AtomKind::kPos:
      add_row(self, false, 0, near);
      add_row(forms_.sub(self, forms_.poly(atom.a)), false, 0, near);
      return;
    case AtomKind::kNamed:
      add_row(forms_.sub(self, forms_.poly(atom.a)), true, 0, near);
      return;
    case AtomKind::kFunc: return add_function(atom, self, near);
    default: return;
  }
}

// 0 <= x & y <= x, y when both are nonnegative; for b >= 2 and n >= 0, b**n is
// at least n + 1, and at least b**d * b**m where n >= m + d, d >= 0, m >= 0.
void Prover::add_function(const Atom& atom, const Poly& self,
                          Neighborhood& near) {
  const Poly& x = forms_.poly(atom.a);
  const Poly& y = forms_.poly(atom.b);
  Range rx = domain_.range(x), ry = domain_.range(y);
  Reason why = reasons_.join(rx.lower, ry.lower);
  if (atom.op == Op::kBitAnd && at_least(rx, 0) && at_least(ry, 0)) {
    add_row(forms_.sub(x, self), false, why, near);
    add_row(forms_.sub(y, self), false, why, near);
  } else if (atom.op == Op::kPow && at_least(rx, 2) && at_least(ry, 0)) {
    Poly row = forms_.sub(self, y);
    row.constant -= 1;
    add_row(row, false, why, near);
    for (size_t i = 0; i + 1 < near.atoms.size(); ++i) {
      compare_powers(atom, forms_.atom(near.atoms[i]), near);
      compare_powers(forms_.atom(near.atoms[i]), atom, near);
    }
  }
}

void Prover::compare_powers(const Atom& large, const Atom& small,
                            Neighborhood& near) {
  for (const Atom* atom : {&large, &small}) {
    if (atom->kind != AtomKind::kFunc || atom->op != Op::kPow) return;
  }
  const Poly& base = forms_.poly(large.a);
  if (large.a != small.a || !base.is_constant() || base.constant < Int(2)) {
    return;
  }
  Range least = domain_.range(forms_.poly(small.b));
  Range step =
      domain_.range(forms_.sub(forms_.poly(large.b), forms_.poly(small.b)));
  if (!at_least(least, 0) || !at_least(step, 0)) return;
  Int d = std::min(*step.span.lower(), Int(limits().divisor_step));
  // 1 where the power would be too large: then no more than d >= 0 is used.
  const Int times =
      pow(base.constant, static_cast<uint64_t>(*d.to_int64())).value_or(Int(1));
  Poly row = forms_.sub(
      forms_.func(Op::kPow, base, forms_.poly(large.b)),
      forms_.scale(forms_.func(Op::kPow, base, forms_.poly(small.b)), times));
  add_row(row, false, reasons_.join(least.lower, step.lower), near);
}

// b*q <= x <= b*q + b - 1 for b > 0; x/b is (-x)/(-b).
void Prover::add_floor_definition(const Atom& atom, const Poly& q,
                                  Neighborhood& near) {
  Poly x = forms_.poly(atom.a), b = forms_.poly(atom.b);
  Range divisor = domain_.range(b);
  Reason why = divisor.lower;
  if (divisor.span.is_empty()) return;
  if (divisor.span.upper() && divisor.span.upper()->sign() < 0) {
    x = forms_.scale(x, -1);
    b = forms_.scale(b, -1);
    why = divisor.upper;
  } else if (!divisor.span.lower() || divisor.span.lower()->sign() <= 0) {
    return;
  }
  Poly rest = forms_.sub(x, forms_.mul(b, q));
  add_row(rest, false, why, near);
  Poly room = forms_.sub(b, rest);
  room.constant -= 1;
  add_row(room, false, why, near);
}

void Prover::add_bounds(MonoId m, Neighborhood& near) {
  Poly p = forms_.monomial(m, 1);
  const Range& r = near.bounds.emplace_back(domain_.range(p));
  if (r.span.is_empty()) {
    return push_impossible(reasons_.join(r.lower, r.upper), near);
  }
  if (auto low = useful_end(r, true, near.big_constants)) {
    p.constant = -*low;
    push_row(near.rows, p, false, r.lower);
  }
  if (auto high = useful_end(r, false, near.big_constants)) {
    Poly q = forms_.monomial(m, -1);
    q.constant = *high;
    push_row(near.rows, q, false, r.upper);
  }
}

// Where facts contradict each other bounds may run away (x > y*y, 2*y > x*x):
// then a part of the way is enough.
OptionalInt Prover::useful_end(const Range& r, bool lower, bool big) {
  constexpr int64_t kFar = int64_t{1} << 30;
  const OptionalInt& end = lower ? r.span.lower() : r.span.upper();
  if (!end || big || !is_big(*end)) return end;
  if ((end->sign() > 0) != lower) return std::nullopt;
  return Int(lower ? kFar : -kFar);
}

}  // namespace proviso
