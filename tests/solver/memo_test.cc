// What is kept of answers, and of the facts as they were assumed.
#include "solver/engine/memo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solver/engine/assumed_facts.h"
#include "solver/limits_in_force.h"
#include "tests/solver/support.h"

namespace proviso {
namespace {
using namespace internal;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MemoTest : public ::testing::Test {
 protected:
  Remembered answer(Verdict verdict) const {
    Remembered m;
    m.verdict = verdict;
    m.state = names.present();
    m.facts = names.facts();
    return m;
  }
  // What is remembered, if it still holds.
  std::optional<Verdict> found(Expr question) const {
    const Remembered* m = memo.find(question);
    return m ? std::optional(m->verdict) : std::nullopt;
  }

  ExprPool pool;
  Expr question = parse(pool, "s0 > 1"), other = parse(pool, "s0 > 2");
  StateNames names;
  Memo memo{names};
};

TEST_F(MemoTest, HoldsInItsState) {
  EXPECT_EQ(found(question), std::nullopt);
  memo.keep(question, answer(Verdict::kUnknown));
  EXPECT_EQ(found(question), Verdict::kUnknown);
  EXPECT_EQ(found(other), std::nullopt);
}

TEST_F(MemoTest, MoreFactsKeepAYesAndANoOnly) {
  memo.keep(question, answer(Verdict::kYes));
  memo.keep(other, answer(Verdict::kUnknown));
  names.push();
  EXPECT_EQ(found(question), Verdict::kYes);
  EXPECT_EQ(found(other), std::nullopt);
  names.shrink(0);
  EXPECT_EQ(found(other), Verdict::kUnknown);
}

TEST_F(MemoTest, FactsTakenBackTakeAnswersWithThem) {
  names.push();
  memo.keep(question, answer(Verdict::kNo));
  names.shrink(0);
  EXPECT_EQ(found(question), std::nullopt);
  names.push();  // another fact, after as many
  EXPECT_EQ(found(question), std::nullopt);
}

TEST_F(MemoTest, ALaterAnswerReplacesTheFormer) {
  memo.keep(question, answer(Verdict::kUnknown));
  names.push();
  memo.keep(question, answer(Verdict::kYes));
  EXPECT_EQ(found(question), Verdict::kYes);
  names.shrink(0);
  EXPECT_EQ(found(question), std::nullopt);
}

TEST_F(MemoTest, AnAnswerOfNoStateIsNotFound) {
  Remembered m = answer(Verdict::kYes);
  m.state = 0;  // what another thread ended
  memo.keep(question, m);
  EXPECT_EQ(found(question), std::nullopt);
}

class AssumedFactsTest : public ::testing::Test {
 protected:
  FactId add(const char* text, const char* origin = "") {
    return facts.add(parse(pool, text), {origin});
  }
  std::vector<FactId> connected(const char* question) {
    return facts.connected_to(parse(pool, question)).facts;
  }

  ExprPool pool;
  AssumedFacts facts{Forms::of(pool).lower};
};

TEST_F(AssumedFactsTest, AreNumberedAndKeepTheirOrigins) {
  EXPECT_EQ(add("s0 >= 2", "a batch"), 0u);
  EXPECT_EQ(add("s1 >= 3"), 1u);
  EXPECT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts.condition(1), parse(pool, "s1 >= 3"));
  EXPECT_EQ(facts.fact(0).origin.text, "a batch");
  EXPECT_EQ(facts.in_words({0, 1}), "a batch; s1 >= 3");
}

TEST_F(AssumedFactsTest, AreConnectedThroughSymbols) {
  add("s0 < s1");
  add("s2 < s3");
  add("s1 < s4");
  EXPECT_THAT(connected("s0 > 3"), ElementsAre(0u, 2u));
  EXPECT_THAT(connected("s3 > 3"), ElementsAre(1u));
  EXPECT_THAT(connected("s9 > 3"), IsEmpty());
  EXPECT_THAT(
      facts.connected_to(parse(pool, "s0 > 3")).symbols,
      ElementsAre(parse(pool, "s0"), parse(pool, "s1"), parse(pool, "s4")));
}

TEST_F(AssumedFactsTest, ThatSayNothingConnectNothing) {
  add("s0 - s0 + s1 == s1");
  EXPECT_THAT(connected("s1 > 3"), IsEmpty());
}

TEST_F(AssumedFactsTest, ShrinkingTakesThemOutOfTheIndex) {
  add("s0 < s1", "first");
  add("s1 < s2", "second");
  EXPECT_THAT(connected("s2 > 3"), ElementsAre(1u, 0u));
  facts.shrink(1);
  EXPECT_THAT(connected("s2 > 3"), IsEmpty());
  EXPECT_THAT(connected("s1 > 3"), ElementsAre(0u));
  EXPECT_EQ(add("s2 < s3", "third"), 1u);
  EXPECT_EQ(facts.in_words({0, 1}), "first; third");
  EXPECT_THAT(connected("s2 > 3"), ElementsAre(1u));
}

TEST_F(AssumedFactsTest, ConnectNoMoreThanTheLimit) {
  auto few = std::make_shared<Limits>();
  few->relevant_facts = 2;
  SolverOptions options;
  options.limits = few;
  const LimitsInForce in_force(limits_of(options));
  for (const char* fact : {"s0 < 4", "s0 < 5", "s0 < 6"}) add(fact);
  EXPECT_EQ(connected("s0 > 3").size(), 2u);
}

TEST_F(AssumedFactsTest, HoldAtPoints) {
  add("s0 < s1");
  Assignment point;
  point.set(parse(pool, "s0"), Int(2));
  point.set(parse(pool, "s1"), Int(3));
  EXPECT_TRUE(facts.hold_at({0}, point));
  point.set(parse(pool, "s1"), Int(2));
  EXPECT_FALSE(facts.hold_at({0}, point));
  point.set(parse(pool, "s0"), Int(-1));  // no size is negative
  EXPECT_FALSE(facts.hold_at({0}, point));
  EXPECT_FALSE(facts.hold_at({}, point));
}

}  // namespace
}  // namespace proviso
