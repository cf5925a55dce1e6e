#include "solver/strategies/deep_floors.h"

#include <algorithm>

#include "solver/limits_in_force.h"

namespace proviso::inline v0_2::internal {

bool RemainderProver::is_nonnegative(const Poly& p, Reason& why) {
  if (p.is_constant()) return p.constant.sign() >= 0;
  const Range r = domain_.range(p);
  if (r.span.is_empty()) return false;
  if (at_least(r, 0)) {
    why = domain_.reasons().join(why, r.lower);
    return true;
  }
  if (p.terms.size() < 2 || p.terms.size() > limits().floor_terms) return false;
  return combination_.is_nonnegative(p, limits().floor_equal_length_steps, why);
}

bool DeepFloors::applies(FormulaId f) const {
  FormPool& forms = domain_.forms();
  const Atoms& atoms = forms.occurrences.of_formula(f);
  return std::any_of(atoms.begin(), atoms.end(), [&forms](AtomId a) {
    const Atom& atom = forms.atoms[a];
    return atom.kind == AtomKind::kFloor && !forms.polys[atom.b].is_constant();
  });
}

}  // namespace proviso::inline v0_2::internal
