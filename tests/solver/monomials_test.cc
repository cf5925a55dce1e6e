// Equalities between products: what they determine, and random ones against all
// points of a box.
#include "solver/monomials.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/solver/support.h"

namespace proviso {
namespace {
using namespace internal;

using testing::Case;

TEST(MonomialEqualities, DetermineRatios) {
  MonomialEqualities system;
  system.add({1, 1, -1, -1}, Rational(1), 7);        // a*b == c*d
  system.add({0, 1, 0, -1}, Rational(3), 8);         // b == 3*d
  const auto ratio = system.reduced({1, 0, -1, 0});  // a / c
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->value, Rational(1, 3));
  EXPECT_EQ(ratio->uses, (std::vector<uint32_t>{7, 8}));
}

TEST(MonomialEqualities, KeepWhatIsNotDetermined) {
  MonomialEqualities system;
  system.add({1, -1, -1}, Rational(1), 0);  // a == b*c
  const auto ratio = system.reduced({1, -1, 0});
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->powers, (Exponents{0, 0, 1}));
}

TEST(MonomialEqualities, TakeRootsOfOneAlone) {
  MonomialEqualities squares;
  squares.add({2, -2}, Rational(1), 0);  // a*a == b*b
  EXPECT_TRUE(squares.reduced({1, -1}));
  MonomialEqualities twice;
  twice.add({2, -2}, Rational(2), 0);  // no rational ratio
  EXPECT_FALSE(twice.reduced({1, -1}));
}

TEST(MonomialEqualities, ScalingsKeepThem) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    const size_t factors = 3 + random() % 5;
    std::vector<Exponents> rows(1 + random() % 3);
    MonomialEqualities system;
    for (Exponents& row : rows) {
      for (size_t i = 0; i < factors; ++i) {
        row.push_back(static_cast<int64_t>(random() % 5) - 2);
      }
      system.add(row, Rational(1), 0);
    }
    for (const Exponents& w : system.invariant_scalings(factors, 8)) {
      for (const Exponents& row : rows) {
        int64_t sum = 0;
        for (size_t i = 0; i < factors; ++i) sum += row[i] * w[i];
        EXPECT_EQ(sum, 0);
      }
    }
  }
}

std::string product(std::mt19937& random, size_t symbols) {
  std::string text = std::to_string(1 + random() % 3 / 2 * (random() % 4));
  for (size_t i = 0, n = 1 + random() % 3; i < n; ++i) {
    text += "*s" + std::to_string(random() % symbols);
  }
  return text;
}

// Each verdict beside every point of the box at which the facts hold.
TEST(MonomialEqualities, AnswersHoldAtEachPoint) {
  constexpr size_t kSymbols = 5;
  constexpr int kHigh = 4;
  std::mt19937 random(20261123);
  SolverOptions options = testing::native_only();
  options.restart = false;
  size_t decided = 0, by_ratios = 0;
  for (int round = 0; round < 400; ++round) {
    std::string symbols, facts;
    for (size_t i = 0; i < kSymbols; ++i) {
      symbols += "s" + std::to_string(i) + ":1.. ";
    }
    for (size_t i = 0, n = 1 + random() % 3; i < n; ++i) {
      facts +=
          product(random, kSymbols) + " == " + product(random, kSymbols) + "; ";
    }
    const char* forms[] = {" == ", " <= ", " != ", " % "};
    const std::string form = forms[random() % 4];
    std::string question =
        product(random, kSymbols) + form + product(random, kSymbols);
    if (form == " % ") question = "(" + question + ") == 0";
    Case c(symbols, facts, options);
    const Answer answer = c.ask(question);
    if (answer.verdict == Verdict::kUnknown) continue;
    ++decided;
    by_ratios += answer.strategy == Strategy::kMonomialRatios;
    const Expr asked = c.p(question);
    for (int code = 0; code < 1 << (2 * kSymbols); ++code) {
      Assignment point;
      for (size_t i = 0; i < kSymbols; ++i) {
        point.set(c.p("s" + std::to_string(i)),
                  Value(Int(1 + (code >> (2 * i)) % kHigh)));
      }
      bool holds = true;
      for (const Fact& f : c.context.facts()) {
        holds = holds && evaluate(f.condition, point).is_true();
      }
      if (!holds) continue;
      EXPECT_EQ(evaluate(asked, point).is_true(),
                answer.verdict == Verdict::kYes)
          << facts << "|- " << question << " at " << point.to_string();
    }
  }
  EXPECT_GT(decided, 100u);
  EXPECT_GT(by_ratios, 0u);
  std::printf("%zu decided, %zu by ratios\n", decided, by_ratios);
}

}  // namespace
}  // namespace proviso
