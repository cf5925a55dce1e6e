// Limits change what is decided, never an answer: random ones, compared with
// every point of small boxes.
#include "solver/limits.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "guards/context_text.h"
#include "solver/symbolic_bounds.h"
#include "tests/solver/support.h"
#include "tests/support/random_facts.h"
#include "tests/support/random_index.h"

namespace proviso {
namespace {

using Random = std::mt19937;

std::shared_ptr<const Limits> all_at(uint64_t value) {
  Limits limits;
  for (const LimitInfo& row : all_limits()) row.set(limits, value);
  return std::make_shared<const Limits>(limits);
}

// Each at 0, 1, 2, a half, the default, twice or 16 times as much.
std::shared_ptr<const Limits> random_limits(Random& random) {
  Limits limits;
  for (const LimitInfo& row : all_limits()) {
    const uint64_t values[] = {0,
                               1,
                               2,
                               row.value / 2,
                               row.value,
                               row.value,
                               row.value,
                               row.value * 2,
                               row.value * 16};
    const uint64_t value = values[random() % std::size(values)];
    set_limit(limits, row.name, std::min(value, row.value * 16));
  }
  return std::make_shared<const Limits>(limits);
}

SolverOptions options_with(std::shared_ptr<const Limits> limits) {
  SolverOptions options = testing::native_only();
  options.limits = std::move(limits);
  return options;
}

// Two or three symbols of eight values each, facts that hold at one of their
// points at least, and all the points at which they hold.
class Box {
 public:
  Box(uint32_t seed, std::shared_ptr<const Limits> limits)
      : context_(pool_, options_with(std::move(limits))) {
    Random random(seed);
    Assignment hidden;
    for (size_t i = 0; i < 2 + random() % 2; ++i) {
      const int low = static_cast<int>(random() % 7) - 3;
      symbols_.push_back(
          pool_.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt));
      lows_.push_back(low);
      hidden.set(symbols_[i], Int(low + static_cast<int>(random() % 8)));
      context_.declare(symbols_[i], Interval(low, low + 7));
    }
    facts_ = std::make_unique<testing::RandomFacts>(pool_, symbols_, hidden,
                                                    seed + 1);
    index_ = std::make_unique<testing::RandomIndex>(pool_, symbols_, seed + 2);
    for (size_t n = random() % 4; n > 0; --n) {
      conditions_.push_back(facts_->fact());
      context_.assume(conditions_.back());
    }
    find_points(Assignment(), 0);
  }

  void check() {
    for (int i = 0; i < 4; ++i) check_question(facts_->question());
    check_question(index_->boolean(1));
    const Expr e = index_->integer(2);
    check_integer(e);
    check_bound(e, true);
    check_bound(e, false);
  }
  int decided() const { return decided_; }

 private:
  void find_points(Assignment point, size_t i) {
    if (i == symbols_.size()) {
      for (Expr c : conditions_) {
        if (!evaluate(c, point).is_true()) return;
      }
      points_.push_back(std::move(point));
      return;
    }
    for (int v = 0; v < 8; ++v) {
      point.set(symbols_[i], Int(lows_[i] + v));
      find_points(point, i + 1);
    }
  }

  void check_question(Expr question) {
    const Verdict verdict = context_.ask(question).verdict;
    decided_ += verdict != Verdict::kUnknown;
    for (const Assignment& point : points_) {
      const Evaluation value = evaluate(question, point);
      if (!value.defined()) continue;
      ASSERT_FALSE(verdict == Verdict::kYes && value.is_false())
          << to_string(question);
      ASSERT_FALSE(verdict == Verdict::kNo && value.is_true())
          << to_string(question);
    }
  }

  void check_integer(Expr e) {
    const Interval range = context_.bounds(e);
    const Expr form = context_.simplify(e);
    for (const Assignment& point : points_) {
      const Evaluation value = evaluate(e, point);
      if (!value.defined()) continue;
      const Int& v = std::get<Int>(*value.value);
      ASSERT_TRUE(range.contains(v)) << to_string(e);
      const Evaluation same = evaluate(form, point);
      ASSERT_TRUE(same.defined() && std::get<Int>(*same.value) == v)
          << to_string(e) << " -> " << to_string(form);
    }
  }

