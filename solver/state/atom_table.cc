#include "solver/state/atom_table.h"

#include "solver/kind_range.h"

namespace proviso::inline v0_2::internal {

uint32_t AtomTable::new_slot(AtomId a) {
  const auto made = static_cast<uint32_t>(records_.size());
  slot_of_.set(a, made);
  AtomRecord& r = records_.emplace_back();
  r.kind = forms_.atoms[a].kind;
  if (r.kind == AtomKind::kSymbol) {
    const SymbolKind kind = forms_.atoms[a].expr.symbol().kind;
    r.own.span = intersect(symbols_, range_of_kind(kind));
  }
  return made;
}

}  // namespace proviso::inline v0_2::internal
