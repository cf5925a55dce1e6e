// solver/strategies/case_analysis.h - what the domain decides in every case.
//
//   s0 == 1 or s0 == s1       s0 <= s1, in either case, as s1 >= 1
//   max(u0, u1) >= min(u0, u1), whichever is the larger
//
// The proof by cases of any textbook of logic: each case is assumed, the
// domain derives what follows, and the condition must come out alike in all
// that are possible.  Cases of an asserted disjunction about the condition's
// atoms come first, then those of a maximum or conditional within the
// condition, then a divisor's sign; limits().clause_depth of them within one
// another.
//
// The cost is an assumption a case: at most limits().clause_cases of each
// split, so 4 times 4.  Complete where ranges and equalities decide each of
// these cases; what needs a combination of facts within a case is left to
// case-split (splits.h).
#pragma once

#include <optional>

#include "solver/strategies/proof.h"

namespace proviso::inline v0_2::internal {

class CaseAnalysis {
 public:
  explicit CaseAnalysis(Domain& domain)
      : domain_(domain), forms_(domain.forms()) {}

  Decision decide(FormulaId f, uint64_t units);
  // Whether decide() begins with the cases of a disjunction among the facts.
  bool has_asserted_clause(FormulaId f) {
    return asserted_clause(f).has_value();
  }

 private:
  Decision decide(FormulaId f, int depth);
  std::optional<Split> asserted_clause(FormulaId f);
  std::optional<Split> choose(FormulaId f);

  Domain& domain_;
  FormPool& forms_;
};

}  // namespace proviso::inline v0_2::internal
