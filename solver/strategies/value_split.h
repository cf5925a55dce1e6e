// solver/strategies/value_split.h - proofs value by value.
//
//   u1 in [2, 11]       -2*u0*u0*u1 - u1*u1 + 2*u0*u0 != -66
//
// Each value of a bounded relevant variable is assumed, few values
// and many products first, and most of what is left is then decided by ranges
// and equalities alone; linear rows have the last word.  Complete where all
// variables are bounded by limits().values, up to kMaxDepth of them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solver/strategies/refutation.h"

namespace proviso::inline v0_2::internal {

class ValueSplit {
 public:
  ValueSplit(Domain& domain, Refutation& refutation)
      : domain_(domain),
        forms_(domain.forms()),
        reasons_(domain.reasons()),
        refutation_(refutation) {}

  // What holds for each of the values, where it can be true (false); at most
  // `units` for either.
  Decision decide(FormulaId f, bool can_be_true, bool can_be_false,
                  uint64_t units);
  std::optional<Proof> refute(FormulaId f, uint64_t units);

 private:
  static constexpr int kMaxDepth = 4;
  // A relevant variable, and how often it is in products and floors.
  struct Choice {
    AtomId atom;
    int64_t weight = 1;
  };
  using Choices = std::vector<Choice>;

  Choices variables_near(FormulaId f);
  std::optional<Split> choose(const Choices& choices);
  std::optional<Proof> refute_condition(FormulaId f);
  std::optional<Proof> refute_values(std::span<const AtomId> seeds,
                                     const Choices& choices, int depth);
  // Without a value where no case is possible; nullopt is "not decided".
  std::optional<Decision> decide_values(FormulaId f, const Choices& choices,
                                        bool wanted, int depth);

  Domain& domain_;
  FormPool& forms_;
  ReasonArena& reasons_;
  Refutation& refutation_;
};

}  // namespace proviso::inline v0_2::internal
