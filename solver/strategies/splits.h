// solver/strategies/splits.h - what to split on when constraints alone do not
// decide.
//
//   x*(x//2) >= 0       x == 2*t:      2*t*t >= 0
//                       x == 2*t + 1:  (2*t + 1)*t >= 0
//   x*y, 0 <= x         x == 0, x >= 1
//
// A split is made where it turns products into linear terms or floors into
// whole quotients, and each branch is refuted by itself (refutation.h): the
// splitting of Davis, Logemann and Loveland (1962) on clauses, and of branch
// and bound on values (Land and Doig, 1960).  In this order, of each kind the
// smallest first: a clause; the sign of a maximum; variables of few values; a
// disequality; residues; a divisor's sign; variables of more values; the end of
// a range; the sign of a factor.
//
// To choose is one pass over the relevant atoms.  What costs is the tree: a
// linear refutation a branch, limits().split_depth deep, until the budget ends.
// Complete where so many splits of finitely many values leave linear
// constraints that have no rational solution.
#pragma once

#include <optional>

#include "solver/strategies/relevance.h"

namespace proviso::inline v0_2::internal {

class CaseSplits {
 public:
  explicit CaseSplits(Domain& domain)
      : domain_(domain), forms_(domain.forms()) {}

  std::optional<Split> choose(const RelevantConstraints& relevant);

 private:
  std::optional<Split> clause(const RelevantConstraints& relevant);
  std::optional<Split> disequality(const RelevantConstraints& relevant);
  std::optional<Split> residue(const RelevantConstraints& relevant);
  std::optional<Split> residue_of(AtomId floor,
                                  const RelevantConstraints& relevant,
                                  const std::vector<AtomId>& factors);
  std::optional<Split> range(AtomId a, const Int& widest);
  std::optional<Split> smallest_range(const RelevantConstraints& relevant);
  // Calls visit(x, range) for each unsolved variable x of each product.
  template <typename Visit>
  void each_factor(const RelevantConstraints& relevant, Visit visit);
  std::optional<Split> end(const RelevantConstraints& relevant);
  std::optional<Split> sign(const RelevantConstraints& relevant);
  size_t size_of(FormulaId f) const;

  Domain& domain_;
  FormPool& forms_;
};

}  // namespace proviso::inline v0_2::internal
