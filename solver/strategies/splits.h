// solver/strategies/splits.h - what to split on when constraints alone do not
// decide.
//
//   x//4 with x in a product      x = 4*t, 4*t + 1, 4*t + 2, 4*t + 3
//   x*y, 0 <= x                   x == 0, x >= 1
//
// In this order, the smallest first: a clause; the sign of a maximum; variables
// of few values; a disequality; residues; a divisor's sign; variables of more
// values; the end of a range; the sign of a factor.
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
  std::optional<Split> end(const RelevantConstraints& relevant);
  std::optional<Split> sign(const RelevantConstraints& relevant);
  size_t size_of(FormulaId f) const;

  Domain& domain_;
  FormPool& forms_;
};

}  // namespace proviso::inline v0_2::internal
