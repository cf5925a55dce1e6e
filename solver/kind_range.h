// solver/kind_range.h - where an integer symbol lies by its kind alone, without
// any fact: a size is at least 0, a 0/1 integer is 0 or 1.
//
//   range_of_kind(SymbolKind::kBackedSize)     // [0, int_oo]
#pragma once

#include "solver/interval.h"
#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

inline const Interval& range_of_kind(SymbolKind kind) {
  static const Interval& sizes = *new Interval(Interval::at_least(0));
  static const Interval& truths = *new Interval(0, 1);
  static const Interval& every = *new Interval();
  switch (kind) {
    case SymbolKind::kBackedSize: return sizes;
    case SymbolKind::kUnbackedBool: return truths;
    case SymbolKind::kBackedInt:
    case SymbolKind::kBackedFloat:
    case SymbolKind::kUnbackedInt:
    case SymbolKind::kUnbackedFloat: break;
  }
  return every;
}

}  // namespace proviso::inline v0_2::internal
