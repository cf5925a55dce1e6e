// Each propagator alone: what it derives from one inequality holds at every
// point of a small box at which the inequality and the bounds that its reason
// names do, and its example is derived.
#include "solver/propagate/propagators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "solver/domain.h"
#include "solver/forms/form_text.h"
#include "solver/lower.h"
#include "solver/point.h"
#include "sym/parse.h"
#include "tests/solver/support.h"

namespace proviso {
namespace {
using namespace internal;

using When = Propagator::When;
constexpr int kSymbols = 3;

// A state with symbols in boxes, and one propagator.
template <typename P>
class Alone {
 public:
  // "x:0..4 y:-2..2"
  explicit Alone(const std::string& symbols) : forms_(Forms::of(pool_)) {
    for (const std::string& s : testing::split(symbols, ' ')) {
      const size_t colon = s.find(':'), dots = s.find("..");
      const AtomId a =
          forms_.pool.atoms.symbol(parse(pool_, s.substr(0, colon)));
      const std::string low = s.substr(colon + 1, dots - colon - 1);
      const std::string high = s.substr(dots + 2);
      if (!low.empty()) set_bound(a, true, *Int::parse(low));
      if (!high.empty()) set_bound(a, false, *Int::parse(high));
      atoms_.push_back(a);
    }
    if constexpr (std::is_same_v<P, ProductPropagator>) {
      propagator_ = std::make_unique<P>(state_, ranges_, literals_, to_);
    } else {
      propagator_ = std::make_unique<P>(state_, ranges_, to_);
    }
  }

  Poly poly(const std::string& text) {
    return forms_.lower.integer(parse(pool_, text));
  }
  FormulaId formula(const std::string& text) {
    return forms_.lower.condition(parse(pool_, text));
  }

  void inequality(const Poly& p) {
    const Reason why = fact(forms_.pool.formulas.ge(p));
    propagator_->on_inequality(p, why, When::kNew);
  }
  void equality(const Poly& p) {
    const Reason why = fact(forms_.pool.formulas.eq(p));
    propagator_->on_equality(p, why, When::kNew);
  }
  // Of the first atom in it that is no variable: atom >= value, or <=.
  void bound(const std::string& text, bool lower, int value) {
    AtomId a = kNoId;
    for (const Term& t : poly(text).terms) {
      const AtomId x = forms_.pool.monomials.single(t.mono);
      if (a == kNoId && !forms_.pool.atoms.is_variable(x)) a = x;
    }
    const Reason why = fact(at_least(a, lower, value));
    propagator_->on_atom_bound(forms_.pool.atoms[a], lower, value, why);
  }

  void product_bound(const std::string& text, bool lower, int value) {
    Poly p = poly(text) * (lower ? 1 : -1);
    p.constant = lower ? -value : value;
    const Reason why = fact(forms_.pool.formulas.ge(p));
    hand_on(poly(text).terms[0].mono, lower, value, why);
  }

  // p / the factors that are known not to be 0, because of `why`.
  Poly cancelled(const std::string& text, Reason* why = nullptr) {
    Poly p = poly(text);
    Reason because = 0;
    if constexpr (std::is_same_v<P, ProductPropagator>) {
      propagator_->cancel(p, because);
    }
    if (why != nullptr) *why = because;
    return p;
  }
  std::vector<uint32_t> facts_in(Reason why) const {
    return reasons_.facts(why);
  }

  // All that was derived: bounds entered at once, and what waits, with the
  // bounds that products hand on to their factors.
  struct Derived {
    FormulaId formula;
    Reason why;
  };
  std::vector<Derived> derived() {
    std::vector<Derived> found;
    for (Consequence c; to_.has_waiting();) {
      to_.next(c);
      switch (c.kind) {
        case Consequence::kFormula: found.push_back({c.id, c.why}); break;
        case Consequence::kLiteral:
          found.push_back(
              {forms_.pool.formulas.relation(c.literal, c.poly), c.why});
          break;
        case Consequence::kAtomBound: break;  // among the records below
        case Consequence::kProductBound:
          hand_on(c.id, c.lower, c.poly.constant, c.why);
          break;
      }
    }
    for (AtomId a = 0; a < forms_.pool.atoms.size(); ++a) {
      const Range& own = state_.bounds.own(a);
      for (bool lower : {true, false}) {
        const OptionalInt& end = lower ? own.span.lower() : own.span.upper();
        if (!end) continue;
        found.push_back(
            {at_least(a, lower, *end), lower ? own.lower : own.upper});
      }
    }
    if (const auto& conflict = state_.assertions.conflict())
      found.push_back({kFalse, *conflict});
    return found;
  }

