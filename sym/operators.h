// sym/operators.h - expressions written as C++ writes arithmetic.
//
//   Expr n = pool.symbol("n", SymbolKind::kBackedSize);
//   context.assume(n % 8 == 0 && n >= 8);
//   context.bounds(2 * n + 1);
//   context.ask(ceil_div(n, 16) * 16 >= n);
//
// / and % are floor_div() and mod(): they round down, as in Python.  A relation
// is a Condition: an Expr for whoever wants one, and no truth value, so that
// `if (n < 8)` does not compile.  a == b of two Exprs stays what it is in
// sym/expr.h: whether both are the same expression, now; eq(a, b) is the
// condition.  Each operand is an Expr or an integer.
#pragma once

#include <cstdint>
#include <functional>

#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

class [[nodiscard]] Condition {
 public:
  Condition(Expr e) : e_(e) {}              // NOLINT: either stands for
  operator Expr() const { return e_; }      // NOLINT: the other
  explicit operator bool() const = delete;  // ask a Context
  Condition operator!() const { return logical_not(e_); }
  friend Condition operator&&(const Condition& a, const Condition& b) {
    return logical_and(a.e_, b.e_);
  }
  friend Condition operator||(const Condition& a, const Condition& b) {
    return logical_or(a.e_, b.e_);
  }

 private:
  Expr e_;
};

[[nodiscard]] inline Expr operator+(int64_t a, Expr b) {
  return b.pool().integer(a) + b;
}
[[nodiscard]] inline Expr operator-(int64_t a, Expr b) {
  return b.pool().integer(a) - b;
}
[[nodiscard]] inline Expr operator*(int64_t a, Expr b) {
  return b.pool().integer(a) * b;
}

[[nodiscard]] inline Expr operator/(Expr a, Expr b) { return floor_div(a, b); }
[[nodiscard]] inline Expr operator/(Expr a, int64_t b) {
  return a / a.pool().integer(b);
}
[[nodiscard]] inline Expr operator/(int64_t a, Expr b) {
  return b.pool().integer(a) / b;
}
[[nodiscard]] inline Expr operator%(Expr a, Expr b) { return mod(a, b); }
[[nodiscard]] inline Expr operator%(Expr a, int64_t b) {
  return a % a.pool().integer(b);
}
[[nodiscard]] inline Expr operator%(int64_t a, Expr b) {
  return b.pool().integer(a) % b;
}

[[nodiscard]] inline Expr floor_div(Expr a, int64_t b) { return a / b; }
[[nodiscard]] inline Expr mod(Expr a, int64_t b) { return a % b; }
// a / b rounded up.
[[nodiscard]] inline Expr ceil_div(Expr a, Expr b) {
  return a.pool().make(Op::kCeilDiv, {a, b});
}
[[nodiscard]] inline Expr ceil_div(Expr a, int64_t b) {
  return ceil_div(a, a.pool().integer(b));
}
[[nodiscard]] inline Expr min(Expr a, int64_t b) {
  return min(a, a.pool().integer(b));
}
[[nodiscard]] inline Expr max(Expr a, int64_t b) {
  return max(a, a.pool().integer(b));
}

inline Condition operator<(Expr a, Expr b) { return lt(a, b); }
inline Condition operator<=(Expr a, Expr b) { return le(a, b); }
inline Condition operator>(Expr a, Expr b) { return gt(a, b); }
inline Condition operator>=(Expr a, Expr b) { return ge(a, b); }
inline Condition operator<(Expr a, int64_t b) { return lt(a, b); }
inline Condition operator<=(Expr a, int64_t b) { return le(a, b); }
inline Condition operator>(Expr a, int64_t b) { return gt(a, b); }
inline Condition operator>=(Expr a, int64_t b) { return ge(a, b); }
inline Condition operator<(int64_t a, Expr b) { return gt(b, a); }
inline Condition operator<=(int64_t a, Expr b) { return ge(b, a); }
inline Condition operator>(int64_t a, Expr b) { return lt(b, a); }
inline Condition operator>=(int64_t a, Expr b) { return le(b, a); }
inline Condition operator==(Expr a, int64_t b) { return eq(a, b); }
inline Condition operator!=(Expr a, int64_t b) { return ne(a, b); }
inline Condition operator==(int64_t a, Expr b) { return eq(b, a); }
inline Condition operator!=(int64_t a, Expr b) { return ne(b, a); }

}  // namespace proviso::inline v0_2
PROVISO_API_END

template <>
struct std::hash<proviso::Expr> {
  size_t operator()(proviso::Expr e) const { return proviso::ExprHash()(e); }
};
