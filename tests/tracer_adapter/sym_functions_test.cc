// Numbers in an exported graph mean what Python's mean; names are torch.fx's.
#include "tracer_adapter/ir/sym_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "tracer_adapter/finish/names.h"

namespace proviso {
namespace {

c10::IValue call(const char* target, std::vector<c10::IValue> args) {
  SymFunction function = find_sym_function(target);
  if (function == nullptr) throw std::runtime_error(target);
  return function(args);
}

int64_t ints(const char* target, int64_t a, int64_t b) {
  return call(target, {a, b}).toInt();
}

TEST(SymFunctionsTest, DivisionRoundsDownAndTheRemainderHasTheDivisorsSign) {
  EXPECT_EQ(ints("_operator.floordiv", -7, 2), -4);
  EXPECT_EQ(ints("_operator.floordiv", 7, -2), -4);
  EXPECT_EQ(ints("_operator.mod", -7, 3), 2);
  EXPECT_EQ(ints("_operator.mod", 7, -3), -2);
  for (int64_t a = -6; a <= 6; ++a)
    for (int64_t b = -6; b <= 6; ++b) {
      if (b == 0) continue;
      EXPECT_EQ(
          ints("_operator.floordiv", a, b) * b + ints("_operator.mod", a, b),
          a);
    }
}

TEST(SymFunctionsTest, AShiftIsExactOrNamesItself) {
  EXPECT_EQ(ints("_operator.lshift", 3, 61), int64_t{3} << 61);
  EXPECT_EQ(ints("_operator.lshift", -1, 63), INT64_MIN);
  EXPECT_EQ(ints("_operator.lshift", 0, INT64_MAX), 0);
  for (const int64_t k : {int64_t{63}, int64_t{64}, int64_t{1} << 40}) {
    try {
      ints("_operator.lshift", 7, k);
      FAIL() << k;
    } catch (const c10::Error& error) {
      EXPECT_STREQ(error.what_without_backtrace(),
                   "Proviso: a size computed by << does not fit in 64 bits");
    }
  }
}

// The expected numbers are CPython's divmod().
TEST(SymFunctionsTest, FloatsDivideAsPythonsDo) {
  struct Case {
    double x, y, quotient, remainder;
  };
  const Case cases[] = {{1.0, 0.1, 9.0, 0.09999999999999995},
                        {7.5, -2.0, -4.0, -0.5},
                        {-1.0, 0.1, -10.0, 5.551115123125783e-17},
                        {6.0, 0.5, 12.0, 0.0},
                        {6.0, -0.5, -12.0, -0.0},
                        {-0.25, 3.0, -1.0, 2.75},
                        {0.3, 0.1, 2.0, 0.09999999999999998}};
  for (const Case& c : cases) {
    const double quotient = call("_operator.floordiv", {c.x, c.y}).toDouble();
    const double remainder = call("_operator.mod", {c.x, c.y}).toDouble();
    EXPECT_EQ(quotient, c.quotient) << c.x << " // " << c.y;
    EXPECT_EQ(remainder, c.remainder) << c.x << " % " << c.y;
    EXPECT_EQ(std::signbit(remainder), std::signbit(c.y));
  }
  EXPECT_EQ(call("_operator.floordiv", {int64_t{1}, 0.1}).toDouble(), 9.0);
}

TEST(SymFunctionsTest, RoundingTiesGoToEven) {
  EXPECT_EQ(call("builtins.round", {2.5}).toInt(), 2);
  EXPECT_EQ(call("builtins.round", {3.5}).toInt(), 4);
  EXPECT_EQ(call("math.trunc", {-3.5}).toInt(), -3);
  EXPECT_EQ(call("math.floor", {-3.5}).toInt(), -4);
}

TEST(SymFunctionsTest, DecimalsAreRoundedAsPythonDoes) {
  const auto rounded = [](double value, int64_t digits) {
    return call("builtins.round", {value, digits}).toDouble();
  };
  EXPECT_EQ(rounded(2.675, 2), 2.67);  // the double is below 2.675
  EXPECT_EQ(rounded(0.125, 2), 0.12);
  EXPECT_EQ(rounded(0.375, 2), 0.38);
  EXPECT_EQ(rounded(-2.5, 0), -2.0);
  EXPECT_EQ(rounded(1e300, 3), 1e300);
  EXPECT_EQ(rounded(5e-324, 400), 5e-324);
  EXPECT_THROW(rounded(1234.0, -2), c10::Error);
}

TEST(SymFunctionsTest, FunctionsOfTheRealsThrowWherePythonRaises) {
  const double nan = std::nan(""), inf = HUGE_VAL;
  EXPECT_EQ(call("torch._sym_sqrt", {9.0}).toDouble(), 3.0);
  EXPECT_TRUE(std::isnan(call("torch._sym_sqrt", {nan}).toDouble()));
  EXPECT_EQ(call("torch._sym_sqrt", {inf}).toDouble(), inf);
  EXPECT_THROW(call("torch._sym_sqrt", {-3.0}), c10::Error);
  EXPECT_THROW(call("torch._sym_log2", {0.0}), c10::Error);
  EXPECT_THROW(call("torch._sym_asin", {1.5}), c10::Error);
  EXPECT_THROW(call("torch._sym_cos", {inf}), c10::Error);
  EXPECT_THROW(call("torch._sym_cosh", {1000.0}), c10::Error);
  EXPECT_EQ(call("_operator.pow", {2.0, -1.0}).toDouble(), 0.5);
  EXPECT_THROW(call("_operator.pow", {0.0, -1.0}), c10::Error);
  EXPECT_THROW(call("_operator.pow", {-8.0, 0.5}), c10::Error);
  EXPECT_THROW(call("_operator.pow", {10.0, 400.0}), c10::Error);
  EXPECT_EQ(call("_operator.pow", {-2.0, 3.0}).toDouble(), -8.0);
}

TEST(SymFunctionsTest, PowersAreExactAndOverflowIsAnError) {
  EXPECT_EQ(ints("_operator.pow", -2, 3), -8);
  EXPECT_EQ(ints("_operator.pow", 0, 0), 1);
  EXPECT_EQ(ints("_operator.pow", -1, 1000000001), -1);
  EXPECT_EQ(ints("_operator.pow", -1, 1000000000), 1);
  EXPECT_EQ(ints("_operator.pow", 0, 1000000000), 0);
  EXPECT_THROW(ints("_operator.pow", 10, 19), c10::Error);
  EXPECT_THROW(ints("_operator.mul", INT64_MAX, 2), c10::Error);
  EXPECT_THROW(ints("_operator.floordiv", INT64_MIN, -1), c10::Error);
  EXPECT_EQ(ints("_operator.mod", INT64_MIN, -1), 0);
}

TEST(SymFunctionsTest, AZeroDivisorIsAnError) {
  EXPECT_THROW(ints("_operator.floordiv", 1, 0), c10::Error);
  EXPECT_THROW(ints("_operator.mod", 1, 0), c10::Error);
  EXPECT_THROW(call("_operator.truediv", {1.0, 0.0}), c10::Error);
}

TEST(SymFunctionsTest, TorchsOtherNamesAreKnown) {
  EXPECT_EQ(call("_operator.abs", {int64_t{-3}}).toInt(), 3);
  EXPECT_EQ(call("_operator.abs", {-3.5}).toDouble(), 3.5);
  EXPECT_THROW(call("_operator.abs", {INT64_MIN}), c10::Error);
  EXPECT_TRUE(call("_operator.not_", {false}).toBool());
  EXPECT_EQ(call("torch.sym_sqrt", {9.0}).toDouble(), 3.0);
  EXPECT_EQ(call("torch.sym_sum", {int64_t{2}, int64_t{3}, int64_t{4}}).toInt(),
            9);
  EXPECT_EQ(call("torch.sym_sum", {int64_t{2}, 0.5}).toDouble(), 2.5);
}

TEST(SymFunctionsTest, AnUnknownFunctionIsNotFound) {
  EXPECT_EQ(find_sym_function("_operator.matmul"), nullptr);
}

TEST(NamesTest, NamesCountAsInTorchFx) {
  Names names;
  EXPECT_EQ(names.fresh("add"), "add");
  EXPECT_EQ(names.fresh("add"), "add_1");
  EXPECT_EQ(names.fresh("add_1"), "add_2");
  EXPECT_EQ(names.fresh("sum"), "sum_1");
  EXPECT_EQ(names.fresh("sum"), "sum_2");
  EXPECT_EQ(names.fresh("conv2d"), "conv2d");
  EXPECT_EQ(names.fresh("conv2d"), "conv2d_1");
  EXPECT_EQ(names.fresh("0.weight"), "_0_weight");
}

}  // namespace
}  // namespace proviso