  // The first derived formula that fails at a point of the box [-4, 4]^n at
  // which the facts of its reason hold: the symbols' bounds, and what the
  // propagator was called for.
  std::string wrong() {
    std::vector<std::pair<FormulaId, std::vector<uint32_t>>> found;
    for (const Derived& d : derived())
      found.emplace_back(d.formula, reasons_.facts(d.why));
    std::vector<int64_t> at(atoms_.size(), -4);
    for (;;) {
      Point point(forms_.pool);
      for (size_t i = 0; i < at.size(); ++i) point.set(atoms_[i], at[i]);
      std::vector<bool> holds;
      for (FormulaId fact : facts_) holds.push_back(point.truth(fact) == true);
      for (const auto& [f, facts] : found) {
        const bool all = std::all_of(facts.begin(), facts.end(),
                                     [&](uint32_t i) { return holds[i]; });
        if (all && point.truth(f) == false) {
          std::string text = formula_to_string(forms_.pool, f) + " by {";
          for (uint32_t i : facts)
            text += formula_to_string(forms_.pool, facts_[i]) + "; ";
          return text + "}";
        }
      }
      size_t i = 0;
      while (i < at.size() && ++at[i] > 4) at[i++] = -4;
      if (i == at.size()) return "";
    }
  }

  bool derives(const std::string& text) {
    const std::vector<Derived> found = derived();
    const FormulaId wanted = formula(text);
    return std::any_of(found.begin(), found.end(),
                       [&](const Derived& d) { return d.formula == wanted; });
  }

 private:
  Reason fact(FormulaId f) {
    facts_.push_back(f);
    return reasons_.leaf(static_cast<uint32_t>(facts_.size() - 1));
  }
  FormulaId at_least(AtomId a, bool lower, const Int& value) {  // or at most
    Poly p = variable(forms_.pool, a) * (lower ? 1 : -1);
    p.constant = lower ? -value : value;
    return forms_.pool.formulas.ge(p);
  }
  void set_bound(AtomId a, bool lower, const Int& value) {
    state_.bounds.set(a, lower, value, fact(at_least(a, lower, value)));
  }
  void hand_on(MonoId m, bool lower, const Int& value, Reason why) {
    if constexpr (std::is_same_v<P, ProductPropagator>) {
      propagator_->on_product_bound(m, lower, value, why);
    }
  }

