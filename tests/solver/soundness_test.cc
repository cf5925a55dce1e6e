// Random questions against enumeration: small boxes, divisors that may be zero,
// ask, assume, push and pop interleaved on one context.  Whatever the verdict,
// no point of the box may contradict it.  In half of the sessions the context
// is given boxes without some of their sides, where cases cannot be counted
// and proofs are needed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "tests/solver/support.h"
#include "tests/support/random_facts.h"

namespace proviso {
namespace {

struct Box {
  std::vector<Expr> symbols;
  std::vector<std::pair<int, int>> ends;
};

// Every point of the box.
std::vector<Assignment> points_of(const Box& box) {
  std::vector<Assignment> points(1);
  for (size_t i = 0; i < box.symbols.size(); ++i) {
    std::vector<Assignment> longer;
    for (const Assignment& point : points) {
      for (int v = box.ends[i].first; v <= box.ends[i].second; ++v) {
        longer.push_back(point);
        longer.back().set(box.symbols[i], Int(v));
      }
    }
    points = std::move(longer);
  }
  return points;
}

struct Tally {
  int asked = 0, decided = 0, decidable = 0, shown = 0;
  int contradictory = 0, unnoticed = 0;
  int open = 0, yes = 0, no = 0, several = 0, wide = 0;
};

class Session {
 public:
  Session(uint32_t seed, Tally& tally)
      : context_(pool_, options(seed)),
        random_(seed),
        tally_(tally),
        wide_(seed % 2 == 1) {
    size_t count = 1 + random_() % 3;
    for (size_t i = 0; i < count; ++i) {
      Expr s = pool_.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt);
      int low = static_cast<int>(random_() % 7) - 4;
      int high = low + static_cast<int>(random_() % (count == 3 ? 4 : 8));
      box_.symbols.push_back(s);
      box_.ends.emplace_back(low, high);
      if (wide_ && random_() % 2 == 0) {
        context_.declare(s, Interval::at_least(low));
      } else if (wide_ && random_() % 4 == 0) {
        context_.declare(s, Interval::at_most(high));
      } else {
        context_.declare(s, Interval(low, high));
      }
    }
    everywhere_ = points_of(box_);
    live_.push_back(everywhere_);
    const Assignment& hidden = everywhere_[random_() % everywhere_.size()];
    make_ = std::make_unique<testing::RandomFacts>(pool_, box_.symbols, hidden,
                                                   seed * 7919 + 1);
  }

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      switch (random_() % 8) {
        case 0: push(); break;
        case 1: pop(); break;
        case 2:
        case 3: assume(); break;
        default: ask(); break;
      }
    }
  }

 private:
  static SolverOptions options(uint32_t seed) {
    SolverOptions o = testing::native_only();
    o.machine_int64 = seed % 4 >= 2;
    return o;
  }

  void push() {
    context_.push();
    live_.push_back(live_.back());
  }
  void pop() {
    if (live_.size() < 2) return;
    context_.pop();
    live_.pop_back();
  }

  // An assumed fact holds and is defined.
  void assume() {
    Expr fact = random_() % 16 == 0 ? make_->question() : make_->fact();
    context_.assume(fact);
    std::erase_if(live_.back(), [&](const Assignment& point) {
      return !evaluate(fact, point).is_true();
    });
  }

  void ask() {
    Expr question = make_->question();
    const std::vector<Assignment>& points = live_.back();
    bool quick = random_() % 2 == 0;
    Answer answer;
    if (quick) {
      answer.verdict = context_.ask_quick(question);
    } else {
      answer = context_.ask(question);
    }
    if (context_.contradiction()) {
      EXPECT_TRUE(points.empty()) << describe(question);
    }
    if (points.empty()) {
      if (wide_ || quick) return;  // a point may be outside; or not looked for
      ++tally_.contradictory;
      if (answer.verdict == Verdict::kUnknown || answer.facts.empty()) return;
      // Facts that share no symbol with the question may contradict unnoticed.
      const std::vector<Assignment> near = points_near(question);
      if (near.empty()) {
        ++tally_.unnoticed;
        std::cout << "contradictory: " << describe(question) << "\n";
      }
      for (const Assignment& point : near) {
        expect_agrees(question, answer.verdict, point);
      }
      return;
    }
    size_t trues = 0, falses = 0;
    for (const Assignment& point : points) {
      Evaluation e = evaluate(question, point);
      trues += e.is_true();
      falses += e.is_false();
    }
    if (answer.verdict == Verdict::kYes) {
      EXPECT_EQ(trues, points.size()) << describe(question);
    }
    if (answer.verdict == Verdict::kNo) {
      EXPECT_EQ(falses, points.size()) << describe(question);
    }
    EXPECT_EQ(testing::check_points(context_, question, answer), "")
        << describe(question);
    check_facts(question, answer, quick);
    check_bounds(question);
    ++tally_.asked;
    bool decidable = trues == points.size() || falses == points.size();
    if (!wide_) {
      testing::write_question(context_, question, falses < points.size(),
                              trues < points.size());
    }
    if (wide_) {
      tally_.wide += answer.verdict != Verdict::kUnknown;
    } else {
      tally_.decidable += decidable;
      tally_.decided += answer.verdict != Verdict::kUnknown;
    }
    tally_.open += !decidable && !quick && !wide_;
    tally_.shown += answer.tier == Tier::kModels && !wide_;
    tally_.yes += answer.verdict == Verdict::kYes;
    tally_.no += answer.verdict == Verdict::kNo;
    bool several = quick ? context_.facts_used(question).size() > 1
                         : answer.facts.size() > 1;
    tally_.several += answer.verdict == Verdict::kYes && several;
  }

  // The facts that are named are enough: no point of the box that meets them
  // contradicts the verdict.
  void check_facts(Expr question, const Answer& answer, bool quick) {
    if (quick || answer.verdict == Verdict::kUnknown) return;
    for (const Assignment& point : everywhere_) {
      bool holds = true;
      for (FactId id : answer.facts) {
        holds = holds && evaluate(context_.fact(id).condition, point).is_true();
      }
      if (holds) expect_agrees(question, answer.verdict, point);
    }
  }

  // Requires a yes or a no.
  void expect_agrees(Expr question, Verdict verdict, const Assignment& point) {
    const Evaluation e = evaluate(question, point);
    EXPECT_TRUE(verdict == Verdict::kYes ? e.is_true() : e.is_false())
        << describe(question) << " at " << point.to_string()
        << ", by facts that hold there";
  }

  // Points of the box that meet the facts which the question shares symbols
  // with, itself or by other such facts.
  std::vector<Assignment> points_near(Expr question) {
    std::vector<Expr> symbols = free_symbols(question);
    std::vector<Fact> left = context_.facts(), near;
    auto is_near = [&symbols](const Fact& fact) {
      const std::vector<Expr> of_fact = free_symbols(fact.condition);
      return std::any_of(of_fact.begin(), of_fact.end(), [&](Expr s) {
        return std::find(symbols.begin(), symbols.end(), s) != symbols.end();
      });
    };
    for (;;) {
      const auto next = std::find_if(left.begin(), left.end(), is_near);
      if (next == left.end()) break;
      for (Expr s : free_symbols(next->condition)) symbols.push_back(s);
      near.push_back(*next);
      left.erase(next);
    }
    std::vector<Assignment> points = everywhere_;
    std::erase_if(points, [&near](const Assignment& point) {
      return !std::all_of(near.begin(), near.end(), [&](const Fact& fact) {
        return evaluate(fact.condition, point).is_true();
      });
    });
    return points;
  }

  void check_bounds(Expr question) {
    if (!is_relation(question.op()) || !question.arg(0).is_int()) return;
    Expr e = question.arg(0);
    Interval bounds = context_.bounds(e);
    for (const Assignment& point : live_.back()) {
      Evaluation v = evaluate(e, point);
      if (!v.defined()) continue;
      EXPECT_TRUE(bounds.contains(std::get<Int>(*v.value)))
          << to_string(e) << " is " << to_string(*v.value) << " at "
          << point.to_string() << ", outside " << bounds.to_string() << "; "
          << describe(question);
    }
  }

  std::string describe(Expr question) {
    std::string text;
    for (const Fact& fact : context_.facts()) {
      text += to_string(fact.condition) + "; ";
    }
    return text + "|- " + to_string(question);
  }

  ExprPool pool_;
  Context context_;
  std::mt19937 random_;
  Tally& tally_;
  bool wide_;  // the box is a part of what the context is given
  Box box_;
  std::unique_ptr<testing::RandomFacts> make_;
  std::vector<Assignment> everywhere_;  // in the box
  // Those that meet the facts; one entry a scope.
  std::vector<std::vector<Assignment>> live_;
};

