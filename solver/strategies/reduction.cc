#include "solver/strategies/reduction.h"

#include <algorithm>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
// Nullopt when the divisor's leading term divides no term of p.
std::optional<PolynomialReduction::Division> PolynomialReduction::divide(
    const Poly& p, const Poly& divisor) {
  const Term lead = leading(forms_, divisor);
  Division d{{}, p};
  bool any = false;
  for (int step = 0; step < limits().division_steps; ++step) {
    const Term* highest = nullptr;
    for (const Term& t : d.rest.terms) {
      if (forms_.monomials.quotient(t.mono, lead.mono) == kNoId) continue;
      if (!highest || forms_.monomials.leads(t.mono, highest->mono))
        highest = &t;
    }
    if (!highest || d.rest.terms.size() > limits().remainder_terms) break;
    const MonoId q = forms_.monomials.quotient(highest->mono, lead.mono);
    const Int g = gcd(highest->coef, lead.coef);
    const Int times = floor_div(highest->coef, g) * lead.coef.sign();
    const Int scale = floor_div(abs(lead.coef), g);
    const Poly part = q == 0 ? Poly::number(times) : Poly::term(q, times);
    domain_.spend(d.rest.terms.size() + divisor.terms.size());
    d.rest = d.rest * scale - mul(forms_, part, divisor);
    d.quotient = d.quotient * scale + part;
    any = true;
  }
  return any ? std::optional(std::move(d)) : std::nullopt;
}

// Whether an equality's own variable is in it: it is no original.
bool PolynomialReduction::has_fresh(PolyId p) {
  const Atoms& atoms = forms_.occurrences.of_poly(p);
  return std::any_of(atoms.begin(), atoms.end(), [this](AtomId a) {
    return forms_.atoms[a].kind == AtomKind::kFresh;
  });
}

// The constraints that mention an atom of p, each once.
std::vector<const Constraint*> PolynomialReduction::relevant_divisors(
    const Poly& p, Divisors which) {
  const bool equalities = which == Divisors::kEqualities;
  std::vector<const Constraint*> found;
  for (AtomId a : forms_.occurrences.of(p)) {
    for (uint32_t i : domain_.constraints_of(a)) {
      if (found.size() == limits().division_constraints) return found;
      const Constraint& constraint = domain_.constraints()[i];
      const Formula& f = forms_.formulas[constraint.formula];
      const bool usable = f.kind == FormulaKind::kEq ||
                          (f.kind == FormulaKind::kGe && !equalities);
      if (!constraint.is_active || !usable ||
          (constraint.is_original && which != Divisors::kOriginals) ||
          (which == Divisors::kOriginals && has_fresh(f.poly))) {
        continue;
      }
      const Poly& divisor = forms_.polys[f.poly];
      if (divisor.terms.size() > limits().divisor_terms) continue;
      if (equalities && is_linear(forms_, divisor)) continue;
      if (std::find(found.begin(), found.end(), &constraint) == found.end()) {
        found.push_back(&constraint);
      }
    }
  }
  return found;
}

std::optional<Poly> PolynomialReduction::remainder(const Poly& assumed,
                                                   Reason& why) {
  const Normal n = domain_.normal(assumed);
  const std::vector<const Constraint*> equalities =
      relevant_divisors(n.poly, Divisors::kEqualities);
  Poly rest = n.poly;
  bool any = false;
  for (int round = 0; round < limits().division_rounds; ++round) {
    bool divided = false;
    for (const Constraint* constraint : equalities) {
      auto d =
          divide(rest, forms_.polys[forms_.formulas[constraint->formula].poly]);
      if (!d) continue;
      rest = std::move(d->rest);
      why = reasons_.join(why, constraint->why);
      divided = any = true;
    }
    if (!divided) break;
  }
  if (!any) return std::nullopt;
  why = reasons_.join(why, n.why);
  return rest;
}

bool PolynomialReduction::is_nonnegative(const Poly& p, Divisors which,
                                         Reason& why, int depth) {
  const Range r = domain_.plain_range(p);
  if (at_least(r, 0)) {
    why = reasons_.join(why, r.lower);
    return true;
  }
  if (depth == 0) return false;
  for (const Constraint* constraint : relevant_divisors(p, which)) {
    const Formula& f = forms_.formulas[constraint->formula];
    const auto d = divide(p, forms_.polys[f.poly]);
    if (!d || d->rest.terms.size() >= p.terms.size()) continue;
    Reason all = reasons_.join(why, constraint->why);
    if (!is_nonnegative(d->rest, which, all, depth - 1)) continue;
    if (f.kind == FormulaKind::kGe &&
        !is_nonnegative(d->quotient, which, all, depth - 1)) {
      continue;
    }
    why = all;
    return true;
  }
  return false;
}

Decision PolynomialReduction::decide(FormulaId f, uint64_t units) {
  const Formula& formula = forms_.formulas[f];
  if (formula.poly == kNoId) return {};
  auto decide_by = [&](const Normal& n, Divisors which) -> Decision {
    if (n.poly.terms.size() > limits().divided_terms ||
        is_linear(forms_, n.poly)) {
      return {};
    }
    return decide_by_sign(formula.kind, n, [&](const Poly& p, Reason& why) {
      return is_nonnegative(p, which, why, limits().division_depth);
    });
  };
  const auto found = domain_.within(units, [&]() -> Decision {
    const Poly& asked = forms_.polys[formula.poly];
    const Normal n = domain_.normal(asked);
    if (n.changed) {
      const Decision d = decide_by({asked}, Divisors::kOriginals);
      if (d.value) return d;
    }
    return decide_by(n, Divisors::kInequalities);
  });
  return found.value_or(Decision{});
}

}  // namespace proviso::inline v0_2::internal