  ExprPool pool_;
  Forms& forms_;
  ReasonArena reasons_;
  State state_{forms_.pool, reasons_, Interval::all()};
  Ranges ranges_{state_};
  Literals literals_{state_, ranges_};
  Consequences to_{state_, ranges_};
  std::unique_ptr<P> propagator_;
  std::vector<AtomId> atoms_;
  std::vector<FormulaId> facts_;  // by the leaves of reasons
};

// --- what each is for

TEST(Propagators, Linear) {
  Alone<LinearPropagator> a("x:0.. y:2..");
  a.inequality(a.poly("7 - x - y"));
  EXPECT_TRUE(a.derives("x <= 5"));
  EXPECT_TRUE(a.derives("y <= 7"));
}

TEST(Propagators, Product) {
  Alone<ProductPropagator> a("x:0..2 y:0..");
  a.inequality(a.poly("x*y + x - 4"));  // x*(y + 1) >= 4
  EXPECT_TRUE(a.derives("x >= 1"));
  Alone<ProductPropagator> zero("x:.. y:..");
  zero.equality(zero.poly("x*y"));
  EXPECT_TRUE(zero.derives("x == 0 or y == 0"));
}

TEST(Propagators, ProductHandsABoundToItsFactors) {
  Alone<ProductPropagator> a("x:0..2 y:0..");
  a.product_bound("x*y", true, 5);
  EXPECT_TRUE(a.derives("y >= 3"));
  Alone<ProductPropagator> b("x:..");
  b.product_bound("x*x", false, 50);
  EXPECT_TRUE(b.derives("x <= 7"));
}

TEST(Propagators, ProductCancelsFactorsThatAreNotZero) {
  Alone<ProductPropagator> a("x:1.. y:..");
  Reason why = 0;
  EXPECT_EQ(a.cancelled("x*x*y - 2*x*x", &why), a.poly("y - 2"));
  EXPECT_EQ(a.facts_in(why), (std::vector<uint32_t>{0}));
  EXPECT_EQ(a.cancelled("x*y - 2*x*y*y"), a.poly("y - 2*y*y"));
  EXPECT_EQ(a.cancelled("x*y - 2*x + 1"), a.poly("x*y - 2*x + 1"));
}

TEST(Propagators, Root) {
  Alone<RootPropagator> a("x:0..");
  a.inequality(a.poly("2*x + 35 - x*x"));
  EXPECT_TRUE(a.derives("x <= 7"));
}

TEST(Propagators, Maximum) {
  Alone<MaximumPropagator> a("x:.. y:..");
  a.inequality(a.poly("y - max(0, x)"));
  EXPECT_TRUE(a.derives("y >= 0"));
  Alone<MaximumPropagator> b("x:.. y:..");
  b.inequality(b.poly("y - max(0, x)"));
  EXPECT_TRUE(b.derives("y >= x"));
  Alone<MaximumPropagator> c("x:.. y:..");
  c.bound("max(0, x)", false, 3);
  EXPECT_TRUE(c.derives("x <= 3"));
}

TEST(Propagators, Floor) {
  Alone<FloorPropagator> a("x:.. y:..");
  a.inequality(a.poly("x - 4*(x//4) - y"));
  EXPECT_TRUE(a.derives("y <= 3"));
  Alone<FloorPropagator> b("x:.. y:..");
  b.bound("x//4", true, 2);
  EXPECT_TRUE(b.derives("x >= 8"));
  Alone<FloorPropagator> c("x:.. y:..");
  c.bound("x//4", false, 2);
  EXPECT_TRUE(c.derives("x <= 11"));
}

TEST(Propagators, Divisor) {
  Alone<DivisorPropagator> a("x:5.. y:1..");
  a.equality(a.poly("x*y - 12"));
  EXPECT_TRUE(a.derives("x >= 6"));
}

TEST(Propagators, Exponent) {
  Alone<ExponentPropagator> a("x:0.. y:0..");
  a.equality(a.poly("2**x - 4*2**y"));
  EXPECT_TRUE(a.derives("x == y + 2"));
  Alone<ExponentPropagator> b("n:0..");
  b.bound("2**n", false, 40);
  EXPECT_TRUE(b.derives("n <= 5"));
}

TEST(Propagators, Power) {
  Alone<PowerPropagator> cubes("x:.. y:..");
  cubes.inequality(cubes.poly("8*y*y*y - x*x*x"));
  EXPECT_TRUE(cubes.derives("2*y - x >= 0"));
  Alone<PowerPropagator> sum("x:.. y:..");
  sum.equality(sum.poly("27*y*y*y + x*x*x"));
  EXPECT_TRUE(sum.derives("x + 3*y == 0"));
  Alone<PowerPropagator> squares("x:.. y:..");
  squares.equality(squares.poly("x*x - y*y"));
  EXPECT_TRUE(squares.derives("x == y or x + y == 0"));
  Alone<PowerPropagator> less("x:.. y:0..");
  less.inequality(less.poly("9*y*y - x*x - 1"));
  EXPECT_TRUE(less.derives("3*y - x >= 1"));
  Alone<PowerPropagator> more("x:.. y:0..");
  more.inequality(more.poly("9*y*y - x*x - 1"));
  EXPECT_TRUE(more.derives("3*y + x >= 1"));
}

// --- and nothing that does not hold

template <typename P>
void check_random_constraints(const char* terms[], size_t count) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int n) {
      return static_cast<int>(random() % static_cast<unsigned>(n));
    };
    std::string symbols;
    for (int i = 0; i < kSymbols; ++i) {
      const int low = below(9) - 4, high = low + below(5);
      const bool has_low = below(4) != 0, has_high = below(3) != 0;
      symbols += std::string(1, static_cast<char>('x' + i)) + ":" +
                 (has_low ? std::to_string(low) : "") + ".." +
                 (has_high ? std::to_string(high) : "") + " ";
    }
    std::string sum = std::to_string(below(25) - 12);
    for (int n = 1 + below(3); n > 0; --n) {
      sum += " + " + std::to_string(below(9) - 4) + "*" +
             terms[static_cast<size_t>(below(static_cast<int>(count)))];
    }
    Alone<P> alone(symbols);
    const Poly p = alone.poly(sum);
    if (p.is_constant()) continue;
    const bool is_equality = below(3) == 0;
    if (is_equality) {
      alone.equality(p);
    } else {
      alone.inequality(p);
    }
    ASSERT_EQ(alone.wrong(), "")
        << symbols << ": " << sum << (is_equality ? " == 0" : " >= 0");
  }
}