  // In the first symbol alone.
  void check_bound(Expr e, bool above) {
    const std::vector<Expr> over = {symbols_[0]};
    const auto end =
        above ? upper_bound(context_, e, over) : lower_bound(context_, e, over);
    if (!end) return;
    for (const Assignment& point : points_) {
      const Evaluation value = evaluate(e, point), at = evaluate(*end, point);
      if (!value.defined()) continue;
      ASSERT_TRUE(at.defined()) << to_string(e) << ", " << to_string(*end);
      const Int &v = std::get<Int>(*value.value), &b = std::get<Int>(*at.value);
      ASSERT_TRUE(above ? v <= b : v >= b)
          << to_string(e) << ", " << to_string(*end);
    }
  }

  ExprPool pool_;
  Context context_;
  std::vector<Expr> symbols_, conditions_;
  std::vector<int> lows_;
  std::unique_ptr<testing::RandomFacts> facts_;
  std::unique_ptr<testing::RandomIndex> index_;
  std::vector<Assignment> points_;
  int decided_ = 0;
};

TEST(Limits, RandomOnesGiveNoWrongAnswer) {
  const char* wanted = std::getenv("PROVISO_TEST_SESSIONS");
  const uint32_t rounds = wanted ? std::atoi(wanted) : 400;
  Random random(7);
  for (uint32_t seed = 0; seed < rounds; ++seed) {
    Box box(seed, random_limits(random));
    box.check();
    if (::testing::Test::HasFatalFailure()) {
      FAIL() << "seed " << seed;
    }
  }
}

TEST(Limits, OfZeroLeaveMoreOpen) {
  int with = 0, without = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Box usual(seed, nullptr), none(seed, all_at(0));
    usual.check();
    none.check();
    if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
    with += usual.decided();
    without += none.decided();
  }
  EXPECT_GT(with, without);
  EXPECT_GT(without, 0);
}

// x*y >= 1 in cases of x: without a split nothing shows it.
TEST(Limits, BelongToTheContext) {
  Limits limits;
  set_limit(limits, "relevant_constraints", 0);
  set_limit(limits, "relevant_atoms", 0);
  auto chain = [](std::shared_ptr<const Limits> of) {
    testing::Case c("u0:.. u1:.. u2:.. u3:..", "u0 <= u1; u1 <= u2; u2 < u3",
                    options_with(std::move(of)));
    return c.ask("2*u0 + u1 < 2*u2 + u3").verdict;
  };
  EXPECT_EQ(chain(nullptr), Verdict::kYes);
  EXPECT_EQ(chain(std::make_shared<const Limits>(limits)), Verdict::kUnknown);
  EXPECT_EQ(chain(nullptr), Verdict::kYes);
}

TEST(Limits, HaveNamesOfTheirOwnAndAreSetInRange) {
  std::set<std::string_view> names;
  for (const LimitInfo& row : all_limits()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.unit.empty() || row.why.empty()) << row.name;
    EXPECT_GT(row.value, 0u) << row.name;
    Limits limits;
    EXPECT_EQ(row.get(limits), row.value) << row.name;
    set_limit(limits, row.name, 16 * row.value);
    EXPECT_EQ(row.get(limits), 16 * row.value) << row.name;
    EXPECT_THROW(set_limit(limits, row.name, 16 * row.value + 1), Error);
  }
  Limits limits;
  EXPECT_THROW(set_limit(limits, "split_dept", 1), Error);
}

TEST(Limits, AreSavedWithTheContext) {
  Limits limits;
  set_limit(limits, "split_depth", 3);
  ExprPool pool;
  Context context(pool, options_with(std::make_shared<const Limits>(limits)));
  const std::string text = save_context(context);
  EXPECT_NE(text.find("option limit.split_depth 3\n"), std::string::npos);
  ExprPool other;
  Context again = load_context(other, text);
  ASSERT_TRUE(again.options().limits);
  EXPECT_EQ(again.options().limits->split_depth, 3);
  EXPECT_EQ(save_context(again), text);
  EXPECT_THROW(
      load_context(other, "proviso context 1\noption limit.nothing 3\nend\n"),
      Error);
}

}  // namespace
}  // namespace proviso
