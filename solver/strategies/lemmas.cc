// A lemma is kept where its monomials occur already, all but one at most.
//
//   x*y occurs, 2 <= x, 1 <= y            (x - 2)*(y - 1) >= 0
//   x*y occurs, x - z >= 0, 1 <= y        (x - z)*(y - 1) >= 0: z*y is new
//   x*y, x*x and y*y occur                (x - y)*(x - y) >= 0
//
// The cost is a product for each pair of what bounds or mentions the factors of
// a monomial; limits().product_lemmas is the most that are kept.
#include "solver/strategies/lemmas.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {
// The lemmas of one set of relevant constraints.
class ProductLemmas::Maker {
 public:
  Maker(Domain& domain, const RelevantConstraints& relevant);

  void multiply_bounds(MonoId m);
  std::vector<LinearConstraint> take() { return std::move(lemmas_); }

 private:
  // An end of a monomial, as a polynomial that is >= 0.
  struct Side {
    Poly poly;
    Reason why;
  };
  using Sides = std::vector<Side>;

  void keep(const Poly& p, bool equality, Reason why, size_t new_monos);
  const Sides& sides(MonoId m);
  void multiply_corners(MonoId x, MonoId rest);
  void multiply_constraints(MonoId target, const Sides& cofactor,
                            const Poly& whole);
  void add_squares(MonoId m, MonoId x, MonoId rest);

  Domain& domain_;
  FormPool& forms_;
  ReasonArena& reasons_;
  const RelevantConstraints& relevant_;
  std::vector<LinearConstraint> lemmas_;
  std::unordered_map<MonoId, Sides> sides_;
  // (a monomial, a constraint that is multiplied and mentions it), sorted.
  using Mention = std::pair<MonoId, uint32_t>;
  std::vector<Mention> mentions_;
};

ProductLemmas::Maker::Maker(Domain& domain, const RelevantConstraints& relevant)
    : domain_(domain),
      forms_(domain.forms()),
      reasons_(domain.reasons()),
      relevant_(relevant) {
  for (uint32_t i = 0; i < relevant.linear.size(); ++i) {
    const auto& terms = relevant.linear[i].terms;
    if (terms.size() < 2 || terms.size() > limits().product_constraint_terms)
      continue;
    for (const LinearTerm& t : terms) mentions_.emplace_back(t.unknown, i);
  }
  std::sort(mentions_.begin(), mentions_.end());
}

// Where at most so many of its monomials are in no constraint yet.
void ProductLemmas::Maker::keep(const Poly& p, bool equality, Reason why,
                                size_t new_monos) {
  const auto count = std::count_if(
      p.terms.begin(), p.terms.end(),
      [this](const Term& t) { return !relevant_.mentions(t.mono); });
  if (static_cast<size_t>(count) > new_monos) return;
  if (lemmas_.size() >= limits().product_lemmas) return;
  domain_.spend(1 + p.terms.size());
  push_constraint(lemmas_, p, equality, why);
}

const ProductLemmas::Maker::Sides& ProductLemmas::Maker::sides(MonoId m) {
  const auto [place, is_new] = sides_.try_emplace(m);
  Sides& out = place->second;
  if (!is_new) return out;
  const Poly p = Poly::term(m, 1);
  const auto at = std::find(relevant_.monos.begin(), relevant_.monos.end(), m);
  const Range r =
      at == relevant_.monos.end()
          ? domain_.range(p)
          : relevant_.bounds[static_cast<size_t>(at - relevant_.monos.begin())];
  if (auto end = useful_end(r, true, false)) {
    Poly low = p;
    low.constant = -*end;
    out.push_back({low, r.lower});
  }
  if (auto end = useful_end(r, false, false)) {
    Poly high = -p;
    high.constant = *end;
    out.push_back({high, r.upper});
  }
  return out;
}

// An end of x times an end of the rest.
void ProductLemmas::Maker::multiply_corners(MonoId x, MonoId rest) {
  for (const Side& s : sides(x)) {
    if (!s.poly.constant.is_zero() && !relevant_.mentions(rest)) continue;
    for (const Side& t : sides(rest)) {
      if (!t.poly.constant.is_zero() && !relevant_.mentions(x)) continue;
      keep(mul(forms_, s.poly, t.poly), false, reasons_.join(s.why, t.why), 0);
    }
  }
}

