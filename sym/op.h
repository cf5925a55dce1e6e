// sym/op.h - the operator table: one row an operator.
//
// Parser, printers, cost and definedness read the row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

enum class Type : uint8_t { kInt, kFloat, kBool };
std::string_view name_of(Type type);  // "integer", "float", "boolean"

// Columns:
//   enumerator
//   name       of the function, as PyTorch and SymPy print it
//   python     the function that Python writes and the parser reads too, "" for
//              infix operators and what Python has no function for
//   target     of an FX node that computes it from its arguments, or ""
//   least and most arguments (-1: any number)
//   arguments  kNumber: integers and floats; kSame: all of one type
//   result     kOfArguments: float when an argument is one
//   divisors   how many arguments after the first must not be 0
#define PROVISO_OPERATORS(X)                                                   \
  /* leaves */                                                                 \
  X(kInteger, "Integer", "", "", 0, 0, kNone, kInt, 0)                         \
  X(kRational, "Float", "", "", 0, 0, kNone, kFloat, 0)                        \
  X(kBoolean, "Boolean", "", "", 0, 0, kNone, kBool, 0)                        \
  X(kSymbol, "Symbol", "", "", 0, 0, kNone, kOfArguments, 0)                   \
  /* arithmetic; integer, or float when an argument is float */                \
  X(kAdd, "Add", "", "_operator.add", 1, -1, kNumber, kOfArguments, 0)         \
  X(kMul, "Mul", "", "_operator.mul", 1, -1, kNumber, kOfArguments, 0)         \
  X(kPow, "Pow", "pow", "_operator.pow", 2, 2, kNumber, kOfArguments, 0)       \
  X(kPowByNatural, "PowByNatural", "", "_operator.pow", 2, 2, kInteger, kInt,  \
    0)                                                                         \
  X(kFloorDiv, "FloorDiv", "", "_operator.floordiv", 2, 2, kInteger, kInt, 1)  \
  X(kMod, "Mod", "", "_operator.mod", 2, 2, kInteger, kInt, 1)                 \
  X(kPythonMod, "PythonMod", "", "_operator.mod", 2, 2, kInteger, kInt, 1)     \
  X(kCleanDiv, "CleanDiv", "", "_operator.floordiv", 2, 2, kInteger, kInt, 1)  \
  X(kCeilDiv, "CeilDiv", "ceildiv", "", 2, 2, kInteger, kInt, 1)               \
  X(kModularIndexing, "ModularIndexing", "", "", 3, 3, kInteger, kInt, 2)      \
  X(kMin, "Min", "min", "torch.sym_min", 1, -1, kNumber, kOfArguments, 0)      \
  X(kMax, "Max", "max", "torch.sym_max", 1, -1, kNumber, kOfArguments, 0)      \
  X(kAbs, "Abs", "abs", "", 1, 1, kNumber, kOfArguments, 0)                    \
  X(kIdentity, "Identity", "", "", 1, 1, kNumber, kOfArguments, 0)             \
  /* bits: two's complement of infinite width */                               \
  X(kLShift, "LShift", "", "_operator.lshift", 2, 2, kInteger, kInt, 0)        \
  X(kRShift, "RShift", "", "_operator.rshift", 2, 2, kInteger, kInt, 0)        \
  X(kBitAnd, "BitwiseFn_bitwise_and", "", "_operator.and_", 2, 2, kInteger,    \
    kInt, 0)                                                                   \
  X(kBitOr, "BitwiseFn_bitwise_or", "", "_operator.or_", 2, 2, kInteger, kInt, \
    0)                                                                         \
  X(kBitXor, "BitwiseFn_bitwise_xor", "", "_operator.xor", 2, 2, kInteger,     \
    kInt, 0)                                                                   \
  /* relations: a > b is stored as b < a */                                    \
  X(kEq, "Eq", "", "_operator.eq", 2, 2, kSame, kBool, 0)                      \
  X(kNe, "Ne", "", "_operator.ne", 2, 2, kSame, kBool, 0)                      \
  X(kLt, "Lt", "", "_operator.lt", 2, 2, kNumber, kBool, 0)                    \
  X(kLe, "Le", "", "_operator.le", 2, 2, kNumber, kBool, 0)                    \
  /* logic */                                                                  \
  X(kAnd, "And", "", "_operator.and_", 1, -1, kBoolean, kBool, 0)              \
  X(kOr, "Or", "", "_operator.or_", 1, -1, kBoolean, kBool, 0)                 \
  X(kNot, "Not", "", "torch.sym_not", 1, 1, kBoolean, kBool, 0)                \
  X(kWhere, "Where", "", "torch.sym_ite", 3, 3, kCondition, kOfArms, 0)        \
  /* floats: exact rationals */                                                \
  X(kToFloat, "ToFloat", "float", "torch.sym_float", 1, 1, kNumber, kFloat, 0) \
  X(kIntTrueDiv, "IntTrueDiv", "", "_operator.truediv", 2, 2, kNumber, kFloat, \
    1)                                                                         \
  X(kFloatTrueDiv, "FloatTrueDiv", "", "_operator.truediv", 2, 2, kNumber,     \
    kFloat, 1)                                                                 \
  X(kFloatPow, "FloatPow", "", "_operator.pow", 2, 2, kNumber, kFloat, 0)      \
  X(kTruncToFloat, "TruncToFloat", "", "", 1, 1, kNumber, kFloat, 0)           \
  X(kTruncToInt, "TruncToInt", "math.trunc", "math.trunc", 1, 1, kNumber,      \
    kInt, 0)                                                                   \
  X(kCeilToInt, "CeilToInt", "math.ceil", "math.ceil", 1, 1, kNumber, kInt, 0) \
  X(kFloorToInt, "FloorToInt", "math.floor", "math.floor", 1, 1, kNumber,      \
    kInt, 0)                                                                   \
  X(kRoundToInt, "RoundToInt", "round", "builtins.round", 1, 1, kNumber, kInt, \
    0)                                                                         \
  X(kRoundDecimal, "RoundDecimal", "round", "builtins.round", 2, 2, kNumber,   \
    kFloat, 0)                                                                 \
  /* opaque real functions: no reasoning, values only where exact */           \
  X(kSqrt, "OpaqueUnaryFn_sqrt", "math.sqrt", "torch._sym_sqrt", 1, 1,         \
    kNumber, kFloat, 0)                                                        \
  X(kCos, "OpaqueUnaryFn_cos", "math.cos", "torch._sym_cos", 1, 1, kNumber,    \
    kFloat, 0)                                                                 \
  X(kCosh, "OpaqueUnaryFn_cosh", "math.cosh", "torch._sym_cosh", 1, 1,         \
    kNumber, kFloat, 0)                                                        \
  X(kSin, "OpaqueUnaryFn_sin", "math.sin", "torch._sym_sin", 1, 1, kNumber,    \
    kFloat, 0)                                                                 \
  X(kSinh, "OpaqueUnaryFn_sinh", "math.sinh", "torch._sym_sinh", 1, 1,         \
    kNumber, kFloat, 0)                                                        \
  X(kTan, "OpaqueUnaryFn_tan", "math.tan", "torch._sym_tan", 1, 1, kNumber,    \
    kFloat, 0)                                                                 \
  X(kTanh, "OpaqueUnaryFn_tanh", "math.tanh", "torch._sym_tanh", 1, 1,         \
    kNumber, kFloat, 0)                                                        \
  X(kAsin, "OpaqueUnaryFn_asin", "math.asin", "torch._sym_asin", 1, 1,         \
    kNumber, kFloat, 0)                                                        \
  X(kAcos, "OpaqueUnaryFn_acos", "math.acos", "torch._sym_acos", 1, 1,         \
    kNumber, kFloat, 0)                                                        \
  X(kAtan, "OpaqueUnaryFn_atan", "math.atan", "torch._sym_atan", 1, 1,         \
    kNumber, kFloat, 0)                                                        \
  X(kExp, "OpaqueUnaryFn_exp", "math.exp", "", 1, 1, kNumber, kFloat, 0)       \
  X(kLog, "OpaqueUnaryFn_log", "math.log", "", 1, 1, kNumber, kFloat, 0)       \
  X(kAsinh, "OpaqueUnaryFn_asinh", "math.asinh", "", 1, 1, kNumber, kFloat, 0) \
  X(kLog2, "OpaqueUnaryFn_log2", "math.log2", "torch._sym_log2", 1, 1,         \
    kNumber, kFloat, 0)                                                        \
  /* sizes.., strides..: 1 when dense and not overlapping, else 0 */           \
  X(kDenseIndicator, "IsNonOverlappingAndDenseIndicator", "", "", 0, -1,       \
    kInteger, kInt, 0)

