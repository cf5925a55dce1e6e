// solver/engine/box.h - facts that are ranges of symbols, and what follows from
// such facts at once.
//
//   Box box;
//   box.add(1 <= n & n <= 64);
//   box.add(Eq(Mod(m, 8), 0));
//   box.decide(n + 1 <= 65)          // true
//   box.range_of(4*m + 3)            // 3, 35, 67, ... : stride 32
//   box.simplify((8*m + 3)//8)       // m
//
// Each symbol has its own values, whatever the others have, so that nothing
// needs to be asserted: an expression is read as it is written, sums by their
// terms, with intervals and congruences.  Most contexts of a compiler know no
// more than this.  Sound, and it decides only what the reasoner decides, too
// (tests/solver/box_test.cc compares them); the rest is the reasoner's.
#pragma once

#include <optional>
#include <utility>

#include "solver/strided.h"
#include "sym/expr.h"
#include "sym/small_vector.h"

namespace proviso::inline v0_2::internal {

class Box {
 public:
  // `symbols` is where every integer lies without a fact.
  explicit Box(const Interval& symbols) : symbols_(symbols) {}

  // Whether it is written as ranges and congruences of symbols.
  static bool is_range(Expr condition);

  void add(Expr condition);
  void clear();
  size_t fact_count() const { return facts_; }
  // Whether all that was added are ranges, none of which is empty.
  bool is_exact() const { return is_exact_; }

  // --- these require is_exact()
  // Nothing where that is not seen at once.
  std::optional<bool> decide(Expr condition) const;
  std::optional<Strided> range_of(Expr e) const;
  // The cheapest form of e, where it is a sum of symbols or a division of one.
  std::optional<Expr> simplify(Expr e) const;

 private:
  class Reader;
  class KnownFacts;

  static bool is_simple_range(Expr condition);
  bool take(Expr condition);
  bool take_simple(Expr condition);
  bool narrow(Expr symbol, const Strided& to);
  Strided values_of(Expr symbol) const;
  bool is_cheapest(Expr canonical) const;

  const Interval symbols_;
  SmallVector<std::pair<Expr, Strided>, 2> ranges_;
  size_t facts_ = 0;
  bool is_exact_ = true;
};

}  // namespace proviso::inline v0_2::internal
