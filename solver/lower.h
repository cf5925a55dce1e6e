// solver/lower.h - expressions to the solver's normal form.
//
//   Lowering lower(forms);
//   FormulaId f = lower.condition(parse(pool, "Eq(Mod(s0, 4), 0)"));
//   FormulaId d = lower.defined(parse(pool, "4//u0 > 1"));      // u0 != 0
//
// Where `defined(e)` holds, e and its lowered form have the same value.  What
// is not understood becomes an atom (or condition) without axioms, and so does
// what takes more than kLoweringUnits of work or nests deeper than kMaxDepth:
// the form of an expression is the same each time.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "solver/forms/form_pool.h"

namespace proviso::inline v0_2::internal {

class Lowering {
 public:
  static constexpr uint64_t kLoweringUnits = 100'000;  // sym/budget.h
  static constexpr unsigned kMaxDepth = 24;            // of atoms within atoms

  explicit Lowering(FormPool& forms) : forms_(forms) {}

  Poly integer(Expr e);
  FormulaId condition(Expr e);
  // When every divisor that is reached is not zero, every exponent and shift
  // that is reached not negative, and so on.
  FormulaId defined(Expr e);

 private:
  // A real number as numerator / denominator.
  struct Fraction {
    Poly num, den;
  };
  using MaybeFraction = std::optional<Fraction>;

  // What `lower` makes, or `opaque` where that takes too much.
  template <typename Lower, typename Opaque>
  auto bounded(Expr e, Lower lower, Opaque opaque);
  void lower_arguments(Expr e);

  Poly compute_integer(Expr e);
  Poly extremum(Op op, std::span<const Expr> args);
  Poly opened_sum(Expr e);
  Poly power(Expr e);
  Poly bits(Expr e);
  Poly rounded(Expr e);
  Poly round_half_even(const Fraction& x);
  MaybeFraction fraction(Expr e, int depth = 0);
  MaybeFraction fold_fractions(Expr e, int depth);
  FormulaId compute_condition(Expr e);
  FormulaId relation(Expr e);
  FormulaId integer_relation(Op op, const Poly& difference);
  FormulaId sign_relation(Op op, const Fraction& difference);
  FormulaId opaque_relation(Expr e);
  FormulaId choice(FormulaId c, FormulaId a, FormulaId b);
  FormulaId compute_defined(Expr e);
  FormulaId own_condition(Expr e);
  FormulaId nonzero(Expr divisor);
  FormulaId nonzero_divisors(Expr e);
  FormulaId natural(Expr count);

  FormPool& forms_;
  std::vector<uint32_t> integers_, conditions_, defined_;  // by node id
  int nesting_ = 0;                                        // of calls
};

// The expression that a polynomial is the form of; nullopt when it mentions a
// variable that an equality introduced.
std::optional<Expr> to_expr(ExprPool& pool, FormPool& forms, const Poly& p);

// The normal forms of a pool's expressions: made once, whatever the number of
// contexts.
struct Forms {
  FormPool pool;
  Lowering lower{pool};
  // Of canonical expressions, without facts (sym/cheapest.h).
  std::unordered_map<Expr, Expr, ExprHash> cheapest;

  static Forms& of(ExprPool& expressions);
};

}  // namespace proviso::inline v0_2::internal
