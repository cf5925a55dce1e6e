// Products, floors, maxima and conditionals of forms have the values that their
// names say, at every point of a small box, and cancel as their headers say.
#include "solver/forms/operations.h"

#include <gtest/gtest.h>

#include "solver/forms/floors.h"
#include "solver/forms/form_text.h"
#include "solver/point.h"

namespace proviso {
namespace {
using namespace internal;

class Operations : public ::testing::Test {
 protected:
  Poly symbol(const char* name) {
    return variable(forms_, forms_.atoms.symbol(
                                pool_.symbol(name, SymbolKind::kUnbackedInt)));
  }
  // The value of p at x, y.
  std::optional<int64_t> at(const Poly& p, int64_t x, int64_t y) {
    Point point(forms_);
    point.set(*as_atom(forms_, x_), x);
    point.set(*as_atom(forms_, y_), y);
    const Point::Value v = point.value(p);
    return v ? std::optional(static_cast<int64_t>(*v)) : std::nullopt;
  }
  // That p is meaning(x, y) at every point of [-6, 6]^2.
  template <typename Meaning>
  void expect_everywhere(const Poly& p, Meaning meaning) {
    for (int64_t x = -6; x <= 6; ++x) {
      for (int64_t y = -6; y <= 6; ++y) {
        ASSERT_EQ(at(p, x, y), meaning(x, y))
            << to_string(forms_, p) << " at " << x << ", " << y;
      }
    }
  }
  static int64_t floor_of(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
  }

