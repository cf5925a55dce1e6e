#include "solver/forms/occurrences.h"

#include <algorithm>
#include <utility>

namespace proviso::inline v0_2::internal {
namespace {

void sort_unique(Atoms& v) {
  Budget::charge(v.size());
  std::sort(v.begin(), v.end());
  v.shrink(static_cast<size_t>(std::unique(v.begin(), v.end()) - v.begin()));
}

Atoms& entry(StableVector<Atoms>& table, uint32_t i) {
  if (i >= table.size()) table.resize(i + 1);
  return table[i];
}

}  // namespace

Atoms Occurrences::of(const Poly& p) {
  Atoms out;
  for (const Term& t : p.terms) {
    for (AtomId a : terms_.monomials.factors(t.mono)) out.append(of_atom(a));
  }
  sort_unique(out);
  return out;
}

const Atoms& Occurrences::of_poly(PolyId p) {
  Atoms& known = terms_.polys.record(p).atoms;
  const Poly& poly = terms_.polys[p];
  if (known.empty() && !poly.is_constant()) known = of(poly);
  return known;
}

const Atoms& Occurrences::of_atom(AtomId a) {
  Atoms& known = entry(of_atom_, a);
  if (!known.empty()) return known;
  const Atom& atom = terms_.atoms[a];
  Atoms out = {a};
  if (atom.kind != AtomKind::kFresh) {
    if (atom.a != kNoId) out.append(of_poly(atom.a));
    if (atom.b != kNoId) out.append(of_poly(atom.b));
    if (atom.condition != kNoId) out.append(of_formula(atom.condition));
  }
  sort_unique(out);
  return known = std::move(out);
}

const Atoms& Occurrences::of_formula(FormulaId f) {
  f = std::min(f, negate(f));  // the one that was made first
  const Formula& formula = formulas_[f];
  if (formula.poly != kNoId) return of_poly(formula.poly);
  Atoms& known = entry(of_formula_, f);
  if (!known.empty() || formula.kids.empty()) return known;
  Atoms out;
  for (FormulaId kid : formula.kids) out.append(of_formula(kid));
  sort_unique(out);
  return known = std::move(out);
}

}  // namespace proviso::inline v0_2::internal
