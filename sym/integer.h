// sym/integer.h - exact integers of any size, with a 64-bit fast path.
//
//   Int a = Int(int64_t{1} << 62) * 4;   // 2**64, exact
//   floor_div(Int(-7), Int(2));          // -4, as in Python
//
// Promise: no operation overflows or rounds.  A value is held in the smallest
// of three ways that fits it: 64 bits, 127 bits, a shared big integer.  Only
// the last allocates: products of two sizes do not.  Work on big integers is
// charged to the Budget in force by their length (sym/budget.h), and may end
// with OutOfBudget.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

class Int {
 public:
  struct Big;  // a shared Boost.Multiprecision integer

  Int(int64_t value = 0) noexcept : low_(value) {}  // NOLINT: literals are Ints
  Int(int value) noexcept : low_(value) {}          // NOLINT
  Int(const Int& o) noexcept : low_(o.low_), rest_(o.rest_) {
    if (is_shared()) retain();
  }
  Int(Int&& o) noexcept : low_(o.low_), rest_(o.rest_) { o.rest_ = 0; }
  Int& operator=(const Int& o) noexcept {
    if (o.is_shared()) o.retain();
    if (is_shared()) release();
    low_ = o.low_;
    rest_ = o.rest_;
    return *this;
  }
  Int& operator=(Int&& o) noexcept {
    const int64_t low = o.low_;
    const uint64_t rest = std::exchange(o.rest_, 0);
    if (is_shared()) release();
    low_ = low;
    rest_ = rest;
    return *this;
  }
  ~Int() {
    if (is_shared()) release();
  }

  // Decimal digits with an optional sign.  nullopt when malformed.
  [[nodiscard]] static std::optional<Int> parse(std::string_view text);

  bool is_small() const { return __builtin_expect(rest_ == 0, 1); }
  bool is_zero() const { return low_ == 0 && is_small(); }
  bool is_one() const { return low_ == 1 && is_small(); }
  bool is_odd() const { return is_shared() ? big_is_odd() : (low_ & 1) != 0; }
  int sign() const {  // -1, 0 or 1
    return is_small() ? (low_ > 0) - (low_ < 0) : big_sign();
  }

  // The value when it fits.
  std::optional<int64_t> to_int64() const {
    if (!is_small()) return std::nullopt;
    return low_;
  }
  double to_double() const;  // the nearest double; +-inf beyond its range
  std::string to_string() const;
  size_t hash() const {
    return is_small() ? static_cast<size_t>(low_) : big_hash();
  }
  size_t bit_length() const {  // bits of |value|; 0 for 0
    if (!is_small()) return big_bit_length();
    uint64_t u = static_cast<uint64_t>(low_);
    return static_cast<size_t>(std::bit_width(low_ < 0 ? 0 - u : u));
  }

  [[nodiscard]] Int operator-() const { return Int(0) - *this; }
  friend Int operator+(const Int& a, const Int& b) {
    int64_t sum;
    if (both_small(a, b) && !__builtin_add_overflow(a.low_, b.low_, &sum)) {
      return sum;
    }
    return big_add(a, b);
  }
  friend Int operator-(const Int& a, const Int& b) {
    int64_t difference;
    if (both_small(a, b) &&
        !__builtin_sub_overflow(a.low_, b.low_, &difference)) {
      return difference;
    }
    return big_subtract(a, b);
  }
  friend Int operator*(const Int& a, const Int& b) {
    int64_t product;
    if (both_small(a, b) && !__builtin_mul_overflow(a.low_, b.low_, &product)) {
      return product;
    }
    return big_multiply(a, b);
  }
  Int& operator+=(const Int& b) {
    int64_t sum;
    if (both_small(*this, b) && !__builtin_add_overflow(low_, b.low_, &sum)) {
      low_ = sum;
      return *this;
    }
    return *this = *this + b;
  }
  Int& operator-=(const Int& b) { return *this = *this - b; }
  Int& operator*=(const Int& b) { return *this = *this * b; }
  Int& add_product(const Int& a, const Int& b) {  // += a * b
    int64_t product, sum;
    if (is_small() && both_small(a, b) &&
        !__builtin_mul_overflow(a.low_, b.low_, &product) &&
        !__builtin_add_overflow(low_, product, &sum)) {
      low_ = sum;
      return *this;
    }
    return add_big_product(a, b);
  }
  friend bool operator==(const Int& a, const Int& b) {
    return both_small(a, b) ? a.low_ == b.low_ : big_compare(a, b) == 0;
  }
  friend std::strong_ordering operator<=>(const Int& a, const Int& b) {
    return both_small(a, b) ? a.low_ <=> b.low_ : big_compare(a, b) <=> 0;
  }

