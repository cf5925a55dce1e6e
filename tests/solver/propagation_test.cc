// Facts asserted until nothing new follows: each constraint, bound and solved
// equality that is left holds at every point of a box at which the facts of its
// reason do, and what is taken back leaves the state as it was.
#include <gtest/gtest.h>

#include <iostream>

#include "solver/propagate/consequences.h"
#include "tests/solver/boxed_facts.h"

namespace proviso {
namespace {
using namespace internal;

using testing::BoxedFacts;
using testing::Choices;

const std::vector<std::string> kFacts = {"x*y == 6",
                                         "x*x + y <= 9",
                                         "x % 3 == 1",
                                         "y == 2*(z//2)",
                                         "x + y >= 2*z",
                                         "x*z >= y",
                                         "x != y",
                                         "x == y or z == 1",
                                         "max(x, z) <= y",
                                         "x & 5 >= 1",
                                         "x*x == y*y",
                                         "z >= 1",
                                         "2*x - 3*y == z",
                                         "x <= 4",
                                         "y >= -2",
                                         "x < y",
                                         "y < z",
                                         "x - 4*(x//4) >= 2",
                                         "2**z <= 9",
                                         "x == 5 or y <= 0",
                                         "y*(x//2) >= 3",
                                         "x*y*z == 0",
                                         "z <= 3 and y <= 5",
                                         "not (x == 2 and y == 3)",
                                         "x*y + x >= 4",
                                         "6*x + 10*y == 4*z",
                                         "x*x*x <= 8*y*y*y"};

// All that the domain knows of the first atoms, each with its reason.
struct Known {
  FormulaId formula;
  Reason why;
};
std::vector<Known> known_of(Domain& domain, AtomId atoms) {
  FormPool& forms = domain.forms();
  std::vector<Known> all;
  for (uint32_t i = 0; i < domain.constraints().size(); ++i) {
    const Constraint& c = domain.constraints()[i];
    if (c.is_active) all.push_back({c.formula, c.why});
  }
  for (AtomId a = 0; a < atoms; ++a) {
    const Range r = domain.atom_range(a);
    for (bool lower : {true, false}) {
      const OptionalInt& end = lower ? r.span.lower() : r.span.upper();
      if (!end || r.span.is_empty()) continue;
      Poly p = variable(forms, a) * (lower ? 1 : -1);
      p.constant = lower ? -*end : *end;
      all.push_back({forms.formulas.ge(p), lower ? r.lower : r.upper});
    }
    if (!domain.is_solved(a)) continue;
    const Normal n = domain.normal(variable(forms, a));
    all.push_back({forms.formulas.eq(variable(forms, a) - n.poly), n.why});
  }
  return all;
}

TEST(Propagation, WhatIsDerivedHoldsWhereItsFactsDo) {
  size_t checked = 0, by_several = 0, conflicts = 0;
  for (uint32_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    Choices choices(seed);
    BoxedFacts facts(choices.some(kFacts, 1, 7));
    if (const auto& conflict = facts.domain().conflict()) {
      ++conflicts;
      EXPECT_EQ(facts.failure(kFalse, true, *conflict), "") << seed;
      continue;
    }
    const AtomId atoms = static_cast<AtomId>(facts.forms().atoms.size());
    for (const Known& known : known_of(facts.domain(), atoms)) {
      ++checked;
      by_several += facts.facts_in(known.why).size() > 1;
      EXPECT_EQ(facts.failure(known.formula, true, known.why), "") << seed;
    }
  }
  std::cout << checked << " known, " << by_several << " by several facts, "
            << conflicts << " conflicts\n";
  EXPECT_GE(by_several, 600u);
  EXPECT_GE(conflicts, 10u);
}

TEST(Propagation, IsTakenBack) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Choices choices(seed);
    BoxedFacts facts(choices.some(kFacts, 1, 8));
    Domain& domain = facts.domain();
    if (domain.conflict()) continue;
    const AtomId atoms = static_cast<AtomId>(facts.forms().atoms.size());
    const auto picture = [&] {
      std::string text;
      for (const Known& known : known_of(domain, atoms)) {
        text += formula_to_string(facts.forms(), known.formula) +
                facts.in_words(known.why) + "\n";
      }
      return text;
    };
    const std::string before = picture();
    const Domain::Mark mark = domain.mark();
    for (int n = 0; n < 3; ++n)
      domain.assume(facts.formula(choices.of(kFacts)), 0);
    domain.undo(mark);
    domain.forget_cached();
    EXPECT_EQ(picture(), before) << seed;
    EXPECT_FALSE(domain.conflict());
  }
}

TEST(Propagation, ChainsOfPropagators) {
  BoxedFacts facts({"x*y == 6", "x >= 2", "y == z//2", "y >= 2"});
  const Range z = facts.domain().atom_range(facts.atom("z"));
  EXPECT_EQ(z.span, Interval(4, 7));  // y in [2, 3]
  BoxedFacts clause({"x == 1 or y >= 5", "x >= 2"});
  EXPECT_EQ(clause.domain().atom_range(clause.atom("y")).span,
            Interval::at_least(5));
  BoxedFacts apart({"x != 3", "x >= 3"});
  EXPECT_EQ(apart.domain().atom_range(apart.atom("x")).span,
            Interval::at_least(4));
}

// --- the queue

// What a consequence brings comes before what waited, in the order in which it
// was brought; depth counts the derivations.
TEST(Consequences, ComeNearestFirst) {
  ExprPool pool;
  Forms& forms = Forms::of(pool);
  ReasonArena reasons;
  State state(forms.pool, reasons, Interval::all());
  Ranges ranges(state);
  Consequences to(state, ranges);
  std::vector<FormulaId> all;
  for (int i = 0; i < 5; ++i) {
    all.push_back(
        forms.lower.condition(parse(pool, "x" + std::to_string(i) + " >= 0")));
  }
  Consequence c;
  EXPECT_FALSE(to.has_waiting());
  to.derive(all[0], 0);
  to.derive(all[1], 0);
  to.next(c);
  const FormulaId first = c.id;
  EXPECT_EQ(c.depth, 1);
  to.derive(all[2], 0);
  to.derive(all[3], 0);
  to.next(c);
  EXPECT_EQ(c.id, all[2]);
  EXPECT_EQ(c.depth, 2);
  to.derive(all[4], 0);
  to.next(c);
  EXPECT_EQ(c.id, all[4]);
  EXPECT_EQ(c.depth, 3);
  to.next(c);
  EXPECT_EQ(c.id, all[3]);
  EXPECT_EQ(c.depth, 2);
  to.next(c);
  EXPECT_EQ(c.id, first == all[0] ? all[1] : all[0]);
  EXPECT_FALSE(to.has_waiting());
  to.derive(all[0], 0);
  to.clear();
  EXPECT_FALSE(to.has_waiting());
}

}  // namespace
}  // namespace proviso
