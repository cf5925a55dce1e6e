#include "tracer_adapter/ir/sym_functions.h"

#include <c10/util/Exception.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include "sym/integer.h"

namespace proviso::inline v0_2 {
namespace {

using Args = std::span<const c10::IValue>;

double as_double(const c10::IValue& v) {
  if (v.isDouble()) return v.toDouble();
  return v.isBool() ? v.toBool() : static_cast<double>(v.toInt());
}

int64_t as_int(const c10::IValue& v) {
  return v.isBool() ? static_cast<int64_t>(v.toBool()) : v.toInt();
}

bool any_double(Args args) {
  for (const c10::IValue& v : args)
    if (v.isDouble()) return true;
  return false;
}

int64_t checked(bool overflow, int64_t value, const char* what) {
  TORCH_CHECK(!overflow, "Proviso: a size computed by ", what,
              " does not fit in 64 bits");
  return value;
}

#define PROVISO_ARITHMETIC(name, sign, builtin)                         \
  c10::IValue name(Args a) {                                            \
    if (any_double(a)) return as_double(a[0]) sign as_double(a[1]);     \
    int64_t result = 0;                                                 \
    const bool overflow = builtin(as_int(a[0]), as_int(a[1]), &result); \
    return checked(overflow, result, #sign);                            \
  }
PROVISO_ARITHMETIC(add, +, __builtin_add_overflow)
PROVISO_ARITHMETIC(sub, -, __builtin_sub_overflow)
PROVISO_ARITHMETIC(mul, *, __builtin_mul_overflow)
#undef PROVISO_ARITHMETIC

#define PROVISO_COMPARISON(name, sign)                              \
  c10::IValue name(Args a) {                                        \
    if (any_double(a)) return as_double(a[0]) sign as_double(a[1]); \
    return as_int(a[0]) sign as_int(a[1]);                          \
  }
PROVISO_COMPARISON(eq, ==)
PROVISO_COMPARISON(ne, !=)
PROVISO_COMPARISON(lt, <)
PROVISO_COMPARISON(le, <=)
PROVISO_COMPARISON(gt, >)
PROVISO_COMPARISON(ge, >=)
#undef PROVISO_COMPARISON

void check_divisor(const c10::IValue& v) {
  TORCH_CHECK(as_double(v) != 0,
              "Proviso: division by zero while computing a "
              "size");
}

// Of the divisor's sign, as in Python.
double float_mod(double x, double y) {
  const double rest = std::fmod(x, y);
  if (rest == 0) return std::copysign(0.0, y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}

// Python's 1.0 // 0.1 is 9.0, for 0.1 is a little more than a tenth; x / y is
// rounded to 10.0.  x less its remainder is y times a whole number, but for
// rounding.
double float_floordiv(double x, double y) {
  const double rest = std::fmod(x, y);
  double quotient = (x - rest) / y;
  if (rest != 0 && (rest < 0) != (y < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, x / y);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

c10::IValue floordiv(Args a) {
  check_divisor(a[1]);
  if (any_double(a)) return float_floordiv(as_double(a[0]), as_double(a[1]));
  const int64_t x = as_int(a[0]), y = as_int(a[1]);
  if (y == -1) return checked(x == INT64_MIN, -x, "//");
  return floor_quotient(x, y);
}

c10::IValue mod(Args a) {
  check_divisor(a[1]);
  if (any_double(a)) return float_mod(as_double(a[0]), as_double(a[1]));
  const int64_t x = as_int(a[0]), y = as_int(a[1]);
  if (y == -1) return int64_t{0};
  return floor_remainder(x, y);
}

c10::IValue truediv(Args a) {
  check_divisor(a[1]);
  return as_double(a[0]) / as_double(a[1]);
}

double real_power(double base, double exponent) {
  TORCH_CHECK(base != 0 || exponent >= 0 || std::isnan(exponent),
              "Proviso: ", base, " cannot be raised to a negative power");
  TORCH_CHECK(
      !(base < 0) || std::trunc(exponent) == exponent || !std::isfinite(base),
      "Proviso: ", base, " ** ", exponent, " is complex");
  const double result = std::pow(base, exponent);
  TORCH_CHECK(!std::isinf(result) || std::isinf(base) || std::isinf(exponent),
              "Proviso: ", base, " ** ", exponent, " is too large for a float");
  return result;
}

c10::IValue power(Args a) {
  if (any_double(a) || as_int(a[1]) < 0)
    return real_power(as_double(a[0]), as_double(a[1]));
  int64_t result = 1;
  const int64_t base = as_int(a[0]);
  // 0, 1 and -1 stay small for ever; others overflow within 64 steps.
  const int64_t exponent = as_int(a[1]);
  const int64_t steps = base >= -1 && base <= 1
                            ? (exponent == 0 ? 0 : 2 - exponent % 2)
                            : exponent;
  for (int64_t i = 0; i < steps; ++i)
    checked(__builtin_mul_overflow(result, base, &result), 0, "**");
  return result;
}

c10::IValue neg(Args a) {
  if (any_double(a)) return -as_double(a[0]);
  return checked(as_int(a[0]) == INT64_MIN, -as_int(a[0]), "-");
}

c10::IValue absolute(Args a) { return as_double(a[0]) < 0 ? neg(a) : a[0]; }

c10::IValue sum(Args a) {
  c10::IValue total = int64_t{0};
  for (const c10::IValue& term : a) {
    const c10::IValue both[] = {total, term};
    total = add(both);
  }
  return total;
}

c10::IValue lshift(Args a) {
  const int64_t k = as_int(a[1]);
  TORCH_CHECK(k >= 0, "Proviso: negative shift count ", k);
  const __int128 scale = static_cast<__int128>(1) << (k < 64 ? k : 64);
  int64_t result = 0;
  const bool overflow = __builtin_mul_overflow(as_int(a[0]), scale, &result);
  return checked(overflow, result, "<<");
}

c10::IValue rshift(Args a) {
  const int64_t k = as_int(a[1]);
  TORCH_CHECK(k >= 0, "Proviso: negative shift count ", k);
  return as_int(a[0]) >> (k > 63 ? 63 : k);
}

#define PROVISO_BITS(name, sign)                                  \
  c10::IValue name(Args a) {                                      \
    if (a[0].isBool() && a[1].isBool())                           \
      return static_cast<bool>(a[0].toBool() sign a[1].toBool()); \
    return as_int(a[0]) sign as_int(a[1]);                        \
  }
PROVISO_BITS(bit_and, &)
PROVISO_BITS(bit_or, |)
PROVISO_BITS(bit_xor, ^)
#undef PROVISO_BITS

c10::IValue sym_not(Args a) { return as_int(a[0]) == 0; }
// The first of equal ones, as in Python: max(0.0, -0.0) is 0.0.
c10::IValue sym_min(Args a) { return gt(a).toBool() ? a[1] : a[0]; }
c10::IValue sym_max(Args a) { return lt(a).toBool() ? a[1] : a[0]; }
c10::IValue sym_ite(Args a) { return as_int(a[0]) ? a[1] : a[2]; }
c10::IValue sym_float(Args a) { return as_double(a[0]); }

int64_t to_int(double v) {
  TORCH_CHECK(v >= -0x1p63 && v < 0x1p63, "Proviso: ", v,
              " does not fit in 64 bits");
  return static_cast<int64_t>(v);
}
c10::IValue trunc(Args a) { return to_int(std::trunc(as_double(a[0]))); }
c10::IValue floor(Args a) { return to_int(std::floor(as_double(a[0]))); }
c10::IValue ceil(Args a) { return to_int(std::ceil(as_double(a[0]))); }
// To so many decimals: the decimal form is exact, so ties go to the even digit
// as Python's do.
double round_decimals(double value, int64_t digits) {
  TORCH_CHECK(digits >= 0, "Proviso: round(x, ", digits,
              ") of a symbolic number is not supported; divide and round");
  if (!std::isfinite(value) || digits > 323) return value;
  char text[700];
  std::snprintf(text, sizeof text, "%.*f", static_cast<int>(digits), value);
  return std::strtod(text, nullptr);
}

// The default rounding mode breaks ties to even, as Python does.
c10::IValue round(Args a) {
  if (a.size() == 2) return round_decimals(as_double(a[0]), as_int(a[1]));
  return to_int(std::nearbyint(as_double(a[0])));
}

// Where a function of Python's math module raises, so does this.
double real(double (*function)(double), const char* name, double x) {
  const double result = function(x);
  TORCH_CHECK(!std::isnan(result) || std::isnan(x),
              "Proviso: math domain error: ", name, "(", x, ")");
  TORCH_CHECK(!std::isinf(result) || std::isinf(x),
              "Proviso: math range error: ", name, "(", x, ")");
  return result;
}

#define PROVISO_REAL(name)                          \
  c10::IValue sym_##name(Args a) {                  \
    return real(std::name, #name, as_double(a[0])); \
  }
PROVISO_REAL(sqrt)
PROVISO_REAL(cos)
PROVISO_REAL(cosh)
PROVISO_REAL(sin)
PROVISO_REAL(sinh)
PROVISO_REAL(tan)
PROVISO_REAL(tanh)
PROVISO_REAL(asin)
PROVISO_REAL(acos)
PROVISO_REAL(atan)
PROVISO_REAL(log2)
#undef PROVISO_REAL

}  // namespace

SymFunction find_sym_function(const std::string& target) {
  static const std::unordered_map<std::string, SymFunction> kFunctions = {
      {"_operator.add", add},         {"_operator.sub", sub},
      {"_operator.mul", mul},         {"_operator.floordiv", floordiv},
      {"_operator.truediv", truediv}, {"_operator.mod", mod},
      {"_operator.pow", power},       {"_operator.neg", neg},
      {"_operator.lshift", lshift},   {"_operator.rshift", rshift},
      {"_operator.and_", bit_and},    {"_operator.or_", bit_or},
      {"_operator.xor", bit_xor},     {"_operator.eq", eq},
      {"_operator.ne", ne},           {"_operator.lt", lt},
      {"_operator.le", le},           {"_operator.gt", gt},
      {"_operator.ge", ge},           {"torch.sym_not", sym_not},
      {"torch.sym_min", sym_min},     {"torch.sym_max", sym_max},
      {"torch.sym_ite", sym_ite},     {"torch.sym_float", sym_float},
      {"torch.sym_int", trunc},       {"math.trunc", trunc},
      {"math.floor", floor},          {"math.ceil", ceil},
      {"builtins.round", round},      {"torch._sym_sqrt", sym_sqrt},
      {"torch._sym_cos", sym_cos},    {"torch._sym_cosh", sym_cosh},
      {"torch._sym_sin", sym_sin},    {"torch._sym_sinh", sym_sinh},
      {"torch._sym_tan", sym_tan},    {"torch._sym_tanh", sym_tanh},
      {"torch._sym_asin", sym_asin},  {"torch._sym_acos", sym_acos},
      {"torch._sym_atan", sym_atan},  {"torch._sym_log2", sym_log2},
      {"torch.sym_sqrt", sym_sqrt},   {"torch.sym_sum", sum},
      {"_operator.abs", absolute},    {"_operator.not_", sym_not}};
  auto found = kFunctions.find(target);
  return found == kFunctions.end() ? nullptr : found->second;
}

}  // namespace proviso::inline v0_2