const char* kPlain[] = {"x", "y", "z"};
const char* kProducts[] = {"x", "y", "x*y", "x*x", "y*z", "x*y*z", "x*x*x"};
const char* kFloors[] = {"x",        "y",           "(x//2)", "((x + y)//3)",
                         "y*(x//2)", "((x - z)//y)"};
const char* kMaxima[] = {"x", "y", "max(0, x)", "max(x, y - 1)", "max(0, z)"};
const char* kPowers[] = {"2**x", "2**y", "2**z"};
const char* kEqualPowers[] = {"x*x",   "y*y",   "4*y*y",  "x*x*z*z",
                              "x*x*x", "y*y*y", "8*y*y*y"};

TEST(Propagators, AreSound) {
  check_random_constraints<LinearPropagator>(kProducts, std::size(kProducts));
  check_random_constraints<LinearPropagator>(kPlain, std::size(kPlain));
  check_random_constraints<ProductPropagator>(kProducts, std::size(kProducts));
  check_random_constraints<RootPropagator>(kProducts, std::size(kProducts));
  check_random_constraints<FloorPropagator>(kFloors, std::size(kFloors));
  check_random_constraints<MaximumPropagator>(kMaxima, std::size(kMaxima));
  check_random_constraints<DivisorPropagator>(kProducts, std::size(kProducts));
  check_random_constraints<ExponentPropagator>(kPowers, std::size(kPowers));
  check_random_constraints<PowerPropagator>(kEqualPowers,
                                            std::size(kEqualPowers));
}

// Of bounds of an atom, on either side.
template <typename P>
void check_bounds(const char* atom) {
  for (int value = -4; value <= 9; ++value) {
    for (bool lower : {true, false}) {
      Alone<P> alone("x:.. y:0..3");
      alone.bound(atom, lower, value);
      ASSERT_EQ(alone.wrong(), "")
          << atom << (lower ? " >= " : " <= ") << value;
    }
  }
}

TEST(Propagators, AreSoundOfBoundsOfAtoms) {
  check_bounds<MaximumPropagator>("max(0, x)");
  check_bounds<MaximumPropagator>("max(0, x - y)");
  check_bounds<FloorPropagator>("x//3");
  check_bounds<FloorPropagator>("x//(y + 1)");
  check_bounds<FloorPropagator>("(2*x)//(y + 1)");
  check_bounds<ExponentPropagator>("2**x");
  check_bounds<ExponentPropagator>("3**y");
}

}  // namespace
}  // namespace proviso
