// Equalities solved for a symbol and put in everywhere; see solve_for().
#include <algorithm>

#include "solver/domain.h"
#include "solver/limits.h"

namespace proviso {
namespace {}  // namespace

void Domain::assert_eq(FormulaId f, Reason why) {
  const Poly& p = forms_.poly(forms_.formula(f).poly);
  if (p.constant.is_zero()) {
    Poly rest = p;
    if (cancel_factor(rest, why)) {
      return assert_literal(FormulaKind::kEq, rest, why);
    }
  }
  Range r = plain_range(p);
  narrow(r, form_range(p));
  if (!r.span.contains(Int(0))) {
    bool above = r.span.lower() && r.span.lower()->sign() > 0;
    return raise_conflict(join(why, above ? r.lower : r.upper));
  }
  const bool solves = solving_ != Solving::kNone || p.terms.size() == 1;
  if (solves && (solve_by_unit(p, why) || solve_by_euclid(p, why) ||
                 (solving_ == Solving::kAll && solve_by_floors(p, why)))) {
    return;
  }
  keep_equality(f, why);
}

// p / a, when a is in every term.
std::optional<Poly> Domain::divided(const Poly& p, AtomId a) {
  if (!p.constant.is_zero()) return std::nullopt;
  Poly reduced;
  for (const Term& t : p.terms) {
    const MonoId q = forms_.quotient(t.mono, forms_.mono(a));
    if (q == kNoId) return std::nullopt;
    FormPool::append(reduced, q, t.coef);
  }
  FormPool::merge_terms(reduced);
  return reduced;
}

// Divides p by factors known not to be 0.  False when there are none.
bool Domain::cancel_factor(Poly& p, Reason& why) {
  if (!p.constant.is_zero() || p.terms.empty()) return false;
  bool any = false;
  for (AtomId a : forms_.factors(p.terms[0].mono)) {
    std::optional<Poly> rest = divided(p, a);
    if (!rest) continue;
    Decision nonzero = known_nonzero(forms_.variable(a));
    if (nonzero.value != true) continue;
    why = join(why, nonzero.why);
    p = *std::move(rest);
    any = true;
  }
  return any;
}

// Not solvable now: two rows, and a clause when a factor may be zero.
void Domain::keep_equality(FormulaId f, Reason why) {
  const Poly& p = forms_.poly(forms_.formula(f).poly);
  if (!is_single(p) || !forms_.is_variable(forms_.single(p.terms[0].mono))) {
    add_constraint(f, why);
  }
  set_form_bound(p, why);
  set_form_bound(forms_.scale(p, -1), why);
  for (const Poly& row : {p, forms_.scale(p, -1)}) {
    bound_by(row, why);
    expand_pos(row, why);
    expand_floor(row, why);
  }
  if (!p.constant.is_zero()) bound_divisors(p, why);
  if (!conflict_) bound_exponents(p, why);
  if (conflict_ || !p.constant.is_zero()) return;
  for (AtomId a : forms_.factors(p.terms[0].mono)) {
    std::optional<Poly> rest = divided(p, a);
    if (!rest || rest->is_constant()) continue;
    FormulaId zero = forms_.eq(forms_.variable(a));
    assert_formula(forms_.any_of({zero, forms_.eq(*rest)}), why);
    return;
  }
}

// Symbols of p that occur once, alone and with power 1, with coefficients.
Domain::LoneSymbols Domain::lone_symbols(const Poly& p) {
  auto is_lone = [this](const Term& t) {
    const AtomId x = forms_.single(t.mono);
    return x != kNoId && forms_.is_variable(x);
  };
  Atoms inside;  // the other terms
  for (const Term& t : p.terms) {
    if (is_lone(t)) continue;
    for (AtomId a : forms_.factors(t.mono)) {
      inside.append(forms_.atoms_within(a));
    }
  }
  std::sort(inside.begin(), inside.end());
  LoneSymbols found;
  for (const Term& t : p.terms) {
    const AtomId x = forms_.single(t.mono);
    if (!is_lone(t) || is_solved(x)) continue;
    if (std::binary_search(inside.begin(), inside.end(), x)) continue;
    found.emplace_back(x, t.coef);
  }
  return found;
}

// Which symbol is eliminated matters: one whose range follows from the others'
// leaves no row behind; then one that occurs in few constraints; then the
// youngest.
bool Domain::solve_by_unit(const Poly& p, Reason why) {
  LoneSymbols lone = lone_symbols(p);
  const auto units =
      std::remove_if(lone.begin(), lone.end(),
                     [](const auto& e) { return !abs(e.second).is_one(); });
  lone.shrink(static_cast<size_t>(units - lone.begin()));
  std::sort(lone.begin(), lone.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  if (lone.size() > limits().solved_candidates) {
    lone.shrink(limits().solved_candidates);
  }
  if (lone.empty()) return false;
  AtomId best = kNoId;
  Poly best_value;
  std::pair<bool, size_t> best_cost;
  for (const auto& [x, coef] : lone) {
    Poly rest = forms_.sub(p, forms_.monomial(forms_.mono(x), coef));
    Poly value = coef.is_one() ? forms_.scale(rest, -1) : std::move(rest);
    bool leaves_rows = lone.size() > 1 &&
                       !atom_range(x).span.contains(plain_range(value).span);
    std::pair<bool, size_t> cost = {leaves_rows, state(x).constraints.size()};
    if (best == kNoId || cost < best_cost) {
      best = x, best_value = std::move(value), best_cost = cost;
    }
  }
  solve_for(best, best_value, why);
  return true;
}

// Coefficients without a unit but coprime: Euclid's steps with a fresh symbol,
// x := t - sum floor(c/a) * (the rest).
bool Domain::solve_by_euclid(const Poly& p, Reason why) {
  const LoneSymbols lone = lone_symbols(p);
  if (lone.size() < 2) return false;
  Int g = 0;
  auto least = lone.begin();
  for (auto it = lone.begin(); it != lone.end(); ++it) {
    g = gcd(g, it->second);
    if (abs(it->second) < abs(least->second)) least = it;
  }
  if (!g.is_one()) return false;
  const auto [x, a] = *least;
  AtomId t = fresh(forms_.intern(p));
  Poly value = forms_.variable(t);
  for (const Term& term : p.terms) {
    if (term.mono == forms_.mono(x)) continue;
    value =
        forms_.sub(value, forms_.monomial(term.mono, floor_div(term.coef, a)));
  }
  value.constant -= floor_div(p.constant, a);
  // Pure renaming; the equality itself follows in the new symbols.
  solve_for(x, value, 0);
  assert_literal(FormulaKind::kEq, p, why);
  return true;
}

// Whether x occurs in p, but for its own term, only within factors that are
// floors with a divisor known positive; which they are.
bool Domain::hidden_by_floors(AtomId x, const Poly& p,
                              std::vector<AtomId>& floors) {
  for (const Term& t : p.terms) {
    if (t.mono == forms_.mono(x)) continue;
    for (AtomId f : forms_.factors(t.mono)) {
      const Atoms& inside = forms_.atoms_within(f);
      if (!std::binary_search(inside.begin(), inside.end(), x)) continue;
      if (forms_.atom(f).kind != AtomKind::kFloor || is_solved(f)) {
        return false;
      }
      Range d = range(forms_.poly(forms_.atom(f).b));
      if (!d.span.lower() || d.span.lower()->sign() <= 0) return false;
      floors.push_back(f);
    }
  }
  std::sort(floors.begin(), floors.end());
  floors.erase(std::unique(floors.begin(), floors.end()), floors.end());
  return true;
}

// A fresh symbol t for each floor(a/b), b > 0; the rows b*t <= a < b*t + b are
// returned, to be assumed when p is solved.
void Domain::define_floors(const std::vector<AtomId>& floors,
                           std::vector<std::pair<Poly, Reason>>& rows) {
  for (AtomId q : floors) {
    const Poly& a = forms_.poly(forms_.atom(q).a);
    const Poly& b = forms_.poly(forms_.atom(q).b);
    Reason positive = range(b).lower;
    Range known = atom_range(q);
    AtomId t = fresh(q);
    Poly below = forms_.sub(a, forms_.mul(b, forms_.variable(t)));
    Poly above = forms_.sub(b, below);
    above.constant -= 1;
    rows.emplace_back(below, positive);
    rows.emplace_back(above, positive);
    if (known.span.lower()) {
      set_bound(t, true, *known.span.lower(), known.lower);
    }
    if (known.span.upper()) {
      set_bound(t, false, *known.span.upper(), known.upper);
    }
    solve_for(q, forms_.variable(t), 0);
  }
}

// x == r + k*floor(x/k): floor(x/k) becomes a fresh t, x becomes r + k*t.  A
// coefficient of x that is not a unit is left to Euclid's steps with t.
bool Domain::solve_by_floors(const Poly& p, Reason why) {
  for (bool unit : {true, false}) {
    for (const Term& t : p.terms) {
      const Factors& factors = forms_.factors(t.mono);
      if (factors.size() != 1 || !forms_.is_variable(factors[0])) continue;
      if (is_solved(factors[0])) continue;
      if (abs(t.coef).is_one() != unit) continue;
      std::vector<AtomId> floors;
      if (!hidden_by_floors(factors[0], p, floors) || floors.empty()) continue;
      solve_with_floors(factors[0], floors, p, why);
      return true;
    }
  }
  return false;
}

void Domain::solve_with_floors(AtomId x, const std::vector<AtomId>& floors,
                               const Poly& p, Reason why) {
  std::vector<std::pair<Poly, Reason>> rows;
  define_floors(floors, rows);
  if (conflict_) return;
  Normal n = normal(p);
  why = join(why, n.why);
  const LoneSymbols lone = lone_symbols(n.poly);
  auto found = std::find_if(lone.begin(), lone.end(), [x](const auto& entry) {
    return entry.first == x;
  });
  if (found != lone.end() && abs(found->second).is_one()) {
    Poly rest =
        forms_.sub(n.poly, forms_.monomial(forms_.mono(x), found->second));
    solve_for(x, forms_.scale(rest, -found->second), why);
  } else {
    assert_literal(FormulaKind::kEq, n.poly, why);
  }
  for (const auto& [row, reason] : rows) {
    assert_literal(FormulaKind::kGe, row, reason);
  }
}

// x is `value` from here on, in every normal form.  What was known of x's
// range becomes rows about `value`.
void Domain::solve_for(AtomId x, const Poly& value, Reason why) {
  if (conflict_) return;
  AtomState& s = state(x);
  const PolyId solved = forms_.intern(value);
  for (AtomId a : forms_.atoms_of(solved)) state(a).dependents.push_back(x);
  s.solved = solved;
  s.solved_why = why;
  note(Undo::kSolved, x);
  change();
  const Range& own = s.own;
  if (own.span.lower()) {
    Poly row = value;
    row.constant -= *own.span.lower();
    assert_literal(FormulaKind::kGe, row, join(own.lower, why));
  }
  if (own.span.upper()) {
    Poly row = forms_.scale(value, -1);
    row.constant += *own.span.upper();
    assert_literal(FormulaKind::kGe, row, join(own.upper, why));
  }
  wake(x);
}

}  // namespace proviso
