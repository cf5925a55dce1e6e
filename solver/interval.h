// solver/interval.h - a run of consecutive integers, possibly without end.
//
//   Interval batch = Interval::at_least(2);              // [2, int_oo]
//   Interval rows  = floor_div(Interval(0, 31), batch);  // [0, 15]
//
// Promise: each operation returns a superset of the exact set (it is sound).
// "Tight" adds: no smaller interval would be.  Empty means contradiction.
#pragma once

#include <string>
#include <utility>

#include "sym/api.h"
#include "sym/integer.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

class [[nodiscard]] Interval {
 public:
  Interval() = default;             // every integer
  Interval(Int lower, Int upper) {  // empty when lower > upper
    empty_ = lower > upper;
    if (empty_) return;
    lo_ = std::move(lower);
    hi_ = std::move(upper);
  }
  static Interval all() { return {}; }
  static Interval empty() { return {1, 0}; }
  static Interval point(const Int& value) {
    Interval result;
    result.lo_ = result.hi_ = value;
    return result;
  }
  static Interval at_least(const Int& lower) { return of(lower, std::nullopt); }
  static Interval at_most(const Int& upper) { return of(std::nullopt, upper); }
  static Interval of(OptionalInt lower, OptionalInt upper) {
    Interval result;
    result.empty_ = lower && upper && *lower > *upper;
    if (result.empty_) return result;
    result.lo_ = std::move(lower);
    result.hi_ = std::move(upper);
    return result;
  }

  // Another end, or none (nullopt); what is empty stays empty.
  void set_lower(OptionalInt end) {
    if (empty_) return;
    lo_ = std::move(end);
    close();
  }
  void set_upper(OptionalInt end) {
    if (empty_) return;
    hi_ = std::move(end);
    close();
  }

  Interval shifted(const Int& by) const {  // tight
    Interval result = *this;
    if (lo_) *result.lo_ += by;
    if (hi_) *result.hi_ += by;
    return result;
  }

  const OptionalInt& lower() const { return lo_; }  // nullopt: -int_oo
  const OptionalInt& upper() const { return hi_; }  // nullopt: int_oo
  bool is_empty() const { return empty_; }
  bool is_point() const { return lo_ && hi_ && *lo_ == *hi_; }
  bool contains(const Int& value) const;
  bool contains(const Interval& other) const;
  std::string to_string() const;  // "[2, int_oo]"
  friend bool operator==(const Interval&, const Interval&) = default;

 private:
  void close() {
    if (lo_ && hi_ && *lo_ > *hi_) *this = empty();
  }

  OptionalInt lo_, hi_;  // lo_ <= hi_ unless empty_
  bool empty_ = false;
};

Interval intersect(const Interval& a, const Interval& b);  // tight
Interval hull(const Interval& a, const Interval& b);       // tight
Interval operator+(const Interval& a, const Interval& b);  // tight
Interval operator-(const Interval& a, const Interval& b);  // tight
Interval operator-(const Interval& a);                     // tight
Interval operator*(const Interval& a, const Interval& b);  // tight
// { floor(x / y) : x in a, y in b, y != 0 }.  Tight.
Interval floor_div(const Interval& a, const Interval& b);
// { x mod y : x in a, y in b, y != 0 }, Python's sign.
Interval mod(const Interval& a, const Interval& b);
Interval min(const Interval& a, const Interval& b);  // tight
Interval max(const Interval& a, const Interval& b);  // tight
Interval abs(const Interval& a);                     // tight
Interval pow(const Interval& a, unsigned exponent);  // tight
// Two's complement of infinite width.
Interval bit_and(const Interval& a, const Interval& b);
Interval bit_or(const Interval& a, const Interval& b);
Interval bit_xor(const Interval& a, const Interval& b);

}  // namespace proviso::inline v0_2
PROVISO_API_END
