#include "sym/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "sym/budget.h"
#include "sym/canonical.h"
#include "sym/definition.h"
#include "sym/parse.h"
#include "tests/support/random_expr.h"

namespace proviso {
namespace {

class PrintTest : public ::testing::Test {
 protected:
  Expr p(std::string_view text) { return parse(pool, text); }

  ExprPool pool;
  Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize);
  Expr s1 = pool.symbol("s1", SymbolKind::kBackedSize);
  Expr u0 = pool.symbol("u0", SymbolKind::kUnbackedInt);
  Expr zf0 = pool.symbol("zf0", SymbolKind::kBackedFloat);
};

// Each text is its own expression's text.
TEST_F(PrintTest, TheTorchFormComesBackLetterForLetter) {
  for (const char* text : {"s0 + 2*u0 - 1",
                           "-s0 + u0",
                           "-2*s0 - u0*s1 - 3",
                           "s0**2",
                           "(s0//2)",
                           "((s0 + 1)//2)",
                           "((2*s0)//3)",
                           "4*(s0//4)",
                           "(s0//2)**2",
                           "Mod(s0, 4)",
                           "PythonMod(u0, 4)",
                           "CleanDiv(s0, 2)",
                           "ModularIndexing(u0, 2, 3)",
                           "Eq(s0, u0)",
                           "Ne(s0, 1)",
                           "s0 < u0",
                           "s0 <= u0",
                           "u0 >= 0",
                           "u0 > 3",
                           "u0 < 3",
                           "s0 + 1 < 2*u0",
                           "~(s0 < u0)",
                           "(s0 < 3) & (u0 > 1)",
                           "(s0 < 3) | ((u0 > 1) & (Eq(s0, 2)))",
                           "Max(s0, u0)",
                           "Min(1, s0, u0)",
                           "Where(s0 < 3, s0, u0)",
                           "Abs(u0)",
                           "-(s0 + 1)",
                           "s0 - (u0 - 1)",
                           "s0*(u0 + 1)",
                           "s0 - (s0*u0)",
                           "(s0 + u0)**2",
                           "(-2)**s0",
                           "-s0**2",
                           "ToFloat(s0)",
                           "IntTrueDiv(s0, 2)",
                           "zf0 + 0.5",
                           "zf0 - 0.1",
                           "-0.5*zf0",
                           "Rational(1, 3)*zf0",
                           "Eq(zf0, 1.0e-12)",
                           "2.0",
                           "1.0e20",
                           "LShift(s0, 2)",
                           "BitwiseFn_bitwise_and(s0, 7)",
                           "True",
                           "False",
                           "Pow(zf0, 2)",
                           "FloatPow(zf0, 2)",
                           "OpaqueUnaryFn_sqrt(s0)",
                           "s0 + -1*2*u0",
                           "Add(s0)",
                           "-s0*u0",
                           "s0*(-u0)",
                           "-(-s0)"}) {
    EXPECT_EQ(to_string(p(text)), text);
  }
}

TEST_F(PrintTest, StreamsPrintTheTorchForm) {
  std::ostringstream out;
  out << p("s0 + 1");
  EXPECT_EQ(out.str(), "s0 + 1");
}

TEST_F(PrintTest, RandomRawAndCanonicalExpressionsComeBackTheSame) {
  uint32_t seed = testing::seed_or(20260101);
  SCOPED_TRACE("PROVISO_SEED=" + std::to_string(seed));
  testing::RandomExpr random(pool, {s0, s1, u0}, seed);
  for (int i = 0; i < 4000; ++i) {
    Expr e = i % 2 ? random.boolean(4) : random.integer(4);
    ASSERT_EQ(p(to_string(e)), e) << to_string(e);
    const Expr form = canonical(e);
    ASSERT_EQ(p(to_string(form)), form) << to_string(form);
  }
}

// Constants and signs in every place of sums and products.
TEST_F(PrintTest, EverySmallSumAndProductComesBackTheSame) {
  std::vector<Expr> terms = {pool.integer(-2),
                             pool.integer(-1),
                             pool.integer(0),
                             pool.integer(1),
                             s0,
                             pool.rational(Rational(-1)),
                             pool.rational(Rational(1, 3))};
  std::vector<Expr> level = terms;
  auto grow = [&](std::vector<Expr> from) {
    for (Op op : {Op::kAdd, Op::kMul}) {
      for (Expr a : from) {
        for (Expr b : from) level.push_back(pool.make(op, {a, b}));
      }
    }
  };
  grow(terms);
  size_t first = level.size();
  grow(level);
  ASSERT_GT(level.size(), first);
  for (Expr e : level) ASSERT_EQ(p(to_string(e)), e) << to_string(e);
  for (Expr a : terms) {
    for (Expr b : terms) {
      for (Expr c : terms) {
        for (Op op : {Op::kAdd, Op::kMul}) {
          Expr e = pool.make(op, {a, b, c});
          for (Expr whole : {e, -e, s0 - e, e + 1, e * e}) {
            ASSERT_EQ(p(to_string(whole)), whole) << to_string(whole);
          }
        }
      }
    }
  }
}

struct Row {
  const char* in;
  const char* out;
};

TEST_F(PrintTest, PythonTextUsesOperators) {
  for (Row row : std::initializer_list<Row>{
           {"Eq(s0 + 1, 2*u0)", "s0 + 1 == 2*u0"},
           {"Ne(Mod(s0, 4), 0)", "s0 % 4 != 0"},
           {"Mod(s0 + 1, 4)*2", "((s0 + 1) % 4)*2"},
           {"(s0//2)", "s0//2"},
           {"2*(s0//2)", "2*(s0//2)"},
           {"s0//(2*u0)", "s0//(2*u0)"},
           {"(s0 < 3) & (u0 < 3) | ~(s0 < u0)",
            "s0 < 3 and u0 < 3 or not (s0 < u0)"},
           {"Max(s0, u0, 1)", "max(s0, u0, 1)"},
           {"Where(s0 < 3, s0, u0)", "(s0 if s0 < 3 else u0)"},
           {"TruncToInt(s0/2)", "math.trunc(s0 / 2)"},
           {"CeilDiv(s0, 2)", "-(-s0//2)"},
           {"ModularIndexing(u0, 2, 3)", "u0//2 % 3"},
           {"LShift(s0, 2) & 7", "s0 << 2 & 7"},
           {"u0 >= 0", "u0 >= 0"},
           {"Eq(s0 < 3, u0 < 3)", "(s0 < 3) == (u0 < 3)"},
           {"sqrt(s0)", "math.sqrt(s0)"},
           {"Eq(zf0, Rational(1, 3))", "zf0 == (1/3)"}}) {
    EXPECT_EQ(to_python(p(row.in)), row.out);
  }
}

TEST_F(PrintTest, ChecksAreCallsOfTorchCheckWithTheCallersNames) {
  EXPECT_EQ(to_check(p("u0 >= 0")), "torch._check(u0 >= 0)");
  auto shapes = [](Expr) { return std::string("x.shape[0]"); };
  EXPECT_EQ(to_check(p("Eq(Mod(s0, 8), 0)"), shapes),
            "torch._check(x.shape[0] % 8 == 0)");
  EXPECT_THROW(to_check(s0), Error);
}

TEST_F(PrintTest, ChecksAskNoSymbolicNumberForItsTruth) {
  for (Row row : std::initializer_list<Row>{
           {"Eq(u0, 0) | (u0 >= 8)", "torch._check((u0 == 0) | (u0 >= 8))"},
           {"(u0 > 1) & (s0 > 1)", "torch._check((u0 > 1) & (s0 > 1))"},
           {"Min(u0, 8, s0) >= 2",
            "torch._check(torch.sym_min(u0, torch.sym_min(8, s0)) >= 2)"},
           {"~(Eq(u0, 0) & Eq(s0, 0))",
            "torch._check(torch.sym_not((u0 == 0) & (s0 == 0)))"},
           {"ToFloat(u0)*0.5 > 2.5",
            "torch._check(torch.sym_float(u0)*0.5 > 2.5)"},
           {"FloatPow(ToFloat(u0), 0.5) < 4.5",
            "torch._check(torch.sym_float(u0)**0.5 < 4.5)"},
           {"OpaqueUnaryFn_sqrt(ToFloat(u0)) < 4.5",
            "torch._check(torch._sym_sqrt(torch.sym_float(u0)) < 4.5)"},
           {"Where(u0 > 2, u0, s0) > 1",
            "torch._check(torch.sym_ite(u0 > 2, u0, s0) > 1)"},
           {"Where(u0 > 2, u0, 3) > 1",
            "torch._check((u0 if u0 > 2 else 3) > 1)"}}) {
    EXPECT_EQ(to_check(p(row.in)), row.out);
  }
}

TEST_F(PrintTest, SmtTextKeepsPythonsDivision) {
  for (Row row : std::initializer_list<Row>{
           {"Eq(s0 + 1, 2*u0)", "(= (+ s0 1) (* 2 u0))"},
           {"s0//2", "(div s0 2)"},
           {"u0//(-2)", "(div (- u0) 2)"},
           {"Mod(u0, -2)", "(- (mod (- u0) 2))"},
           {"u0//s0", "(ite (> s0 0) (div u0 s0) (div (- u0) (- s0)))"},
           {"Max(s0, u0)", "(ite (>= s0 u0) s0 u0)"},
           {"Abs(s0 - 4)",
            "(let ((let!0 (+ s0 (- 4)))) (ite (>= let!0 0) let!0 (- let!0)))"},
           {"s0**3", "(* s0 s0 s0)"},
           {"Ne(s0, u0)", "(not (= s0 u0))"},
           {"s0/2 < zf0", "(< (/ (to_real s0) 2.0) zf0)"},
           {"Eq(zf0, -0.5)", "(= zf0 (- (/ 1.0 2.0)))"},
           {"math.floor(zf0)", "(to_int zf0)"}}) {
    EXPECT_EQ(to_smtlib(p(row.in)), row.out);
  }
  for (const char* text : {"s0 & 7", "sqrt(s0)", "2**s0", "zf0**2.5"}) {
    EXPECT_THROW(to_smtlib(p(text)), Error) << text;
  }
}

TEST_F(PrintTest, SreprIsWhatSymPyWrites) {
  for (Row row : std::initializer_list<Row>{
           {"s0", "Symbol('s0', nonnegative=True, integer=True)"},
           {"u0 + 1", "Add(Symbol('u0', integer=True), Integer(1))"},
           {"u0**2", "Pow(Symbol('u0', integer=True), Integer(2))"},
           {"u0 >= 0", "GreaterThan(Symbol('u0', integer=True), Integer(0))"},
           {"u0 < 3", "StrictLessThan(Symbol('u0', integer=True), Integer(3))"},
           {"Eq(u0, 3)", "Equality(Symbol('u0', integer=True), Integer(3))"},
           {"Eq(u0 < 3, u0 < 1)",
            "Equivalent(StrictLessThan(Symbol('u0', integer=True), Integer(3)),"
            " StrictLessThan(Symbol('u0', integer=True), Integer(1)))"},
           {"Where(u0 < 3, u0, 1)",
            "Piecewise((Symbol('u0', integer=True), StrictLessThan(Symbol('u0',"
            " integer=True), Integer(3))), (Integer(1), true))"},
           {"True", "true"},
           {"2.5", "Float('2.5', precision=53)"}}) {
    EXPECT_EQ(to_srepr(p(row.in)), row.out);
  }
}

// Mod and CeilDiv of possibly negative values, and booleans in an ite, are
// written in other words that mean the same; so is an operator that others
// define and PyTorch has no function for.
TEST_F(PrintTest, SreprComesBackTheSame) {
  testing::RandomExpr random(pool, {s0, s1, u0}, 7);
  for (int i = 0; i < 2000; ++i) {
    Expr e = random.boolean(3);
    std::string text = to_srepr(e), form = to_string(e);
    Expr back = parse(pool, text, {.max_depth = 400});
    ASSERT_EQ(canonical(back), canonical(e)) << text;
    if (form.find("CeilDiv") != std::string::npos) continue;
    if (text.find("PythonMod") != std::string::npos) continue;
    const Expr written = rewrite(e, [](Expr x) {
      return x.is(Op::kModularIndexing) ? x : definition(x);
    });
    ASSERT_EQ(back, written) << text;
  }
}

TEST_F(PrintTest, SreprUsesModWhereBothSidesAreNaturalBySight) {
  EXPECT_THAT(to_srepr(p("Mod(s0 + 1, 4)")), ::testing::StartsWith("Mod("));
  for (const char* text :
       {"Mod(u0, 4)", "Mod(s0 - 1, 4)", "Mod(s0, -4)", "PythonMod(s0, 4)"}) {
    EXPECT_THAT(to_srepr(p(text)), ::testing::StartsWith("PythonMod(")) << text;
  }
}

// A part that stands in a long text again is copied: the text is the one that
// is written without that, and costs its characters alone.
TEST_F(PrintTest, SharedPartsAreCopiedInLongTexts) {
  const auto naive = [](auto& self, Expr e) -> std::string {
    if (e.arity() == 0) return to_string(e);
    if (e.is(Op::kMod)) {
      return "Mod(" + self(self, e.arg(0)) + ", " + self(self, e.arg(1)) + ")";
    }
    std::string all;
    for (Expr arg : e.args()) {
      const bool is_sum = arg.is(Op::kAdd);
      if (!all.empty()) all += e.is(Op::kMul) ? "*" : " + ";
      all += is_sum ? "(" + self(self, arg) + ")" : self(self, arg);
    }
    return all;
  };
  Expr e = s0 + u0;
  for (int i = 0; i < 10; ++i) {
    const Expr args[] = {e, mod(e, e + (i + 2))};
    e = pool.make(i % 2 == 0 ? Op::kMul : Op::kAdd, args);
  }
  const std::string text = naive(naive, e);
  ASSERT_GT(text.size(), 300'000U);
  const Budget counted(Budget::kUnlimited);
  const uint64_t before = Budget::units_left();
  const std::string found = to_string(e);
  EXPECT_TRUE(found == text) << found.size() << " of " << text.size();
  EXPECT_LT(before - Budget::units_left(), 30'000U);
}

// Each step stands in the let of the next one.
TEST_F(PrintTest, SmtlibOfManyArguments) {
  std::vector<Expr> args;
  for (int i = 2; i < 5; ++i) args.push_back(s0 * i + u0);
  EXPECT_EQ(to_smtlib(pool.make(Op::kMax, args)),
            "(let ((let!2 (let ((let!0 (+ (* 2 s0) u0))) (let ((let!1 (+ (* 3 "
            "s0) u0))) (ite (>= let!0 let!1) let!0 let!1))))) (let ((let!3 (+ "
            "(* 4 s0) u0))) (ite (>= let!2 let!3) let!2 let!3)))");
}

}  // namespace
}  // namespace proviso
