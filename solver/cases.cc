// What to split on when rows alone do not decide.
#include <algorithm>

#include "solver/limits.h"
#include "solver/prover.h"

namespace proviso {
namespace {}  // namespace

std::optional<Prover::Split> Prover::split_range(AtomId a, const Int& widest) {
  if (!forms_.is_variable(a) || domain_.is_solved(a)) return {};
  Range r = domain_.atom_range(a);
  if (!r.span.lower() || !r.span.upper()) return {};
  if (*r.span.upper() - *r.span.lower() >= widest) return {};
  return each_value(a, r);
}

// Requires both ends.
Prover::Split Prover::each_value(AtomId a, const Range& r) {
  Split split;
  split.why = reasons_.join(r.lower, r.upper);
  for (Int v = *r.span.lower(); v <= *r.span.upper(); v += 1) {
    Poly p = forms_.variable(a);
    p.constant = -v;
    split.branches.push_back(forms_.eq(p));
  }
  return split;
}

// x = k*t + 0..k-1 for floor(e / k), where x is a factor of a product: in e,
// or, when e is about x alone, in a row; or where it is in another floor by k.
std::optional<Prover::Split> Prover::split_residue(const Neighborhood& near) {
  std::vector<AtomId> factors;  // of products
  for (MonoId m : near.monos) {
    const Factors& f = forms_.factors(m);
    if (f.size() > 1) factors.insert(factors.end(), f.begin(), f.end());
  }
  // s//3 + (s + 1)//3 + (s + 2)//3
  auto in_other_floor = [&](AtomId x, AtomId q) {
    return std::any_of(near.atoms.begin(), near.atoms.end(), [&](AtomId other) {
      const Atom& atom = forms_.atom(other);
      if (other == q || atom.kind != AtomKind::kFloor) return false;
      if (atom.b != forms_.atom(q).b || domain_.is_solved(other)) return false;
      const Atoms& inside = forms_.atoms_of(atom.a);
      return std::binary_search(inside.begin(), inside.end(), x);
    });
  };
  for (AtomId q : near.atoms) {
    const Atom& atom = forms_.atom(q);
    if (atom.kind != AtomKind::kFloor || domain_.is_solved(q)) continue;
    const Poly& k = forms_.poly(atom.b);
    if (!k.is_constant() || k.constant <= Int(1)) continue;
    if (k.constant > Int(limits().split_modulus)) continue;
    for (const Term& t : forms_.poly(atom.a).terms) {
      const Factors& inside = forms_.factors(t.mono);
      for (AtomId x : inside) {
        if (!forms_.is_variable(x) || domain_.is_solved(x)) continue;
        bool multiplied =
            std::find(factors.begin(), factors.end(), x) != factors.end();
        if (inside.size() < 2 && !multiplied && !in_other_floor(x, q)) continue;
        Split split;
        Poly remainder = forms_.mod(forms_.variable(x), k);
        for (Int r = 0; r < k.constant; r += 1) {
          Poly p = remainder;
          p.constant -= r;
          split.branches.push_back(forms_.eq(p));
        }
        return split;
      }
    }
  }
  return {};
}

// Of a literal: the factors of all terms, with what is in them.
size_t Prover::size_of(FormulaId f) const {
  size_t size = 0;
  for (const Term& t : forms_.poly(forms_.formula(f).poly).terms) {
    for (AtomId a : forms_.factors(t.mono)) {
      size += forms_.atoms_within(a).size();
    }
  }
  return size;
}

// Small splits near the condition first.
std::optional<Prover::Split> Prover::choose_split(const Neighborhood& near) {
  const uint32_t* smallest = nullptr;
  size_t fewest = ~size_t{0};
  for (const uint32_t& i : near.clauses) {
    const Domain::Constraint& constraint = domain_.constraints()[i];
    const std::vector<FormulaId>& kids =
        forms_.formula(constraint.formula).kids;
    bool decided = std::any_of(kids.begin(), kids.end(), [&](FormulaId kid) {
      return domain_.decide(kid).value == true;
    });
    if (decided) continue;
    if (kids.size() < fewest) fewest = kids.size(), smallest = &i;
  }
  if (smallest) {
    const Domain::Constraint& constraint = domain_.constraints()[*smallest];
    return Split{forms_.formula(constraint.formula).kids, constraint.why};
  }
  for (AtomId a : near.atoms) {
    const Atom& atom = forms_.atom(a);
    if (domain_.is_solved(a)) continue;
    FormulaId condition = kNoId;
    if (atom.kind == AtomKind::kPos) {
      condition = forms_.ge(forms_.poly(atom.a));
    } else if (atom.kind == AtomKind::kIte) {
      condition = atom.condition;
    }
    if (condition == kNoId || domain_.decide(condition).value) continue;
    return Split{{condition, forms_.negate(condition)}, 0};
  }
  for (AtomId a : near.atoms) {
    if (auto split = split_range(a, limits().few_values)) return split;
  }
  const Domain::Constraint* simplest = nullptr;
  size_t least = ~size_t{0};
  for (uint32_t i : near.disequalities) {
    const Domain::Constraint& constraint = domain_.constraints()[i];
    const size_t size = size_of(constraint.formula);
    if (size < least) least = size, simplest = &constraint;
  }
  if (simplest) {
    Poly p = forms_.poly(forms_.formula(simplest->formula).poly);
    Poly q = forms_.scale(p, -1);
    p.constant -= 1;
    q.constant -= 1;
    return Split{{forms_.ge(p), forms_.ge(q)}, simplest->why};
  }
  if (auto split = split_residue(near)) return split;
  for (AtomId a : near.atoms) {
    if (auto split = split_divisor(a)) return split;
  }
  std::optional<Split> best;
  for (AtomId a : near.atoms) {
    auto split = split_range(a, limits().many_values);
    if (!split) continue;
    if (!best || split->branches.size() < best->branches.size()) best = split;
  }
  return best ? best : split_end(near);
}

// A divisor of unknown sign, whose floor has no constraints.
std::optional<Prover::Split> Prover::split_divisor(AtomId a) {
  const Atom& atom = forms_.atom(a);
  if (atom.kind != AtomKind::kFloor || domain_.is_solved(a)) return {};
  Poly d = forms_.poly(atom.b);
  if (d.is_constant()) return {};
  const Range r = domain_.range(d);
  if (r.span.is_empty() || at_least(r, 1) || at_most(r, -1)) return {};
  const Poly negative = forms_.scale(d, -1);
  d.constant -= 1;
  return Split{{forms_.ge(d), forms_.ge(negative)}, 0};
}

// The end of a factor's range, where a product has another sign or none: of the
// end that is nearest to 0, so that none is split again and again.
std::optional<Prover::Split> Prover::split_end(const Neighborhood& near) {
  std::optional<AtomId> nearest;
  Int distance;
  for (MonoId m : near.monos) {
    const Factors& factors = forms_.factors(m);
    if (factors.size() < 2) continue;
    for (AtomId x : factors) {
      if (!forms_.is_variable(x) || domain_.is_solved(x)) continue;
      const OptionalInt& low = domain_.atom_range(x).span.lower();
      if (!low) continue;
      Int from_zero = abs(*low);
      if (nearest && distance <= from_zero) continue;
      nearest = x;
      distance = std::move(from_zero);
    }
  }
  if (!nearest) return std::nullopt;
  const Range& r = domain_.atom_range(*nearest);
  Poly p = forms_.variable(*nearest);
  p.constant = -*r.span.lower();
  const FormulaId least = forms_.eq(p);
  p.constant -= 1;
  return Split{{least, forms_.ge(p)}, r.lower};
}

// --- cases that the domain decides

namespace {}  // namespace

// A disjunction among the facts about the condition's atoms.
std::optional<Prover::Split> Prover::assumed_clause(FormulaId f) {
  for (AtomId a : forms_.atoms_of_formula(f)) {
    size_t looked_at = 0;
    for (uint32_t i : domain_.constraints_of(a)) {
      if (++looked_at > limits().clauses_looked_at) break;
      const Domain::Constraint& constraint = domain_.constraints()[i];
      const Formula& clause = forms_.formula(constraint.formula);
      if (!constraint.active || clause.kind != FormulaKind::kOr) continue;
      if (clause.kids.size() <= limits().clause_cases)
        return Split{clause.kids, constraint.why};
    }
  }
  return std::nullopt;
}

// Else a condition within the condition.
std::optional<Prover::Split> Prover::choose_case(FormulaId f) {
  if (auto split = assumed_clause(f)) return split;
  for (AtomId a : forms_.atoms_of_formula(f)) {
    const Atom& atom = forms_.atom(a);
    FormulaId condition = kNoId;
    if (atom.kind == AtomKind::kPos) {
      condition = forms_.ge(forms_.poly(atom.a));
    } else if (atom.kind == AtomKind::kIte) {
      condition = atom.condition;
    }
    if (condition == kNoId || domain_.is_solved(a)) continue;
    if (domain_.decide(condition).value) continue;
    return Split{{condition, forms_.negate(condition)}, 0};
  }
  for (AtomId a : forms_.atoms_of_formula(f)) {
    if (auto split = split_divisor(a)) return split;
  }
  return std::nullopt;
}

Decision Prover::decide_in_cases(FormulaId f, int depth) {
  std::optional<Split> split = choose_case(f);
  if (!split) return {};
  auto further = [&](std::optional<bool>) -> std::optional<Decision> {
    if (depth == 1) return std::nullopt;
    Decision d = decide_in_cases(f, depth - 1);
    return d.value ? std::optional(d) : std::nullopt;
  };
  return decide_branches(f, *split, {}, further).value_or(Decision{});
}

Decision Prover::decide_in_cases(FormulaId f, uint64_t units) {
  Decision found;
  within(units, [&]() -> std::optional<Proof> {
    found = decide_in_cases(f, limits().clause_depth);
    return std::nullopt;
  });
  return found;
}

}  // namespace proviso
