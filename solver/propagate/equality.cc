#include "solver/propagate/equality.h"

#include <algorithm>

#include "solver/limits_in_force.h"
#include "sym/budget.h"

namespace proviso::inline v0_2::internal {

bool EqualitySolver::solve(const Poly& p, Reason why) {
  if (solving_ == Solving::kNone && p.terms.size() > 1) return false;
  return solve_by_unit(p, why) || solve_by_euclid(p, why) ||
         (solving_ == Solving::kAll && solve_by_floors(p, why));
}

EqualitySolver::LoneVariables EqualitySolver::lone_variables(const Poly& p) {
  auto is_lone = [this](const Term& t) {
    const AtomId x = forms_.monomials.single(t.mono);
    return x != kNoId && forms_.atoms.is_variable(x);
  };
  Atoms inside;  // the other terms
  for (const Term& t : p.terms) {
    if (is_lone(t)) continue;
    for (AtomId a : forms_.monomials.factors(t.mono)) {
      inside.append(forms_.occurrences.of_atom(a));
    }
  }
  std::sort(inside.begin(), inside.end());
  LoneVariables found;
  for (const Term& t : p.terms) {
    const AtomId x = forms_.monomials.single(t.mono);
    if (!is_lone(t) || state_.substitution.is_solved(x)) continue;
    if (std::binary_search(inside.begin(), inside.end(), x)) continue;
    found.emplace_back(x, t.coef);
  }
  return found;
}

// Which symbol is eliminated matters: one whose range follows from the others'
// leaves no inequality behind; then one that occurs in few constraints; then
// the youngest.
bool EqualitySolver::solve_by_unit(const Poly& p, Reason why) {
  LoneVariables lone = lone_variables(p);
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
    Poly rest = p - Poly::term(forms_.monomials.of(x), coef);
    Poly value = coef.is_one() ? -rest : std::move(rest);
    bool leaves_inequalities =
        lone.size() > 1 &&
        !ranges_.of_atom(x).span.contains(ranges_.plain(value).span);
    std::pair<bool, size_t> cost = {leaves_inequalities,
                                    state_.constraints.of(x).size()};
    if (best == kNoId || cost < best_cost) {
      best = x, best_value = std::move(value), best_cost = cost;
    }
  }
  to_.solve(best, best_value, why);
  return true;
}

// Coefficients without a unit but coprime: Euclid's steps with a fresh symbol,
// x := t - sum floor(c/a) * (the rest).
bool EqualitySolver::solve_by_euclid(const Poly& p, Reason why) {
  const LoneVariables lone = lone_variables(p);
  if (lone.size() < 2) return false;
  Int g = 0;
  auto least = lone.begin();
  for (auto it = lone.begin(); it != lone.end(); ++it) {
    g = gcd(g, it->second);
    if (abs(it->second) < abs(least->second)) least = it;
  }
  if (!g.is_one()) return false;
  const auto [x, a] = *least;
  AtomId t = state_.substitution.fresh(forms_.polys.id_of(p));
  Poly value = variable(forms_, t);
  for (const Term& term : p.terms) {
    if (term.mono == forms_.monomials.of(x)) continue;
    value = value - Poly::term(term.mono, floor_div(term.coef, a));
  }
  value.constant -= floor_div(p.constant, a);
  // Pure renaming; the equality itself follows in the new symbols.
  to_.solve(x, value, 0);
  to_.derive(FormulaKind::kEq, p, why);
  return true;
}

bool EqualitySolver::has_open_floor(const Poly& p) const {
  return std::any_of(p.terms.begin(), p.terms.end(), [&](const Term& t) {
    const Factors& factors = forms_.monomials.factors(t.mono);
    return std::any_of(factors.begin(), factors.end(), [&](AtomId f) {
      return forms_.atoms[f].kind == AtomKind::kFloor &&
             !state_.substitution.is_solved(f);
    });
  });
}

