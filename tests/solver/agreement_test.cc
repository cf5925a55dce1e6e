// ask, bounds and simplify know the same: what ask() proves, the other two say.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "sym/cost.h"
#include "tests/solver/support.h"
#include "tests/support/random_facts.h"
#include "tests/support/random_index.h"

namespace proviso {
namespace {

struct Tally {
  int bounds = 0, ends = 0, equalities = 0, relations = 0, simplified = 0;
};

// Random facts, true at a hidden point, and expressions near them.
class Session {
 public:
  Session(uint32_t seed, Tally& tally)
      : context_(pool_, unhurried()), random_(seed), tally_(tally) {
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
    check_bounds(index_->integer(random_() % 2));
    check_equality(index_->integer(random_() % 2));
    check_relation(index_->boolean(1));
    check_relation(facts_->question());
  }

 private:
  // bounds() asks many questions within the limit of one call.
  static SolverOptions unhurried() {
    SolverOptions options = testing::native_only();
    options.work_limit *= 100;
    return options;
  }
  bool proves(Expr question) {
    return context_.ask_quick(question) == Verdict::kYes;
  }

  // bounds() is never wider than what ask() proves about its ends.
  void check_bounds(Expr e) {
    const Interval range = context_.bounds(e);
    ++tally_.bounds;
    if (range.is_empty()) return;
    std::vector<Int> above, below;
    for (int k : {-64, -9, -1, 0, 1, 7, 63}) {
      if (!range.upper() || Int(k) < *range.upper()) above.push_back(Int(k));
      if (!range.lower() || Int(k) > *range.lower()) below.push_back(Int(k));
    }
    if (range.upper()) above.push_back(*range.upper() - Int(1));
    if (range.lower()) below.push_back(*range.lower() + Int(1));
    for (const Int& k : above) {
      ++tally_.ends;
      EXPECT_FALSE(proves(le(e, pool_.integer(k))))
          << "bounds(" << e << ") is " << range.to_string()
          << ", ask() proves it at most " << k.to_string() << ":"
          << facts_text_;
    }
    for (const Int& k : below) {
      ++tally_.ends;
      EXPECT_FALSE(proves(ge(e, pool_.integer(k))))
          << "bounds(" << e << ") is " << range.to_string()
          << ", ask() proves it at least " << k.to_string() << ":"
          << facts_text_;
    }
  }

  // What ask() proves equal differs by 0, and by nothing that simplify() shows.
  void check_equality(Expr e) {
    const Expr form = context_.simplify(e);
    check_cost(e, form);
    for (Expr other : {form, context_.canonical(e), pool_.integer(0)}) {
      if (!proves(eq(e, other))) continue;
      ++tally_.equalities;
      EXPECT_EQ(to_string(context_.simplify(e - other)), "0")
          << e << " - (" << other << "):" << facts_text_;
    }
  }

  // What ask() decides is True or False.
  void check_relation(Expr e) {
    const Verdict verdict = context_.ask(e).verdict;
    const Expr form = context_.simplify(e);
    check_cost(e, form);
    if (verdict == Verdict::kUnknown) return;
    ++tally_.relations;
    EXPECT_EQ(to_string(form), verdict == Verdict::kYes ? "True" : "False")
        << e << ":" << facts_text_;
  }

  void check_cost(Expr e, Expr form) {
    ++tally_.simplified;
    EXPECT_LE(cost(form), cost(e)) << e << " -> " << form << ":" << facts_text_;
    EXPECT_TRUE(context_.simplify(form) == form)
        << e << "\n -> " << form << "\n -> " << context_.simplify(form) << ":"
        << facts_text_;
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
  std::mt19937 random_;
  Tally& tally_;
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
  Tally tally;
  for (uint32_t i = 0; i < count; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + i));
    Session(seed + i, tally).run();
  }
  std::cout << tally.bounds << " bounds, " << tally.ends << " ends asked, "
            << tally.equalities << " equalities, " << tally.relations
            << " decided relations, " << tally.simplified << " simplified\n";
}

}  // namespace
}  // namespace proviso
