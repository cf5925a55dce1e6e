// solver/strategies/residues.h - equalities that no residues meet.
//
//   x*x == 8*y + 5       has no solution: squares leave 0, 1 and 4 modulo 8
#pragma once

#include "solver/domain.h"

namespace proviso::inline v0_2::internal {

// Whether p == 0 fails modulo a small number.  Atoms count as any integers.
bool has_no_root(Domain& domain, const Poly& p);

}  // namespace proviso::inline v0_2::internal
