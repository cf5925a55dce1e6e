// The parts of a state alone, beside plain maps and sets: reasons, bounds of
// atoms and of linear forms, assertions, constraints, solved atoms.
#include "solver/state/state.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "solver/lower.h"
#include "sym/parse.h"

namespace proviso {
namespace {
using namespace internal;

TEST(ReasonArena, IsAUnionOfSets) {
  std::mt19937 random(3);
  ReasonArena arena;
  std::vector<std::pair<Reason, std::set<uint32_t>>> known = {{0, {}}};
  for (int i = 0; i < 20000; ++i) {
    if (i < 40 || random() % 8 == 0) {
      const uint32_t fact = static_cast<uint32_t>(random() % 50);
      known.push_back({arena.leaf(fact), {fact}});
      continue;
    }
    const auto& a = known[random() % known.size()];
    const auto& b = known[random() % std::min<size_t>(known.size(), 60)];
    if (a.second.size() + b.second.size() > 6) continue;
    std::set<uint32_t> both = a.second;
    both.insert(b.second.begin(), b.second.end());
    const Reason joined = arena.join(a.first, b.first);
    const std::vector<uint32_t> facts = arena.facts(joined);
    EXPECT_EQ(std::set<uint32_t>(facts.begin(), facts.end()), both);
    EXPECT_EQ(facts.size(), both.size());
    EXPECT_TRUE(std::is_sorted(facts.begin(), facts.end()));
    for (uint32_t fact = 0; fact < 50; fact += 7)
      EXPECT_EQ(arena.uses(joined, fact), both.contains(fact));
    known.push_back({joined, std::move(both)});
  }
}

// As above, and reasons that were cut off are not remembered.
TEST(ReasonArena, JoinsAgainAfterTruncate) {
  ReasonArena arena;
  std::vector<Reason> leaves;
  for (uint32_t fact = 0; fact < 5000; ++fact)
    leaves.push_back(arena.leaf(fact));
  const uint32_t size = arena.size();
  const Reason first = arena.join(leaves[3], leaves[7]);
  EXPECT_EQ(arena.join(leaves[7], leaves[3]), first);
  arena.truncate(size);
  arena.leaf(9);
  const Reason again = arena.join(leaves[3], leaves[7]);
  EXPECT_EQ(arena.facts(again), (std::vector<uint32_t>{3, 7}));
}

class States : public ::testing::Test {
 protected:
  static constexpr int kSymbols = 3;

  States() {
    for (int i = 0; i < kSymbols; ++i) {
      atoms.push_back(forms.pool.atoms.symbol(
          pool.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt)));
    }
  }
  Poly sum(const std::vector<int>& coefs, int constant) {
    Poly p = Poly::number(constant);
    for (int i = 0; i < kSymbols; ++i)
      p = p + variable(forms.pool, atoms[static_cast<size_t>(i)]) *
                  coefs[static_cast<size_t>(i)];
    return p;
  }

  ExprPool pool;
  Forms& forms = Forms::of(pool);
  ReasonArena reasons;
  State state{forms.pool, reasons, Interval::all()};
  std::vector<AtomId> atoms;
};

// What bounds of a form say of its multiples: the tightest end, rounded.
TEST_F(States, BoundsOfFormsAreTheTightest) {
  std::mt19937 random(11);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % unsigned(high - low + 1));
  };
  const std::vector<int> directions[] = {
      {1, -1, 0}, {2, 3, 0}, {1, 1, 1}, {0, 1, -2}};
  struct Ends {
    std::optional<int> low, high;
  };
  std::map<size_t, Ends> naive;  // of direction . u
  const Trail::Mark mark = state.trail.mark();
  for (int round = 0; round < 2000; ++round) {
    if (round % 10 == 0) {
      state.trail.undo(mark);
      naive.clear();
    }
    const size_t which = static_cast<size_t>(pick(0, 3));
    const int scale = pick(1, 3) * (pick(0, 1) == 0 ? 1 : -1);
    const int constant = pick(-4, 40);
    std::vector<int> coefs = directions[which];
    for (int& c : coefs) c *= scale;
    const Poly p = sum(coefs, constant);  // >= 0
    // scale * d + constant >= 0, in whole numbers
    Ends& ends = naive[which];
    const int k = std::abs(scale);
    const auto floor_of = [](int a, int b) {
      return a >= 0 ? a / b : -((-a + b - 1) / b);
    };
    bool tells = false;
    if (scale > 0) {
      const int low = -floor_of(constant, k);
      tells = !ends.low || low > *ends.low;
      if (tells && (!ends.high || low <= *ends.high)) ends.low = low;
      if (ends.high && low > *ends.high) continue;
    } else {
      const int high = floor_of(constant, k);
      tells = !ends.high || high < *ends.high;
      if (tells && (!ends.low || high >= *ends.low)) ends.high = high;
      if (ends.low && high < *ends.low) continue;
    }
    const auto* set = state.bounds.set_form(forms.pool.polys.primitive_part(p),
                                            p.constant, reasons.leaf(1), 0);
    EXPECT_EQ(set != nullptr, tells) << round;
    // Asked of another multiple.
    const int times = pick(1, 4) * (pick(0, 1) == 0 ? 1 : -1);
    const int offset = pick(-9, 9);
    std::vector<int> asked = directions[which];
    for (int& c : asked) c *= times;
    const Range r = state.bounds.of_form(
        forms.pool.polys.primitive_part(sum(asked, 0)), offset, reasons);
    const auto end = [&](std::optional<int> e) {
      return e ? OptionalInt(Int(*e * times + offset)) : OptionalInt();
    };
    const Interval expected = times > 0
                                  ? Interval::of(end(ends.low), end(ends.high))
                                  : Interval::of(end(ends.high), end(ends.low));
    EXPECT_EQ(r.span, expected) << round;
  }
}

