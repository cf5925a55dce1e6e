// Families of questions, every member of a grid of constants: no answer
// contradicts a point, and what every point of a wide box says is proved.
#include <gtest/gtest.h>

#include "sym/evaluate.h"
#include "tests/solver/support.h"

namespace proviso {
namespace {

using testing::Case;

// A family: @ and # stand for its two constants.
struct Family {
  const char* what;
  const char* symbols;  // at most two
  const char* facts;
  const char* question;
  int from_a, to_a, from_b, to_b;
};

const Family kFamilies[] = {
    {"a common factor leaves a row", "u0:1.. u1:..", "u0*u1 + @*u0 >= #",
     "u1 >= -@ + 1 or u0*u1 + @*u0 <= 0", 0, 3, -6, 6},
    {"the rest of a common factor is bounded", "u0:2.. u1:..", "u0*u1 >= #",
     "u1 >= @", -4, 4, -6, 6},
    {"a square bounds its root", "u0:.. u1:..", "u0*u0 <= #", "u0 <= @", -1, 6,
     -2, 30},
    {"and from below", "u0:.. u1:..", "u0*u0 <= #", "u0 >= @", -6, 1, -2, 30},
    {"a factor's square", "u0:3.. u1:..", "u0*u1*u1 <= #", "u1 <= @", 0, 4, -2,
     40},
    {"from above, of what is not negative", "u0:1..3 u1:-1..", "u0*u1*u1 >= #",
     "u1 >= @", -1, 4, -2, 30},
    {"a square below a line", "u0:.. u1:..", "u0*u0 <= @*u0 + #",
     "u0 <= 6 and u0 >= -5", -3, 3, -2, 20},
    {"a square below a line with a factor", "u0:0.. u1:2..",
     "u0*u0*u1 <= @*u0 + #", "u0 <= 4", 0, 3, 0, 20},
    {"a cube above a square", "u0:.. u1:1..3",
     "u0*u0*u0 - @*u0*u0 - u1*u0 >= #", "u0 >= -4", 0, 3, -20, 9},
    {"a cube", "u0:.. u1:..", "u0*u0*u0 <= #", "u0 <= @", -4, 4, -65, 30},
    {"a cube from below", "u0:.. u1:2..3", "u0*u0*u0*u1 >= #", "u0 >= @", -4, 4,
     -65, 65},
    {"a row rewritten is still a row", "u0:3.. u1:-1..8",
     "u0 + 4 >= 7; 3*u0*u1*u1 <= 5 - #", "u1 == @", 0, 0, 3, 7},
    {"squares of sums", "u0:.. u1:..", "", "u0*u0 + u1*u1 + # >= @*u0*u1", -2,
     2, -1, 2},
    {"a product that is not 0", "u0:.. u1:..", "u0*u1 != @*u0", "u1 != #", -2,
     2, -2, 2},
    {"the quotient of neighbours", "u0:0.. u1:1..",
     "@*u1 <= u0; u0 < @*u1 + u1", "u0//u1 == #", 0, 3, 0, 3},
    {"its remainder", "u0:0.. u1:1..", "@*u1 <= u0; u0 < @*u1 + u1",
     "u0 % u1 == u0 - #*u1", 0, 3, 0, 3},
    {"an odd factor divides nothing out", "u0:1.. u1:1..",
     "(u0*u1) % @ == 0; u0 % 2 == 1", "u1 % # == 0", 1, 8, 1, 4},
    {"sums of floors", "u0:.. u1:..", "",
     "u0//@ + (u0 + 1)//@ + (u0 + #)//@ <= u0 + 2", 2, 3, 0, 2},
    {"multiples that grow", "u0:1.. u1:1..", "u0 % u1 == 0; u1 < u0",
     "@*u1 <= u0 + #", 1, 3, -1, 1},
    {"powers grow", "u0:0.. u1:0..", "u0 + @ <= u1", "2**u0 * # <= 2**u1", 0, 3,
     1, 9},
    {"powers split", "u0:0.. u1:..", "", "2**(u0 + @) == #*2**u0", 0, 3, 1, 8},
    {"a power bounds its exponent", "u0:0.. u1:..", "3**u0 <= #", "u0 <= @", 0,
     3, 1, 30},
    {"a power bounds it from below", "u0:0.. u1:..", "3**u0 >= #", "u0 >= @", 0,
     3, 1, 30},
    {"powers that are multiples of each other", "u0:0..9 u1:0..9",
     "@*2**u0 == #*2**u1", "u0 == u1 + 1", 1, 6, 1, 12},
    {"powers that make up a constant", "u0:0.. u1:0..",
     "3**u0 + @ == 2*3**u1 + #", "u0 <= 4 and u1 <= 4", 0, 6, 7, 30},
    {"bits of what is hardly negative", "u0:-4..9 u1:..", "u1 >= @",
     "(u0 & u1) >= #", -6, 2, -9, 0},
    {"bits of constants", "u0:.. u1:-1..8", "(u0 & u1) == @", "u0 != #", -1, 3,
     -2, 6},
    {"a floor's numerator is in its row", "u0:.. u1:..",
     "(@*u0*u0 + #)//4 >= -17", "u0 <= 6", -3, -1, -9, 9},
    {"and with the other sign", "u0:.. u1:..", "u0*u0 - 4*(u0*u0//@) <= -#",
     "u0 >= -8", 5, 9, 0, 9},
    {"a product of positives, factor by factor", "u0:0.. u1:..",
     "u0*u0*u0 == @*u0*u0 + #", "u0 <= 9", 0, 6, 1, 9},
    {"divisors of a constant", "u0:.. u1:..", "u0*u1 + @*u0 == #",
     "u0 <= 12 and u1 >= -15", -3, 3, 1, 12},
    {"and nothing but divisors", "u0:2..9 u1:..", "u0*u1 + @*u0 == #",
     "u0 != 4 and u0 != 7", -1, 1, 10, 24},
    {"and squares among them", "u0:.. u1:..", "u0*u0*u1 == @*u0*u0 + #",
     "u0 >= -3 and u0 <= 3", -2, 2, 1, 15},
    {"linearised indices", "u0:0..5 u1:0..", "u0 < u1 + @; u1 < 7",
     "u0*u1 + u0 < u1*u1 + @*u1 + u1 + #", 0, 2, 0, 2},
    {"less a multiple of an equality", "u0:1.. u1:1..",
     "u0*u0*u1 + u0 == @*u1 + #",
     "u1*(u0*u0*u1 + u0) + u0 >= @*u1*u1 + #*u1 + 1", 1, 4, 1, 4},
    {"rows, their sum and their product", "u0:.. u1:..",
     "u0*u0 <= u1 + #; u1 <= @",
     "(u1 + # - u0*u0)*(@ - u1) + 2*(u1 + # - u0*u0) + @ - u1 >= 0", 0, 4, 0,
     4},
    {"an assumed sign, after what it is about", "u0:1.. u1:3..",
     "2*Min(u1, u0) < u0 + @; u0 < u1", "u0 <= #", 6, 9, 4, 8},
    {"squares leave few residues", "u0:.. u1:..", "",
     "(u0*u0 + @*u1*u1) % 8 != #", -2, 4, 0, 7},
    {"so do cubes", "u0:.. u1:..", "", "u0*u0*u0 + 9*u1 != #", 0, 0, -6, 9},
    {"a value that the facts rule out", "u0:0..5 u1:2..7", "(u0 & u1) == @",
     "u1 == #", 0, 3, 2, 7},
    {"values one by one", "u0:-5..5 u1:..", "u0*u1 == @; u1 != 0",
     "u1*u1 <= # or u0 == 0", 1, 6, 0, 40},
    {"a remainder is below a divisor of two terms", "u0:1.. u1:..",
     "PythonMod(u1, u0 + @) >= #", "u0 >= 5", 1, 3, 1, 9},
    {"and above a negative one", "u0:..-1 u1:..", "PythonMod(u1, u0 - @) <= -#",
     "u0 <= -5", 1, 3, 1, 9},
};

std::string filled(std::string text, int a, int b) {
  for (auto [mark, value] : {std::pair('@', a), std::pair('#', b)}) {
    for (size_t at; (at = text.find(mark)) != std::string::npos;) {
      text.replace(at, 1, "(" + std::to_string(value) + ")");
    }
  }
  return text;
}

// How often the question holds, fails and is undefined where the facts hold.
struct Counts {
  size_t yes = 0, no = 0, undefined = 0;
};

Counts count(Case& c, Expr question) {
  constexpr int kSide = 26;
  Expr u0 = c.p("u0"), u1 = c.p("u1");
  Counts counts;
  for (int x = -kSide; x <= kSide; ++x) {
    for (int y = -kSide; y <= kSide; ++y) {
      Assignment point;
      point.set(u0, Int(x));
      point.set(u1, Int(y));
      bool holds = true;
      for (const Fact& fact : c.context.facts()) {
        holds = holds && evaluate(fact.condition, point).is_true();
      }
      if (!holds) continue;
      Evaluation e = evaluate(question, point);
      ++(!e.defined()  ? counts.undefined
         : e.is_true() ? counts.yes
                       : counts.no);
    }
  }
  return counts;
}

class Families : public ::testing::TestWithParam<Family> {};

TEST_P(Families, EveryMemberIsAnsweredAsItsPointsSay) {
  const Family& family = GetParam();
  size_t decided = 0, open = 0;
  for (int a = family.from_a; a <= family.to_a; ++a) {
    for (int b = family.from_b; b <= family.to_b; ++b) {
      std::string facts = filled(family.facts, a, b);
      std::string text = filled(family.question, a, b);
      Case c(family.symbols, facts);
      Expr question = c.p(text);
      Verdict verdict = c.context.ask_quick(question);
      Counts counts = count(c, question);
      if (counts.yes + counts.no + counts.undefined == 0) continue;
      Verdict expected =
          counts.undefined > 0 || (counts.yes > 0 && counts.no > 0)
              ? Verdict::kUnknown
          : counts.yes > 0 ? Verdict::kYes
                           : Verdict::kNo;
      const size_t undefined = counts.undefined;
      testing::write_question(c.context, question, counts.yes + undefined > 0,
                              counts.no + undefined > 0);
      EXPECT_EQ(name_of(verdict), name_of(expected))
          << family.what << ": " << facts << " |- " << text;
      ++(expected == Verdict::kUnknown ? open : decided);
    }
  }
  EXPECT_GT(decided, 0u) << family.what << " has no member to decide";
  EXPECT_GT(decided + open, 2u);
}

INSTANTIATE_TEST_SUITE_P(All, Families, ::testing::ValuesIn(kFamilies),
                         [](const auto& info) {
                           std::string name;
                           for (char c : std::string(info.param.what)) {
                             name += std::isalnum(c) ? c : '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace proviso
