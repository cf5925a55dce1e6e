// sym/canonicalizer.h - how canonical forms are built; what sym/canonical.h and
// the search for the cheapest form (sym/simplify.h) share.  Not for callers of
// the library.
//
//   Canonicalizer canonicalizer(pool, &facts);
//   Expr c = canonicalizer.run(e);                 // canonical under the facts
//   Expr f = canonicalizer.floor_div(p, Polynomial(8));    // of canonical p
//
// An operator is a table of rules (sym/rewrite_rule.h) over what is built:
//
//   canonical.cc             the walk over it; sums, products, powers
//   canonical_division.cc    a // b, a % b
//   canonical_bits.cc        a & b, a | b, a ^ b, a << b, a >> b
//   canonical_extrema.cc     Min, Max, Abs
//   canonical_relations.cc   p >= 0, p == 0, sqrt(a) == 0
//   canonical_logic.cc       And, Or, Not, Where
//   canonical_reals.cc       floor(a/b), round(a), a/1
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sym/expr.h"
#include "sym/facts.h"
#include "sym/fractions.h"
#include "sym/polynomial.h"
#include "sym/pool_stores.h"
#include "sym/rewrite_rule.h"

namespace proviso::inline v0_2::internal {

using Args = std::span<const Expr>;

class Canonicalizer {
 public:
  // An exact real expression (sym/fractions.h); den is a number > 0.
  using Fraction = FractionOf<Polynomial>;

  Canonicalizer(ExprPool& pool, const Facts* facts)
      : pool_(pool), facts_(facts) {}

  Expr run(Expr e);
  // What run() found; the node itself where it has not been looked at.
  Expr canonical(Expr e) const;

  // Each builds the canonical form from canonical arguments.
  Expr build(Op op, Args args);
  Expr floor_div(const Polynomial& a, const Polynomial& b);
  Expr mod(const Polynomial& a, const Polynomial& b);
  Expr extremum(Op op, Args args);
  Expr nonneg(const Polynomial& p);   // p >= 0
  Expr is_zero(const Polynomial& p);  // p == 0
  Expr negate(Expr condition);
  Expr junction(Op op, Args args);
  // Whether one of the conditions is the opposite of another.
  bool has_opposites(Args conditions);
  // e, a bit operation, as a sum where that is known: of x & -8 that is
  // x - Mod(x, 8), which the canonical form leaves as it is written.
  Expr open_bits(Expr e);

  Expr expr(const Polynomial& p) { return to_expr(pool_, p); }
  Expr integer(const Int& value) { return pool_.integer(value); }
  Expr boolean(bool value) { return pool_.boolean(value); }
  ExprPool& pool() { return pool_; }

  std::optional<Int> lower(const Polynomial& p) {
    if (p.is_constant()) return p.constant();
    return facts_ ? facts_->lower(expr(p)) : std::nullopt;
  }
  std::optional<Int> upper(const Polynomial& p) {
    if (p.is_constant()) return p.constant();
    return facts_ ? facts_->upper(expr(p)) : std::nullopt;
  }
  bool known_nonneg(const Polynomial& p) {
    auto low = lower(p);
    return low && low->sign() >= 0;
  }
  bool known_positive(const Polynomial& p) {
    auto low = lower(p);
    return low && low->sign() > 0;
  }
  std::optional<Int> known_residue(const Polynomial& p, const Int& m) {
    return facts_ ? facts_->residue(expr(p), m) : std::nullopt;
  }

 private:
  Expr relation(Op op, Expr a, Expr b);
  Expr render_nonneg(const Polynomial& p);
  Expr render_zero(const Polynomial& p);
  Expr where(Expr condition, Expr then, Expr otherwise);
  Expr absolute(Expr a);
  Expr float_sum(Op op, Args args);
  Expr round(Op op, Expr a);
  Expr bits(Op op, Expr a, Expr b);
  Expr real_operation(Op op, Expr a, Expr b);
  std::optional<Fraction> fraction(Expr e);
  std::optional<Polynomial> gap(Expr a, Expr b);
  std::optional<Expr> fold_constants(Expr raw);
  Expr decided(Expr condition);
  Expr opposite(Expr condition);
  Expr rewrite(Expr e);
  std::unordered_map<uint32_t, Expr>& memo() {
    return facts_ ? memo_ : PoolStores::canonical_memo(pool_);
  }

  ExprPool& pool_;
  const Facts* facts_;
  std::unordered_map<uint32_t, Expr> memo_;  // used when facts_ is set
  std::unordered_map<uint32_t, Expr> opposites_;
  // Levels of has_opposites(): the opposite of a part has parts itself.
  int nested_ = 0;
};

// Equal ones side by side.
void sort_by_structure(std::vector<Expr>& args);
// a / b when b != 0 divides a as polynomials, as long division soon finds.
std::optional<Polynomial> exact_quotient(const Polynomial& a,
                                         const Polynomial& b);
// p with each coefficient divided by k and rounded down.
Polynomial over(const Polynomial& p, const Int& k);
// gcd of all coefficients, the constant's included.
Int full_content(const Polynomial& p);

// The rules of all tables, and those of each.
std::vector<RewriteRuleCount> canonical_rule_counts();
std::vector<RewriteRuleCount> division_rule_counts();
std::vector<RewriteRuleCount> bit_rule_counts();
std::vector<RewriteRuleCount> extremum_rule_counts();
std::vector<RewriteRuleCount> absolute_rule_counts();
std::vector<RewriteRuleCount> nonneg_rule_counts();
std::vector<RewriteRuleCount> zero_rule_counts();
std::vector<RewriteRuleCount> real_rule_counts();
std::vector<RewriteRuleCount> rounding_rule_counts();
std::vector<RewriteRuleCount> real_operation_rule_counts();
std::vector<RewriteRuleCount> junction_rule_counts();
std::vector<RewriteRuleCount> choice_rule_counts();

}  // namespace proviso::inline v0_2::internal
