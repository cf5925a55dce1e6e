// sym/op.h - the operator table: one row an operator.
//
// Parser, printers, cost, Z3 and the tracer read the row.
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
//   kind       what visitors tell it apart by (OpKind)
//   name       of the function, as PyTorch and SymPy print it
//   python     the function that Python writes and the parser reads too, "" for
//              infix operators and what Python has no function for
//   infix      the sign that Python writes between the arguments, and how
//              tightly it binds; the parser takes the first row with a sign
//   target     of an FX node that computes it from its arguments, or ""
//   least and most arguments (-1: any number)
//   arguments  kNumber: integers and floats; kSame: all of one type
//   result     kOfArguments: float when an argument is one
//   divisors   how many arguments after the first must not be 0
#define PROVISO_OPERATORS(X)                                                   \
  /* leaves */                                                                 \
  X(kInteger, kConstant, "Integer", "", {}, "", 0, 0, kNone, kInt, 0)          \
  X(kRational, kConstant, "Float", "", {}, "", 0, 0, kNone, kFloat, 0)         \
  X(kBoolean, kConstant, "Boolean", "", {}, "", 0, 0, kNone, kBool, 0)         \
  X(kSymbol, kSymbol, "Symbol", "", {}, "", 0, 0, kNone, kOfArguments, 0)      \
  /* arithmetic; integer, or float when an argument is float */                \
  X(kAdd, kSum, "Add", "", {"+", kSum}, "_operator.add", 1, -1, kNumber,       \
    kOfArguments, 0)                                                           \
  X(kMul, kProduct, "Mul", "", {"*", kProduct}, "_operator.mul", 1, -1,        \
    kNumber, kOfArguments, 0)                                                  \
  X(kPow, kPower, "Pow", "pow", {"**", kPower}, "_operator.pow", 2, 2,         \
    kNumber, kOfArguments, 0)                                                  \
  X(kPowByNatural, kPower, "PowByNatural", "", {"**", kPower},                 \
    "_operator.pow", 2, 2, kInteger, kInt, 0)                                  \
  X(kFloorDiv, kFloorDiv, "FloorDiv", "", {"//", kProduct},                    \
    "_operator.floordiv", 2, 2, kInteger, kInt, 1)                             \
  X(kMod, kMod, "Mod", "", {"%", kProduct}, "_operator.mod", 2, 2, kInteger,   \
    kInt, 1)                                                                   \
  X(kPythonMod, kMod, "PythonMod", "", {"%", kProduct}, "_operator.mod", 2, 2, \
    kInteger, kInt, 1)                                                         \
  X(kCleanDiv, kFloorDiv, "CleanDiv", "", {"//", kProduct},                    \
    "_operator.floordiv", 2, 2, kInteger, kInt, 1)                             \
  X(kCeilDiv, kDefined, "CeilDiv", "ceildiv", {}, "", 2, 2, kInteger, kInt, 1) \
  X(kModularIndexing, kDefined, "ModularIndexing", "", {}, "", 3, 3, kInteger, \
    kInt, 2)                                                                   \
  X(kMin, kExtremum, "Min", "min", {}, "torch.sym_min", 1, -1, kNumber,        \
    kOfArguments, 0)                                                           \
  X(kMax, kExtremum, "Max", "max", {}, "torch.sym_max", 1, -1, kNumber,        \
    kOfArguments, 0)                                                           \
  X(kAbs, kAbs, "Abs", "abs", {}, "", 1, 1, kNumber, kOfArguments, 0)          \
  X(kIdentity, kIdentity, "Identity", "", {}, "", 1, 1, kNumber, kOfArguments, \
    0)                                                                         \
  /* bits: two's complement of infinite width */                               \
  X(kLShift, kShift, "LShift", "", {"<<", kShift}, "_operator.lshift", 2, 2,   \
    kInteger, kInt, 0)                                                         \
  X(kRShift, kShift, "RShift", "", {">>", kShift}, "_operator.rshift", 2, 2,   \
    kInteger, kInt, 0)                                                         \
  X(kBitAnd, kBitwise, "BitwiseFn_bitwise_and", "", {"&", kBitAnd},            \
    "_operator.and_", 2, 2, kInteger, kInt, 0)                                 \
  X(kBitOr, kBitwise, "BitwiseFn_bitwise_or", "", {"|", kBitOr},               \
    "_operator.or_", 2, 2, kInteger, kInt, 0)                                  \
  X(kBitXor, kBitwise, "BitwiseFn_bitwise_xor", "", {"^", kBitXor},            \
    "_operator.xor", 2, 2, kInteger, kInt, 0)                                  \
  /* relations: a > b is stored as b < a */                                    \
  X(kEq, kRelation, "Eq", "", {"==", kCompare}, "_operator.eq", 2, 2, kSame,   \
    kBool, 0)                                                                  \
  X(kNe, kRelation, "Ne", "", {"!=", kCompare}, "_operator.ne", 2, 2, kSame,   \
    kBool, 0)                                                                  \
  X(kLt, kRelation, "Lt", "", {"<", kCompare}, "_operator.lt", 2, 2, kNumber,  \
    kBool, 0)                                                                  \
  X(kLe, kRelation, "Le", "", {"<=", kCompare}, "_operator.le", 2, 2, kNumber, \
    kBool, 0)                                                                  \
  /* logic */                                                                  \
  X(kAnd, kJunction, "And", "", {"and", kAnd}, "_operator.and_", 1, -1,        \
    kBoolean, kBool, 0)                                                        \
  X(kOr, kJunction, "Or", "", {"or", kOr}, "_operator.or_", 1, -1, kBoolean,   \
    kBool, 0)                                                                  \
  X(kNot, kNot, "Not", "", {}, "torch.sym_not", 1, 1, kBoolean, kBool, 0)      \
  X(kWhere, kWhere, "Where", "", {}, "torch.sym_ite", 3, 3, kCondition,        \
    kOfArms, 0)                                                                \
  /* floats: exact rationals */                                                \
  X(kToFloat, kToFloat, "ToFloat", "float", {}, "torch.sym_float", 1, 1,       \
    kNumber, kFloat, 0)                                                        \
  X(kIntTrueDiv, kTrueDiv, "IntTrueDiv", "", {"/", kProduct},                  \
    "_operator.truediv", 2, 2, kNumber, kFloat, 1)                             \
  X(kFloatTrueDiv, kTrueDiv, "FloatTrueDiv", "", {"/", kProduct},              \
    "_operator.truediv", 2, 2, kNumber, kFloat, 1)                             \
  X(kFloatPow, kReal, "FloatPow", "", {"**", kPower}, "_operator.pow", 2, 2,   \
    kNumber, kFloat, 0)                                                        \
  X(kTruncToFloat, kReal, "TruncToFloat", "", {}, "", 1, 1, kNumber, kFloat,   \
    0)                                                                         \
  X(kTruncToInt, kRounding, "TruncToInt", "math.trunc", {}, "math.trunc", 1,   \
    1, kNumber, kInt, 0)                                                       \
  X(kCeilToInt, kRounding, "CeilToInt", "math.ceil", {}, "math.ceil", 1, 1,    \
    kNumber, kInt, 0)                                                          \
  X(kFloorToInt, kRounding, "FloorToInt", "math.floor", {}, "math.floor", 1,   \
    1, kNumber, kInt, 0)                                                       \
  X(kRoundToInt, kRounding, "RoundToInt", "round", {}, "builtins.round", 1, 1, \
    kNumber, kInt, 0)                                                          \
  X(kRoundDecimal, kReal, "RoundDecimal", "round", {}, "builtins.round", 2, 2, \
    kNumber, kFloat, 0)                                                        \
  /* opaque real functions: no reasoning, values only where exact */           \
  X(kSqrt, kReal, "OpaqueUnaryFn_sqrt", "math.sqrt", {}, "torch._sym_sqrt", 1, \
    1, kNumber, kFloat, 0)                                                     \
  X(kCos, kReal, "OpaqueUnaryFn_cos", "math.cos", {}, "torch._sym_cos", 1, 1,  \
    kNumber, kFloat, 0)                                                        \
  X(kCosh, kReal, "OpaqueUnaryFn_cosh", "math.cosh", {}, "torch._sym_cosh", 1, \
    1, kNumber, kFloat, 0)                                                     \
  X(kSin, kReal, "OpaqueUnaryFn_sin", "math.sin", {}, "torch._sym_sin", 1, 1,  \
    kNumber, kFloat, 0)                                                        \
  X(kSinh, kReal, "OpaqueUnaryFn_sinh", "math.sinh", {}, "torch._sym_sinh", 1, \
    1, kNumber, kFloat, 0)                                                     \
  X(kTan, kReal, "OpaqueUnaryFn_tan", "math.tan", {}, "torch._sym_tan", 1, 1,  \
    kNumber, kFloat, 0)                                                        \
  X(kTanh, kReal, "OpaqueUnaryFn_tanh", "math.tanh", {}, "torch._sym_tanh", 1, \
    1, kNumber, kFloat, 0)                                                     \
  X(kAsin, kReal, "OpaqueUnaryFn_asin", "math.asin", {}, "torch._sym_asin", 1, \
    1, kNumber, kFloat, 0)                                                     \
  X(kAcos, kReal, "OpaqueUnaryFn_acos", "math.acos", {}, "torch._sym_acos", 1, \
    1, kNumber, kFloat, 0)                                                     \
  X(kAtan, kReal, "OpaqueUnaryFn_atan", "math.atan", {}, "torch._sym_atan", 1, \
    1, kNumber, kFloat, 0)                                                     \
  X(kExp, kReal, "OpaqueUnaryFn_exp", "math.exp", {}, "", 1, 1, kNumber,       \
    kFloat, 0)                                                                 \
  X(kLog, kReal, "OpaqueUnaryFn_log", "math.log", {}, "", 1, 1, kNumber,       \
    kFloat, 0)                                                                 \
  X(kAsinh, kReal, "OpaqueUnaryFn_asinh", "math.asinh", {}, "", 1, 1, kNumber, \
    kFloat, 0)                                                                 \
  X(kLog2, kReal, "OpaqueUnaryFn_log2", "math.log2", {}, "torch._sym_log2", 1, \
    1, kNumber, kFloat, 0)                                                     \
  /* sizes.., strides..: 1 when dense and not overlapping, else 0 */           \
  X(kDenseIndicator, kIndicator, "IsNonOverlappingAndDenseIndicator", "", {},  \
    "", 0, -1, kInteger, kInt, 0)