 private:
  friend struct IntAccess;
  friend class OptionalInt;
  static bool both_small(const Int& a, const Int& b) {
    return __builtin_expect((a.rest_ | b.rest_) == 0, 1);
  }
  bool is_shared() const {
    return __builtin_expect(rest_ != 0 && (rest_ & 1) == 0, 0);
  }
  void retain() const noexcept;
  void release() noexcept;
  Int& add_big_product(const Int& a, const Int& b);
  static Int big_add(const Int& a, const Int& b);
  static Int big_subtract(const Int& a, const Int& b);
  static Int big_multiply(const Int& a, const Int& b);
  static int big_compare(const Int& a, const Int& b);
  int big_sign() const;
  bool big_is_odd() const;
  size_t big_hash() const;
  size_t big_bit_length() const;

  int64_t low_ = 0;
  // 0: the value is low_.  Odd: its upper half, shifted left by one; low_ is
  // the lower one.  Else a Big*, which holds the value.
  uint64_t rest_ = 0;
};

// An Int or nothing, in the space of an Int: std::optional<Int> takes half as
// much again, and the ends of intervals are copied all the time.
class OptionalInt {
 public:
  OptionalInt() noexcept { value_.rest_ = kNothing; }
  OptionalInt(std::nullopt_t) noexcept : OptionalInt() {}        // NOLINT
  OptionalInt(Int value) noexcept : value_(std::move(value)) {}  // NOLINT
  OptionalInt(std::optional<Int> o) noexcept : OptionalInt() {   // NOLINT
    if (o) value_ = *std::move(o);
  }
  operator std::optional<Int>() const {  // NOLINT: either stands for the other
    return has_value() ? std::optional<Int>(value_) : std::nullopt;
  }

  bool has_value() const {
    return value_.rest_ != kNothing || value_.low_ != 0;
  }
  explicit operator bool() const { return has_value(); }
  const Int& operator*() const { return value_; }  // require a value
  Int& operator*() { return value_; }
  const Int* operator->() const { return &value_; }
  Int value_or(const Int& otherwise) const {
    return has_value() ? value_ : otherwise;
  }
  friend bool operator==(const OptionalInt& a, const OptionalInt& b) {
    return a ? b && *a == *b : !b;
  }

 private:
  // With low_ == 0 this would be 0 in 127 bits, and 0 is held in 64.
  static constexpr uint64_t kNothing = 1;
  Int value_;
};

// Python's // and %: the quotient rounds down, the remainder has the sign of
// the divisor.  Require b != 0.
[[nodiscard]] Int floor_div(const Int& a, const Int& b);
[[nodiscard]] Int floor_mod(const Int& a, const Int& b);
// floor_div of machine integers.  Requires b != 0 and a quotient that fits.
template <typename Integer>
constexpr Integer floor_quotient(Integer a, Integer b) {
  const Integer quotient = a / b, rest = a % b;
  return quotient - (rest != 0 && (rest < 0) != (b < 0));
}
template <typename Integer>
constexpr Integer floor_remainder(Integer a, Integer b) {
  const Integer rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
[[nodiscard]] Int abs(const Int& a);
[[nodiscard]] Int gcd(const Int& a, const Int& b);  // >= 0; gcd(0, 0) == 0
[[nodiscard]] Int lcm(const Int& a, const Int& b);  // >= 0
// The largest r with r**k <= n.  Requires n >= 0 and k >= 1.
[[nodiscard]] Int integer_root(const Int& n, int64_t k = 2);
// base**exponent; nullopt when the result would exceed `max_bits` bits, 65,536
// where they are not given.
[[nodiscard]] std::optional<Int> pow(const Int& base, uint64_t exponent);
[[nodiscard]] std::optional<Int> pow(const Int& base, uint64_t exponent,
                                     size_t max_bits);
// Two's complement of infinite width, as in Python.
[[nodiscard]] Int bit_and(const Int& a, const Int& b);
[[nodiscard]] Int bit_or(const Int& a, const Int& b);
[[nodiscard]] Int bit_xor(const Int& a, const Int& b);

// An exact fraction in lowest terms; the denominator is positive.
class Rational {
 public:
  Rational(Int numerator = 0) : num_(std::move(numerator)) {}  // NOLINT
  // Requires denominator != 0.
  Rational(const Int& numerator, const Int& denominator);
  // The exact value of a finite double.  nullopt for infinities and NaN.
  [[nodiscard]] static std::optional<Rational> from_double(double value);
  // "2.5", "-3", "1.0e-12", "7/2".  nullopt when malformed or out of bounds.
  [[nodiscard]] static std::optional<Rational> parse(std::string_view text);

  const Int& num() const { return num_; }
  const Int& den() const { return den_; }
  bool is_integer() const { return den_.is_one(); }
  double to_double() const;
  std::string to_string() const;  // "5/2" or "3"
  size_t hash() const;

  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator-(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  friend Rational operator/(const Rational& a, const Rational& b);  // b != 0
  friend bool operator==(const Rational&, const Rational&) = default;
  friend std::strong_ordering operator<=>(const Rational& a, const Rational& b);

 private:
  Int num_, den_ = 1;
};

[[nodiscard]] Int floor(const Rational& a);
[[nodiscard]] Int ceil(const Rational& a);
[[nodiscard]] Int trunc(const Rational& a);
Int round_half_even(const Rational& a);  // ties to even: banker's rounding

}  // namespace proviso::inline v0_2
PROVISO_API_END
