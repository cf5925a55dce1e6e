// What sym/polynomial_ring.h computes, of both kinds of polynomials: each
// result has the value that its statement says at random points, and is in
// order.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "solver/forms/form_ring.h"
#include "sym/operators.h"

namespace proviso {
namespace {
using namespace internal;

constexpr size_t kAtoms = 3;
using Point = std::vector<Int>;  // by atom

// The polynomials of expressions, over x, y and z.
struct Expressions {
  using Ring = ExprRing;
  Ring ring() { return {}; }
  Monomial atom(size_t i) { return {symbols[i]}; }
  size_t index(Expr e) {
    return static_cast<size_t>(std::find(symbols.begin(), symbols.end(), e) -
                               symbols.begin());
  }
  ExprPool pool;
  std::vector<Expr> symbols = {pool.symbol("x", SymbolKind::kUnbackedInt),
                               pool.symbol("y", SymbolKind::kUnbackedInt),
                               pool.symbol("z", SymbolKind::kUnbackedInt)};
};

// The solver's.
struct Forms {
  using Ring = FormRing;
  Ring ring() { return Ring(terms); }
  MonoId atom(size_t i) {
    return terms.monomials.of(terms.atoms.fresh(0, static_cast<uint32_t>(i)));
  }
  size_t index(AtomId a) { return terms.atoms[a].b; }
  TermPool terms;
};

template <typename Made>
class Rings : public ::testing::Test {
 protected:
  using Ring = typename Made::Ring;
  using Poly = typename Ring::Poly;

  int below(int n) {
    return static_cast<int>(random_() % static_cast<unsigned>(n));
  }
  Point point() {
    Point at;
    for (size_t i = 0; i < kAtoms; ++i) at.push_back(below(11) - 5);
    return at;
  }
  // Up to five terms of a degree up to 2.
  Poly poly() {
    Poly p = Ring::number(below(7) - 3);
    for (int n = below(5); n > 0; --n) {
      Poly term = ring().times(Ring::number(1), atom(), below(9) - 4);
      if (below(2) == 0) term = ring().times(term, atom(), 1);
      p = ring().add(p, term, 1);
    }
    return p;
  }
  Int value(const Poly& p, const Point& at) {
    Int sum = 0;
    Ring::each(p, [&](const auto& m, const Int& c) {
      Int product = c;
      for (const auto& a : ring().factors(m)) product *= at[made_.index(a)];
      sum += product;
      return true;
    });
    return sum;
  }
  // Sorted, each monomial once, none with 0.
  bool is_in_order(const Poly& p) {
    std::optional<typename Ring::Monomial> last;
    return Ring::each(p, [&](const auto& m, const Int& c) {
      const bool fits = !c.is_zero() &&
                        (!last || Ring::is_one(m) || Ring::order(*last, m) < 0);
      last = m;
      return fits;
    });
  }
  auto atom() { return made_.atom(static_cast<size_t>(below(kAtoms))); }
  Ring ring() { return made_.ring(); }
  size_t index(const auto& a) { return made_.index(a); }

 private:
  Made made_;
  std::mt19937 random_{7};
};

using Kinds = ::testing::Types<Expressions, Forms>;
TYPED_TEST_SUITE(Rings, Kinds);

TYPED_TEST(Rings, SumsAreMerged) {
  using Ring = typename TestFixture::Ring;
  for (int i = 0; i < 2000; ++i) {
    const auto p = this->poly(), q = this->poly();
    const Int k = this->below(5) - 2;
    const auto sum = this->ring().add(p, q, k);
    const Point at = this->point();
    ASSERT_EQ(this->value(sum, at),
              this->value(p, at) + k * this->value(q, at));
    ASSERT_TRUE(this->is_in_order(sum));
    ASSERT_TRUE(this->ring().add(p, p, -1).is_zero());
    ASSERT_LE(Ring::size(sum), Ring::size(p) + Ring::size(q));
  }
}

TYPED_TEST(Rings, ValuesAreSubstituted) {
  using Poly = typename TestFixture::Poly;
  int changed = 0, stayed = 0;
  for (int i = 0; i < 2000; ++i) {
    const Poly p = this->poly();
    std::vector<std::optional<Poly>> values(kAtoms);
    for (auto& of_atom : values) {
      if (this->below(2) == 0) of_atom = this->poly();
    }
    const Point at = this->point();
    Point moved = at;
    for (size_t a = 0; a < kAtoms; ++a) {
      if (values[a]) moved[a] = this->value(*values[a], at);
    }
    Poly result;
    const bool any = substitute_atoms(
        this->ring(), p,
        [&](const auto& a) -> const Poly* {
          const auto& of_atom = values[this->index(a)];
          return of_atom ? &*of_atom : nullptr;
        },
        result);
    ++(any ? changed : stayed);
    ASSERT_EQ(this->value(any ? result : p, at), this->value(p, moved));
    ASSERT_TRUE(this->is_in_order(result));
    ASSERT_TRUE(any || result.is_zero());
  }
  EXPECT_GT(changed, 500);
  EXPECT_GT(stayed, 500);
}

TYPED_TEST(Rings, ProductsAndTheirQuotients) {
  using Poly = typename TestFixture::Poly;
  for (int i = 0; i < 2000; ++i) {
    const Poly p = this->poly(), q = this->poly();
    const Poly product = product_of(this->ring(), p, q);
    const Point at = this->point();
    ASSERT_EQ(this->value(product, at),
              this->value(p, at) * this->value(q, at));
    ASSERT_TRUE(this->is_in_order(product));
    if (q.is_constant()) continue;
    const auto quotient = exact_quotient_of(this->ring(), product, q);
    ASSERT_TRUE(quotient && *quotient == p);
    const auto other = exact_quotient_of(this->ring(), p, q);
    if (!other) continue;
    ASSERT_EQ(this->value(*other, at) * this->value(q, at), this->value(p, at));
  }
}

TYPED_TEST(Rings, FactorsAndMultiplesOfATerm) {
  using Ring = typename TestFixture::Ring;
  using Poly = typename TestFixture::Poly;
  for (int i = 0; i < 2000; ++i) {
    const auto m = this->atom();
    const Int k = 1 + this->below(3);
    const Poly p = this->poly();
    const Point at = this->point();
    const Poly term = this->ring().times(Ring::number(1), m, k);
    const auto taken = multiples_of_term(this->ring(), p, m, k, i % 2 == 0);
    ASSERT_EQ(this->value(p, at),
              this->value(term, at) * this->value(taken.outside, at) +
                  this->value(taken.rest, at));
    const Poly product = this->ring().mul(term, p);
    const auto without = without_monomial(this->ring(), product, m);
    ASSERT_TRUE(without && *without == this->ring().scaled(p, k));
    const Poly more = Ring::add(product, Ring::number(1), 1);
    ASSERT_FALSE(without_monomial(this->ring(), more, m));
    if (p.is_zero()) continue;
    const auto common = common_factors(this->ring(), product, term);
    ASSERT_EQ(this->ring().monomial(common), m);
  }
}

}  // namespace
}  // namespace proviso