// Constraints that mention `target` times what is >= 0 of its cofactor, which
// is `whole`.
void ProductLemmas::Maker::multiply_constraints(MonoId target,
                                                const Sides& cofactor,
                                                const Poly& whole) {
  for (auto at = std::lower_bound(mentions_.begin(), mentions_.end(),
                                  Mention{target, 0});
       at != mentions_.end() && at->first == target &&
       lemmas_.size() < limits().product_lemmas;
       ++at) {
    const LinearConstraint& r = relevant_.linear[at->second];
    const Poly p = poly_of(r);
    if (r.equality) {
      keep(mul(forms_, p, whole), true, r.why, 1);
      continue;
    }
    for (const Side& s : cofactor) {
      keep(mul(forms_, p, s.poly), false, reasons_.join(r.why, s.why), 1);
    }
  }
}

// x*x >= x and x*x >= -x; (x - y)*(x - y) >= 0 and (x + y)*(x + y) >= 0.
void ProductLemmas::Maker::add_squares(MonoId m, MonoId x, MonoId rest) {
  const bool is_square = rest == x;
  const Poly square =
      is_square ? Poly::term(m, 1)
                : Poly::term(forms_.monomials.product(x, x), 1) +
                      Poly::term(forms_.monomials.product(rest, rest), 1);
  const Poly other = is_square ? Poly::term(x, 1) : Poly::term(m, 2);
  keep(square - other, false, 0, 0);
  keep(square + other, false, 0, 0);
}

void ProductLemmas::Maker::multiply_bounds(MonoId m) {
  const Factors& factors = forms_.monomials.factors(m);
  if (factors.size() < 2 || factors.size() > limits().product_factors) return;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (i > 0 && factors[i] == factors[i - 1]) continue;
    const MonoId x = forms_.monomials.of(factors[i]);
    const MonoId rest = forms_.monomials.quotient(m, x);
    const bool had = i > 0 && factors.size() == 2;  // as y*x
    if (!had) multiply_corners(x, rest);
    if (factors.size() == 2 && i == 0) add_squares(m, x, rest);
    multiply_constraints(rest, sides(x), Poly::term(x, 1));
    if (factors.size() > 2) {  // a constraint about x times all the rest
      multiply_constraints(x, sides(rest), Poly::term(rest, 1));
    }
  }
}

bool ProductLemmas::has_products(const RelevantConstraints& relevant) const {
  return std::any_of(
      relevant.monos.begin(), relevant.monos.end(),
      [this](MonoId m) { return forms_.monomials.single(m) == kNoId; });
}

std::vector<LinearConstraint> ProductLemmas::of_bounds(
    const RelevantConstraints& relevant) {
  if (!has_products(relevant)) return {};
  Maker maker(domain_, relevant);
  for (MonoId m : relevant.monos) maker.multiply_bounds(m);
  return maker.take();
}

// Whether the product of two constraints has at most one monomial that no
// constraint mentions yet; looked at before it is multiplied out.
bool ProductLemmas::stays_relevant(const LinearConstraint& a,
                                   const LinearConstraint& b,
                                   const RelevantConstraints& relevant) {
  size_t fresh = 0;
  for (const LinearTerm& s : a.terms) {
    for (const LinearTerm& t : b.terms) {
      fresh +=
          !relevant.mentions(forms_.monomials.product(s.unknown, t.unknown));
      if (fresh > 1) return false;
    }
  }
  return true;
}

std::vector<LinearConstraint> ProductLemmas::of_constraints(
    const RelevantConstraints& relevant) {
  std::vector<LinearConstraint> lemmas;
  std::vector<const LinearConstraint*> factors;
  if (!has_products(relevant) || relevant.linear.size() > limits().small_system)
    return lemmas;
  for (const LinearConstraint& r : relevant.linear) {
    if (r.equality || r.terms.empty() ||
        r.terms.size() > limits().factor_terms) {
      continue;
    }
    const bool is_bound =  // of an atom: of_bounds() has it
        r.terms.size() == 1 &&
        forms_.monomials.factors(r.terms[0].unknown).size() == 1;
    if (!is_bound) factors.push_back(&r);
    if (factors.size() == limits().factor_constraints) break;
  }
  for (size_t i = 0; i < factors.size(); ++i) {
    for (size_t j = i; j < factors.size(); ++j) {
      const LinearConstraint &a = *factors[i], &b = *factors[j];
      domain_.spend(1);
      if (lemmas.size() >= limits().product_lemmas ||
          !stays_relevant(a, b, relevant)) {
        continue;
      }
      const Poly p = mul(forms_, poly_of(a), poly_of(b));
      domain_.spend(p.terms.size());
      push_constraint(lemmas, p, false, reasons_.join(a.why, b.why));
    }
  }
  return lemmas;
}

}  // namespace proviso::inline v0_2::internal
