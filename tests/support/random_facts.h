// tests/support/random_facts.h - facts such as shape programs make, all true at
// one hidden point (so that they never contradict each other), and questions
// near them.
#pragma once

#include <optional>
#include <vector>

#include "sym/evaluate.h"
#include "tests/support/random_expr.h"

namespace proviso::testing {

class RandomFacts {
 public:
  RandomFacts(ExprPool& pool, std::vector<Expr> symbols, Assignment hidden,
              uint32_t seed)
      : pool_(pool),
        symbols_(std::move(symbols)),
        hidden_(std::move(hidden)),
        random_(seed),
        any_(pool, symbols_, seed * 31 + 7) {}

  // True at the hidden point.
  Expr fact() {
    while (true) {
      Expr f = candidate();
      if (!evaluate(f, hidden_).is_true()) continue;
      facts_.push_back(f);
      return f;
    }
  }

  // Often a consequence of facts, or of one's opposite.
  Expr question() {
    switch (below(16)) {
      case 0:
      case 1: return any_.boolean(2);
      case 2:
      case 3: return candidate();
      default: break;
    }
    // The sum of what two facts say is at least 0, or what products make of it.
    if (facts_.size() < 2) return candidate();
    size_t at = static_cast<size_t>(below(int(facts_.size())));
    Expr f = facts_[at];
    size_t further = 1 + static_cast<size_t>(below(int(facts_.size()) - 1));
    Expr g = facts_[(at + further) % facts_.size()];
    std::optional<Expr> s = slack_of(f), t = slack_of(g);
    if (!s || !t) {
      Expr both = logical_and(f, g);
      return below(2) ? both : logical_not(both);
    }
    Expr sum = *s * (1 + below(2)) + *t * (1 + below(2));
    if (below(6) == 0) sum = sum + *s * *t;
    return below(3) ? ge(sum, 0) : lt(sum + below(2), pool_.integer(0));
  }

  int below(int n) { return static_cast<int>(random_() % unsigned(n)); }

 private:
  Expr one() {
    return symbols_[static_cast<size_t>(below(int(symbols_.size())))];
  }
  Int at(Expr e) {
    Evaluation v = evaluate(e, hidden_);
    return v.defined() ? std::get<Int>(*v.value) : Int(0);
  }
  Expr near(Expr e) { return pool_.integer(at(e) + (below(5) - 2)); }

  // e where the fact says e >= 0.
  std::optional<Expr> slack_of(Expr f) {
    if (f.is(Op::kLe) && f.arg(0).is_int()) return f.arg(1) - f.arg(0);
    if (f.is(Op::kLt) && f.arg(0).is_int()) return f.arg(1) - f.arg(0) - 1;
    if (f.is(Op::kEq) && f.arg(0).is_int()) return f.arg(0) - f.arg(1);
    return std::nullopt;
  }

  Expr candidate() {
    Expr a = one(), b = one(), c = one();
    int k = 2 + below(5);
    switch (below(31)) {
      case 0: return ge(a, near(a));
      case 1: return le(a, near(a));
      case 2: return lt(a, b);
      case 3: return le(a, b + (below(5) - 2));
      case 4: return eq(a, b + (below(5) - 2));
      case 5: return eq(a * k, b);
      case 6: return eq(mod(a, pool_.integer(k)), at(a).is_odd() ? 1 : 0);
      case 7: return eq(a * b, near(a * b));
      case 8: return le(a + b, c + k);
      case 9: return ne(a, near(a));
      case 10: return ne(a, b);
      case 11:
        return eq(floor_div(a, pool_.integer(k)),
                  near(floor_div(a, pool_.integer(k))));
      case 12: return le(a * b, near(a * b));
      case 13: return le(max(a, b), near(max(a, b)));
      case 14: return logical_or(eq(a, near(a)), eq(a, b));
      case 15: return eq(a + b, c);
      case 16: return eq(mod(a + b, pool_.integer(k)), below(2));
      case 17: return le(floor_div(a, b), c);
      case 18: return lt(min(a, b) * k, c + near(b));
      case 19: return relation(polynomial(), pool_.integer(0));
      case 20:
      case 21: {  // both sides times the same factors
        Expr factors = one(), p = below(2) ? one() : polynomial();
        for (int more = below(3); more > 0; --more) factors = factors * one();
        return relation(factors * p, factors * near(p));
      }
      case 22: return near_relation(mod(a, below(2) ? b : b * c));
      case 23: return near_relation(floor_div(polynomial(), pool_.integer(k)));
      case 24: return near_relation(mod(polynomial(), pool_.integer(k)));
      case 25: return near_relation(floor_div(a * b, below(2) ? c : a));
      case 26: {  // powers of one base
        Expr x = power(k, a), y = power(k, below(2) ? b + below(3) : b);
        return relation(x * (1 + below(3)), y * (1 + below(4)));
      }
      case 27: return near_relation(power(k, a) * (below(2) ? b : power(k, c)));
      case 28:
        return near_relation(
            pool_.make(Op::kBitAnd, {a, below(2) ? b : pool_.integer(k)}));
      default: return any_.boolean(1);
    }
  }

  Expr power(int base, Expr exponent) {
    return pool_.make(Op::kPow, {pool_.integer(base), exponent});
  }

  // Up to three terms of degree up to three, factors repeated.
  Expr polynomial() {
    std::optional<Expr> sum;
    for (int terms = 1 + below(3); terms > 0; --terms) {
      Expr term = one();
      for (int more = below(3); more > 0; --more) {
        term = term * (below(2) ? term.is_symbol() ? term : one() : one());
      }
      int k = below(7) - 3;
      if (k != 0 && k != 1) term = term * k;
      sum = sum ? *sum + term : term;
    }
    return *sum;
  }

  Expr near_relation(Expr e) { return relation(e, near(e)); }

  Expr relation(Expr p, Expr q) {
    switch (below(5)) {
      case 0: return le(p, q + near(p - q));
      case 1: return ne(p, q);
      case 2: return eq(p, q + pool_.integer(at(p - q)));
      default: return eq(p, q);  // where it is so
    }
  }

  ExprPool& pool_;
  std::vector<Expr> symbols_;
  Assignment hidden_;
  std::mt19937 random_;
  RandomExpr any_;
  std::vector<Expr> facts_;
};

}  // namespace proviso::testing
