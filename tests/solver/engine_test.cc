// The parts of an engine alone: the stack of facts, the path of versions,
// native answers, contradictions, ranges as they are read.
#include "solver/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/solver/support.h"

namespace proviso::testing {
namespace {
using namespace internal;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EngineParts : public ::testing::Test {
 protected:
  Expr p(const std::string& text) { return parse(pool, text); }
  FactId assume(const std::string& text) { return facts.assume(p(text), {}); }
  std::vector<uint32_t> depths() const {
    std::vector<uint32_t> all;
    for (const Fact& fact : facts.all()) all.push_back(fact.depth);
    return all;
  }
  std::vector<FactId> ids() const {
    std::vector<FactId> all;
    for (const Fact& fact : facts.all()) all.push_back(fact.id);
    return all;
  }

  ExprPool pool;
  SolverOptions options = native_only();
  Statistics statistics;
  FactStack facts{pool, options, statistics};
};

// --- FactStack

TEST_F(EngineParts, RangesWaitForAReasoner) {
  assume("u0 >= 2");
  facts.push(true);
  assume("u0 <= 8");
  EXPECT_FALSE(facts.has_reasoner());
  ASSERT_NE(facts.box(), nullptr);
  EXPECT_EQ(facts.box()->decide(p("u0 < 9")), true);
  assume("u1 > 2*u0");  // no range
  EXPECT_TRUE(facts.has_reasoner());
  EXPECT_EQ(facts.box(), nullptr);
  EXPECT_EQ(facts.reasoner().facts().size(), 3u);
  facts.pop();
  EXPECT_EQ(facts.reasoner().facts().size(), 1u);
  EXPECT_EQ(facts.box()->decide(p("u0 < 9")), std::nullopt);
}

TEST_F(EngineParts, IdsAreNeverUsedTwice) {
  EXPECT_EQ(assume("u0 >= 2"), 0u);
  facts.push(true);
  EXPECT_EQ(assume("u0 <= 8"), 1u);
  facts.pop();
  EXPECT_EQ(assume("u0 <= 9"), 2u);
  EXPECT_THAT(ids(), ElementsAre(0u, 2u));
  EXPECT_THAT(facts.ids_of({1}), ElementsAre(2u));
  EXPECT_EQ(facts.find(1), std::nullopt);
  EXPECT_EQ(facts.find(2)->condition, p("u0 <= 9"));
}

TEST_F(EngineParts, CallersScopesAloneHaveDepth) {
  assume("u0 >= 2");
  facts.push(true);
  assume("u0 <= 9");
  facts.push(false);
  assume("u1 > u0");  // asserted; before, all waited
  facts.push(true);
  assume("u1 <= 5");
  EXPECT_THAT(depths(), ElementsAre(0u, 1u, 1u, 2u));
  EXPECT_THAT(facts.of_innermost_scope(), SizeIs(1));
  facts.pop();
  facts.pop();
  EXPECT_THAT(depths(), ElementsAre(0u, 1u));
}

TEST_F(EngineParts, ScopesOpenedWhileFactsWaitAreUndoneOneByOne) {
  assume("u0 >= 2");
  facts.push(true);
  assume("u0 <= 8");
  facts.push(true);
  assume("u1 >= 3");
  EXPECT_EQ(facts.reasoner().facts().size(), 3u);
  facts.pop();
  EXPECT_EQ(facts.reasoner().facts().size(), 2u);
  facts.pop();
  EXPECT_EQ(facts.reasoner().facts().size(), 1u);
}

TEST_F(EngineParts, AConflictNamesItsFacts) {
  assume("u0 >= 2");
  assume("u1 >= 2");
  EXPECT_EQ(facts.conflict(), std::nullopt);
  assume("u0 <= 1");
  EXPECT_THAT(facts.conflict().value(), ElementsAre(0u, 2u));
}

// What another thread ends while facts are asserted is asserted by the next
// call.
TEST_F(EngineParts, AnInterruptedFactWaits) {
  facts.interrupt();
  assume("u1 > u0");
  EXPECT_EQ(facts.reasoner().facts().size(), 0u);
  facts.resume();
  EXPECT_EQ(facts.reasoner().facts().size(), 1u);
}

// --- VersionPath

TEST_F(EngineParts, APathGoesFromVersionToVersion) {
  const auto root = std::make_shared<Version>();
  const auto left = std::make_shared<Version>(Version{.parent = root});
  const auto right =
      std::make_shared<Version>(Version{.parent = root, .is_scope = true});
  VersionPath path;
  path.start_at(root);
  assume("u0 >= 2");
  path.go_to(left, facts);
  assume("u0 <= 8");
  path.go_to(right, facts);
  EXPECT_THAT(ids(), ElementsAre(0u));
  EXPECT_THAT(left->facts, SizeIs(1));
  assume("u1 > 2*u0");
  EXPECT_THAT(depths(), ElementsAre(0u, 1u));
  path.go_to(left, facts);
  EXPECT_THAT(ids(), ElementsAre(0u, 1u));
  EXPECT_THAT(left->facts, IsEmpty());
  EXPECT_THAT(right->facts, SizeIs(1));
  path.go_to(right, facts);
  EXPECT_THAT(ids(), ElementsAre(0u, 2u));
}

// --- NativeAnswers

TEST_F(EngineParts, TheBoxAnswersWithoutAReasoner) {
  NativeAnswers native(facts);
  assume("u0 >= 2");
  EXPECT_EQ(native.ask(p("u0 > 1")), Verdict::kYes);
  EXPECT_FALSE(facts.has_reasoner());
  EXPECT_EQ(native.ask(p("u0 > 1")), Verdict::kYes);
  EXPECT_EQ(statistics.memo_hits, 1u);
  // Who wants to know why asks the reasoner.
  const Remembered& m = native.with_reason(p("u0 > 1"));
  EXPECT_THAT(facts.reasoner().facts_in(m.why), ElementsAre(0u));
}

TEST_F(EngineParts, AnInterruptedQuestionIsNotRemembered) {
  NativeAnswers native(facts);
  assume("u1 > u0");
  facts.reasoner();
  facts.interrupt();
  native.ask(p("u1 >= u0 + 1"));
  EXPECT_EQ(native.remembered(p("u1 >= u0 + 1")), nullptr);
  facts.resume();
  EXPECT_EQ(native.ask(p("u1 >= u0 + 1")), Verdict::kYes);
}

// --- Consistency

// No assertion shows it: three inequalities add up to 0 < 0.
TEST_F(EngineParts, AContradictionElsewhereIsFoundOnce) {
  Consistency consistency(facts);
  assume("u9 >= 0");
  EXPECT_THAT(consistency.elsewhere(), IsEmpty());
  facts.push(true);
  assume("u0 + u1 > 2*u2");
  assume("u0 + 3*u1 <= 4*u2");
  assume("u0 <= u2");
  EXPECT_EQ(facts.conflict(), std::nullopt);
  EXPECT_THAT(consistency.elsewhere(), ElementsAre(1u, 2u, 3u));
  facts.push(true);
  assume("u9 >= 5");  // more facts keep it
  EXPECT_THAT(consistency.elsewhere(), ElementsAre(1u, 2u, 3u));
  facts.pop();
  facts.pop();
  EXPECT_THAT(consistency.elsewhere(), IsEmpty());
}

// --- Answers

TEST_F(EngineParts, AnAnswerIsKeptWhileItsStateIs) {
  NativeAnswers native(facts);
  Answers answers(facts, native);
  assume("u1 > u0");
  const Expr question = p("u1 > u0 - 1");
  EXPECT_EQ(answers.ask(question).verdict, Verdict::kYes);
  EXPECT_THAT(answers.ask(question).facts, ElementsAre(0u));
  EXPECT_EQ(statistics.memo_hits, 1u);
  facts.push(true);
  assume("u2 >= 0");
  EXPECT_EQ(answers.ask(question).verdict, Verdict::kYes);
  EXPECT_EQ(statistics.memo_hits, 1u);  // another state
  EXPECT_THAT(answers.facts_used(question), ElementsAre(0u));
  EXPECT_THAT(answers.facts_behind(p("u1 >= u0")), ElementsAre(0u));
}

// --- RangeReading

TEST_F(EngineParts, AProductIsReadAsItIsWrittenToo) {
  RangeReading reading(facts.reasoner());
  EXPECT_EQ(reading.range_of(p("(u0 % 8)*(u1 % 8)")), Interval(0, 49));
  EXPECT_EQ(reading.strided_of(p("8*u0 + 3")).stride(), Int(8));
  EXPECT_EQ(reading.strided_of(p("8*u0 + 3")).offset(), Int(3));
}

}  // namespace
}  // namespace proviso::testing
