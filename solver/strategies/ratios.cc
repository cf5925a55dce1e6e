#include "solver/strategies/ratios.h"

#include <algorithm>

#include "solver/limits_in_force.h"
#include "solver/monomials.h"

namespace proviso::inline v0_2::internal {
namespace {

// c*m == d*n as m/n == d/c, or nothing.
struct Binomial {
  MonoId over, under;
  Rational value;
};
std::optional<Binomial> as_binomial(const Poly& p) {
  if (p.terms.size() != 2) return std::nullopt;
  const Term &a = p.terms[0], &b = p.terms[1];
  if (a.coef.sign() == b.coef.sign()) return std::nullopt;
  return Binomial{a.mono, b.mono, Rational(-b.coef, a.coef)};
}

}  // namespace

// The equalities of products relevant to some atoms, as exponents of factors
// that are known to be positive.
class MonomialRatios::Equalities {
 public:
  Equalities(Domain& domain, std::span<const AtomId> seeds) : domain_(domain) {
    std::vector<AtomId> queue(seeds.begin(), seeds.end());
    std::vector<uint32_t> seen;
    for (size_t i = 0; i < queue.size(); ++i) {
      for (uint32_t constraint : domain.constraints_of(queue[i])) {
        if (seen.size() == limits().ratio_constraints) return;
        if (std::find(seen.begin(), seen.end(), constraint) != seen.end())
          continue;
        seen.push_back(constraint);
        add(domain.constraints()[constraint], queue);
      }
    }
  }

  bool is_empty() const { return whys_.empty(); }

  // over / under as value * over' / under', where an equality says so.
  std::optional<Binomial> reduced(MonoId over, MonoId under, Reason& why) {
    Reason positive = 0;
    const std::optional<Exponents> powers = exponents(over, under, positive);
    if (!powers) return std::nullopt;
    const auto ratio = equalities_.reduced(*powers);
    if (!ratio || ratio->uses.empty()) return std::nullopt;
    ReasonArena& reasons = domain_.reasons();
    why = reasons.join(why, positive);
    for (uint32_t i : ratio->uses) why = reasons.join(why, whys_[i]);
    Factors sides[2];
    for (size_t i = 0; i < ratio->powers.size(); ++i) {
      for (int64_t n = ratio->powers[i]; n != 0; n += n > 0 ? -1 : 1) {
        sides[n < 0].push_back(factors_[i]);
      }
    }
    for (Factors& side : sides) std::sort(side.begin(), side.end());
    FormPool& forms = domain_.forms();
    return Binomial{forms.monomials.of(sides[0]), forms.monomials.of(sides[1]),
                    ratio->value};
  }

  // Where that is a number.
  std::optional<Rational> of(MonoId over, MonoId under, Reason& why) {
    Reason because = why;
    const auto ratio = reduced(over, under, because);
    if (!ratio || ratio->over != ratio->under) return std::nullopt;
    why = because;
    return ratio->value;
  }

 private:
  void add(const Constraint& constraint, std::vector<AtomId>& queue) {
    FormPool& forms = domain_.forms();
    domain_.spend(1);
    const Formula& f = forms.formulas[constraint.formula];
    if (!constraint.is_active || constraint.is_original ||
        f.kind != FormulaKind::kEq)
      return;
    const Poly& p = forms.polys[f.poly];
    const auto binomial = as_binomial(p);
    if (!binomial || !p.constant.is_zero()) return;
    Reason why = constraint.why;
    auto powers = exponents(binomial->over, binomial->under, why);
    if (!powers) return;
    equalities_.add(std::move(*powers), binomial->value,
                    static_cast<uint32_t>(whys_.size()));
    whys_.push_back(why);
    for (AtomId a : factors_) {
      if (std::find(queue.begin(), queue.end(), a) == queue.end()) {
        queue.push_back(a);
      }
    }
  }

