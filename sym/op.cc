#include "sym/op.h"

#include <array>

namespace proviso::inline v0_2 {
namespace {

// The columns' words, as the table writes them.
using enum Precedence;
constexpr ArgClass kNone = ArgClass::kNone, kInteger = ArgClass::kInteger,
                   kNumber = ArgClass::kNumber, kBoolean = ArgClass::kBoolean,
                   kSame = ArgClass::kSame, kCondition = ArgClass::kCondition;
constexpr ResultClass kInt = ResultClass::kInt, kFloat = ResultClass::kFloat,
                      kBool = ResultClass::kBool,
                      kOfArguments = ResultClass::kOfArguments,
                      kOfArms = ResultClass::kOfArms;

constexpr OpInfo kTable[] = {
#define PROVISO_ROW(enumerator, kind, ...) \
  {Op::enumerator, OpKind::kind, __VA_ARGS__},
    PROVISO_OPERATORS(PROVISO_ROW)
#undef PROVISO_ROW
};

}  // namespace

std::string_view name_of(Type type) {
  switch (type) {
    case Type::kInt: return "integer";
    case Type::kFloat: return "float";
    case Type::kBool: return "boolean";
  }
  return "?";
}

const OpInfo& info(Op op) { return kTable[static_cast<size_t>(op)]; }

const OpInfo* op_named(std::string_view name) {
  for (const OpInfo& row : kTable) {
    if (row.name == name && !is_leaf(row.op)) return &row;
  }
  return nullptr;
}

bool is_integer_division(Op op) {
  const OpInfo& row = info(op);
  return row.divisors > 0 && row.result == ResultClass::kInt;
}

}  // namespace proviso::inline v0_2