enum class Op : uint8_t {
#define PROVISO_ROW(enumerator, ...) enumerator,
  PROVISO_OPERATORS(PROVISO_ROW)
#undef PROVISO_ROW
};

// What a visitor, which has something to say of each operator, tells them apart
// by: it is a switch over kinds without `default:`, so that the compiler lists
// the visitors which a new kind has to be added to.  All that is said of a kind
// holds of each of its operators; where they differ, a visitor asks which it
// is.
enum class OpKind : uint8_t {
  kConstant,
  kSymbol,
  kSum,
  kProduct,
  kPower,
  kFloorDiv,  // the quotient of integers, rounded down
  kMod,       // what that leaves
  kExtremum,  // Min, Max
  kAbs,
  kIdentity,
  kShift,
  kBitwise,
  kRelation,
  kJunction,  // And, Or
  kNot,
  kWhere,
  kToFloat,
  kTrueDiv,
  kRounding,   // to an integer
  kReal,       // a float without rules of its own
  kIndicator,  // an integer of which only values are known, 0 and 1
  kDefined     // by others: a visitor takes the definition (sym/definition.h)
};

// How tightly an operator binds, in Python's order.
enum class Precedence : uint8_t {
  kOr,
  kAnd,
  kNot,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kSign,
  kPower,
  kAtom
};
constexpr Precedence tighter(Precedence p) {
  return static_cast<Precedence>(static_cast<uint8_t>(p) + 1);
}

enum class ArgClass : uint8_t {
  kNone,
  kInteger,
  kNumber,
  kBoolean,
  kSame,
  kCondition
};
enum class ResultClass : uint8_t { kInt, kFloat, kBool, kOfArguments, kOfArms };

struct Infix {
  std::string_view sign;  // "": none
  Precedence precedence = Precedence::kAtom;
};

struct OpInfo {
  Op op;
  OpKind kind;
  std::string_view name;
  std::string_view python;
  Infix infix;
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
