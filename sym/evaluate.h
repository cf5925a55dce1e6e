// sym/evaluate.h - the definition of meaning: the value of an expression under
// an assignment.  Every simplifier, bound, printer and backend is tested
// against this function.
//
//   Assignment point; point.set(s0, Int(7));
//   Evaluation r = evaluate(floor_div(s0, two), point);   // r.value is 3
//
// Floor division and modulo are Python's; rounding ties go to even; true
// division is exact.  A zero divisor (of an arm that is taken) is undefined and
// reported, never guessed.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// An exact integer, an exact fraction, a truth value, or (opaque functions
// alone) an inexact double.
using Value = std::variant<Int, Rational, bool, double>;
[[nodiscard]] std::string to_string(const Value& value);

class Assignment {
 public:
  void set(Expr symbol, Value value);
  const Value* find(Expr symbol) const;
  // Pairs in creation order of the symbols.
  std::vector<std::pair<Expr, Value>> entries() const;
  bool empty() const { return values_.empty(); }
  std::string to_string() const;  // "s0 = 4, u0 = 0"

 private:
  std::unordered_map<Expr, Value, ExprHash> values_;
};

struct [[nodiscard]] Evaluation {
  std::optional<Value> value;  // nullopt: undefined, see culprit and why
  Expr culprit;                // the sub-expression that is undefined
  std::string why;             // "divisor u0 is 0 in 4//u0"
  bool gave_up = false;        // at 200,000 units of work: not undefined
  bool defined() const { return value.has_value(); }
  bool is_true() const;   // defined and the boolean true
  bool is_false() const;  // defined and the boolean false
};

// Total: an unassigned symbol, a zero divisor, a negative shift or exponent and
// a result past `2**65536` are undefined with a sentence that says so.

Evaluation evaluate(Expr e, const Assignment& point);

}  // namespace proviso::inline v0_2
PROVISO_API_END
