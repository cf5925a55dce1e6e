#include "solver/strategies/splits.h"

#include <algorithm>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {

// The order is the header's.
std::optional<Split> CaseSplits::choose(const RelevantConstraints& relevant) {
  if (auto split = clause(relevant)) return split;
  for (AtomId a : relevant.atoms) {
    if (auto split = split_condition(domain_, a)) return split;
  }
  for (AtomId a : relevant.atoms) {
    if (auto split = range(a, limits().few_values)) return split;
  }
  if (auto split = disequality(relevant)) return split;
  if (auto split = residue(relevant)) return split;
  for (AtomId a : relevant.atoms) {
    if (auto split = split_divisor(domain_, a)) return split;
  }
  if (auto split = smallest_range(relevant)) return split;
  if (auto split = end(relevant)) return split;
  return sign(relevant);
}

// The shortest that the domain does not decide.
std::optional<Split> CaseSplits::clause(const RelevantConstraints& relevant) {
  const Constraint* smallest = nullptr;
  size_t fewest = ~size_t{0};
  for (uint32_t i : relevant.clauses) {
    const Constraint& constraint = domain_.constraints()[i];
    const std::vector<FormulaId>& kids =
        forms_.formulas[constraint.formula].kids;
    const bool holds = std::any_of(
        kids.begin(), kids.end(),
        [this](FormulaId kid) { return domain_.decide(kid).value == true; });
    if (holds || kids.size() >= fewest) continue;
    fewest = kids.size();
    smallest = &constraint;
  }
  if (!smallest) return std::nullopt;
  return Split{forms_.formulas[smallest->formula].kids, smallest->why};
}

std::optional<Split> CaseSplits::disequality(
    const RelevantConstraints& relevant) {
  const Constraint* simplest = nullptr;
  size_t least = ~size_t{0};
  for (uint32_t i : relevant.disequalities) {
    const Constraint& constraint = domain_.constraints()[i];
    const size_t size = size_of(constraint.formula);
    if (size < least) least = size, simplest = &constraint;
  }
  if (!simplest) return std::nullopt;
  const PolyId p = forms_.formulas[simplest->formula].poly;
  return Split{sides_of(forms_, forms_.polys[p]), simplest->why};
}

// The size of a literal: the factors of all terms, with what is in them.
size_t CaseSplits::size_of(FormulaId f) const {
  size_t size = 0;
  for (const Term& t : forms_.polys[forms_.formulas[f].poly].terms) {
    for (AtomId a : forms_.monomials.factors(t.mono)) {
      size += forms_.occurrences.of_atom(a).size();
    }
  }
  return size;
}

// Every value of a variable that has few.
std::optional<Split> CaseSplits::range(AtomId a, const Int& widest) {
  if (!forms_.atoms.is_variable(a) || domain_.is_solved(a)) return {};
  const Range r = domain_.atom_range(a);
  if (!r.span.lower() || !r.span.upper()) return {};
  if (*r.span.upper() - *r.span.lower() >= widest) return {};
  return split_values(domain_, a, r);
}

std::optional<Split> CaseSplits::smallest_range(
    const RelevantConstraints& relevant) {
  std::optional<Split> best;
  for (AtomId a : relevant.atoms) {
    auto split = range(a, limits().many_values);
    if (!split) continue;
    if (!best || split->branches.size() < best->branches.size()) best = split;
  }
  return best;
}

// x = k*t + 0..k-1 for floor(e / k), where x is a factor of a product: in e,
// or, when e is about x alone, in a constraint; or where it is in another floor
// by k, as in s//3 + (s + 1)//3 + (s + 2)//3.
std::optional<Split> CaseSplits::residue(const RelevantConstraints& relevant) {
  std::vector<AtomId> factors;  // of products
  for (MonoId m : relevant.monos) {
    const Factors& f = forms_.monomials.factors(m);
    if (f.size() > 1) factors.insert(factors.end(), f.begin(), f.end());
  }
  for (AtomId q : relevant.atoms) {
    if (auto split = residue_of(q, relevant, factors)) return split;
  }
  return std::nullopt;
}

