// solver/engine/simplification.h - simplify() knows what ask() knows.
//
//   x//32*32 + x%32                        x
//   Mod(s0, 8) == 0: s0 - 8*(s0//8)        0
//   x < 20:          Or(x < 20, y > 3)     True
//
// The simplifier of sym/ asks what the facts say (sym/facts.h): ranges and
// normal forms, a few proofs, the equalities among the facts.  What ask()
// proves to be a constant is it; symbols that equalities determine are
// substituted, where that is cheaper.
#pragma once

#include <optional>
#include <unordered_map>

#include "solver/engine/expression_ranges.h"

namespace proviso::inline v0_2::internal {

class Simplification {
 public:
  Simplification(FactStack& facts, NativeAnswers& native, RangeReading& reading,
                 ExpressionRanges& ranges)
      : facts_(facts),
        reasoner_(facts.reasoner()),
        native_(native),
        reading_(reading),
        ranges_(ranges) {}

  // Within the limit of a call, of which so many units are spent; where that
  // ends, e.
  Expr simplify(Expr e, uint64_t spent = 0);
  Expr canonical(Expr e);
  // e with the equalities among the facts substituted.
  Expr substitute(Expr e);

 private:
  class KnownFacts;  // what the simplifier may ask
  // What simplify() made of a node, and in which state.
  struct Simplified {
    uint64_t state;
    Expr form;
  };

  // Where these contradict each other.
  template <typename Rewrite>
  Expr without_facts(Expr e, Rewrite rewrite);
  Expr cheapest_known(Expr e);
  Expr find_cheapest(Expr e);
  std::optional<Expr> decided(Expr e);
  Expr with_solved(Expr e);
  Expr with_constants(Expr e);

  FactStack& facts_;
  Reasoner& reasoner_;
  NativeAnswers& native_;
  RangeReading& reading_;
  ExpressionRanges& ranges_;
  std::unordered_map<uint32_t, Simplified> simplified_;  // by node
};

}  // namespace proviso::inline v0_2::internal