  ExprPool pool_;
  FormPool forms_;
  const Poly x_ = symbol("x"), y_ = symbol("y"), one_ = Poly::number(1);
};

TEST_F(Operations, OfTheHeader) {
  EXPECT_EQ(mul(forms_, x_ + one_, y_), mul(forms_, x_, y_) + y_);
  EXPECT_EQ(max(forms_, x_, y_) + min(forms_, x_, y_), x_ + y_);
  EXPECT_EQ(max(forms_, x_, x_), x_);
}

TEST_F(Operations, MaximaAndConditionals) {
  expect_everywhere(max(forms_, x_ * 2, y_ + one_), [](int64_t x, int64_t y) {
    return std::max(2 * x, y + 1);
  });
  expect_everywhere(min(forms_, x_, y_),
                    [](int64_t x, int64_t y) { return std::min(x, y); });
  expect_everywhere(pos(forms_, y_ * -6 - x_ * 4), [](int64_t x, int64_t y) {
    return std::max<int64_t>(0, -6 * y - 4 * x);
  });
  const FormulaId is_low = forms_.formulas.ge(y_ - x_);
  expect_everywhere(where(forms_, is_low, x_ * 3, one_),
                    [](int64_t x, int64_t y) { return y >= x ? 3 * x : 1; });
  EXPECT_EQ(where(forms_, kTrue, x_, y_), x_);
  EXPECT_EQ(where(forms_, kFalse, x_, y_), y_);
  EXPECT_EQ(where(forms_, is_low, x_, x_), x_);
}

TEST_F(Operations, FloorsByNumbers) {
  for (int64_t k : {-6, -4, -1, 1, 2, 3, 5}) {
    for (int64_t a : {-5, -2, 1, 4, 12}) {
      for (int64_t c : {-7, 0, 3}) {
        const Poly p = x_ * a + y_ * 2 + Poly::number(c);
        const Poly q = floor_div(forms_, p, Poly::number(k));
        const auto value = [&](int64_t x, int64_t y) {
          return floor_of(a * x + 2 * y + c, k);
        };
        expect_everywhere(q, value);
        const Poly r = floor_div(forms_, q + y_, Poly::number(3));
        expect_everywhere(r, [&](int64_t x, int64_t y) {
          return floor_of(value(x, y) + y, 3);
        });
        expect_everywhere(mod(forms_, p, Poly::number(k)),
                          [&](int64_t x, int64_t y) {
                            return a * x + 2 * y + c - k * value(x, y);
                          });
      }
    }
  }
  EXPECT_EQ(
      floor_div(forms_, x_ * 8 + y_ + Poly::number(13), Poly::number(4)),
      x_ * 2 + Poly::number(3) + floor_div(forms_, y_ + one_, Poly::number(4)));
  const Poly inner = floor_div(forms_, x_, Poly::number(2));
  EXPECT_EQ(floor_div(forms_, inner + Poly::number(3), Poly::number(5)),
            floor_div(forms_, x_ + Poly::number(6), Poly::number(10)));
}

TEST_F(Operations, FloorsByForms) {
  EXPECT_EQ(floor_div(forms_, x_ * 2 + Poly::number(3), Poly::number(4)),
            floor_div(forms_, x_ + one_, Poly::number(2)));
  // The divisor's sign is that of its first coefficient, as written once.
  EXPECT_EQ(floor_div(forms_, -x_, -y_), floor_div(forms_, x_, y_));
  const Poly d = y_ - Poly::number(9);  // never 0 in the box
  const Poly q = floor_div(forms_, x_, -d);
  EXPECT_FALSE(
      forms_.polys[forms_.atoms[*as_atom(forms_, q)].b].leads_negative());
  expect_everywhere(q, [](int64_t x, int64_t y) { return floor_of(x, 9 - y); });
  expect_everywhere(mod(forms_, x_, d), [](int64_t x, int64_t y) {
    return x - (y - 9) * floor_of(x, y - 9);
  });
}

// The ends are reached, and no value is outside of them.
TEST_F(Operations, SumsOfRemaindersHaveEnds) {
  const Poly rx = mod(forms_, x_, Poly::number(4)),
             ry = mod(forms_, y_ * 2 + x_, Poly::number(3));
  for (int a = -2; a <= 2; ++a) {
    for (int b = -2; b <= 2; ++b) {
      const Poly p = rx * a + ry * b + one_;
      const auto ends = remainder_range(forms_, p);
      ASSERT_TRUE(ends.has_value()) << to_string(forms_, p);
      int64_t low = 100, high = -100;
      for (int64_t x = 0; x < 12; ++x) {
        for (int64_t y = 0; y < 12; ++y) {
          low = std::min(low, *at(p, x, y));
          high = std::max(high, *at(p, x, y));
        }
      }
      EXPECT_EQ(ends->first, low) << to_string(forms_, p);
      EXPECT_EQ(ends->second, high) << to_string(forms_, p);
    }
  }
  EXPECT_EQ(remainder_range(forms_, rx + x_), std::nullopt);
  EXPECT_EQ(remainder_range(forms_, mul(forms_, rx, ry)), std::nullopt);
  EXPECT_EQ(
      floor_div(forms_, mod(forms_, x_, Poly::number(8)) + Poly::number(8),
                Poly::number(16)),
      Poly{});
}

// Products that would grow too large have the value all the same.
TEST_F(Operations, LargeProductsAreFolded) {
  Poly wide = one_;
  for (int i = 0; i < 4; ++i) {
    wide = wide + symbol(("u" + std::to_string(i)).c_str()) * (i + 2);
  }
  Poly p = one_;
  for (int i = 0; i < 6; ++i) {
    p = mul(forms_, p, wide + x_ * i);
    ASSERT_LE(p.terms.size(), 64u);
  }
  EXPECT_GT(forms_.depth(p), 1u);  // an atom of atoms
  Poly power = x_;
  for (int i = 0; i < 7; ++i) {
    power = mul(forms_, power, power);
    ASSERT_LE(degree(forms_, power), 64u);
  }
  EXPECT_EQ(at(power, 1, 0), 1);
  EXPECT_EQ(at(power, -1, 0), 1);
  EXPECT_EQ(at(power, 0, 0), 0);
  expect_everywhere(pow(forms_, x_ + y_, 3), [](int64_t x, int64_t y) {
    return (x + y) * (x + y) * (x + y);
  });
}

TEST_F(Operations, QuotientsAreExactOrNone) {
  const Poly sum = x_ + y_, difference = x_ - y_;
  const Poly product = mul(forms_, sum, difference);
  EXPECT_EQ(exact_quotient(forms_, product, sum), difference);
  EXPECT_EQ(exact_quotient(forms_, product + one_, sum), std::nullopt);
  EXPECT_EQ(exact_quotient(forms_, product, Poly::number(2)), std::nullopt);
  EXPECT_EQ(as_atom(forms_, x_ * 2), std::nullopt);
  EXPECT_EQ(as_atom(forms_, x_ + one_), std::nullopt);
  EXPECT_TRUE(is_single(forms_, x_ * 2 + one_));
  EXPECT_FALSE(is_single(forms_, product));
}

// Atoms that occur at any depth, each once.
TEST_F(Operations, Occurrences) {
  const AtomId x = *as_atom(forms_, x_), y = *as_atom(forms_, y_);
  const Poly q = floor_div(forms_, y_, x_);
  const AtomId floor = *as_atom(forms_, q);
  const Atoms all = {x, y, floor};
  EXPECT_EQ(forms_.occurrences.of(x_ * 2 + q), all);
  EXPECT_EQ(forms_.occurrences.of_atom(floor), all);
  EXPECT_EQ(forms_.occurrences.of_atom(x), Atoms{x});
  EXPECT_EQ(forms_.occurrences.of_poly(forms_.polys.id_of(one_)), Atoms{});
  const FormulaId f = forms_.formulas.any_of(
      {forms_.formulas.ge(q), forms_.formulas.eq(x_ - one_)});
  EXPECT_EQ(forms_.occurrences.of_formula(f), all);
  EXPECT_EQ(forms_.occurrences.of_formula(negate(f)), all);
  const FormulaId only_x = forms_.formulas.ge(x_);
  const Poly chosen = where(forms_, only_x, y_, one_);
  const Atoms chosen_atoms = {x, y, *as_atom(forms_, chosen)};
  EXPECT_EQ(forms_.occurrences.of(chosen), chosen_atoms);
}

}  // namespace
}  // namespace proviso
