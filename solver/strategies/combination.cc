// The cost is a product of two polynomials for each constraint that is tried,
// limits().subtracted_constraints of an atom.  No step is taken back: complete
// where the first constraint that fits is the right one.
#include "solver/strategies/combination.h"

#include <algorithm>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {

// p less |A| times a constraint that bounds x, where p = A*x + rest: no more
// than p is, and with so many terms at most.
std::optional<Poly> Combination::less_a_constraint(const Poly& p, size_t terms,
                                                   Reason& why) {
  SmallVector<AtomId, 8> tried;
  for (const Term& of : p.terms) {
    for (AtomId x : forms_.monomials.factors(of.mono)) {
      if (std::find(tried.begin(), tried.end(), x) != tried.end()) continue;
      tried.push_back(x);
      if (auto less = subtract_at(p, x, terms, why)) return less;
    }
  }
  return std::nullopt;
}

std::optional<Poly> Combination::subtract_at(const Poly& p, AtomId x,
                                             size_t terms, Reason& why) {
  const MonoId single = forms_.monomials.of(x);
  std::optional<Poly> times;  // |A|
  int sign = 0;               // of A
  Reason sign_why = 0;
  size_t looked_at = 0;
  for (uint32_t i : domain_.constraints_of(x)) {
    if (++looked_at > limits().subtracted_constraints) return std::nullopt;
    const Constraint& constraint = domain_.constraints()[i];
    const Formula& f = forms_.formulas[constraint.formula];
    if (!constraint.is_active || constraint.is_original ||
        f.kind != FormulaKind::kGe)
      continue;
    const Poly& inequality = forms_.polys[f.poly];
    if (inequality.terms.size() > limits().subtracted_terms) continue;
    const Term* t =
        std::find_if(inequality.terms.begin(), inequality.terms.end(),
                     [&](const Term& r) { return r.mono == single; });
    if (t == inequality.terms.end() || !abs(t->coef).is_one()) continue;
    if (!times) {
      times.emplace();
      for (const Term& part : p.terms) {
        const MonoId rest = forms_.monomials.quotient(part.mono, single);
        if (rest == kNoId) continue;
        if (forms_.monomials.quotient(rest, single) != kNoId)
          return std::nullopt;  // x*x
        append(*times, rest, part.coef);
      }
      merge_terms(*times);
      const Range r = domain_.plain_range(*times);
      sign = at_least(r, 0) ? 1 : at_most(r, 0) ? -1 : 0;
      if (sign == 0) return std::nullopt;
      sign_why = sign > 0 ? r.lower : r.upper;
      if (sign < 0) times = -*times;
    }
    if (t->coef.sign() != sign) continue;
    domain_.spend(times->terms.size() * inequality.terms.size());
    Poly less = p - mul(forms_, *times, inequality);
    if (less.terms.size() > terms) continue;
    why = reasons_.join(why, reasons_.join(constraint.why, sign_why));
    return less;
  }
  return std::nullopt;
}

// Linearised indices: i < m and j < n make i*n + j < m*n.  A step of equal
// length leaves as many terms as there were.
bool Combination::is_nonnegative(Poly p, int equal_length_steps, Reason& why) {
  const bool looks_closely = equal_length_steps > 0;
  for (;;) {
    std::optional<Poly> less = less_a_constraint(p, p.terms.size() - 1, why);
    if (!less && equal_length_steps-- > 0)
      less = less_a_constraint(p, p.terms.size(), why);
    if (!less) return false;
    p = *std::move(less);
    const Range r = looks_closely ? domain_.range(p) : domain_.plain_range(p);
    if (!at_least(r, 0)) continue;
    why = reasons_.join(why, r.lower);
    return true;
  }
}

Decision Combination::decide(FormulaId f) {
  const Formula& formula = forms_.formulas[f];
  if (formula.poly == kNoId) return {};
  const Normal n = domain_.normal(forms_.polys[formula.poly]);
  if (n.poly.terms.size() < 2 ||
      n.poly.terms.size() > limits().combination_terms)
    return {};
  if (is_linear(forms_, n.poly)) return {};  // linear constraints decide it
  return decide_by_sign(formula.kind, n, [&](const Poly& p, Reason& why) {
    return is_nonnegative(p, limits().equal_length_steps, why);
  });
}

}  // namespace proviso::inline v0_2::internal