enum class Op : uint8_t {
#define PROVISO_ROW(enumerator, ...) enumerator,
  PROVISO_OPERATORS(PROVISO_ROW)
#undef PROVISO_ROW
};

enum class ArgClass : uint8_t {
  kNone,
  kInteger,
  kNumber,
  kBoolean,
  kSame,
  kCondition
};
enum class ResultClass : uint8_t { kInt, kFloat, kBool, kOfArguments, kOfArms };

struct OpInfo {
  Op op;
  std::string_view name;
  std::string_view python;
  std::string_view target;
  int min_args;
  int max_args;  // -1: any number
  ArgClass args;
  ResultClass result;
  int divisors;
};

[[nodiscard]] const OpInfo& info(Op op);
// The row of this name, which is no leaf's; nullptr when there is none.
[[nodiscard]] const OpInfo* op_named(std::string_view name);

inline constexpr size_t kOpCount = 0
#define PROVISO_ROW(...) +1
    PROVISO_OPERATORS(PROVISO_ROW)
#undef PROVISO_ROW
    ;

constexpr bool is_relation(Op op) { return op >= Op::kEq && op <= Op::kLe; }
// Division and remainder of integers, in any of their forms.
bool is_integer_division(Op op);
constexpr bool is_leaf(Op op) { return op <= Op::kSymbol; }
constexpr bool is_opaque(Op op) { return op >= Op::kSqrt && op <= Op::kLog2; }

}  // namespace proviso::inline v0_2
PROVISO_API_END
