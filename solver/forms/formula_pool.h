// solver/forms/formula_pool.h - conditions in canonical form, as numbers.
//
//   FormulaId f = formulas.ge(2*x - 3);        x - 2 >= 0: rounded
//   formulas.ge(1 - x) == negate(f)            neighbours: the last bit differs
//   formulas.all_of({f, negate(f)})            kFalse
//   formulas.eq(2*x + 1)                       kFalse: no whole number
//
// A condition is p >= 0, p == 0 or p != 0 under And and Or, with negation
// pushed in.  Coefficients have no common factor; what a sum of remainders
// decides (floors.h) is decided here: by the rules of relations of any
// polynomials (sym/relations.h), which cost a pass over the terms, and those
// about ends once for each polynomial.  A negation is made when it is first
// looked at.
#pragma once

#include <vector>

#include "solver/forms/term_pool.h"
#include "sym/rewrite_rule.h"

namespace proviso::inline v0_2::internal {

inline constexpr FormulaId kFalse = 0, kTrue = 1;
inline FormulaId negate(FormulaId f) { return f ^ 1; }

enum class FormulaKind : uint8_t {
  kConstantFalse,
  kConstantTrue,
  kGe,
  kEq,
  kNe,
  kAnd,
  kOr,
  kOpaque
};

struct Formula {
  FormulaKind kind;
  PolyId poly = kNoId;               // kGe, kEq, kNe: against 0
  std::vector<FormulaId> kids = {};  // kAnd, kOr: sorted
  Expr expr = {};                    // kOpaque: a condition not understood, or
  bool about_definedness = false;    //   that `expr` is defined
  bool positive = true;
  bool is_made = true;  // false in a negation's place until it is looked at
  friend bool operator==(const Formula&, const Formula&) = default;
};

class FormulaPool {
 public:
  explicit FormulaPool(TermPool& terms);

  FormulaId ge(const Poly& p);
  FormulaId eq(const Poly& p);
  FormulaId ne(const Poly& p) { return negate(eq(p)); }
  FormulaId relation(FormulaKind kind, const Poly& p);  // one of these
  FormulaId all_of(std::vector<FormulaId> kids);
  FormulaId any_of(std::vector<FormulaId> kids);
  FormulaId opaque(Expr e, bool about_definedness);

  const Formula& operator[](FormulaId f) {
    return is_made(f) ? formulas_[f] : make_negation(f);
  }
  // False of negations that nobody looked at yet.
  bool is_made(FormulaId f) const { return formulas_[f].is_made; }
  unsigned depth(FormulaId f) const { return depth_[f >> 1]; }

 private:
  FormulaId add(const Formula& formula);
  FormulaId intern(const Formula& formula);
  const Formula& make_negation(FormulaId f);
  FormulaId connect(FormulaKind kind, std::vector<FormulaId> kids);

  TermPool& terms_;
  StableVector<Formula> formulas_;
  InternIndex index_;           // of those that are no relations
  std::vector<uint8_t> depth_;  // by formula without the last bit
};

// The rules of p >= 0, of p == 0 and of And and Or, with how often each was
// used.
std::vector<RewriteRuleCount> nonneg_form_rule_counts();
std::vector<RewriteRuleCount> zero_form_rule_counts();
std::vector<RewriteRuleCount> junction_form_rule_counts();

}  // namespace proviso::inline v0_2::internal
