// solver/strategies/min_max.h - relations between trees of Min and Max over
// leaves without them.
//
//   min(max(x, y), max(x, z)) == max(min(y, z), x)
//   min(x, 4) <= max(y, 5)            4 and 5 are leaves, and 4 <= 5
//
// The integers in their order are a distributive lattice, which is made of
// copies of {0, 1} (Birkhoff, Lattice Theory): L <= R holds for all values of
// the leaves when it holds where each leaf is 0 or 1, for "leaf >= t" is such
// an assignment at any threshold t (the 0-1 principle of sorting networks,
// Knuth, The Art of Computer Programming 3, 5.3.4).  Of n leaves the 2**n
// assignments are bits of a set; Min intersects, Max unites.  Assignments that
// contradict the order of two leaves, as ranges know it, are left out.
//
// Sums, multiples by constants and quotients by positive constants are monotone
// and are moved to the leaves.  The cost is a few machine words for each of at
// most limits().lattice_nodes nodes, and a range for each pair of at most eight
// leaves.  Complete where nothing is known of the leaves but the order of some
// pairs, and ranges show it.
#pragma once

#include "solver/domain.h"
#include "solver/engine/search.h"
#include "solver/lower.h"

namespace proviso::inline v0_2::internal {

class MinMaxLattice {
 public:
  MinMaxLattice(Domain& domain, Lowering& lower)
      : domain_(domain), forms_(domain.forms()), lower_(lower) {}

  // A relation about two or more of Min and Max.
  bool applies(const Search& search);
  Decision decide(const Search& search);  // requires applies()

 private:
  Domain& domain_;
  FormPool& forms_;
  Lowering& lower_;
};

}  // namespace proviso::inline v0_2::internal
