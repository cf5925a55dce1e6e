// guards/guard_program.h - conditions on integers, compiled to be asked often.
//
//   GuardProgram program({s0, s1}, {ge(s0, 4), eq(s0, s1)});
//   const int64_t sizes[] = {6, 6};
//   program.holds(sizes);          // true
//   program.first_failing(sizes);  // nullopt
//
// Promise: a condition holds exactly when evaluate() says that it is defined
// and true at these values.  One instruction for what guards mostly are (a
// range, an equality, a remainder, a product), a small stack machine for the
// rest.  Values that leave int64 on the way are computed again exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

class GuardProgram {
 public:
  GuardProgram() = default;
  // values[i] is the value of symbols[i].  Throws Error when a condition is not
  // boolean, or mentions another symbol, and when the conditions take long at
  // each call (numbers of 10,000s of bits that are no canonical() ones).
  GuardProgram(std::vector<Expr> symbols, std::vector<Expr> conditions);

  // Whether every condition holds.  Requires values.size() >= symbols.
  [[nodiscard]] bool holds(const int64_t* values) const;
  // The index of the first condition that does not hold.
  [[nodiscard]] std::optional<size_t> first_failing(
      const int64_t* values) const;

  size_t size() const { return conditions_.size(); }
  const std::vector<Expr>& conditions() const { return conditions_; }

  // A C++ function `bool name(const int64_t* v)`, true only where holds() is.
  // It refuses values that leave int64 or divide by zero on the way, even in an
  // arm that is not taken.  Throws Error for conditions on floats.
  [[nodiscard]] std::string to_cpp(const std::string& name) const;

  enum class Code : uint8_t {
    // Whole conditions.
    kInRange,    // imm <= v[a] <= imm2
    kSame,       // v[a] == v[b]
    kMultiple,   // v[a] == v[b]*imm + imm2
    kProduct,    // v[a]*v[b] == v[c]
    kRemainder,  // v[a] % imm == imm2
    kStack,      // the next `a` instructions leave 0 or 1
    kExact,      // evaluate() decides
    // On the stack.
    kPush,
    kLoad,
    kAdd,
    kMul,
    kFloorDiv,
    kMod,
    kMin,
    kMax,
    kAbs,
    kEq,
    kNe,
    kLt,
    kLe,
    kAnd,
    kOr,
    kNot,
    kWhere,
  };
  struct Instruction {
    Code code;
    uint16_t a = 0, b = 0, c = 0;
    int64_t imm = 0, imm2 = 0;
  };

 private:
  enum class Outcome { kTrue, kFalse, kUnsure };
  static Outcome run(const Instruction* at, const Instruction* end,
                     const int64_t* values);
  bool exactly(size_t condition, const int64_t* values) const;
  void require_quick() const;

  std::vector<Expr> symbols_, conditions_;
  std::vector<Instruction> code_;
  std::vector<uint32_t> starts_;  // of each condition, and the end
};

}  // namespace proviso::inline v0_2
PROVISO_API_END
