// solver/lower.h - expressions to the solver's normal form.
//
//   Lowering lower(forms);
//   FormulaId f = lower.condition(parse(pool, "Eq(Mod(s0, 4), 0)"));
//   FormulaId d = lower.defined(parse(pool, "4//u0 > 1"));      // u0 != 0
//
// Where `defined(e)` holds, e and its lowered form have the same value.  What
// is not understood becomes an atom (or condition) without axioms, and so does
// what takes more than fixed::lowering_units of work or nests deeper than
// fixed::atom_depth: the form of an expression is the same each time.
//
// This class remembers forms, and bounds the work and the depth of making one.
// What an operator becomes is said in solver/lowering/, which asks for the
// forms of arguments here.
#pragma once

#include <unordered_map>
#include <vector>

#include "solver/forms/form_pool.h"

namespace proviso::inline v0_2::internal {

class Lowering {
 public:
  explicit Lowering(FormPool& forms) : forms_(forms) {}

  Poly integer(Expr e);
  FormulaId condition(Expr e);
  // When every divisor that is reached is not zero, every exponent and shift
  // that is reached not negative, and so on.
  FormulaId defined(Expr e);

  FormPool& forms() { return forms_; }

 private:
  // What `lower` makes, or `opaque` where that takes too much.
  template <typename Lower, typename Opaque>
  auto bounded(Expr e, Lower lower, Opaque opaque);
  void lower_arguments(Expr e);

  FormPool& forms_;
  std::vector<uint32_t> integers_, conditions_, defined_;  // by node id
  int nesting_ = 0;                                        // of calls
};

// The normal forms of a pool's expressions: made once, whatever the number of
// contexts.
struct Forms {
  FormPool pool;
  Lowering lower{pool};
  // The cheapest forms of canonical expressions without facts (sym/simplify.h).
  std::unordered_map<Expr, Expr, ExprHash> cheapest;

  static Forms& of(ExprPool& expressions);
};

}  // namespace proviso::inline v0_2::internal
