#include "guards/env/minimal_guards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sym/budget.h"
#include "tests/guards/env/parts.h"

namespace proviso {
namespace {

using namespace internal;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Minimal : Parts {
  std::vector<Guard> find() {
    EnforcedFacts enforced(facts, symbols, unguarded_answers, recorder);
    return MinimalGuards(facts, symbols, unguarded_answers, recorder, enforced)
        .find();
  }
};

std::vector<int> lines_of(const Guard& guard) {
  std::vector<int> lines;
  for (const SourceLocation& where : guard.origins) lines.push_back(where.line);
  return lines;
}

TEST(MinimalGuards, AnEarlierGuardGoesWhereALaterOneImpliesIt) {
  Minimal a;
  const Expr s0 = a.size(8), s1 = a.size(9);
  a.record(le(s0, 100), 6);
  a.record(le(s1, 9), 7);
  a.record(le(s0, 50), 8);
  const std::vector<Guard> kept = a.find();
  EXPECT_THAT(texts(kept), ElementsAre("s1 <= 9", "s0 <= 50"));
  EXPECT_THAT(lines_of(kept[1]), ElementsAre(8, 6));
}

TEST(MinimalGuards, GuardsThatImplyEachOtherTogetherKeepOneWay) {
  Minimal a;
  const Expr s0 = a.size(8), s1 = a.size(8), s2 = a.size(8);
  a.record(le(s0, s1), 3);
  a.record(le(s1, s2), 4);
  a.record(le(s0, s2), 5);  // implied: not even recorded
  EXPECT_THAT(texts(a.find()), SizeIs(2));
}

TEST(MinimalGuards, SoleEqualitiesStay) {
  Minimal a;
  const Expr s0 = a.size(8), s1 = a.size(8), s2 = a.size(8);
  a.record(eq(s0, s1), 3);
  a.record(eq(s1, s2), 4);
  EXPECT_THAT(a.find(), SizeIs(2));
}

TEST(MinimalGuards, AnAnswerThatIsAGuardIsOneOfThem) {
  Minimal a;
  a.branch(ne(a.size(8), 1), 3);
  const std::vector<Guard> kept = a.find();
  ASSERT_THAT(texts(kept), ElementsAre("Ne(s0, 1)"));
  EXPECT_THAT(lines_of(kept[0]), ElementsAre(3));
}

TEST(MinimalGuards, AnAssumptionThatIsKeptImpliesAPromise) {
  Minimal a;
  const Expr s0 = a.size(8);
  a.recorder.require(ge(s0, 1), {});
  EXPECT_THAT(a.find(), SizeIs(1));
  a.branch(ge(s0, 2), 3);
  EXPECT_THAT(a.find(), IsEmpty());
}

TEST(MinimalGuards, AGuardHasThePlacesOfQuestionsThatItAnswers) {
  Minimal a;
  const Expr s0 = a.size(8);
  a.branch(le(s0, 50), 3);
  a.branch(le(s0, 60), 4);  // answered by the guard
  a.branch(ge(s0, 0), 5);   // answered by the range
  const std::vector<Guard> kept = a.find();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_THAT(lines_of(kept[0]), ElementsAre(3, 4));
}

TEST(MinimalGuards, PastTheBudgetNoneGoes) {
  Minimal a;
  const Expr s0 = a.size(8);
  a.record(le(s0, 100), 6);
  a.record(le(s0, 50), 7);
  EnforcedFacts enforced(a.facts, a.symbols, a.unguarded_answers, a.recorder);
  enforced.view();
  const Budget none(1);
  EXPECT_THAT(MinimalGuards(a.facts, a.symbols, a.unguarded_answers, a.recorder,
                            enforced)
                  .find(),
              SizeIs(2));
}

TEST(MinimalGuards, WithoutGuardsThereAreNone) {
  Minimal a;
  a.branch(ge(a.size(8), 0), 3);
  EXPECT_THAT(a.find(), IsEmpty());
}

}  // namespace
}  // namespace proviso
