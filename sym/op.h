// sym/op.h - the operator table: one row an operator.
//
// To add an operator: add a row here, its meaning to evaluate.cc, its interval
// to solver/bounds.cc.  The parser and the printers read the row.
#pragma once

#include <cstdint>
#include <string_view>

namespace proviso {

enum class Type : uint8_t { kInt, kFloat, kBool };
std::string_view name_of(Type type);  // "integer", "float", "boolean"

// Columns: enumerator, printed function name (what PyTorch/SymPy calls it),
// least and most arguments (-1: any), argument type, result type.
// Argument type kAny: kNumber accepts integers and floats, kSame wants all
// arguments of one type.
//   X(enumerator, "Name", min_args, max_args, argument class, result class)
#define PROVISO_OPERATORS(X)                                         \
  /* leaves */                                                       \
  X(kInteger, "Integer", 0, 0, kNone, kInt)                          \
  X(kRational, "Float", 0, 0, kNone, kFloat)                         \
  X(kBoolean, "Boolean", 0, 0, kNone, kBool)                         \
  X(kSymbol, "Symbol", 0, 0, kNone, kOfArguments)                    \
  /* arithmetic; integer, or float when an argument is float */      \
  X(kAdd, "Add", 1, -1, kNumber, kOfArguments)                       \
  X(kMul, "Mul", 1, -1, kNumber, kOfArguments)                       \
  X(kPow, "Pow", 2, 2, kNumber, kOfArguments)                        \
  X(kPowByNatural, "PowByNatural", 2, 2, kInteger, kInt)             \
  X(kFloorDiv, "FloorDiv", 2, 2, kInteger, kInt)                     \
  X(kMod, "Mod", 2, 2, kInteger, kInt)                               \
  X(kPythonMod, "PythonMod", 2, 2, kInteger, kInt)                   \
  X(kCleanDiv, "CleanDiv", 2, 2, kInteger, kInt)                     \
  X(kCeilDiv, "CeilDiv", 2, 2, kInteger, kInt)                       \
  X(kModularIndexing, "ModularIndexing", 3, 3, kInteger, kInt)       \
  X(kMin, "Min", 1, -1, kNumber, kOfArguments)                       \
  X(kMax, "Max", 1, -1, kNumber, kOfArguments)                       \
  X(kAbs, "Abs", 1, 1, kNumber, kOfArguments)                        \
  X(kIdentity, "Identity", 1, 1, kNumber, kOfArguments)              \
  /* bits: two's complement of infinite width */                     \
  X(kLShift, "LShift", 2, 2, kInteger, kInt)                         \
  X(kRShift, "RShift", 2, 2, kInteger, kInt)                         \
  X(kBitAnd, "BitwiseFn_bitwise_and", 2, 2, kInteger, kInt)          \
  X(kBitOr, "BitwiseFn_bitwise_or", 2, 2, kInteger, kInt)            \
  X(kBitXor, "BitwiseFn_bitwise_xor", 2, 2, kInteger, kInt)          \
  /* relations: a > b is stored as b < a */                          \
  X(kEq, "Eq", 2, 2, kSame, kBool)                                   \
  X(kNe, "Ne", 2, 2, kSame, kBool)                                   \
  X(kLt, "Lt", 2, 2, kNumber, kBool)                                 \
  X(kLe, "Le", 2, 2, kNumber, kBool)                                 \
  /* logic */                                                        \
  X(kAnd, "And", 1, -1, kBoolean, kBool)                             \
  X(kOr, "Or", 1, -1, kBoolean, kBool)                               \
  X(kNot, "Not", 1, 1, kBoolean, kBool)                              \
  X(kWhere, "Where", 3, 3, kCondition, kOfArms)                      \
  /* floats: exact rationals */                                      \
  X(kToFloat, "ToFloat", 1, 1, kNumber, kFloat)                      \
  X(kIntTrueDiv, "IntTrueDiv", 2, 2, kNumber, kFloat)                \
  X(kFloatTrueDiv, "FloatTrueDiv", 2, 2, kNumber, kFloat)            \
  X(kFloatPow, "FloatPow", 2, 2, kNumber, kFloat)                    \
  X(kTruncToFloat, "TruncToFloat", 1, 1, kNumber, kFloat)            \
  X(kTruncToInt, "TruncToInt", 1, 1, kNumber, kInt)                  \
  X(kCeilToInt, "CeilToInt", 1, 1, kNumber, kInt)                    \
  X(kFloorToInt, "FloorToInt", 1, 1, kNumber, kInt)                  \
  X(kRoundToInt, "RoundToInt", 1, 1, kNumber, kInt)                  \
  X(kRoundDecimal, "RoundDecimal", 2, 2, kNumber, kFloat)            \
  /* opaque real functions: no reasoning, values only where exact */ \
  X(kSqrt, "OpaqueUnaryFn_sqrt", 1, 1, kNumber, kFloat)              \
  X(kCos, "OpaqueUnaryFn_cos", 1, 1, kNumber, kFloat)                \
  X(kCosh, "OpaqueUnaryFn_cosh", 1, 1, kNumber, kFloat)              \
  X(kSin, "OpaqueUnaryFn_sin", 1, 1, kNumber, kFloat)                \
  X(kSinh, "OpaqueUnaryFn_sinh", 1, 1, kNumber, kFloat)              \
  X(kTan, "OpaqueUnaryFn_tan", 1, 1, kNumber, kFloat)                \
  X(kTanh, "OpaqueUnaryFn_tanh", 1, 1, kNumber, kFloat)              \
  X(kAsin, "OpaqueUnaryFn_asin", 1, 1, kNumber, kFloat)              \
  X(kAcos, "OpaqueUnaryFn_acos", 1, 1, kNumber, kFloat)              \
  X(kAtan, "OpaqueUnaryFn_atan", 1, 1, kNumber, kFloat)              \
  X(kExp, "OpaqueUnaryFn_exp", 1, 1, kNumber, kFloat)                \
  X(kLog, "OpaqueUnaryFn_log", 1, 1, kNumber, kFloat)                \
  X(kAsinh, "OpaqueUnaryFn_asinh", 1, 1, kNumber, kFloat)            \
  X(kLog2, "OpaqueUnaryFn_log2", 1, 1, kNumber, kFloat)              \
  /* sizes.., strides..: 1 when dense and not overlapping, else 0 */ \
  X(kDenseIndicator, "IsNonOverlappingAndDenseIndicator", 0, -1, kInteger, kInt)

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
  int min_args;
  int max_args;  // -1: any number
  ArgClass args;
  ResultClass result;
};

const OpInfo& info(Op op);
// The row whose printed name this is, or nullptr.
const OpInfo* find_op(std::string_view name);

constexpr bool is_relation(Op op) { return op >= Op::kEq && op <= Op::kLe; }
constexpr bool is_leaf(Op op) { return op <= Op::kSymbol; }
constexpr bool is_opaque(Op op) { return op >= Op::kSqrt && op <= Op::kLog2; }

}  // namespace proviso
