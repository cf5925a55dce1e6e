// Sums of polynomials as values; products of them are in rings_test.cc.
#include "solver/forms/poly.h"

#include <gtest/gtest.h>

#include <cmath>

namespace proviso {
namespace {
using namespace internal;

const Poly x = Poly::term(1, 1), y = Poly::term(2, 1), one = Poly::number(1);

TEST(Poly, SumsOfTheHeader) {
  const Poly p = x * 3 + y - one * 2;
  EXPECT_TRUE(p.content().is_one());
  EXPECT_EQ(p - y, x * 3 - Poly::number(2));
  EXPECT_EQ(add(p, y, 4), x * 3 + y * 5 - Poly::number(2));
  EXPECT_EQ(over(p, 2), x - one);
  EXPECT_EQ(sum({p, -y, one}), x * 3 - one);
}

TEST(Poly, WhatIsNothingIsNoTerm) {
  EXPECT_TRUE((x - x).is_zero());
  EXPECT_TRUE((x * 0).is_zero());
  EXPECT_EQ(Poly::term(1, 0), Poly{});
  EXPECT_EQ(Poly::term(0, 4), Poly::number(4));  // of the monomial 1
  EXPECT_TRUE(sum({x, y, -x, -y}).is_zero());
  EXPECT_EQ(add(x, y, 0), x);
}

TEST(Poly, ContentLeavesTheConstantOut) {
  EXPECT_EQ((x * 6 - y * 4 + one).content(), 2);
  EXPECT_EQ(one.content(), 0);
  EXPECT_TRUE((y - x).leads_negative());
  EXPECT_FALSE((-one).leads_negative());
}

TEST(Poly, CoefficientsAreRoundedDown) {
  for (int c = -9; c <= 9; ++c) {
    for (int k : {-4, -1, 1, 3}) {
      const int low = static_cast<int>(std::floor(c / static_cast<double>(k)));
      EXPECT_EQ(over(x * c + Poly::number(c), k), x * low + Poly::number(low));
    }
  }
}

TEST(Poly, AppendedTermsAreMerged) {
  Poly p = y;
  append(p, 1, 2);
  append(p, 2, -1);
  append(p, 0, 5);
  append(p, 1, 1);
  merge_terms(p);
  EXPECT_EQ(p, x * 3 + Poly::number(5));
}

}  // namespace
}  // namespace proviso
