// Conditions in canonical form, and their negations: two neighbouring ids,
// whichever was first.
#include "solver/forms/formula_pool.h"

#include <gtest/gtest.h>

#include "solver/forms/form_pool.h"

namespace proviso {
namespace {
using namespace internal;

class Conditions : public ::testing::Test {
 protected:
  Poly symbol(const char* name) {
    return variable(forms_, forms_.atoms.symbol(
                                pool_.symbol(name, SymbolKind::kUnbackedInt)));
  }
  Poly plus(Poly p, int64_t k) {
    p.constant += k;
    return p;
  }

  ExprPool pool_;
  FormPool forms_;
};

TEST_F(Conditions, ABoundAndItsOppositeAreNeighbours) {
  const Poly x = symbol("x"), y = symbol("y");
  for (const Poly& p :
       {plus(x, -3), plus(y - x, 1), plus(-mul(forms_, x, y), 7)}) {
    const Poly opposite = plus(-p, -1);
    const FormulaId f = forms_.formulas.ge(p);
    EXPECT_EQ(forms_.formulas.ge(opposite), negate(f));
    EXPECT_EQ(forms_.formulas.ge(p), f);
    EXPECT_EQ(forms_.polys[forms_.formulas[f].poly], p);
    EXPECT_EQ(forms_.polys[forms_.formulas[negate(f)].poly], opposite);
    EXPECT_EQ(forms_.formulas.eq(p), negate(forms_.formulas.ne(p)));
    EXPECT_EQ(forms_.formulas[forms_.formulas.ne(p)].kind, FormulaKind::kNe);
  }
}

TEST_F(Conditions, ANegationIsMadeWhenItIsLookedAt) {
  const Poly p = plus(symbol("x"), -3);
  const FormulaId f = forms_.formulas.ge(p);
  EXPECT_TRUE(forms_.formulas.is_made(f));
  EXPECT_FALSE(forms_.formulas.is_made(negate(f)));
  const Formula& negation = forms_.formulas[negate(f)];
  EXPECT_EQ(forms_.polys[negation.poly], plus(-p, -1));
  EXPECT_TRUE(forms_.formulas.is_made(negate(f)));
  EXPECT_EQ(forms_.formulas.ge(plus(-p, -1)), negate(f));
}

TEST_F(Conditions, CoefficientsAtTheEdgeOfInt64) {
  const Poly x = symbol("x"), y = symbol("y");
  const Int edge = INT64_MIN;
  Poly p = x * edge + y;
  p.constant = edge;
  Poly opposite = -p;
  opposite.constant -= 1;
  EXPECT_EQ(forms_.formulas.ge(opposite), negate(forms_.formulas.ge(p)));
}

// What whole numbers satisfy, with coefficients that have no common factor.
TEST_F(Conditions, AreRounded) {
  const Poly x = symbol("x"), y = symbol("y");
  for (int a = -4; a <= 4; ++a) {
    for (int c = -9; c <= 9; ++c) {
      const Poly p = plus(x * a, c);
      const FormulaId ge = forms_.formulas.ge(p), eq = forms_.formulas.eq(p);
      for (int value = -20; value <= 20; ++value) {
        const auto holds = [&](FormulaId f) {
          if (f <= kTrue) return f == kTrue;
          const Formula& formula = forms_.formulas[f];
          const Poly& q = forms_.polys[formula.poly];
          EXPECT_TRUE(q.content().is_one());
          const Int of_q = q.terms[0].coef * value + q.constant;
          return formula.kind == FormulaKind::kGe ? of_q.sign() >= 0
                                                  : of_q.is_zero();
        };
        EXPECT_EQ(holds(ge), a * value + c >= 0) << a << ", " << c;
        EXPECT_EQ(holds(eq), a * value + c == 0) << a << ", " << c;
      }
    }
  }
  EXPECT_EQ(forms_.formulas.eq(plus(x * 2 + y * 4, 1)), kFalse);
  EXPECT_EQ(forms_.formulas.eq(x - y), forms_.formulas.eq(y * 3 - x * 3));
}

TEST_F(Conditions, ConnectivesAndTheirNegations) {
  const FormulaId a = forms_.formulas.ge(symbol("x")),
                  b = forms_.formulas.eq(symbol("y"));
  const FormulaId both = forms_.formulas.all_of({a, b});
  EXPECT_EQ(forms_.formulas.any_of({negate(a), negate(b)}), negate(both));
  EXPECT_EQ(forms_.formulas[negate(both)].kind, FormulaKind::kOr);
  EXPECT_NE(forms_.formulas.any_of({a, b}), both);
  EXPECT_NE(forms_.formulas.any_of({a, b}), negate(both));
  EXPECT_EQ(forms_.formulas.all_of({a, negate(a)}), kFalse);
  EXPECT_EQ(forms_.formulas.any_of({a, negate(a)}), kTrue);
  EXPECT_EQ(forms_.formulas.all_of({b, kTrue, a, b}), both);
  EXPECT_EQ(forms_.formulas.all_of({a, kFalse}), kFalse);
  EXPECT_EQ(forms_.formulas.any_of({}), kFalse);
  const FormulaId c = forms_.formulas.opaque(pool_.boolean(true), true);
  EXPECT_EQ(forms_.formulas.all_of({both, c}),
            forms_.formulas.all_of({c, forms_.formulas.all_of({b, a})}));
  EXPECT_NE(forms_.formulas.opaque(pool_.boolean(true), false), c);
  EXPECT_EQ(forms_.formulas.depth(both), 3u);  // of conditions of an atom
  EXPECT_EQ(forms_.occurrences.of_formula(negate(both)),
            forms_.occurrences.of_formula(both));
}

}  // namespace
}  // namespace proviso
