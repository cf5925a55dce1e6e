#include "sym/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sym/print.h"
#include "tests/support/small_stack.h"

namespace proviso {
namespace {

using ::testing::HasSubstr;

class ParseTest : public ::testing::Test {
 protected:
  Expr p(std::string_view text) { return parse(pool, text); }
  Expr n(int64_t value) { return pool.integer(value); }
  Expr decimal(int64_t num, int64_t den) {
    return pool.rational(Rational(num, den));
  }
  std::string error(std::string_view text, const ParseOptions& options = {}) {
    try {
      return "no error: " + to_string(parse(pool, text, options));
    } catch (const Error& error) {
      return error.what();
    }
  }

  ExprPool pool;
  Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize);
  Expr s1 = pool.symbol("s1", SymbolKind::kBackedSize);
  Expr u0 = pool.symbol("u0", SymbolKind::kUnbackedInt);
  Expr zf0 = pool.symbol("zf0", SymbolKind::kBackedFloat);
};

TEST_F(ParseTest, FlatChainsAreOneNodeAndParenthesesEndThem) {
  EXPECT_EQ(p("s0 + s1 + u0"), pool.make(Op::kAdd, {s0, s1, u0}));
  EXPECT_EQ(p("(s0 + s1) + u0"), (s0 + s1) + u0);
  EXPECT_EQ(p("s0 + (s1 + u0)"), s0 + (s1 + u0));
  EXPECT_EQ(p("2*s0*u0"), pool.make(Op::kMul, {n(2), s0, u0}));
  EXPECT_EQ(p("2*(s0*u0)"), n(2) * (s0 * u0));
  EXPECT_EQ(p("s0*u0//2*s1"),
            pool.make(Op::kMul, {floor_div(s0 * u0, n(2)), s1}));
}

TEST_F(ParseTest, ASignGoesIntoTheCoefficientOfItsTerm) {
  EXPECT_EQ(p("-s0"), pool.make(Op::kMul, {n(-1), s0}));
  EXPECT_EQ(p("-2*s0"), pool.make(Op::kMul, {n(-2), s0}));
  EXPECT_EQ(p("-s0*u0"), pool.make(Op::kMul, {n(-1), s0, u0}));
  EXPECT_EQ(p("s0 - 3"), pool.make(Op::kAdd, {s0, n(-3)}));
  EXPECT_EQ(p("s0 - u0"), pool.make(Op::kAdd, {s0, p("-u0")}));
  EXPECT_EQ(p("s0 - 2*u0"), pool.make(Op::kAdd, {s0, p("-2*u0")}));
  EXPECT_EQ(p("s0 - (2*u0)"),
            pool.make(Op::kAdd, {s0, pool.make(Op::kMul, {n(-1), n(2) * u0})}));
  EXPECT_EQ(p("-5"), n(-5));
  EXPECT_EQ(p("+5"), n(5));
}

TEST_F(ParseTest, PrecedenceIsPythons) {
  EXPECT_EQ(p("-s0**2"), pool.make(Op::kMul, {n(-1), p("s0**2")}));
  EXPECT_EQ(p("s0**-1"), pool.make(Op::kPow, {s0, n(-1)}));
  EXPECT_EQ(p("s0**u0**2"), pool.make(Op::kPow, {s0, p("u0**2")}));
  EXPECT_EQ(p("-s0//2"), floor_div(p("-s0"), n(2)));
  EXPECT_EQ(p("s0 + s1*u0"), p("s0 + (s1*u0)"));
  EXPECT_EQ(p("s0 % 4 == 0"), eq(mod(s0, n(4)), n(0)));
  EXPECT_EQ(p("s0 & 7 == 0"), eq(pool.make(Op::kBitAnd, {s0, n(7)}), n(0)));
  Expr both = pool.make(Op::kBitAnd, {u0, n(1)});
  EXPECT_EQ(p("s0 | s1 ^ u0 & 1"),
            pool.make(Op::kBitOr, {s0, pool.make(Op::kBitXor, {s1, both})}));
  EXPECT_EQ(p("1 << s0 + 1"), pool.make(Op::kLShift, {n(1), s0 + 1}));
  EXPECT_EQ(
      p("not s0 < 3 and u0 > 1 or s1 <= 2"),
      logical_or(logical_and(logical_not(lt(s0, 3)), gt(u0, 1)), le(s1, 2)));
}

TEST_F(ParseTest, ComparisonsStoreTheSmallerSideFirstAndChain) {
  EXPECT_EQ(p("s0 > u0"), lt(u0, s0));
  EXPECT_EQ(p("s0 >= u0"), le(u0, s0));
  EXPECT_EQ(p("Gt(s0, u0)"), lt(u0, s0));
  EXPECT_EQ(p("Ge(s0, u0)"), le(u0, s0));
  EXPECT_EQ(p("s0 == u0"), p("Eq(s0, u0)"));
  EXPECT_EQ(p("s0 != u0"), p("Ne(s0, u0)"));
  EXPECT_EQ(p("0 < s0 <= u0 < 9"),
            pool.make(Op::kAnd, {lt(n(0), s0), le(s0, u0), lt(u0, n(9))}));
}

TEST_F(ParseTest, AmpersandBarAndTildeAreLogicOnBooleansAndBitsOnIntegers) {
  EXPECT_EQ(p("(s0 < 3) & (u0 < 3) & (s1 < 3)"),
            pool.make(Op::kAnd, {lt(s0, 3), lt(u0, 3), lt(s1, 3)}));
  EXPECT_EQ(p("(s0 < 3) | (u0 < 3)"), logical_or(lt(s0, 3), lt(u0, 3)));
  EXPECT_EQ(p("~(s0 < 3)"), logical_not(lt(s0, 3)));
  EXPECT_EQ(p("(s0 < 3) ^ (u0 < 3)"), ne(lt(s0, 3), lt(u0, 3)));
  EXPECT_EQ(p("s0 & s1 & u0"),
            pool.make(Op::kBitAnd, {pool.make(Op::kBitAnd, {s0, s1}), u0}));
  EXPECT_EQ(p("~s0"), p("-s0 - 1"));
  EXPECT_EQ(p("True & false"),
            logical_and(pool.boolean(true), pool.boolean(false)));
}

TEST_F(ParseTest, DivisionFollowsItsOperands) {
  EXPECT_EQ(p("s0/2"), pool.make(Op::kIntTrueDiv, {s0, n(2)}));
  EXPECT_EQ(p("zf0/2"), pool.make(Op::kFloatTrueDiv, {zf0, n(2)}));
  EXPECT_EQ(p("zf0**2"), pool.make(Op::kFloatPow, {zf0, n(2)}));
  EXPECT_EQ(p("Mod(s0, 4)"), mod(s0, n(4)));
  EXPECT_EQ(p("PythonMod(s0, 4)"), pool.make(Op::kPythonMod, {s0, n(4)}));
  EXPECT_EQ(p("ceildiv(s0, 4)"), pool.make(Op::kCeilDiv, {s0, n(4)}));
}

TEST_F(ParseTest, ConditionalsAreWhere) {
  Expr expected = where(lt(s0, 3), s0, u0);
  EXPECT_EQ(p("Where(s0 < 3, s0, u0)"), expected);
  EXPECT_EQ(p("s0 if s0 < 3 else u0"), expected);
  EXPECT_EQ(p("Piecewise((s0, s0 < 3), (u0, True))"), expected);
  EXPECT_EQ(p("Piecewise(ExprCondPair(s0, s0 < 3), ExprCondPair(u0, true))"),
            expected);
  EXPECT_EQ(p("Piecewise((1, s0 < 3), (2, u0 < 3), (3, True))"),
            where(lt(s0, 3), n(1), where(lt(u0, 3), n(2), n(3))));
}

TEST_F(ParseTest, NumbersAreExact) {
  EXPECT_EQ(p("123456789012345678901234567890"),
            pool.integer(*Int::parse("123456789012345678901234567890")));
  EXPECT_EQ(p("0.1"), decimal(1, 10));
  EXPECT_EQ(p("1.00000000000000E-12"), p("1e-12"));
  EXPECT_EQ(p("-2.5"), decimal(-5, 2));
  EXPECT_EQ(p("2."), p("2.0"));
  EXPECT_TRUE(p("2.0").is_float());
}

TEST_F(ParseTest, ReadsWhatSymPysSreprWrites) {
  EXPECT_EQ(p("Add(Symbol('s0', positive=True, integer=True), Integer(-1))"),
            p("s0 - 1"));
  EXPECT_EQ(p("Mul(Integer(2), Pow(Symbol('u0', integer=True), Integer(2)))"),
            p("2*u0**2"));
  EXPECT_EQ(p("LessThan(Symbol('s0'), Integer(4))"), le(s0, 4));
  EXPECT_EQ(p("StrictLessThan(Symbol('s0'), Integer(4))"), lt(s0, 4));
  EXPECT_EQ(p("GreaterThan(Symbol('s0'), Integer(4))"), ge(s0, 4));
  EXPECT_EQ(p("StrictGreaterThan(Symbol('s0'), Integer(4))"), gt(s0, 4));
  EXPECT_EQ(p("Equality(Symbol('s0'), Symbol('u0'))"), eq(s0, u0));
  EXPECT_EQ(p("Unequality(Symbol('s0'), Symbol('u0'))"), ne(s0, u0));
  EXPECT_EQ(p("And(true, Not(BooleanFalse))"), p("True & ~False"));
  EXPECT_EQ(p("Float('2.5', precision=53)"), decimal(5, 2));
  EXPECT_EQ(p("Rational(-1, 3)"), decimal(-1, 3));
}

// Section 5 of the reference: each function by its printed name.
TEST_F(ParseTest, EveryFunctionOfTheTableParsesByItsName) {
  for (size_t i = 0; i <= static_cast<size_t>(Op::kDenseIndicator); ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    if (is_leaf(row.op)) continue;
    bool logic = row.args == ArgClass::kBoolean;
    std::string text = std::string(row.name) + "(";
    for (int k = 0; k < std::max(row.min_args, 1); ++k) {
      bool condition = logic || (row.args == ArgClass::kCondition && k == 0);
      text += (k > 0 ? ", " : "") + std::string(condition ? "s0 < u0" : "s0");
    }
    EXPECT_EQ(p(text + ")").op(), row.op) << text;
  }
}

TEST_F(ParseTest, PythonsNamesMeanTheSame) {
  EXPECT_EQ(p("min(s0, u0)"), p("Min(s0, u0)"));
  EXPECT_EQ(p("abs(u0)"), p("Abs(u0)"));
  EXPECT_EQ(p("math.floor(s0/2)"), p("FloorToInt(IntTrueDiv(s0, 2))"));
  EXPECT_EQ(p("math.ceil(s0/2)"), p("CeilToInt(IntTrueDiv(s0, 2))"));
  EXPECT_EQ(p("math.trunc(s0/2)"), p("TruncToInt(IntTrueDiv(s0, 2))"));
  EXPECT_EQ(p("int(s0/2)"), p("math.trunc(s0/2)"));
  EXPECT_EQ(p("int(s0)"), s0);
  EXPECT_EQ(p("round(s0/2)"), p("RoundToInt(s0/2)"));
  EXPECT_EQ(p("round(s0/2, 1)"), p("RoundDecimal(s0/2, 1)"));
  EXPECT_EQ(p("math.sqrt(s0)"), p("OpaqueUnaryFn_sqrt(s0)"));
  EXPECT_EQ(p("float(s0)"), p("ToFloat(s0)"));
  EXPECT_EQ(p("torch.sym_float(s0)"), p("ToFloat(s0)"));
  EXPECT_EQ(p("torch.sym_int(s0*0.5)"), p("TruncToInt(s0*0.5)"));
  EXPECT_EQ(p("torch._sym_sqrt(s0)"), p("math.sqrt(s0)"));
}

TEST_F(ParseTest, NewSymbolsGetTheirKindFromTheirName) {
  EXPECT_EQ(p("s7").symbol().kind, SymbolKind::kBackedSize);
  EXPECT_EQ(p("u7").symbol().kind, SymbolKind::kUnbackedInt);
  EXPECT_EQ(p("zf7").symbol().kind, SymbolKind::kBackedFloat);
  EXPECT_EQ(p("zuf7").symbol().kind, SymbolKind::kUnbackedFloat);
  EXPECT_EQ(p("seq").symbol().kind, SymbolKind::kBackedInt);
}

TEST_F(ParseTest, ErrorsNameTheColumnAndWhatWasExpected) {
  EXPECT_EQ(error("Mod(s0, 4"),
            "parse: expected ',' or ')' at column 10 of 'Mod(s0, 4': found the "
            "end of the text");
  EXPECT_THAT(error("s0 +"), HasSubstr("expected a number, a name or '('"));
  EXPECT_THAT(error("s0 s1"), HasSubstr("at column 4 of 's0 s1': found 's1'"));
  EXPECT_THAT(error(""), HasSubstr("column 1"));
  EXPECT_THAT(error("s0 < int_oo"), HasSubstr("declare a range"));
  EXPECT_THAT(error("Foo(s0)"), HasSubstr("unknown function 'Foo'"));
  EXPECT_THAT(error("2s0"), HasSubstr("malformed number"));
  EXPECT_THAT(error("s0 + (s0 < 1)"), HasSubstr("column 4"));
  EXPECT_THAT(error("Mod(s0)"), HasSubstr("expected 2 arguments, got 1"));
  EXPECT_THAT(error("Piecewise((1, s0 < 2))"), HasSubstr("condition True"));
  EXPECT_THAT(error("x.shape"), HasSubstr("is not a symbol's name"));
  EXPECT_THAT(error("s0 = 4"), HasSubstr("column 4"));
  EXPECT_THAT(error("1 if s0"), HasSubstr("'else'"));
  EXPECT_THAT(error("Integer(x)"), HasSubstr("an integer literal"));
  EXPECT_THAT(error("Rational(1, 0)"), HasSubstr("denominator of 0"));
  EXPECT_THAT(error("s0 + \x01"), HasSubstr("'?'"));
  EXPECT_THAT(error("'s0"), HasSubstr("unfinished string"));
}

// However deep, a text is read in parts of few levels each.
TEST_F(ParseTest, DeepTextsTakeLittleStack) {
  const auto nested = [](const std::string& around, int levels) {
    std::string text = "s0";
    for (int i = 0; i < levels; ++i) {
      std::string next;
      for (char c : around) next += c == '%' ? text : std::string(1, c);
      text = std::move(next);
    }
    return text;
  };
  for (const char* around :
       {"(%)", "(1 + %)", "(% + 1)*s1", "-(%)", "Mod(%, 7)", "Max(s1, 2*%)",
        "Where(s1 > 2, %, s0)", "((%)**2 - s1)", "(s1//(% + 1))",
        "Piecewise((%, s1 > 2), (s0, True))",
        "Add(Integer(2), Mul(Symbol('s1', integer=True), %))",
        "(% if s1 > 2 else (s0))"}) {
    for (int levels : {3, 23, 24, 25, 26, 47, 49, 75, 95}) {
      const std::string text = nested(around, levels);
      Expr e;
      const size_t stack =
          testing::stack_used_by([&] { e = parse(pool, text); });
      EXPECT_LE(stack, size_t{64} << 10) << around << " " << levels;
      Expr step = s0;  // the same from the inside out
      for (int i = 0; i < levels; ++i) {
        const Expr inner = pool.symbol("inner", SymbolKind::kBackedInt);
        const Expr once =
            parse(pool, nested(around, 1).replace(std::string(around).find('%'),
                                                  2, "inner"));
        step = substitute(once, {{inner, step}});
      }
      EXPECT_EQ(e, step) << text;
    }
    const size_t stack = testing::stack_used_by(
        [&] { EXPECT_NE(error(nested(around, 250)), ""); });
    EXPECT_LE(stack, size_t{64} << 10) << around;
  }
}

TEST_F(ParseTest, HugeInputIsRefusedNotFollowed) {
  std::string deep(100000, '(');
  EXPECT_THAT(error(deep), HasSubstr("nesting deeper than 200"));
  for (const char* piece :
       {"-", "~", "not ", "1**", "abs(", "1 if True else "}) {
    std::string text;
    for (int i = 0; i < 50000; ++i) text += piece;
    EXPECT_THAT(error(text), HasSubstr("nesting deeper than 200")) << piece;
  }
  EXPECT_THAT(error(std::string(30000, '7')), HasSubstr("20000"));
  EXPECT_THAT(error("1e999999999"), HasSubstr("too large"));
  EXPECT_THAT(error("s0 + s0", {.max_length = 5}), HasSubstr("the limit is 5"));
  std::string wide = "s0";
  for (int i = 0; i < 20000; ++i) wide += " + s0";
  EXPECT_EQ(p(wide).arity(), 20001u);
}

TEST_F(ParseTest, TheCallerMayRefuseUnknownNames) {
  ParseOptions known_only;
  known_only.make_symbol = [](ExprPool&, std::string_view) { return Expr(); };
  EXPECT_THAT(error("s0 + s9", known_only), HasSubstr("unknown symbol 's9'"));
  EXPECT_EQ(parse(pool, "s0 + s1", known_only), s0 + s1);
  EXPECT_LT(error("s0 + " + std::string(9900, '_'), known_only).size(), 500u);
}

// What a pool has, whatever it was given before.
std::string contents(const ExprPool& pool) {
  std::string out = std::to_string(pool.size()) + ":";
  for (Expr s : pool.symbols()) out += " " + s.symbol().name;
  return out;
}

TEST_F(ParseTest, ARefusedTextLeavesNothingBehind) {
  std::string wide = "qq", deep = "qq";
  for (int i = 0; i < 500; ++i) {
    wide += " + (r" + std::to_string(i) + " + " + std::to_string(i) + ".5)";
    if (i < 150) deep = "(" + deep + " + " + std::to_string(i) + ")//7";
  }
  const std::vector<std::string> bad = {"qq +",
                                        "s7 > 3 &",
                                        "Eq(s7, zf0) + 3",
                                        "(qq > 3) + 1",
                                        "Mod(qq, 3",
                                        "f(qq + 1)",
                                        "True & (qq + 77)",
                                        "qq if r else t",
                                        "1.25*qq $",
                                        "Symbol('qq') 3",
                                        "Piecewise((qq, r > 1), (t, r < 2))",
                                        wide + " +",
                                        deep + " +",
                                        "s0 + 1 +",
                                        "Symbol('s7', integer=True) + 'x'"};
  const std::string whole = "(s0 + 1)*(t + s0) < 7.5 + t";
  for (const std::string& text : bad) {
    ExprPool fresh;
    for (const char* known : {"s0", "s0 + 1"}) (void)parse(fresh, known);
    const std::string before = contents(fresh);
    EXPECT_THROW((void)parse(fresh, text), Error) << text;
    EXPECT_EQ(contents(fresh), before) << text;
    // Later texts are read as ever: equal ones are one node.
    const Expr e = parse(fresh, whole);
    EXPECT_THROW((void)parse(fresh, text), Error) << text;
    EXPECT_EQ(parse(fresh, whole), e) << text;
    EXPECT_EQ(to_string(e), to_string(parse(pool, whole)));
    const size_t size = fresh.size();
    EXPECT_EQ(parse(fresh, "s0 + 1"), parse(fresh, "s0 + 1"));
    EXPECT_EQ(fresh.size(), size) << text;
  }
  // A pool of many nodes, in which every text was refused in between.
  ExprPool one, other;
  for (int i = 0; i < 2000; ++i) {
    const std::string n = std::to_string(i);
    const std::string text = "a" + n + "*7 + Mod(a" + n + ", " + n + " + b)";
    const Expr e = parse(one, text);
    EXPECT_THROW((void)parse(other, bad[i % bad.size()]), Error);
    EXPECT_EQ(parse(other, text).id(), e.id());
  }
  EXPECT_EQ(contents(one), contents(other));
}

TEST_F(ParseTest, WhatACallerMadeOfANameStays) {
  Expr made;
  ParseOptions options;
  options.make_symbol = [&](ExprPool& pool, std::string_view name) {
    return made = pool.symbol(name, SymbolKind::kUnbackedInt);
  };
  EXPECT_THAT(error("qq +", options), HasSubstr("expected"));
  EXPECT_EQ(pool.find_symbol("qq"), made);
}

TEST_F(ParseTest, RangesHaveOptionalEnds) {
  RangeDeclaration r = parse_range("s0 in [2, int_oo]");
  EXPECT_EQ(r.name, "s0");
  EXPECT_EQ(r.lower, Int(2));
  EXPECT_FALSE(r.upper.has_value());
  r = parse_range("u0 in [-int_oo, -9]");
  EXPECT_FALSE(r.lower.has_value());
  EXPECT_EQ(r.upper, Int(-9));
  for (const char* bad :
       {"s0", "s0 in [2", "s0 in [2, x]", "in [1, 2]", "", "s0 in [int_oo, 2]",
        "s0 in [1, -int_oo]", "s0 in [1, 2] 3", "s0 in [1.5, 2]"}) {
    EXPECT_THROW(parse_range(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace proviso