// Whether x occurs in p, but for its own term, only within factors that are
// floors with a divisor known positive; which they are.
bool EqualitySolver::hidden_by_floors(AtomId x, const Poly& p,
                                      std::vector<AtomId>& floors) {
  Budget::charge(p.terms.size());
  for (const Term& t : p.terms) {
    if (t.mono == forms_.monomials.of(x)) continue;
    for (AtomId f : forms_.monomials.factors(t.mono)) {
      const Atoms& inside = forms_.occurrences.of_atom(f);
      if (!std::binary_search(inside.begin(), inside.end(), x)) continue;
      if (forms_.atoms[f].kind != AtomKind::kFloor ||
          state_.substitution.is_solved(f)) {
        return false;
      }
      Range d = ranges_.of(forms_.polys[forms_.atoms[f].b]);
      if (!d.span.lower() || d.span.lower()->sign() <= 0) return false;
      floors.push_back(f);
    }
  }
  std::sort(floors.begin(), floors.end());
  floors.erase(std::unique(floors.begin(), floors.end()), floors.end());
  return true;
}

// A fresh symbol t for each floor(a/b), b > 0; the inequalities b*t <= a < b*t
// + b are returned, to be assumed when p is solved.
std::vector<EqualitySolver::Inequality> EqualitySolver::define_floors(
    const std::vector<AtomId>& floors) {
  std::vector<Inequality> inequalities;
  for (AtomId q : floors) {
    const Poly& a = forms_.polys[forms_.atoms[q].a];
    const Poly& b = forms_.polys[forms_.atoms[q].b];
    Reason positive = ranges_.of(b).lower;
    Range known = ranges_.of_atom(q);
    AtomId t = state_.substitution.fresh(q);
    Poly below = a - mul(forms_, b, variable(forms_, t));
    Poly above = b - below;
    above.constant -= 1;
    inequalities.push_back({below, positive});
    inequalities.push_back({above, positive});
    if (known.span.lower()) {
      to_.bound(t, true, *known.span.lower(), known.lower);
    }
    if (known.span.upper()) {
      to_.bound(t, false, *known.span.upper(), known.upper);
    }
    to_.solve(q, variable(forms_, t), 0);
  }
  return inequalities;
}

// x == r + k*floor(x/k): floor(x/k) becomes a fresh t, x becomes r + k*t.  A
// coefficient of x that is not a unit is left to Euclid's steps with t.
bool EqualitySolver::solve_by_floors(const Poly& p, Reason why) {
  if (!has_open_floor(p)) return false;
  for (bool unit : {true, false}) {
    for (const Term& t : p.terms) {
      const Factors& factors = forms_.monomials.factors(t.mono);
      if (factors.size() != 1 || !forms_.atoms.is_variable(factors[0]))
        continue;
      if (state_.substitution.is_solved(factors[0])) continue;
      if (abs(t.coef).is_one() != unit) continue;
      std::vector<AtomId> floors;
      if (!hidden_by_floors(factors[0], p, floors) || floors.empty()) continue;
      solve_with_floors(factors[0], floors, p, why);
      return true;
    }
  }
  return false;
}

void EqualitySolver::solve_with_floors(AtomId x,
                                       const std::vector<AtomId>& floors,
                                       const Poly& p, Reason why) {
  std::vector<Inequality> inequalities = define_floors(floors);
  if (to_.has_conflict()) return;
  Normal n = normal_.of(p);
  why = reasons_.join(why, n.why);
  const LoneVariables lone = lone_variables(n.poly);
  auto found = std::find_if(lone.begin(), lone.end(), [x](const auto& entry) {
    return entry.first == x;
  });
  if (found != lone.end() && abs(found->second).is_one()) {
    Poly rest = n.poly - Poly::term(forms_.monomials.of(x), found->second);
    to_.solve(x, rest * -found->second, why);
  } else {
    to_.derive(FormulaKind::kEq, n.poly, why);
  }
  for (Inequality& inequality : inequalities) {
    to_.derive(FormulaKind::kGe, std::move(inequality.poly), inequality.why);
  }
}

}  // namespace proviso::inline v0_2::internal
