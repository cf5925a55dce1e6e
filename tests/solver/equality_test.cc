// Equalities solved for a variable: the substitution says what the equality
// said, no less and no more, and each of its parts has the equality's reason.
#include "solver/propagate/equality.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "solver/domain.h"
#include "solver/forms/form_text.h"
#include "solver/lower.h"
#include "solver/point.h"
#include "sym/parse.h"

namespace proviso {
namespace {
using namespace internal;

// A state with equalities solved in it, and nothing that propagates.
class Solved {
 public:
  Solved() : forms_(Forms::of(pool_)) {
    for (const char* name : {"x", "y", "z"})
      symbols_.push_back(forms_.pool.atoms.symbol(parse(pool_, name)));
  }

  Poly poly(const std::string& text) {
    return forms_.lower.integer(parse(pool_, text));
  }
  Reason leaf() { return reasons_.leaf(leaves_++); }

  // Solves p == 0, and what it derives from that; false where some of it is
  // not said by a substitution.
  bool solve(const Poly& p, Reason why) {
    if (!solver_.solve(p, why)) return false;
    for (Consequence c; to_.has_waiting();) {
      to_.next(c);
      if (c.kind != Consequence::kLiteral) continue;
      Normal n = normal_.of(c.poly);
      if (c.literal == FormulaKind::kGe) {
        inequalities_.push_back(n.poly);
      } else if (!n.poly.is_constant() &&
                 !solve(n.poly, reasons_.join(c.why, n.why))) {
        return false;
      }
    }
    return true;
  }

  // The variables that are left, of those that values are made of.
  std::set<AtomId> free_variables() {
    std::set<AtomId> found;
    for (AtomId s : symbols_) {
      for (AtomId a : forms_.pool.occurrences.of(value_of(s))) found.insert(a);
    }
    return found;
  }
  Poly value_of(AtomId a) { return normal_.of(variable(forms_.pool, a)).poly; }

  Forms& forms() { return forms_; }
  State& state() { return state_; }
  NormalForm& normal() { return normal_; }
  EqualitySolver& solver() { return solver_; }
  ReasonArena& reasons() { return reasons_; }
  const std::vector<AtomId>& symbols() const { return symbols_; }
  const std::vector<Poly>& inequalities() const { return inequalities_; }

 private:
  ExprPool pool_;
  Forms& forms_;
  ReasonArena reasons_;
  State state_{forms_.pool, reasons_, Interval::all()};
  Ranges ranges_{state_};
  Literals literals_{state_, ranges_};
  Quotients quotients_{state_, ranges_, literals_};
  Functions functions_{state_, ranges_};
  NormalForm normal_{state_, ranges_, literals_, quotients_, functions_};
  Consequences to_{state_, ranges_};
  EqualitySolver solver_{state_, ranges_, normal_, to_};
  std::vector<AtomId> symbols_;
  std::vector<Poly> inequalities_;
  uint32_t leaves_ = 0;
};

TEST(EqualitySolver, SolvesForAUnit) {
  Solved s;
  EXPECT_TRUE(s.solve(s.poly("2*x - y - 4"), s.leaf()));
  EXPECT_EQ(s.value_of(s.symbols()[1]), s.poly("2*x - 4"));
  EXPECT_FALSE(s.state().substitution.is_solved(s.symbols()[0]));
  const Normal n = s.normal().of(s.poly("y + 1"));
  EXPECT_EQ(s.reasons().facts(n.why), (std::vector<uint32_t>{0}));
}

TEST(EqualitySolver, TakesEuclidsSteps) {
  Solved s;
  EXPECT_TRUE(s.solve(s.poly("6*x + 10*y - 15*z - 4"), s.leaf()));
  EXPECT_TRUE(s.normal().of(s.poly("6*x + 10*y - 15*z - 4")).poly.is_zero());
  EXPECT_EQ(s.free_variables().size(), 2u);
}

// What has no solution is not solved; nor is what products hide.
TEST(EqualitySolver, LeavesTheRest) {
  Solved s;
  EXPECT_FALSE(s.solver().solve(s.poly("x*y - 4"), s.leaf()));
  EXPECT_FALSE(s.solver().solve(s.poly("2*x - 4*y*z"), s.leaf()));
  EXPECT_FALSE(s.solver().solve(s.poly("4*x + 6*y - 2"), s.leaf()));
  s.solver().set_solving(Solving::kNone);
  EXPECT_FALSE(s.solver().solve(s.poly("x - y"), s.leaf()));
  EXPECT_TRUE(s.solver().solve(s.poly("x - 3"), s.leaf()));
}

TEST(EqualitySolver, NamesFloors) {
  Solved s;
  EXPECT_TRUE(s.solve(s.poly("x - 8*(x//8) - 3"), s.leaf()));
  const Poly x = s.value_of(s.symbols()[0]);
  ASSERT_EQ(x.terms.size(), 1u);
  EXPECT_EQ(x.terms[0].coef, Int(8));
  EXPECT_EQ(x.constant, Int(3));
  EXPECT_EQ(s.normal().of(s.poly("x//8")).poly,
            s.normal().of(s.poly("(x - 3)//8")).poly);
  Solved without;
  without.solver().set_solving(Solving::kWithoutFloors);
  EXPECT_FALSE(
      without.solver().solve(without.poly("x - 8*(x//8)"), without.leaf()));
}

// Every value of the variables that are left gives a solution, and every
// solution near 0 comes from such values.
TEST(EqualitySolver, SaysWhatTheEqualitySays) {
  constexpr int kSide = 3, kReach = 40;
  size_t solved = 0, with_fresh = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int low, int high) {
      return low + static_cast<int>(random() % unsigned(high - low + 1));
    };
    Solved s;
    Poly p = Poly::number(pick(-6, 6));
    for (size_t i = 0; i < 2 + seed % 2; ++i) {
      const int coef = pick(-7, 7);
      if (coef != 0) p = p + variable(s.forms().pool, s.symbols()[i]) * coef;
    }
    if (p.is_constant() || !p.content().is_one()) continue;
    if (!s.solve(p, s.leaf())) continue;
    ++solved;
    const Normal n = s.normal().of(p);
    EXPECT_TRUE(n.poly.is_zero()) << seed;
    EXPECT_EQ(s.reasons().facts(n.why), (std::vector<uint32_t>{0})) << seed;

