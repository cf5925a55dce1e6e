#include "sym/expr.h"

#include <gtest/gtest.h>

#include "sym/parse.h"
#include "sym/polynomial.h"
#include "sym/print.h"

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
}

// What it is asked for by text must be what was made.
TEST_F(ExprTest, ASymbolHasANameThatParseReadsBack) {
  for (const std::string name :
       {"n", "_", "_n1", "s9", "Mod", "Symbol", "Integer", "backed_int",
        "ExprCondPair", "i", "a_b", "Infinity", "none"}) {
    const Expr s = pool.symbol(name, SymbolKind::kBackedInt);
    EXPECT_EQ(parse(pool, name), s) << name;
    EXPECT_EQ(parse(pool, to_string(s + s0 * 2)), s + s0 * 2) << name;
  }
  const size_t before = pool.size();
  for (const std::string name :
       {"",     "a b",  "a;b",   "q\"",   "n\n",    "\xc3\xa9", "\xff", "3",
        "3n",   "a\\",  "x.y",   "if",    "and",    "None",     "oo",   "nan",
        "True", "true", "False", "false", "int_oo", "a-b",      "(n)",  "n "}) {
    const std::string error =
        error_of([&] { pool.symbol(name, SymbolKind::kBackedInt); });
    EXPECT_EQ(error.find("ExprPool::symbol: '"), 0u) << name << ": " << error;
    EXPECT_NE(error.find("is not a symbol's name; a name is"),
              std::string::npos);
    EXPECT_FALSE(pool.find_symbol(name)) << name;
  }
  const std::string nul("n\0m", 3);
  EXPECT_NE(error_of([&] { pool.symbol(nul, SymbolKind::kBackedInt); }), "");
  const std::string most(1 << 16, 'n');
  EXPECT_TRUE(pool.symbol(most, SymbolKind::kBackedInt).is_symbol());
  const std::string error =
      error_of([&] { pool.symbol(most + "n", SymbolKind::kBackedInt); });
  EXPECT_NE(error, "");
  EXPECT_LT(error.size(), 500u);
  EXPECT_EQ(pool.size(), before + 1);
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
