#include "solver/state/constraints.h"

namespace proviso::inline v0_2::internal {

uint32_t Constraints::add(FormulaId f, Reason why, bool is_original) {
  prepare_index(f);
  const auto i = static_cast<uint32_t>(all_.size());
  all_.push_back({f, why, true, is_original});
  index(i, true);
  trail_.note(*this, kAdded, i);
  trail_.advance();
  return i;
}

void Constraints::deactivate(uint32_t i) {
  if (!all_[i].is_active) return;
  all_[i].is_active = false;
  trail_.note(*this, kDeactivated, i);
}

void Constraints::undo(uint8_t what, uint32_t i) {
  if (what == kDeactivated) {
    all_[i].is_active = true;
    return;
  }
  index(i, false);
  all_.pop_back();
}

// Makes what index() reads, so that the budget cannot end within it.
void Constraints::prepare_index(FormulaId f) {
  for (AtomId a : forms_.occurrences.of_formula(f)) {
    const Atom& atom = forms_.atoms[a];
    if (atom.kind == AtomKind::kPos) forms_.polys.primitive_part(atom.a);
  }
  const Formula& formula = forms_.formulas[f];
  if (formula.kind == FormulaKind::kNe)
    forms_.polys.primitive_part(formula.poly);
}

void Constraints::index(uint32_t i, bool add) {
  auto enter = [i, add](Ids& list) {
    if (add) {
      list.push_back(i);
    } else {
      list.pop_back();
    }
  };
  const FormulaId f = all_[i].formula;
  const Formula& formula = forms_.formulas[f];
  for (AtomId a : forms_.occurrences.of_formula(f)) {
    enter(atoms_.mentions_of(a).constraints);
    // Its sign, once asserted, decides the atom.
    const Atom& atom = forms_.atoms[a];
    if (atom.kind != AtomKind::kPos) continue;
    enter(watchers(forms_.polys.primitive_part(atom.a).part));
  }
  if (formula.kind == FormulaKind::kNe) {
    enter(watchers(forms_.polys.primitive_part(formula.poly).part));
  }
}

}  // namespace proviso::inline v0_2::internal