TEST_F(States, AssertionsKnowNegations) {
  const FormulaId f = forms.lower.condition(parse(pool, "u0 >= 2"));
  const FormulaId g = forms.lower.condition(parse(pool, "u1 == 2"));
  Assertions& assertions = state.assertions;
  EXPECT_TRUE(assertions.find(kTrue)->value);
  EXPECT_FALSE(assertions.find(kFalse)->value);
  EXPECT_EQ(assertions.find(f), std::nullopt);
  const Reason why = reasons.leaf(4);
  EXPECT_TRUE(assertions.add(f, why));
  EXPECT_FALSE(assertions.add(f, 0));
  EXPECT_TRUE(assertions.find(f)->value);
  EXPECT_EQ(assertions.find(f)->why, why);
  EXPECT_FALSE(assertions.find(negate(f))->value);
  EXPECT_EQ(assertions.find(negate(f))->why, why);
  const Trail::Mark mark = state.trail.mark();
  EXPECT_TRUE(assertions.add_or_conflict(negate(g), why));
  EXPECT_FALSE(assertions.find(g)->value);
  EXPECT_FALSE(assertions.conflict());
  EXPECT_FALSE(assertions.add_or_conflict(negate(f), reasons.leaf(6)));
  ASSERT_TRUE(assertions.conflict());
  EXPECT_EQ(reasons.facts(*assertions.conflict()),
            (std::vector<uint32_t>{4, 6}));
  assertions.raise(reasons.leaf(9));  // the first stays
  EXPECT_EQ(reasons.facts(*assertions.conflict()),
            (std::vector<uint32_t>{4, 6}));
  state.trail.undo(mark);
  EXPECT_FALSE(assertions.conflict());
  EXPECT_EQ(assertions.find(g), std::nullopt);
  EXPECT_TRUE(assertions.find(f)->value);
}

TEST_F(States, ConstraintsAreListedByWhatTheyMention) {
  Constraints& constraints = state.constraints;
  const auto add = [&](const char* text) {
    return constraints.add(forms.lower.condition(parse(pool, text)), 0);
  };
  const uint32_t a = add("u0*u1 >= 3"), b = add("u1 + u2 <= 7"),
                 c = add("u0 == 1 or u2 == 2");
  const auto of = [&](size_t symbol) {
    const Ids& ids = constraints.of(atoms[symbol]);
    return std::vector<uint32_t>(ids.begin(), ids.end());
  };
  EXPECT_EQ(of(0), (std::vector<uint32_t>{a, c}));
  EXPECT_EQ(of(1), (std::vector<uint32_t>{a, b}));
  EXPECT_EQ(of(2), (std::vector<uint32_t>{b, c}));
  constraints.deactivate(b);
  EXPECT_FALSE(constraints[b].is_active);
  EXPECT_EQ(of(1), (std::vector<uint32_t>{a, b}));
}

TEST_F(States, FreshVariablesAreOneForOneUse) {
  Substitution& substitution = state.substitution;
  const Trail::Mark mark = state.trail.mark();
  const AtomId first = substitution.fresh(3);
  const AtomId second = substitution.fresh(3);
  EXPECT_NE(first, second);
  EXPECT_NE(substitution.fresh(4), first);
  state.trail.undo(mark);
  EXPECT_EQ(substitution.fresh(3), first);
  const PolyId value = forms.pool.polys.id_of(variable(forms.pool, first) * 2);
  substitution.set(atoms[0], value, reasons.leaf(2));
  EXPECT_TRUE(substitution.is_solved(atoms[0]));
  EXPECT_EQ(substitution.value_of(atoms[0]), value);
  const Ids& dependents = substitution.dependents_of(first);
  EXPECT_EQ(std::vector<uint32_t>(dependents.begin(), dependents.end()),
            (std::vector<uint32_t>{atoms[0]}));
}

}  // namespace
}  // namespace proviso
