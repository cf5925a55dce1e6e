// solver/strided.h - an interval and a congruence together: the values of a
// residue class between two ends.
//
//   Strided x(Interval(0, 30), 8, 0);          // 0, 8, 16, 24
//   x + Strided::point(3)                      // 3, 11, 19, 27
//   floor_div(x, Strided::point(4))            // 0, 2, 4, 6
//   hull(x, Strided::point(4))                 // 0, 4, 8, ..., 24
//
// Each end is a member.  A single value has stride 0: it is divisible by what
// divides it.  Halide calls such a value an interval with an alignment, TVM a
// bound with a modular set; here each narrows the other.
//
// Promise: each operation returns a superset of the exact set (it is sound).
// "Tight" adds: no smaller interval and no larger stride would do.
#pragma once

#include <string>

#include "solver/interval.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

class [[nodiscard]] Strided {
 public:
  Strided() = default;  // every integer
  // The members of `span` that are `offset` modulo `stride`; for stride 0,
  // `offset` alone.  Requires stride >= 0.
  explicit Strided(const Interval& span, const Int& stride = 1,
                   const Int& offset = 0);
  static Strided point(const Int& value) {
    return Strided(Interval::all(), 0, value);
  }

  const Interval& span() const { return span_; }
  const Int& stride() const { return stride_; }
  const Int& offset() const { return offset_; }  // in [0, stride), or the value
  bool is_empty() const { return span_.is_empty(); }
  bool is_point() const { return stride_.is_zero() && !is_empty(); }
  bool contains(const Int& value) const;
  // The largest number that divides every member; 0 where 0 is the only one.
  Int divisor() const;
  std::string to_string() const;  // "[0, 24] 8*k + 0"
  friend bool operator==(const Strided&, const Strided&) = default;

 private:
  Interval span_;
  Int stride_ = 1, offset_ = 0;  // of an empty one: 1 and 0
};

Strided intersect(const Strided& a, const Strided& b);  // tight
Strided hull(const Strided& a, const Strided& b);       // tight
Strided operator+(const Strided& a, const Strided& b);
Strided operator-(const Strided& a, const Strided& b);
Strided operator-(const Strided& a);  // tight
Strided operator*(const Strided& a, const Strided& b);
// x // y and x % y over y != 0, Python's signs.  Tight for a number y whose
// multiple the stride is.
Strided floor_div(const Strided& a, const Strided& b);
Strided mod(const Strided& a, const Strided& b);
Strided min(const Strided& a, const Strided& b);
Strided max(const Strided& a, const Strided& b);
Strided abs(const Strided& a);
Strided pow(const Strided& a, unsigned exponent);

}  // namespace proviso::inline v0_2
PROVISO_API_END