TEST(Soundness, NoPointContradictsAnAnswer) {
  const char* given = std::getenv("PROVISO_TEST_SEED");
  uint32_t seed = given ? static_cast<uint32_t>(std::atol(given)) : 20260001;
  const char* more = std::getenv("PROVISO_TEST_SESSIONS");
  uint32_t sessions = more ? static_cast<uint32_t>(std::atol(more)) : 2000;
  std::cout << "seed " << seed << " (PROVISO_TEST_SEED sets another)\n";
  Tally tally;
  for (uint32_t i = 0; i < sessions && !HasFailure(); ++i) {
    SCOPED_TRACE("session seed " + std::to_string(seed + i));
    Session(seed + i, tally).run(30);
  }
  std::cout << tally.asked << " asked, " << tally.decided << " of "
            << tally.decidable << " decidable decided, " << tally.shown
            << " of " << tally.open << " open shown, " << tally.yes << " yes ("
            << tally.several << " by several facts), " << tally.no << " no, "
            << tally.wide << " decided where sides are open, "
            << tally.contradictory << " beside contradictory facts ("
            << tally.unnoticed << " from them)\n";
  EXPECT_EQ(tally.unnoticed, 0);
  // Power is a matter of other tests; this says that the test is not empty.
  EXPECT_GT(tally.decided * 10, tally.decidable * 8);
}

}  // namespace
}  // namespace proviso
