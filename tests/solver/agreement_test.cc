// ask, bounds and simplify know the same: what ask() proves, the other two say.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/solver/support.h"
#include "tests/support/agreement_laws.h"
#include "tests/support/random_facts.h"
#include "tests/support/random_index.h"

namespace proviso {
namespace {

// Random facts, true at a hidden point, and expressions near them.
class Session {
 public:
  using Laws = testing::AgreementLaws;

  explicit Session(uint32_t seed)
      : context_(pool_, Laws::unhurried(testing::native_only())),
        random_(seed) {
    const size_t count = 2 + random_() % 2;
    for (size_t i = 0; i < count; ++i) {
      symbols_.push_back(
          pool_.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt));
      const int low = static_cast<int>(random_() % 7) - 3;
      const int value = low + static_cast<int>(random_() % 6);
      hidden_.set(symbols_[i], Int(value));
      const Interval range =
          random_() % 3 ? Interval(low, low + 7) : Interval::at_least(low);
      facts_text_ +=
          " " + symbols_[i].symbol().name + " in " + range.to_string();
      context_.declare(symbols_[i], range);
    }
    facts_ = std::make_unique<testing::RandomFacts>(pool_, symbols_, hidden_,
                                                    seed + 1);
    index_ = std::make_unique<testing::RandomIndex>(pool_, symbols_, seed + 2);
    for (size_t n = random_() % 4; n > 0; --n) {
      const Expr fact = facts_->fact();
      facts_text_ += "; " + to_string(fact);
      context_.assume(fact);
    }
  }

  void run() {
    if (context_.contradiction()) return;
    const Expr bounded = index_->integer(random_() % 2),
               integer = index_->integer(random_() % 2),
               condition = index_->boolean(1), question = facts_->question();
    EXPECT_EQ(laws_.broken_by_bounds(bounded), "") << facts_text_;
    EXPECT_EQ(laws_.broken_by_difference(integer), "") << facts_text_;
    for (Expr relation : {condition, question})
      EXPECT_EQ(laws_.broken_by_relation(relation), "") << facts_text_;
    for (Expr e : {integer, condition, question}) expect_same_value(e);
    check_cost_in_contradiction(index_->integer(random_() % 2));
  }
  const Laws::Tally& tally() const { return laws_.tally(); }

 private:
  // Where nothing holds, nothing is made longer either.
  void check_cost_in_contradiction(Expr e) {
    const Scope scope(context_);
    context_.assume(lt(symbols_[0] * 2, symbols_[0] * 2));
    const Expr form = context_.simplify(e);
    EXPECT_LE(cost(form), cost(e)) << e << " -> " << form << ":" << facts_text_;
  }

  void expect_same_value(Expr e) {
    const Expr form = context_.simplify(e);
    const Evaluation before = evaluate(e, hidden_);
    if (!before.defined()) return;
    const Evaluation after = evaluate(form, hidden_);
    EXPECT_TRUE(after.defined() && *after.value == *before.value)
        << e << " is " << to_string(*before.value) << ", " << form << " is "
        << (after.defined() ? to_string(*after.value) : after.why) << " at "
        << hidden_.to_string() << ":" << facts_text_;
  }

  ExprPool pool_;
  Context context_;
  Laws laws_{context_};
  std::mt19937 random_;
  std::vector<Expr> symbols_;
  Assignment hidden_;
  std::string facts_text_;
  std::unique_ptr<testing::RandomFacts> facts_;
  std::unique_ptr<testing::RandomIndex> index_;
};

TEST(Agreement, OfAskBoundsAndSimplifyOnRandomFacts) {
  const uint32_t seed = testing::seed_or(20261124);
  const char* rounds = std::getenv("PROVISO_TEST_PROBLEMS");
  const auto count = static_cast<uint32_t>(rounds ? std::atoi(rounds) : 150);
  testing::AgreementLaws::Tally tally;
  for (uint32_t i = 0; i < count; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + i));
    Session session(seed + i);
    session.run();
    tally.bounds += session.tally().bounds;
    tally.ends += session.tally().ends;
    tally.equalities += session.tally().equalities;
    tally.relations += session.tally().relations;
    tally.simplified += session.tally().simplified;
  }
  std::cout << tally.bounds << " bounds, " << tally.ends << " ends asked, "
            << tally.equalities << " equalities, " << tally.relations
            << " decided relations, " << tally.simplified << " simplified\n";
}

}  // namespace
}  // namespace proviso
