// solver/monomials.h - equalities between products, as linear equations between
// exponents.
//
//   a*b*c*d == e*f*g*h, g*h == c*d          a, ..., h >= 1
//   ratio of a*b and e*f:                   1, for (1) / (2) says so
//
// Of positive factors, log(x**2*y / z) is 2*log(x) + log(y) - log(z): a product
// that the facts determine is a rational combination of their exponents, found
// by elimination, and has one positive value.  Complete for what equalities of
// two products with constant factors say about another ratio of products.
#pragma once

#include <optional>
#include <vector>

#include "sym/integer.h"

namespace proviso::inline v0_2::internal {

// A product of powers, by the places of its factors.
using Exponents = std::vector<int64_t>;

class MonomialEqualities {
 public:
  // The product of the powers is `value` > 0; `name` is what uses() returns.
  void add(Exponents powers, const Rational& value, uint32_t name);

  struct Ratio {
    Rational value;
    Exponents powers;            // all 0 where the value is determined
    std::vector<uint32_t> uses;  // names of equalities
  };
  // The product of the powers, as a value times other powers, the fewest that
  // elimination leaves.
  std::optional<Ratio> reduced(Exponents powers) const;

  // Exponents w, so that multiplying each factor x by any p**w[x] keeps all
  // equalities; at most `most` vectors, of `factors` places.
  std::vector<Exponents> invariant_scalings(size_t factors, size_t most) const;

 private:
  struct Row {
    Exponents powers;
    Rational value;
    std::vector<uint32_t> uses;
    size_t pivot;
  };
  // powers**times minus multiples of rows has none of their pivots.
  bool reduce(Row& row, int64_t& times) const;

  std::vector<Row> rows_;  // in the order of their pivots
};

}  // namespace proviso::inline v0_2::internal
