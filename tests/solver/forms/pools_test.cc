// The pools of atoms, monomials and polynomials: equal things have one number,
// and what is read of a number is what its header says.
#include <gtest/gtest.h>

#include <set>

#include "solver/forms/operations.h"

namespace proviso {
namespace {
using namespace internal;

TEST(MonomialPool, EqualProductsAreOneNumber) {
  MonomialPool pool;
  // All products of up to three of four atoms, by their factors.
  std::vector<Factors> all = {{}};
  for (size_t from = 0, degree = 0; degree < 3; ++degree) {
    const size_t end = all.size();
    for (; from < end; ++from) {
      for (AtomId a = all[from].empty() ? 0 : all[from].back(); a < 4; ++a) {
        Factors more = all[from];
        more.push_back(a);
        all.push_back(more);
      }
    }
  }
  std::set<MonoId> ids;
  for (const Factors& f : all) {
    const MonoId m = pool.of(f);
    ids.insert(m);
    EXPECT_EQ(pool.of(f), m);
    EXPECT_EQ(pool.factors(m), f);
    EXPECT_EQ(pool.single(m), f.size() == 1 ? f[0] : kNoId);
  }
  EXPECT_EQ(ids.size(), all.size());
  EXPECT_EQ(pool.of(Factors{}), 0u);
  EXPECT_EQ(pool.of(AtomId{2}), pool.of(Factors{2}));
}

TEST(MonomialPool, ProductsQuotientsAndTheirOrder) {
  MonomialPool pool;
  const MonoId x = pool.of(AtomId{0}), y = pool.of(AtomId{1});
  std::vector<MonoId> some = {0, x, y};
  for (MonoId a : {x, y}) {
    for (MonoId b : {x, y}) some.push_back(pool.product(a, b));
  }
  for (MonoId a : some) {
    for (MonoId b : some) {
      const MonoId ab = pool.product(a, b);
      EXPECT_EQ(pool.product(b, a), ab);
      EXPECT_EQ(pool.quotient(ab, b), a);
      EXPECT_EQ(pool.factors(ab).size(),
                pool.factors(a).size() + pool.factors(b).size());
      EXPECT_FALSE(pool.leads(a, b) && pool.leads(b, a));
      EXPECT_EQ(pool.leads(a, b) || pool.leads(b, a), a != b);
      for (MonoId c : some) {  // the order is that of products
        if (!pool.leads(a, b)) continue;
        EXPECT_TRUE(pool.leads(pool.product(a, c), pool.product(b, c)));
      }
    }
  }
  EXPECT_TRUE(pool.leads(pool.product(y, y), x));  // of a higher degree
  EXPECT_EQ(pool.quotient(x, y), kNoId);
  EXPECT_EQ(pool.quotient(x, pool.product(x, x)), kNoId);
}

TEST(PolyPool, APrimitivePartStandsForItsMultiples) {
  PolyPool pool;
  const MonoId x = 1, y = 2;
  for (int a = -6; a <= 6; ++a) {
    for (int b = -6; b <= 6; ++b) {
      if (a == 0 && b == 0) continue;
      const Poly p = Poly::term(x, a) + Poly::term(y, b) + Poly::number(5);
      const PrimitivePart split = pool.primitive_part(p);
      EXPECT_EQ(pool[split.part] * split.content + Poly::number(5), p);
      EXPECT_TRUE(pool[split.part].constant.is_zero());
      EXPECT_TRUE(pool[split.part].content().is_one());
      EXPECT_FALSE(pool[split.part].leads_negative());
      EXPECT_EQ(pool.primitive_part(-p).part, split.part);
      EXPECT_EQ(pool.primitive_part(pool.id_of(p)).part, split.part);
    }
  }
}

TEST(PolyPool, FindsTheOppositeOfWhatItHas) {
  PolyPool pool;
  const Poly p = Poly::term(1, 2) + Poly::number(-7);
  const Poly opposite = -p - Poly::number(1);
  EXPECT_EQ(pool.find_negation(p), kNoId);
  const PolyId id = pool.id_of(opposite);
  EXPECT_EQ(pool.find_negation(p), id);
  EXPECT_NE(pool.id_of(p), id);
  EXPECT_EQ(pool.find_negation(opposite), pool.id_of(p));
  EXPECT_EQ(pool.find_negation(p + Poly::number(1)), kNoId);
}

TEST(AtomPool, DepthIsThatOfTheDeepestPart) {
  TermPool terms;
  const AtomId x = terms.atoms.fresh(0, 0), y = terms.atoms.fresh(0, 1);
  EXPECT_NE(x, y);
  EXPECT_EQ(terms.atoms.fresh(0, 0), x);
  EXPECT_TRUE(terms.atoms.is_variable(x));
  Poly p = variable(terms, x);
  EXPECT_EQ(terms.depth(Poly::number(4)), 0u);
  for (unsigned depth = 1; depth < 300; ++depth) {
    ASSERT_EQ(terms.depth(p), std::min(depth, 255u));
    ASSERT_EQ(terms.depth(p * 3 + variable(terms, y)), terms.depth(p));
    p = func(terms, Op::kBitAnd, variable(terms, y), p);
  }
  EXPECT_FALSE(terms.atoms.is_variable(*as_atom(terms, p)));
}

}  // namespace
}  // namespace proviso
