// solver/strategies/residues.h - equalities that no residues meet.
//
//   x*x == 8*y + 5
//     modulo 8, where y vanishes: x*x leaves 0, 1 or 4 and never 5
//
// If a polynomial has a root among the integers, it has one modulo every m; so
// one m without is a proof that there is none (Ireland and Rosen, A Classical
// Introduction to Modern Number Theory).  For each prime up to 13, m is its
// third, second or first power, the largest with few enough combinations of
// residues, and all of these are evaluated.
//
// The cost is that of at most limits().residue_points evaluations for each of
// the six primes.  Complete for nothing: a polynomial without roots may have
// some modulo every m.
#pragma once

#include "solver/domain.h"

namespace proviso::inline v0_2::internal {

// Whether p == 0 fails modulo a small number.  Atoms count as any integers.
bool has_no_root(Domain& domain, const Poly& p);

}  // namespace proviso::inline v0_2::internal
