// sym/write_sum.h - a polynomial as the cheapest sum found: floors with what is
// added to them in their numerators, common factors taken out, a term with a
// plus sign first.  Not for callers of the library.
//
//   2*x + (2*x + y)//5   ->  (12*x + y)//5
//   x*y + x*z + 2*x      ->  x*(y + z + 2)
//   x - (15*x)//16       ->  CeilDiv(x, 16)
#pragma once

#include <unordered_set>

#include "sym/form_search.h"

namespace proviso::inline v0_2::internal {

class SumWriter {
 public:
  explicit SumWriter(FormSearch& search)
      : search_(search), pool_(search.pool()) {}

  Expr write(const Polynomial& p);

 private:
  struct Term {
    Int coefficient;
    Expr body;  // null: 1
  };

  Polynomial gather(Polynomial p, Expr floor);
  std::vector<Polynomial> rewritten_floor(const Int& coefficient,
                                          const Polynomial& numerator,
                                          Expr divisor);
  Polynomial with_positive_remainders(Polynomial p);
  Polynomial finished(Expr e, const Int& coefficient);
  Expr factored(const Polynomial& p, int depth);
  Expr content_out(const Polynomial& p, int depth);
  Expr atom_out(const Polynomial& p, Expr atom, int depth);
  Expr coefficient_out(const Polynomial& p, const Int& c, int depth);
  Expr cheaper(Expr a, Expr b);
  Expr flat(const Polynomial& p);
  Expr sum_of(std::vector<Term> terms);
  Expr product_of(const Int& c, std::vector<Expr> factors);
  std::vector<Term> terms_of(const Polynomial& p);
  Expr body_of(const Monomial& monomial);
  Expr written(Expr atom);

  FormSearch& search_;
  ExprPool& pool_;
  std::unordered_set<uint32_t> finished_;  // atoms that stay as they are
};

}  // namespace proviso::inline v0_2::internal
