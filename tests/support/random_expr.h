// tests/support/random_expr.h - random raw expressions from a seed, for tests
// that compare an evaluator, a printer or a solver with evaluate().
#pragma once

#include <cstdlib>
#include <random>
#include <vector>

#include "sym/expr.h"

namespace proviso::testing {

class RandomExpr {
 public:
  RandomExpr(ExprPool& pool, std::vector<Expr> symbols, uint32_t seed)
      : pool_(pool), symbols_(std::move(symbols)), random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % unsigned(n)); }

  Expr integer(int depth) {
    if (depth == 0 || below(6) == 0) return leaf();
    auto sub = [&] { return integer(depth - 1); };
    switch (below(16)) {
      case 0:
      case 1:
      case 2: return pool_.make(Op::kAdd, {sub(), sub()});
      case 3:
      case 4: return pool_.make(Op::kMul, {sub(), sub()});
      case 5: return pool_.make(Op::kFloorDiv, {sub(), sub()});
      case 6: return pool_.make(Op::kFloorDiv, {sub(), small_constant()});
      case 7: return pool_.make(Op::kMod, {sub(), sub()});
      case 8: return pool_.make(Op::kPythonMod, {sub(), small_constant()});
      case 9: return pool_.make(Op::kMax, {sub(), sub()});
      case 10: return pool_.make(Op::kMin, {sub(), sub()});
      case 11: return pool_.make(Op::kAbs, {sub()});
      case 12:
        return pool_.make(Op::kWhere, {boolean(depth - 1), sub(), sub()});
      case 13: return rounding(sub(), small_constant());
      case 14: return pool_.make(Op::kPow, {sub(), pool_.integer(below(3))});
      default: return misc(sub(), sub(), sub());
    }
  }

  Expr boolean(int depth) {
    if (depth > 0 && below(3) == 0) {
      Expr a = boolean(depth - 1), b = boolean(depth - 1);
      switch (below(4)) {
        case 0: return pool_.make(Op::kAnd, {a, b});
        case 1: return pool_.make(Op::kOr, {a, b});
        case 2: return pool_.make(Op::kNot, {a});
        default: return pool_.make(Op::kEq, {a, b});
      }
    }
    static constexpr Op kRelations[] = {Op::kEq, Op::kNe, Op::kLt, Op::kLe};
    return pool_.make(kRelations[below(4)], {integer(depth), integer(depth)});
  }

 private:
  Expr leaf() {
    if (below(3) == 0) return pool_.integer(below(9) - 3);
    return symbols_[static_cast<size_t>(below(int(symbols_.size())))];
  }
  Expr small_constant() {
    static constexpr int kValues[] = {1, 2, 3, 4, 6, 8, -1, -2, -3, 0};
    return pool_.integer(kValues[below(10)]);
  }
  Expr rounding(Expr a, Expr b) {
    static constexpr Op kOps[] = {Op::kTruncToInt, Op::kFloorToInt,
                                  Op::kCeilToInt, Op::kRoundToInt};
    return pool_.make(kOps[below(4)], {pool_.make(Op::kIntTrueDiv, {a, b})});
  }
  Expr misc(Expr a, Expr b, Expr c) {
    switch (below(6)) {
      case 0: return pool_.make(Op::kModularIndexing, {a, b, c});
      case 1: return pool_.make(Op::kCeilDiv, {a, b});
      case 2: return pool_.make(Op::kBitAnd, {a, b});
      case 3: return pool_.make(Op::kBitOr, {a, small_constant()});
      case 4: return pool_.make(Op::kLShift, {a, pool_.integer(below(4))});
      default: return pool_.make(Op::kRShift, {a, pool_.integer(below(4))});
    }
  }

  ExprPool& pool_;
  std::vector<Expr> symbols_;
  std::mt19937 random_;
};

// PROVISO_SEED when set, else `fallback`; printed by the tests that use it.
inline uint32_t seed_or(uint32_t fallback) {
  const char* text = std::getenv("PROVISO_SEED");
  return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10))
              : fallback;
}

}  // namespace proviso::testing
