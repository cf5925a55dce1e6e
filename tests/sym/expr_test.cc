#include "sym/expr.h"

#include <gtest/gtest.h>

#include "sym/polynomial.h"

namespace proviso {
namespace {

class ExprTest : public ::testing::Test {
 protected:
  ExprPool pool;
  Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize, "L['x'].size()[0]");
  Expr u0 = pool.symbol("u0", SymbolKind::kUnbackedInt);
};

template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(ExprTest, EqualStructureIsTheSameHandle) {
  EXPECT_TRUE(s0 + u0 == s0 + u0);
  EXPECT_FALSE(s0 + u0 == u0 + s0);  // make() rewrites nothing
  EXPECT_TRUE(pool.integer(*pow(Int(3), 90)) == pool.integer(*pow(Int(3), 90)));
  size_t before = pool.size();
  (void)floor_div(s0 + u0, s0 + u0);
  EXPECT_EQ(pool.size(), before + 1);
}

TEST_F(ExprTest, ASymbolKeepsItsKindAndSource) {
  EXPECT_TRUE(pool.symbol("s0", SymbolKind::kBackedSize) == s0);
  EXPECT_EQ(s0.symbol().source, "L['x'].size()[0]");
  EXPECT_NE(error_of([&] {
              pool.symbol("s0", SymbolKind::kUnbackedInt);
            }).find("'s0' exists with another kind"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { pool.symbol("", SymbolKind::kBackedInt); }),
            "ExprPool::symbol: the name is empty");
}

TEST_F(ExprTest, WrongArgumentsAreRefusedByNameAndType) {
  EXPECT_EQ(error_of([&] { pool.make(Op::kFloorDiv, {s0}); }),
            "make(FloorDiv): expected 2 arguments, got 1");
  EXPECT_NE(error_of([&] { logical_not(s0); }).find("argument 1 is integer"),
            std::string::npos);
  EXPECT_NE(
      error_of([&] { eq(s0, lt(s0, u0)); }).find("integer beside boolean"),
      std::string::npos);
  ExprPool other;
  Expr foreign = other.symbol("s0", SymbolKind::kBackedSize);
  EXPECT_NE(error_of([&] { (void)(s0 + foreign); }).find("different pools"),
            std::string::npos);
}

TEST_F(ExprTest, MixingAFloatMakesAFloat) {
  Expr half = pool.rational(Rational(1, 2));
  EXPECT_TRUE((s0 * half).is_float());
  EXPECT_TRUE(where(lt(s0, u0), s0, half).is_float());
  EXPECT_TRUE(where(lt(s0, u0), s0, u0).is_int());
}

TEST_F(ExprTest, SubstituteIsSimultaneous) {
  Expr e = s0 + u0 * 2;
  EXPECT_TRUE(substitute(e, {{s0, u0}, {u0, s0}}) == u0 + s0 * 2);
  EXPECT_TRUE(substitute(e, {}) == e);
  ASSERT_EQ(free_symbols(e).size(), 2u);
  EXPECT_TRUE(free_symbols(e)[0] == s0);
}

TEST_F(ExprTest, AProductOfManySumsStaysSmall) {
  Expr product = pool.integer(1);
  for (int i = 0; i < 12; ++i) {
    Expr s = pool.symbol("t" + std::to_string(i), SymbolKind::kBackedSize);
    product = product * (s + 1);
  }
  EXPECT_LE(to_polynomial(product).terms().size(), 64u);
}

}  // namespace
}  // namespace proviso
