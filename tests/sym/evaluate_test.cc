#include "sym/evaluate.h"

#include <gtest/gtest.h>

#include "sym/parse.h"

namespace proviso {
namespace {

struct Row {
  const char* text;
  const char* value;  // "undefined: <words>" when it has none
};

// Python's own answers.
// clang-format off
constexpr Row kRows[] = {
    {"-7//2", "-4"}, {"7//-2", "-4"}, {"-7//-2", "3"},
    {"PythonMod(-7, 3)", "2"}, {"PythonMod(7, -3)", "-2"}, {"Mod(-7, 3)", "2"},
    {"ceildiv(7, 2)", "4"}, {"ModularIndexing(-7, 2, 3)", "2"},
    {"round(2.5)", "2"}, {"round(3.5)", "4"}, {"round(-2.5)", "-2"},
    {"math.trunc(-3.5)", "-3"}, {"math.floor(-3.5)", "-4"},
    {"math.ceil(-3.5)", "-3"}, {"7/2", "7/2"},
    {"9007199254740993/1", "9007199254740993"},
    {"3**40", "12157665459056928801"}, {"(-2)**3", "-8"}, {"2**-1", "undefined"},
    {"-3 & 5", "5"}, {"-3 | 5", "-3"}, {"-3 ^ 5", "-8"},
    {"-3 << 2", "-12"}, {"-7 >> 1", "-4"},
    {"18446744073709551616 & -1", "18446744073709551616"},
    {"-18446744073709551617 >> 64", "-2"},
    {"7 >> 2**40", "0"}, {"-7 >> 2**40", "-1"}, {"0 << 2**40", "0"},
    {"1 << 2**40", "undefined"}, {"1**(2**40)", "1"}, {"0**(2**40)", "0"},
    {"0**0", "1"}, {"(-1)**(2**70)", "1"}, {"(-1)**(2**70 + 1)", "-1"},
    {"2**(2**40)", "undefined"}, {"0 << -1", "undefined"},
    {"Where(Eq(1, 1), 3, 1//0)", "3"}, {"Where(Eq(1, 2), 3, 1//0)", "undefined"},
    {"Eq(1, 2) & Eq(1//0, 1)", "undefined"},
    {"5//0", "undefined"}, {"Mod(5, 0)", "undefined"}, {"5/0", "undefined"},
    {"OpaqueUnaryFn_sqrt(16)", "4"}, {"Max(1, 2.5)", "5/2"},
    {"Eq(2, 2.0)", "True"}, {"1/3 + 1/3 + 1/3 < 1", "False"},
    {"IsNonOverlappingAndDenseIndicator(2, 3, 3, 1)", "1"},
    {"IsNonOverlappingAndDenseIndicator(2, 3, 4, 1)", "0"},
};
// clang-format on

TEST(Evaluate, FollowsPythonOnEveryRow) {
  for (const Row& row : kRows) {
    ExprPool pool;
    Evaluation got = evaluate(parse(pool, row.text), {});
    std::string text = got.defined() ? to_string(*got.value) : "undefined";
    EXPECT_EQ(text, row.value) << row.text << " " << got.why;
  }
}

TEST(Evaluate, NamesTheDivisorThatIsZero) {
  ExprPool pool;
  Expr e = parse(pool, "4//u0 + 1");
  Assignment point;
  point.set(*pool.find_symbol("u0"), Int(0));
  Evaluation got = evaluate(e, point);
  EXPECT_FALSE(got.defined());
  EXPECT_NE(got.why.find("divisor u0 is 0"), std::string::npos) << got.why;
}

TEST(Evaluate, AMissingSymbolIsUndefinedAndNamed) {
  ExprPool pool;
  Evaluation got = evaluate(parse(pool, "s0 + 1"), {});
  EXPECT_EQ(got.why, "s0 has no value");
  const std::string longest(9900, '_');
  got = evaluate(parse(pool, longest + " > 3"), {});
  EXPECT_TRUE(got.why.ends_with("_... has no value")) << got.why;
  EXPECT_LT(got.why.size(), 500u);
}

}  // namespace
}  // namespace proviso
