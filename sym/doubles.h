// sym/doubles.h - where arithmetic on doubles has the exact result.
//
//   float(s0)*0.5 + 1     exact: halves of integers below 2**40 are doubles
//   s0/3                  one rounding: its floor is s0//3, its value is not
//                         a third
//   float(s0)*0.6         0.6 has 53 bits: int(5*0.6) is 3, and the exact
//                         product is below 3
//
// A value is followed as an integer of so many bits over a power of two.  It is
// exact while 53 bits hold it, for integers of up to 40 bits.  A quotient of
// two such is rounded once, and what lies between it and the next integer, or
// the next number of few bits, is more than a rounding.  In a pool of
// FloatArithmetic::kExact every operation is exact.
#pragma once

#include <optional>
#include <utility>

#include "sym/expr.h"

namespace proviso::inline v0_2::internal {

// The value of an integer or float constant.
Rational number_of(Expr constant);

// Whether the number is the exact one.
bool is_exact_double(Expr number);
// Whether it is a product of one or two numbers and of powers of two, which may
// be put together: nothing but the exponent changes.
bool is_scaled_exactly(Expr product);
// Whether floor, ceil, trunc and round give what they give of the exact number.
bool rounds_exactly(Expr number);
// Whether ==, < and <= of the two are those of the exact numbers.
bool compares_exactly(Expr a, Expr b);
// A root has the sign of what it is taken of, also where that is no number: of
// a root and the constant 0, in either order, what is compared instead; neither
// is a root then.
std::optional<std::pair<Expr, Expr>> without_root(Expr a, Expr b);

}  // namespace proviso::inline v0_2::internal
