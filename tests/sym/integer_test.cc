#include "sym/integer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sym/integer_bytes.h"

namespace proviso {
namespace {

TEST(Int, GrowsPastSixtyFourBitsAndComesBack) {
  Int big = Int(std::numeric_limits<int64_t>::max()) + Int(1);
  EXPECT_FALSE(big.is_small());
  EXPECT_EQ(big.to_string(), "9223372036854775808");
  EXPECT_TRUE((big - Int(1)).is_small());
  EXPECT_EQ(-Int(std::numeric_limits<int64_t>::min()), big);
  EXPECT_EQ(floor_div(Int(std::numeric_limits<int64_t>::min()), Int(-1)), big);
  EXPECT_EQ(Int::parse("-0009223372036854775808"),
            Int(std::numeric_limits<int64_t>::min()));
  EXPECT_FALSE(Int::parse("12a") || Int::parse("") || Int::parse("-"));
}

TEST(Int, ComesBackFromItsBytes) {
  using internal::from_magnitude, internal::magnitude_bytes;
  EXPECT_EQ(magnitude_bytes(Int(-258)), (std::vector<unsigned char>{2, 1}));
  EXPECT_EQ(from_magnitude({}, true), Int(0));
  for (const uint64_t bits :
       {0, 1, 7, 8, 62, 63, 64, 65, 126, 127, 128, 20000}) {
    for (int more = -1; more <= 1; ++more) {
      const Int x = *pow(Int(2), bits) + Int(more);
      EXPECT_EQ(from_magnitude(magnitude_bytes(x), false), x) << bits;
      EXPECT_EQ(from_magnitude(magnitude_bytes(-x), true), -x) << bits;
    }
  }
  const unsigned char zeros[] = {5, 0, 0, 0, 0, 0, 0, 0,
                                 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_TRUE(from_magnitude(zeros, false).is_small());
}

TEST(Int, DividesAsTheDefinitionSaysOnEverySmallCaseAndScaledUp) {
  for (int scale = 0; scale < 2; ++scale) {
    Int unit = scale ? *pow(Int(10), 30) : Int(1);
    for (int a = -20; a <= 20; ++a) {
      for (int b = -6; b <= 6; ++b) {
        if (b == 0) continue;
        Int x = Int(a) * unit, y = Int(b) * unit;
        Int q = floor_div(x, y), r = floor_mod(x, y);
        EXPECT_EQ(q * y + r, x);
        EXPECT_EQ(q, Int(int64_t(std::floor(double(a) / b))));
        EXPECT_TRUE(r.is_zero() || r.sign() == y.sign());
      }
    }
  }
}

TEST(Int, BitOperationsAgreeWithMachineOnesAndExtendThem) {
  for (int64_t a = -9; a <= 9; ++a) {
    for (int64_t b = -9; b <= 9; ++b) {
      EXPECT_EQ(bit_and(Int(a), Int(b)), Int(a & b));
      EXPECT_EQ(bit_or(Int(a), Int(b)), Int(a | b));
      EXPECT_EQ(bit_xor(Int(a), Int(b)), Int(a ^ b));
      // The same through the wide path: x + 2**70 keeps the low bits.
      Int high = *pow(Int(2), 70);
      EXPECT_EQ(bit_and(Int(a) + high, Int(255)), Int((a & 255)));
    }
  }
}

// Around 2**63 and 2**126, where the representation changes, against digits.
TEST(Int, ComputesAlikeOnBothSidesOfEachWidth) {
  std::vector<Int> edges;
  for (unsigned bits :
       {0u, 31u, 62u, 63u, 64u, 65u, 125u, 126u, 127u, 128u, 129u}) {
    for (int off = -2; off <= 2; ++off) {
      edges.push_back(*pow(Int(2), bits) + off);
      edges.push_back(-edges.back());
    }
  }
  // Modulo a prime below 2**31, sums and products must agree.
  const Int prime = 2147483629;
  auto rest = [&](const Int& v) { return *floor_mod(v, prime).to_int64(); };
  for (const Int& a : edges) {
    EXPECT_EQ(*Int::parse(a.to_string()), a);
    EXPECT_EQ(gcd(a, 0), abs(a));
    EXPECT_EQ(a.is_odd(), floor_mod(a, 2) == 1);
    EXPECT_EQ(a.sign() < 0, a.to_string()[0] == '-');
    for (const Int& b : edges) {
      const int64_t x = rest(a), y = rest(b), p = *prime.to_int64();
      EXPECT_EQ(rest(a + b), (x + y) % p) << a.to_string() << b.to_string();
      EXPECT_EQ(rest(a - b), (x - y + p) % p) << a.to_string() << b.to_string();
      EXPECT_EQ(rest(a * b), x * y % p) << a.to_string() << b.to_string();
      EXPECT_EQ((a + b) - b, a);
      EXPECT_EQ(((a + b) - b).hash(), a.hash());
      EXPECT_EQ(a < b, (a - b).sign() < 0);
      if (!b.is_zero()) {
        EXPECT_EQ(floor_div(a * b, b), a);
        EXPECT_EQ(floor_div(a, b) * b + floor_mod(a, b), a);
        EXPECT_EQ(gcd(a, b), gcd(b, floor_mod(a, b)));
      }
    }
  }
}

TEST(OptionalInt, TakesAnIntsSpaceAndTellsNothingFromEveryValue) {
  static_assert(sizeof(OptionalInt) == sizeof(Int));
  const OptionalInt nothing;
  EXPECT_FALSE(nothing.has_value());
  EXPECT_EQ(nothing, OptionalInt(std::nullopt));
  EXPECT_EQ(nothing.value_or(7), 7);
  for (unsigned bits : {0u, 1u, 62u, 63u, 64u, 65u, 126u, 127u, 300u}) {
    for (int off = -2; off <= 2; ++off) {
      for (int sign : {-1, 1}) {
        const Int value = (*pow(Int(2), bits) + off) * sign;
        OptionalInt end = value, other = end;
        ASSERT_TRUE(end) << value.to_string();
        EXPECT_EQ(*end, value);
        EXPECT_EQ(end, other);
        EXPECT_FALSE(end == nothing || nothing == end);
        EXPECT_EQ(std::optional<Int>(end), std::optional<Int>(value));
        EXPECT_EQ(OptionalInt(std::optional<Int>(value)), end);
        other = std::nullopt;
        EXPECT_EQ(other, nothing);
        EXPECT_EQ(std::optional<Int>(other), std::nullopt);
      }
    }
  }
}

TEST(Int, SumsInPlaceAreSums) {
  const Int far = *pow(Int(2), 63), farther = *pow(Int(2), 126);
  for (const Int& a : {Int(-3), Int(5), far, -far, farther, -farther * 4}) {
    for (const Int& b : {Int(0), Int(7), far - 1, -far - 1, farther - 1}) {
      Int sum = a;
      sum += b;
      EXPECT_EQ(sum, a + b);
      for (const Int& c : {Int(-1), Int(2), far, farther}) {
        Int total = a;
        total.add_product(b, c);
        EXPECT_EQ(total, a + b * c);
      }
      sum = a;
      sum.add_product(sum, sum);
      EXPECT_EQ(sum, a + a * a);
    }
  }
}

TEST(Int, RootsAreTheLargestWhosePowerFits) {
  for (int64_t k = 1; k <= 7; ++k) {
    for (int n = 0; n < 3000; ++n) {
      for (const Int& value : {Int(n), *pow(Int(n), 5) + 1}) {
        const Int r = integer_root(value, k);
        EXPECT_LE(*pow(r, static_cast<uint64_t>(k)), value);
        EXPECT_GT(*pow(r + 1, static_cast<uint64_t>(k)), value);
      }
    }
  }
}

TEST(Rational, RoundsTiesToEven) {
  EXPECT_EQ(round_half_even(Rational(5, 2)), Int(2));
  EXPECT_EQ(round_half_even(Rational(7, 2)), Int(4));
  EXPECT_EQ(round_half_even(Rational(-5, 2)), Int(-2));
  EXPECT_EQ(trunc(Rational(-7, 2)), Int(-3));
  EXPECT_EQ(ceil(Rational(-7, 2)), Int(-3));
}

TEST(Rational, ReadsAndWritesDoublesExactly) {
  for (double x : {0.1, -2.5, 1e-300, 1e300, 3.0, 0x1p-1074}) {
    EXPECT_EQ(Rational::from_double(x)->to_double(), x);
  }
  EXPECT_FALSE(Rational::from_double(std::nan("")));
  EXPECT_EQ(Rational::parse("1.0e-2"), Rational(1, 100));
  EXPECT_EQ(Rational::parse("-2.50"), Rational(-5, 2));
  EXPECT_FALSE(Rational::parse("1e999999"));
}

}  // namespace
}  // namespace proviso
