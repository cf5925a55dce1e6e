// tests/support/random_index.h - random expressions such as index arithmetic
// is made of: floors and remainders of related numerators by related divisors,
// Min and Max of near sums, choices by one condition.  Rules meet their
// patterns here far more often than on tests/support/random_expr.h.
#pragma once

#include <random>
#include <vector>

#include "sym/expr.h"

namespace proviso::testing {

class RandomIndex {
 public:
  RandomIndex(ExprPool& pool, std::vector<Expr> symbols, uint32_t seed)
      : pool_(pool), symbols_(std::move(symbols)), random_(seed) {
    for (int i = 0; i < 2; ++i) {
      bases_.push_back(linear());
      conditions_.push_back(relation(linear(), linear()));
    }
  }

  Expr integer(int depth) {
    Expr sum = scaled(atom(depth));
    for (int more = below(3); more > 0; --more) sum = sum + scaled(atom(depth));
    if (below(4) == 0) sum = sum + number();
    return sum;
  }

  Expr boolean(int depth) {
    if (depth > 0 && below(2) == 0) {
      const Expr a = boolean(depth - 1), b = boolean(depth - 1);
      return below(2) ? logical_and(a, b) : logical_or(a, b);
    }
    if (below(3) == 0) return condition();
    const Expr a = integer(depth);
    return relation(a, below(2) ? number() : integer(depth));
  }

  int below(int n) { return static_cast<int>(random_() % unsigned(n)); }

 private:
  Expr symbol() {
    return symbols_[static_cast<size_t>(below(int(symbols_.size())))];
  }
  Expr number() { return pool_.integer(below(13) - 6); }
  Expr condition() { return conditions_[static_cast<size_t>(below(2))]; }
  Expr divisor() {
    static constexpr int kValues[] = {2, 2, 2, 3, 3, 4, 6, 8, -2};
    return pool_.integer(kValues[below(9)]);
  }
  Expr linear() {
    Expr e = below(3) ? symbol() : symbol() * (below(9) - 4);
    if (below(2)) e = e + symbol() * (below(9) - 4);
    return below(2) ? e : e + number();
  }
  Expr base() {
    const Expr e = bases_[static_cast<size_t>(below(2))];
    return below(3) ? e : e + number();
  }
  Expr scaled(Expr e) {
    static constexpr int kValues[] = {1, 1, 1, -1, -1, 2, 3, -2, 4};
    const int k = kValues[below(9)];
    return k == 1 ? e : k == -1 ? -e : e * k;
  }
  Expr relation(Expr a, Expr b) {
    switch (below(4)) {
      case 0: return lt(a, b);
      case 1: return le(a, b);
      case 2: return eq(a, b);
      default: return ne(a, b);
    }
  }
  Expr atom(int depth) {
    auto inner = [&] { return depth > 0 ? integer(depth - 1) : base(); };
    switch (below(12)) {
      case 0:
      case 1: return floor_div(inner(), divisor());
      case 2:
      case 3: return mod(inner(), divisor());
      case 4: return min(inner(), inner());
      case 5: return max(inner(), inner());
      case 6: return where(condition(), inner(), inner());
      case 7: return base();
      case 8: return symbol() * symbol();
      case 9: return pool_.make(Op::kCeilDiv, {inner(), divisor()});
      case 10: {  // rounded towards 0
        const Expr a = base(), k = pool_.integer(2 + below(3));
        return where(ge(a, 0), floor_div(a, k), -floor_div(-a, k));
      }
      default: return mod(inner(), symbol());
    }
  }

  ExprPool& pool_;
  std::vector<Expr> symbols_;
  std::mt19937 random_;
  std::vector<Expr> bases_, conditions_;
};

}  // namespace proviso::testing
