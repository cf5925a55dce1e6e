// Ranges, literals, quotients and normal forms under facts: what each header
// says, and nothing that fails at a point at which the facts hold.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "solver/domain.h"
#include "solver/forms/form_text.h"
#include "solver/lower.h"
#include "solver/normal/normal_form.h"
#include "solver/point.h"
#include "tests/solver/support.h"

namespace proviso {
namespace {
using namespace internal;

// A domain in which facts are assumed, each a leaf of its own.
class Facts {
 public:
  explicit Facts(const std::string& facts) : forms_(Forms::of(pool_)) {
    for (const std::string& fact : testing::split(facts, ';')) {
      const Expr e = parse(pool_, fact);
      domain_.assume(forms_.lower.condition(e), reasons_.leaf(leaves_++));
      facts_.push_back(forms_.lower.condition(e));
    }
  }

  Poly poly(const std::string& text) {
    return forms_.lower.integer(parse(pool_, text));
  }
  std::string range(const std::string& text) {
    return domain_.range(poly(text)).span.to_string();
  }
  std::string normal(const std::string& text) {
    return to_string(forms_.pool, domain_.normal(poly(text)).poly);
  }
  std::optional<bool> decided(const std::string& text) {
    return domain_.decide(forms_.lower.condition(parse(pool_, text))).value;
  }

  // Where a range, a normal form or a decision is not so at some point of
  // [-3, 8]^2 at which the facts hold.
  std::string wrong(const std::string& text, const std::string& relation) {
    const Poly p = poly(text), n = domain_.normal(p).poly;
    const Range r = domain_.range(p), f = domain_.factored_range(p);
    const FormulaId g = forms_.lower.condition(parse(pool_, relation));
    const std::optional<bool> known = domain_.decide(g).value;
    if (domain_.conflict()) return "";
    for (int64_t x = -3; x <= 8; ++x) {
      for (int64_t y = -3; y <= 8; ++y) {
        Point point(forms_.pool);
        point.set(symbol("x"), x);
        point.set(symbol("y"), y);
        bool holds = true;
        for (FormulaId fact : facts_) {
          holds = holds && point.truth(fact) == true;
        }
        const Point::Value v = point.value(p);
        if (!holds || !v) continue;
        const std::string at = std::to_string(x) + ", " + std::to_string(y);
        if (!r.span.contains(Int(*v))) return "range at " + at;
        if (!f.span.contains(Int(*v))) return "factored range at " + at;
        const std::optional<bool> t = point.truth(g);
        if (known && t && *known != *t) return "decision at " + at;
        // Variables that equalities introduced have no value here.
        const Point::Value w = point.value(n);
        if (w && *w != *v) return "normal form at " + at;
      }
    }
    return "";
  }

 private:
  AtomId symbol(const std::string& name) {
    return *as_atom(forms_.pool, poly(name));
  }

  ExprPool pool_;
  Forms& forms_;
  ReasonArena reasons_;
  Domain domain_{forms_.pool, reasons_};
  std::vector<FormulaId> facts_;
  uint32_t leaves_ = 0;
};

TEST(Normal, Ranges) {
  Facts box("x >= 2; x <= 5; y >= 1; y <= 4");
  EXPECT_EQ(box.range("x*y - x"), "[0, 18]");
  EXPECT_EQ(box.range("x - 3*y"), "[-10, 2]");
  Facts none("");
  EXPECT_EQ(none.range("x - 8*(x//8)"), "[0, 7]");
  EXPECT_EQ(none.range("y - max(0, y - 3)"), "[-int_oo, 3]");
  Facts row("x - y >= 3");
  EXPECT_EQ(row.range("2*x - 2*y"), "[6, int_oo]");
}

TEST(Normal, Literals) {
  Facts facts("x >= 2; x <= 5; y - x >= 3");
  EXPECT_EQ(facts.decided("x >= 1"), true);
  EXPECT_EQ(facts.decided("y - x >= 1"), true);
  EXPECT_EQ(facts.decided("y - x <= 2"), false);
  EXPECT_EQ(facts.decided("y >= 9"), std::nullopt);
}

TEST(Normal, Quotients) {
  Facts facts("x >= 0; x < y; z != 0");
  EXPECT_EQ(facts.normal("(y*i + x)//y"), facts.normal("i"));
  EXPECT_EQ(facts.normal("(a*z)//(b*z)"), facts.normal("a//b"));
  EXPECT_EQ(facts.normal("(x - y)//y"), facts.normal("-1"));
  EXPECT_EQ(facts.normal("(z*a + z*b)//z"), facts.normal("a + b"));
  // Nothing is known of w.
  EXPECT_NE(facts.normal("(a*w)//(b*w)"), facts.normal("a//b"));
  EXPECT_NE(facts.normal("(w*i + x)//w"), facts.normal("i + x//w"));
  EXPECT_NE(facts.normal("(w*w - v*v)//(w + v)"), facts.normal("w - v"));
}

TEST(Normal, SolvedEqualitiesAreSubstituted) {
  Facts facts("x % 8 == 0; y == 2*x");
  EXPECT_EQ(facts.normal("x - 4*(x//4)"), facts.normal("0"));
  EXPECT_EQ(facts.normal("y % 16"), facts.normal("0"));
  EXPECT_EQ(facts.decided("y % 3 == 0"), std::nullopt);
}

TEST(Normal, NothingThatFailsAtAPoint) {
  const char* kParts[] = {"x",         "y",           "x*y",
                          "x*x",       "x//3",        "(x + y)//2",
                          "x//y",      "y % 4",       "max(x, y)",
                          "min(x, 2)", "(x*y)//x",    "(3*x)//(3*y)",
                          "x % y",     "(x*y + 1)//y"};
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int n) {
      return static_cast<int>(random() % static_cast<unsigned>(n));
    };
    auto sum = [&] {
      std::string text = std::to_string(below(9) - 4);
      for (int n = 1 + below(3); n > 0; --n) {
        text += " + " + std::to_string(below(7) - 3) + "*(" +
                kParts[below(static_cast<int>(std::size(kParts)))] + ")";
      }
      return text;
    };
    const char* kRelations[] = {" >= 0", " == 0", " < 0", " != 0"};
    std::string facts;
    if (below(3) != 0) facts += "x >= " + std::to_string(below(5) - 2) + ";";
    if (below(3) != 0) facts += "y >= " + std::to_string(below(5) - 2) + ";";
    if (below(3) == 0) facts += "y <= " + std::to_string(below(6)) + ";";
    for (int n = below(3); n > 0; --n)
      facts += sum() + kRelations[below(4)] + ";";
    Facts under(facts);
    const std::string asked = sum(), relation = sum() + kRelations[below(4)];
    ASSERT_EQ(under.wrong(asked, relation), "")
        << facts << " |- " << asked << ", " << relation;
  }
}

}  // namespace
}  // namespace proviso