  // Nothing where a factor may be 0 or negative.
  std::optional<Exponents> exponents(MonoId over, MonoId under, Reason& why) {
    Exponents powers(factors_.size());
    for (const MonoId m : {over, under}) {
      for (AtomId a : domain_.forms().monomials.factors(m)) {
        const Range& r = domain_.atom_range(a);
        if (!at_least(r, 1)) return std::nullopt;
        why = domain_.reasons().join(why, r.lower);
        auto at = std::find(factors_.begin(), factors_.end(), a);
        const auto place = static_cast<size_t>(at - factors_.begin());
        if (at == factors_.end()) {
          if (factors_.size() >= limits().ratio_factors) {
            return std::nullopt;
          }
          factors_.push_back(a);
        }
        powers.resize(factors_.size());
        powers[place] += m == over ? 1 : -1;
      }
    }
    return powers;
  }

  Domain& domain_;
  MonomialEqualities equalities_;
  std::vector<AtomId> factors_;  // their places are those of the exponents
  std::vector<Reason> whys_;     // by the equality's name
};

Decision MonomialRatios::decide(FormulaId f, uint64_t units) {
  const Decision found = within(units, [&]() -> Decision {
    Equalities equalities(domain_, forms_.occurrences.of_formula(f));
    if (equalities.is_empty()) return {};
    equalities_ = &equalities;
    const Decision d = domain_.decide(f);
    return d.value ? d : decide_reduced(f, equalities);
  });
  equalities_ = nullptr;
  return found;
}

// Decides p >= 0, p == 0 or p != 0 for p = c*m + d*n + e: with m/n == v *
// m'/n', where n' is positive, p has the sign of (c*v*m' + d*n')*n + e*n'.
Decision MonomialRatios::decide_reduced(FormulaId f, Equalities& equalities) {
  const Formula& formula = forms_.formulas[f];
  const Normal n = domain_.normal(forms_.polys[formula.poly]);
  const auto binomial = as_binomial(n.poly);
  if (!binomial) return {};
  Reason why = n.why;
  const auto ratio = equalities.reduced(binomial->over, binomial->under, why);
  if (!ratio) return {};
  const Term &a = n.poly.terms[0], &b = n.poly.terms[1];
  Poly same = Poly::term(ratio->over, a.coef * ratio->value.num()) +
              Poly::term(ratio->under, b.coef * ratio->value.den());
  if (!n.poly.constant.is_zero()) {
    same = mul(forms_, same, Poly::term(binomial->under, 1)) +
           Poly::term(ratio->under, n.poly.constant * ratio->value.den());
  }
  Decision d = domain_.decide(forms_.formulas.relation(formula.kind, same));
  d.why = domain_.reasons().join(d.why, why);
  return d;
}

// floor(c*m / (d*n)) where m/n is known; c, d > 0.
std::optional<Int> MonomialRatios::known_quotient(const Poly& num,
                                                  const Poly& den,
                                                  Reason& why) {
  if (equalities_ == nullptr || num.terms.size() != 1 ||
      den.terms.size() != 1 || !num.constant.is_zero() ||
      !den.constant.is_zero()) {
    return std::nullopt;
  }
  const Term &a = num.terms[0], &b = den.terms[0];
  Reason because = why;
  const auto ratio = equalities_->of(a.mono, b.mono, because);
  if (!ratio) return std::nullopt;
  why = because;
  return floor(*ratio * Rational(a.coef, b.coef));
}

bool MonomialRatios::applies(FormulaId f) {
  if (forms_.formulas[f].poly == kNoId) return false;
  const Atoms& atoms = forms_.occurrences.of_formula(f);
  return std::any_of(atoms.begin(), atoms.end(), [this](AtomId a) {
    const auto& constraints = domain_.constraints_of(a);
    return std::any_of(
        constraints.begin(), constraints.end(), [this](uint32_t i) {
          const Constraint& constraint = domain_.constraints()[i];
          if (!constraint.is_active || constraint.is_original) return false;
          const Formula& fact = forms_.formulas[constraint.formula];
          if (fact.kind != FormulaKind::kEq) return false;
          const Poly& p = forms_.polys[fact.poly];
          return p.constant.is_zero() && !is_linear(forms_, p) &&
                 as_binomial(p);
        });
  });
}

}  // namespace proviso::inline v0_2::internal
