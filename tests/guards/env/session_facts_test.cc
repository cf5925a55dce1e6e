// What is known in a session, and what of it is only assumed.
#include "guards/env/session_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sym/operators.h"

namespace proviso {
namespace {

using namespace internal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Session {
  SolverOptions options{.machine_int64 = true};
  SessionLog log;
  SessionFacts facts{options, log};
  Expr s0 = facts.pool().symbol("s0", SymbolKind::kBackedSize);
  Expr s1 = facts.pool().symbol("s1", SymbolKind::kBackedSize);
};

TEST(SessionFacts, AnAssumptionAnswersAndIsTakenBack) {
  Session a;
  a.facts.declare(a.s0, Interval::at_least(0), "size");
  a.facts.assume_at_least_two(a.s0);
  EXPECT_EQ(a.facts.context().ask_quick(ge(a.s0, 2)), Verdict::kYes);
  EXPECT_THAT(a.facts.assumed(), ElementsAre(a.s0));
  const auto without = a.facts.without_assumptions();
  EXPECT_EQ(without->ask_quick(ge(a.s0, 2)), Verdict::kUnknown);
  EXPECT_EQ(without->ask_quick(ge(a.s0, 0)), Verdict::kYes);
}

TEST(SessionFacts, WhatIsKnownStaysWithoutAssumptionsAndGuardsDoNot) {
  Session a;
  a.facts.know(le(a.s0, 9), "by its meaning");
  a.facts.assume(le(a.s1, 9), {"guard"});
  EXPECT_EQ(a.facts.context().ask_quick(le(a.s1, 9)), Verdict::kYes);
  const auto without = a.facts.without_assumptions();
  EXPECT_EQ(without->ask_quick(le(a.s0, 9)), Verdict::kYes);
  EXPECT_EQ(without->ask_quick(le(a.s1, 9)), Verdict::kUnknown);
}

TEST(SessionFacts, AnAnswerLeansOnAnAssumptionOnlyWhereItUsesOne) {
  Session a;
  a.facts.declare(a.s0, Interval::at_least(0), "size");
  a.facts.declare(a.s1, Interval::at_least(0), "size");
  a.facts.assume_at_least_two(a.s0);
  a.facts.assume(ge(a.s1, 2), {"guard"});
  EXPECT_TRUE(a.facts.leans_on_assumption(ge(a.s0, 1)));
  EXPECT_FALSE(a.facts.leans_on_assumption(ge(a.s1, 1)));
  EXPECT_FALSE(a.facts.leans_on_assumption(ge(a.s0, 5)));  // open
}

TEST(SessionFacts, EachFactMakesANewVersion) {
  Session a;
  std::vector<uint64_t> versions{a.facts.version()};
  a.facts.declare(a.s0, Interval::at_least(0), "size");
  versions.push_back(a.facts.version());
  a.facts.assume_at_least_two(a.s0);
  versions.push_back(a.facts.version());
  a.facts.know(le(a.s0, 99), "");
  versions.push_back(a.facts.version());
  a.facts.assume(le(a.s0, 9), {"guard"});
  versions.push_back(a.facts.version());
  EXPECT_THAT(versions, ElementsAre(1, 2, 3, 4, 5));
}

TEST(SessionFacts, AllButDeclaredRangesAreLinesOfTheLog) {
  Session a;
  a.facts.declare(a.s0, {0, 77}, "size");
  a.facts.assume_at_least_two(a.s0);
  a.facts.know(le(a.s0, 50), "");
  a.facts.assume(le(a.s0, 9), {"guard"});
  EXPECT_THAT(a.log.shapelog(),
              HasSubstr("assume s0 >= 2\nassume s0 <= 50\nassume s0 <= 9\n"));
  EXPECT_THAT(a.log.shapelog(), Not(HasSubstr("77")));
}

TEST(SessionFacts, EndsBeyondTheMachinesAreNone) {
  EXPECT_EQ(without_machine_ends({INT64_MIN, 5}), Interval::at_most(5));
  EXPECT_EQ(without_machine_ends(Interval::of(Int(2), Int(INT64_MAX) + 9)),
            Interval::at_least(2));
  EXPECT_EQ(without_machine_ends({2, 5}), Interval(2, 5));
  EXPECT_TRUE(without_machine_ends(Interval::empty()).is_empty());
}

}  // namespace
}  // namespace proviso