std::optional<Split> CaseSplits::residue_of(
    AtomId q, const RelevantConstraints& relevant,
    const std::vector<AtomId>& factors) {
  const Atom& floor = forms_.atoms[q];
  if (floor.kind != AtomKind::kFloor || domain_.is_solved(q)) return {};
  const Poly& k = forms_.polys[floor.b];
  if (!k.is_constant() || k.constant <= Int(1) ||
      k.constant > Int(limits().split_modulus)) {
    return std::nullopt;
  }
  auto is_in_other_floor = [&](AtomId x) {
    return std::any_of(
        relevant.atoms.begin(), relevant.atoms.end(), [&](AtomId other) {
          const Atom& atom = forms_.atoms[other];
          if (other == q || atom.kind != AtomKind::kFloor) return false;
          if (atom.b != floor.b || domain_.is_solved(other)) return false;
          const Atoms& inside = forms_.occurrences.of_poly(atom.a);
          return std::binary_search(inside.begin(), inside.end(), x);
        });
  };
  for (const Term& t : forms_.polys[floor.a].terms) {
    const Factors& inside = forms_.monomials.factors(t.mono);
    for (AtomId x : inside) {
      if (!forms_.atoms.is_variable(x) || domain_.is_solved(x)) continue;
      const bool is_multiplied =
          inside.size() > 1 ||
          std::find(factors.begin(), factors.end(), x) != factors.end();
      if (!is_multiplied && !is_in_other_floor(x)) continue;
      Split split;
      Poly p = mod(forms_, variable(forms_, x), k);
      for (Int r = 0; r < k.constant; r += 1, p.constant -= 1) {
        split.branches.push_back(forms_.formulas.eq(p));
      }
      return split;
    }
  }
  return std::nullopt;
}

template <typename Visit>
void CaseSplits::each_factor(const RelevantConstraints& relevant, Visit visit) {
  for (MonoId m : relevant.monos) {
    const Factors& factors = forms_.monomials.factors(m);
    if (factors.size() < 2) continue;
    for (AtomId x : factors) {
      if (!forms_.atoms.is_variable(x) || domain_.is_solved(x)) continue;
      visit(x, domain_.atom_range(x).span);
    }
  }
}

// The end of a factor's range, where a product has another sign or none: of the
// end that is nearest to 0, so that none is split again and again.
std::optional<Split> CaseSplits::end(const RelevantConstraints& relevant) {
  std::optional<AtomId> nearest;
  Int distance;
  each_factor(relevant, [&](AtomId x, const Interval& range) {
    if (!range.lower()) return;
    Int from_zero = abs(*range.lower());
    if (nearest && distance <= from_zero) return;
    nearest = x;
    distance = std::move(from_zero);
  });
  if (!nearest) return std::nullopt;
  const Range& r = domain_.atom_range(*nearest);
  Poly p = variable(forms_, *nearest);
  p.constant = -*r.span.lower();
  const FormulaId least = forms_.formulas.eq(p);
  p.constant -= 1;
  return Split{{least, forms_.formulas.ge(p)}, r.lower};
}

// Of a factor without ends: what a product says of its other factors.  The one
// of the most products comes first:
//
//   a < b, b < c, a*d < b*d      d >= 1, or d <= 0
std::optional<Split> CaseSplits::sign(const RelevantConstraints& relevant) {
  std::vector<std::pair<AtomId, size_t>> products;  // of each factor
  each_factor(relevant, [&](AtomId x, const Interval& range) {
    if (range.lower() || range.upper()) return;
    const auto at = std::find_if(products.begin(), products.end(),
                                 [x](const auto& p) { return p.first == x; });
    if (at == products.end()) {
      products.emplace_back(x, 1);
    } else {
      ++at->second;
    }
  });
  if (products.empty()) return std::nullopt;
  const AtomId most = std::max_element(products.begin(), products.end(),
                                       [](const auto& a, const auto& b) {
                                         return a.second < b.second;
                                       })
                          ->first;
  Poly p = variable(forms_, most);
  const FormulaId nonpositive = forms_.formulas.ge(-p);
  p.constant = -1;
  return Split{{forms_.formulas.ge(p), nonpositive}, 0};
}

}  // namespace proviso::inline v0_2::internal
