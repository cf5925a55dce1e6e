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
    for (Expr s : symbols_)
      EXPECT_EQ(laws_.broken_by_bounds(s), "") << facts_text_;
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

// Ends that only a proof finds, however far: the facts are two cases of each of
// which something is at most (at least) a large number.
TEST(Agreement, OfAskAndBoundsOnLargeNumbers) {
  const uint32_t seed = testing::seed_or(20261127);
  std::mt19937 random(seed);
  auto below = [&random](int n) {
    return static_cast<int>(random() % unsigned(n));
  };
  size_t found = 0;
  for (int i = 0; i < 40; ++i) {
    ExprPool pool;
    SolverOptions options = testing::native_only();
    options.work_limit *= 100;
    Context context(pool, options);
    const Expr a = pool.symbol("u0", SymbolKind::kUnbackedInt);
    const Expr b = pool.symbol("u1", SymbolKind::kUnbackedInt);
    context.declare(a, Interval(0, 1 + below(3)));
    const int sign = below(2) ? 1 : -1;
    const Expr up = b * sign;  // lies above -1
    context.assume(ge(up, 0));
    const auto power = [&](int bits) {
      return pool.integer(*pow(Int(2), unsigned(bits)));
    };
    const int bits = 38 + below(80);
    context.assume(logical_or(le(up, power(bits) + below(5)), lt(up, a)));
    const Expr exprs[] = {b, b + a, b * 3 - a, min(b, b + a),
                          b * power(below(70)) + a};
    const Expr e = exprs[below(5)];
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(i) +
                 ": " + to_string(e) + ", " + std::to_string(bits) + " bits");
    const Interval range = context.bounds(e);
    std::vector<Int> ends;
    for (int k = 36; k < 200; k += 3) ends.push_back(*pow(Int(2), unsigned(k)));
    if (range.upper()) ends.push_back(abs(*range.upper() - Int(1)));
    if (range.lower()) ends.push_back(abs(*range.lower() + Int(1)));
    found += range.upper() && range.lower();
    for (const Int& end : ends) {
      for (const Int& k : {end, -end}) {
        if (!range.upper() || k < *range.upper()) {
          EXPECT_NE(context.ask_quick(le(e, pool.integer(k))), Verdict::kYes)
              << range.to_string() << ", at most " << k.to_string();
        }
        if (!range.lower() || k > *range.lower()) {
          EXPECT_NE(context.ask_quick(ge(e, pool.integer(k))), Verdict::kYes)
              << range.to_string() << ", at least " << k.to_string();
        }
      }
    }
  }
  std::cout << found << " with both ends\n";
  EXPECT_GT(found, 30u);
}

}  // namespace
}  // namespace proviso
