// Conditions and their negations: two neighbouring ids, whichever was first.
#include <gtest/gtest.h>

#include "solver/form.h"
#include "sym/expr.h"

namespace proviso {
namespace {
using namespace internal;

class Negations : public ::testing::Test {
 protected:
  Poly symbol(const char* name) {
    return forms_.variable(
        forms_.symbol(pool_.symbol(name, SymbolKind::kUnbackedInt)));
  }
  Poly plus(Poly p, int64_t k) {
    p.constant += k;
    return p;
  }

  ExprPool pool_;
  FormPool forms_;
};

TEST_F(Negations, ABoundAndItsOppositeAreNeighbours) {
  const Poly x = symbol("x"), y = symbol("y");
  for (const Poly& p : {plus(x, -3), plus(forms_.sub(y, x), 1),
                        plus(forms_.scale(forms_.mul(x, y), -1), 7)}) {
    const Poly opposite = plus(forms_.scale(p, -1), -1);
    const FormulaId f = forms_.ge(p);
    EXPECT_EQ(forms_.ge(opposite), FormPool::negate(f));
    EXPECT_EQ(forms_.ge(p), f);
    EXPECT_EQ(forms_.poly(forms_.formula(f).poly), p);
    EXPECT_EQ(forms_.poly(forms_.formula(FormPool::negate(f)).poly), opposite);
    EXPECT_EQ(forms_.eq(p), forms_.negate(forms_.ne(p)));
    EXPECT_EQ(forms_.formula(forms_.ne(p)).kind, FormulaKind::kNe);
  }
}

TEST_F(Negations, ANegationIsMadeWhenItIsLookedAt) {
  const Poly p = plus(symbol("x"), -3);
  const FormulaId f = forms_.ge(p);
  EXPECT_TRUE(forms_.is_made(f));
  EXPECT_FALSE(forms_.is_made(FormPool::negate(f)));
  const Formula& negation = forms_.formula(FormPool::negate(f));
  EXPECT_EQ(forms_.poly(negation.poly), plus(forms_.scale(p, -1), -1));
  EXPECT_TRUE(forms_.is_made(FormPool::negate(f)));
  EXPECT_EQ(forms_.ge(plus(forms_.scale(p, -1), -1)), FormPool::negate(f));
}

TEST_F(Negations, CoefficientsAtTheEdgeOfInt64) {
  const Poly x = symbol("x"), y = symbol("y");
  const Int edge = INT64_MIN;
  Poly p = forms_.add(forms_.scale(x, edge), y);
  p.constant = edge;
  Poly opposite = forms_.scale(p, -1);
  opposite.constant -= 1;
  EXPECT_EQ(forms_.ge(opposite), FormPool::negate(forms_.ge(p)));
}

TEST_F(Negations, ConnectivesAndTheirNegations) {
  const FormulaId a = forms_.ge(symbol("x")), b = forms_.eq(symbol("y"));
  const FormulaId both = forms_.all_of({a, b});
  EXPECT_EQ(forms_.any_of({FormPool::negate(a), FormPool::negate(b)}),
            FormPool::negate(both));
  EXPECT_EQ(forms_.formula(FormPool::negate(both)).kind, FormulaKind::kOr);
  EXPECT_NE(forms_.any_of({a, b}), both);
  EXPECT_NE(forms_.any_of({a, b}), FormPool::negate(both));
  EXPECT_EQ(forms_.all_of({a, FormPool::negate(a)}), kFalse);
  EXPECT_EQ(forms_.any_of({a, FormPool::negate(a)}), kTrue);
  EXPECT_EQ(forms_.atoms_of_formula(FormPool::negate(both)),
            forms_.atoms_of_formula(both));
}

}  // namespace
}  // namespace proviso