    const std::set<AtomId> left = s.free_variables();
    const std::vector<AtomId> free(left.begin(), left.end());
    ASSERT_LE(free.size(), 2u) << seed;
    with_fresh += std::any_of(free.begin(), free.end(), [&](AtomId a) {
      return s.forms().pool.atoms[a].kind == AtomKind::kFresh;
    });
    std::vector<Poly> values;
    for (AtomId x : s.symbols()) values.push_back(s.value_of(x));
    std::set<std::vector<int64_t>> reached;
    const auto visit = [&](int64_t a, int64_t b) {
      Point point(s.forms().pool);
      if (!free.empty()) point.set(free[0], a);
      if (free.size() > 1) point.set(free[1], b);
      Point at(s.forms().pool);
      std::vector<int64_t> symbols;
      for (size_t i = 0; i < values.size(); ++i) {
        symbols.push_back(*point.value(values[i]));
        at.set(s.symbols()[i], symbols.back());
      }
      ASSERT_EQ(at.value(p), 0) << seed;
      reached.insert(symbols);
    };
    // An unused symbol stays itself: it is one of the free ones.
    for (int64_t a = -kReach; a <= kReach; ++a) {
      for (int64_t b = -kReach; b <= (free.size() > 1 ? kReach : -kReach); ++b)
        visit(a, b);
    }
    if (free.size() > 2) continue;
    for (int64_t x = -kSide; x <= kSide; ++x) {
      for (int64_t y = -kSide; y <= kSide; ++y) {
        for (int64_t z = -kSide; z <= kSide; ++z) {
          Point at(s.forms().pool);
          const int64_t symbols[] = {x, y, z};
          for (size_t i = 0; i < 3; ++i) at.set(s.symbols()[i], symbols[i]);
          if (at.value(p) != 0) continue;
          EXPECT_TRUE(reached.count({x, y, z})) << seed;
        }
      }
    }
  }
  EXPECT_GE(solved, 150u);
  EXPECT_GE(with_fresh, 30u);
}

// Of floors: where p == 0, the values of the symbols and of the floors are
// those of the substitution, with the floors for the fresh variables, and the
// inequalities hold.
TEST(EqualitySolver, FloorsAreWhatTheyAreNamed) {
  size_t solved = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int low, int high) {
      return low + static_cast<int>(random() % unsigned(high - low + 1));
    };
    const int divisor = pick(2, 5);
    const std::string floor = "(x//" + std::to_string(divisor) + ")";
    Solved s;
    const Poly p = s.poly("x - " + std::to_string(pick(1, 2) * divisor) + "*" +
                          floor + " - (" + std::to_string(pick(-1, 2)) +
                          ")*y - (" + std::to_string(pick(-1, 5)) + ")");
    const AtomId quotient = *as_atom(s.forms().pool, s.poly(floor));
    if (!s.solver().solve(p, s.leaf())) continue;
    if (!s.state().substitution.is_solved(quotient)) continue;
    const Poly named =
        s.forms().pool.polys[s.state().substitution.value_of(quotient)];
    const auto fresh = as_atom(s.forms().pool, named);
    ASSERT_TRUE(fresh);
    if (!s.state().substitution.is_solved(s.symbols()[0])) continue;
    ++solved;
    const Poly x_value =
        s.forms().pool.polys[s.state().substitution.value_of(s.symbols()[0])];
    for (int64_t x = -12; x <= 12; ++x) {
      for (int64_t y = -4; y <= 4; ++y) {
        Point at(s.forms().pool);
        at.set(s.symbols()[0], x);
        at.set(s.symbols()[1], y);
        if (at.value(p) != 0) continue;
        at.set(*fresh, *at.value(s.poly(floor)));
        EXPECT_EQ(at.value(x_value), x) << seed;
        for (const Poly& q : s.inequalities())
          EXPECT_GE(at.value(q).value_or(0), 0) << seed;
      }
    }
  }
  EXPECT_GE(solved, 60u);
}

}  // namespace
}  // namespace proviso
