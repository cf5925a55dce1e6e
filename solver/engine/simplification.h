// solver/engine/simplification.h - what bounds(), values() and simplify() know
// is what ask() knows.
//
//   0 <= x <= 31             bounds of (x + 1)*(x - 31):  [-256, 0]
//   Mod(s0, 8) == 0          values of s0 % 16:           0, 8
//   x//32*32 + x%32          x
//
// Ends of a range are moved in for as long as ask() proves that nothing lies
// there; what ask() proves to be one value becomes it.  An expression is read
// both as a polynomial and as it is written: opened into a polynomial,
// (n % 8)*(k % 8) no longer shows that both factors are small.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "solver/engine/memo.h"
#include "solver/engine/reasoner.h"
#include "solver/strided.h"

namespace proviso::inline v0_2::internal {

class Simplification {
 public:
  using AskQuick = std::function<Verdict(Expr)>;

  Simplification(Reasoner& reasoner, const StateNames& states,
                 AskQuick ask_quick)
      : reasoner_(reasoner),
        states_(states),
        ask_quick_(std::move(ask_quick)) {}

  // --- integers
  Interval range_of(Expr e);
  // Moves the ends in; where work ends, the range is what is known by then.
  void sharpen(Expr e, Interval& range);
  Strided strided_of(Expr e);
  // A number that divides all values.
  Int divisor_of(Expr e) { return strided_of(e).divisor(); }
  std::optional<std::vector<Int>> values(Expr e, size_t limit);

  // --- expressions
  // e with the equalities among the facts put in.
  Expr substitute(Expr e);
  Expr simplify(Expr e);
  Expr canonical(Expr e);

 private:
  class KnownFacts;  // what the simplifier may ask
  // What simplify() made of a node, and in which state.
  struct Simplified {
    uint64_t state;
    Expr form;
  };

  bool proves(Expr e) { return ask_quick_(e) == Verdict::kYes; }
  Strided as_polynomial(const Poly& p, int depth);
  Strided of_atom(AtomId a, int depth);
  Strided as_written(Expr e);
  bool reads_better_as_written(Expr e);
  std::optional<Int> constant_of(Expr e);
  std::optional<Expr> decided(Expr e);
  Expr with_constants(Expr e);
  Expr find_cheapest(Expr e);

  Reasoner& reasoner_;
  const StateNames& states_;
  const AskQuick ask_quick_;
  std::unordered_map<uint32_t, Simplified> simplified_;  // by node
  std::unordered_map<uint32_t, bool> hides_ranges_;      // by node
};

}  // namespace proviso::inline v0_2::internal
