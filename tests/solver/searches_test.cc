// What looks for points, alone: the search for models, enumeration, small
// points, witnesses, and the search for contradictions, each beside all points
// of a box in which the facts keep every symbol.
#include <gtest/gtest.h>

#include <iostream>

#include "solver/engine/consistency.h"
#include "solver/engine/decide.h"
#include "solver/engine/search.h"
#include "solver/models.h"
#include "solver/strategies/enumeration.h"
#include "solver/strategies/restarts.h"
#include "solver/strategies/witnesses.h"
#include "tests/solver/boxed_facts.h"

namespace proviso {
namespace {
using namespace internal;

using testing::BoxedFacts;
using testing::Choices;

constexpr uint64_t kUnits = 20000;

// Every model has its symbols in BoxedFacts' box.
const std::vector<std::string> kBox = {"x >= -4", "x <= 7",  "y >= -4",
                                       "y <= 7",  "z >= -4", "z <= 7"};
const std::vector<std::string> kFacts = {
    "x*y == 6",       "x*x + y <= 9",  "x % 3 == 1",    "y == 2*(z//2)",
    "x + y >= 2*z",   "x*z >= y",      "x != y",        "x == y or z == 1",
    "max(x, z) <= y", "x*y*z == 12",   "x & 5 >= 1",    "x*x == y + z",
    "z >= 1",         "x//(z*z) == 1", "2*x - 3*y == z"};
const std::vector<std::string> kTerms = {
    "x", "y", "z", "x*y", "x*x", "(x//2)", "(y % 3)", "max(x, z)", "(x//y)"};
const std::vector<std::string> kRelations = {" >= 0", " != 0", " == 0"};

std::vector<std::string> some_facts(Choices& choices) {
  std::vector<std::string> facts = choices.some(kFacts, 1, 5);
  facts.insert(facts.end(), kBox.begin(), kBox.end());
  return facts;
}
std::string some_question(Choices& choices) {
  return choices.sum(kTerms, 3, 3) + choices.of(kRelations);
}

struct Truths {
  size_t yes = 0, no = 0, undefined = 0;
  size_t all() const { return yes + no + undefined; }
};
Truths truths_of(BoxedFacts& facts, const std::string& question) {
  Truths truths;
  const Expr asked = facts.expr(question);
  facts.where_all_hold([&](const Assignment& point) {
    const Evaluation e = evaluate(asked, point);
    ++(!e.defined() ? truths.undefined : e.is_true() ? truths.yes : truths.no);
    return true;
  });
  return truths;
}
bool all_hold_at(BoxedFacts& facts, const Assignment& at) {
  for (FactId f = 0; f < facts.reasoner().facts().size(); ++f) {
    const Expr fact = facts.reasoner().facts().condition(f);
    if (!evaluate(fact, at).is_true()) return false;
  }
  return true;
}

// --- models

TEST(ModelSearch, FindsOneWhereThereIsOne) {
  size_t existing = 0, found = 0, not_existing = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    Choices choices(seed);
    BoxedFacts facts(some_facts(choices));
    if (facts.domain().conflict()) continue;
    const Range before = facts.domain().atom_range(facts.atom("x"));
    for (int n = 0; n < 3; ++n) {
      const std::string question = some_question(choices);
      const Expr asked = facts.expr(question);
      const auto accept = [&](const Assignment& at) {
        return evaluate(asked, at).is_true() && all_hold_at(facts, at);
      };
      ModelSearch search(facts.domain(), facts.reasoner().lower());
      const auto point = search.find(facts.formula(question), facts.symbols(),
                                     accept, kUnits, kUnits / 2);
      if (point) {
        EXPECT_TRUE(accept(*point)) << question;
      }
      const bool exists = facts.is_possible(question, true);
      existing += exists, not_existing += !exists;
      found += point.has_value();
      EXPECT_TRUE(exists || !point) << question;
      // What was assumed on the way is taken back.
      const Range now = facts.domain().atom_range(facts.atom("x"));
      EXPECT_EQ(now.span, before.span);
      EXPECT_FALSE(facts.domain().conflict());
    }
  }
  std::cout << found << " of " << existing << " found, " << not_existing
            << " have none\n";
  EXPECT_GE(existing, 100u);
  EXPECT_GE(not_existing, 50u);
  EXPECT_GE(found * 100, existing * 99);
}

// The goal's own constants, roots and ends are tried, far from 0 too.
TEST(ModelSearch, TriesTheValuesThatTheGoalNames) {
  const auto model = [](const std::vector<std::string>& assumed,
                        const std::string& goal) {
    BoxedFacts facts(assumed);
    const Expr asked = facts.expr(goal);
    const auto point =
        ModelSearch(facts.domain(), facts.reasoner().lower())
            .find(
                facts.formula(goal), {facts.expr("x"), facts.expr("y")},
                [&](const Assignment& at) {
                  return evaluate(asked, at).is_true() &&
                         all_hold_at(facts, at);
                },
                kUnits, 0);
    return point ? point->to_string() : "none";
  };
  EXPECT_EQ(model({"y == 0"}, "x == 123456"), "x = 123456, y = 0");
  EXPECT_EQ(model({"y == 0", "x >= 0"}, "x*x == 1234*1234"), "x = 1234, y = 0");
  EXPECT_EQ(model({"y == 0", "x <= -5000"}, "x % 2 == 1"), "x = -5001, y = 0");
  EXPECT_EQ(model({"y == 2*x", "x >= 3"}, "y >= 7"), "x = 4, y = 8");
  EXPECT_EQ(model({"y == 0", "x >= 3"}, "x <= 2"), "none");
}

TEST(ModelSearch, AcceptsNothingElse) {
  BoxedFacts facts({"x >= 0", "x <= 3"});
  size_t asked = 0;
  const auto point = ModelSearch(facts.domain(), facts.reasoner().lower())
                         .find(
                             kTrue, {facts.expr("x")},
                             [&](const Assignment&) { return ++asked, false; },
                             kUnits, kUnits);
  EXPECT_FALSE(point);
  EXPECT_GE(asked, 4u);
}

// --- every point

TEST(Enumeration, CountsWhatThereIs) {
  size_t decided = 0, open = 0, contradictions = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Choices choices(seed);
    BoxedFacts facts(some_facts(choices));
    if (facts.domain().conflict()) continue;
    const std::string question = some_question(choices);
    Search search(facts.expr(question), facts.formula(question));
    const Decision d = enumerate(facts.reasoner(), search, {.box = 4000});
    if (!search.is_finished()) continue;
    // Facts that share no symbol with the question were not looked at.
    if (search.is_contradiction()) {
      ++contradictions;
      EXPECT_EQ(facts.failure("0 == 1", true, search.why()), "") << question;
      continue;
    }
    const Truths truths = truths_of(facts, question);
    if (truths.all() == 0) continue;  // for a reason that was not looked at
    EXPECT_TRUE(search.has_model()) << question;
    if (d.value) {
      ++decided;
      EXPECT_EQ(facts.failure(question, *d.value, d.why), "") << seed;
      EXPECT_EQ(truths.undefined + (*d.value ? truths.no : truths.yes), 0u);
    } else {
      ++open;
      EXPECT_TRUE(search.is_open());
      EXPECT_TRUE(truths.undefined > 0 || (truths.yes > 0 && truths.no > 0))
          << question << ", seed " << seed;
    }
  }
  std::cout << decided << " decided, " << open << " open, " << contradictions
            << " contradictions\n";
  EXPECT_GE(decided, 30u);
  EXPECT_GE(open, 100u);
  EXPECT_GE(contradictions, 5u);
}

TEST(Enumeration, GivesUpAtItsLimit) {
  BoxedFacts facts({"x >= 0", "x <= 9", "y >= 0", "y <= 9"});
  const std::string question = "x*x*y != 50";
  Search few(facts.expr(question), facts.formula(question));
  EXPECT_FALSE(enumerate(facts.reasoner(), few, {.box = 99}).value);
  EXPECT_FALSE(few.is_finished());
  Search enough(facts.expr(question), facts.formula(question));
  enumerate(facts.reasoner(), enough, {.box = 100});
  EXPECT_TRUE(enough.is_open());  // 5*5*2
}

// How many answers the search has ruled out; each must fail at a point.
size_t count_ruled_out(BoxedFacts& facts, const std::string& question,
                       const Search& search) {
  const Truths truths = truths_of(facts, question);
  if (truths.all() == 0) return 0;
  size_t ruled_out = 0;
  for (bool value : {true, false}) {
    if (search.may_be(value)) continue;
    ++ruled_out;
    EXPECT_GT((value ? truths.no : truths.yes) + truths.undefined, 0u)
        << question;
  }
  return ruled_out;
}

TEST(SmallPoints, RuleOutWhatFailsAtOne) {
  size_t ruled_out = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Choices choices(seed);
    BoxedFacts facts(some_facts(choices));
    if (facts.domain().conflict()) continue;
    const std::string question = some_question(choices);
    Search search(facts.expr(question), facts.formula(question));
    rule_out_by_small_points(facts.reasoner(), search, 200);
    ruled_out += count_ruled_out(facts, question, search);
  }
  EXPECT_GE(ruled_out, 100u);
}

TEST(SmallPoints, AreNearZeroOrAnEnd) {
  BoxedFacts facts({"y != 0", "x < y*y"});
  const std::string question = "x//(y*y) + x % y >= 0";
  Search search(facts.expr(question), facts.formula(question));
  rule_out_by_small_points(facts.reasoner(), search, 400);
  EXPECT_FALSE(search.may_be(true));
  BoxedFacts far({"x >= 1000000", "y == 1"});
  const std::string even = "x % 2 == 0";
  Search at_end(far.expr(even), far.formula(even));
  rule_out_by_small_points(far.reasoner(), at_end, 20);
  EXPECT_TRUE(at_end.is_open());
}

// --- witnesses

TEST(Witnesses, AreConfirmed) {
  size_t both = 0, undefined = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Choices choices(seed);
    BoxedFacts facts(some_facts(choices));
    if (facts.domain().conflict()) continue;
    const std::string question = some_question(choices);
    const Expr asked = facts.expr(question);
    Answer answer;
    find_witnesses(facts.reasoner(), asked, kUnits, answer);
    // The points have the symbols that matter to the question; others are free.
    const auto holds_at = [&](const Assignment& point) {
      for (FactId f = 0; f < facts.reasoner().facts().size(); ++f) {
        const Expr fact = facts.reasoner().facts().condition(f);
        const std::vector<Expr> symbols = free_symbols(fact);
        const bool is_about =
            std::all_of(symbols.begin(), symbols.end(),
                        [&](Expr s) { return point.find(s) != nullptr; });
        if (is_about && !evaluate(fact, point).is_true()) return false;
      }
      return true;
    };
    if (answer.witness) {
      EXPECT_TRUE(evaluate(asked, *answer.witness).is_true());
      EXPECT_TRUE(holds_at(*answer.witness)) << question;
    }
    if (answer.counterexample) {
      EXPECT_FALSE(evaluate(asked, *answer.counterexample).is_true());
      EXPECT_TRUE(holds_at(*answer.counterexample)) << question;
      undefined += !evaluate(asked, *answer.counterexample).defined();
    }
    both += answer.witness && answer.counterexample;
    EXPECT_EQ(answer.tier == Tier::kModels,
              (answer.witness && answer.counterexample) ||
                  (answer.counterexample &&
                   !evaluate(asked, *answer.counterexample).defined()))
        << question;
  }
  EXPECT_GE(both, 30u);
  EXPECT_GE(undefined, 3u);
}

TEST(Witnesses, AValueAtAModelIsOneThatItHas) {
  size_t found = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    Choices choices(seed);
    BoxedFacts facts(some_facts(choices));
    if (facts.domain().conflict()) continue;
    const std::string question = some_question(choices);
    const auto value =
        value_at_model(facts.reasoner(), facts.expr(question), kUnits);
    const Truths truths = truths_of(facts, question);
    if (!value || truths.all() == 0) continue;
    ++found;
    EXPECT_GT(*value ? truths.yes : truths.no, 0u) << question;
  }
  EXPECT_GE(found, 60u);
}

// Of a fact that nothing is derived from, evaluate() knows the models.
TEST(Witnesses, AValueAtAModelIsOneOfTheFactsAsTheyAre) {
  BoxedFacts facts({"(x ^ y) == 5", "x >= 0", "x <= 7", "y >= 0", "y <= 7"});
  EXPECT_EQ(value_at_model(facts.reasoner(), facts.expr("x == y"), kUnits),
            false);
  EXPECT_EQ(value_at_model(facts.reasoner(), facts.expr("x != y"), kUnits),
            true);
}

TEST(Witnesses, RuleOutAnswers) {
  size_t ruled_out = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    Choices choices(seed);
    BoxedFacts facts(some_facts(choices));
    if (facts.domain().conflict()) continue;
    const std::string question = some_question(choices);
    Search search(facts.expr(question), facts.formula(question));
    rule_out_answers(facts.reasoner(), search, kUnits / 4);
    ruled_out += count_ruled_out(facts, question, search);
  }
  EXPECT_GE(ruled_out, 100u);
}

// --- facts in other orders

TEST(Restarts, DecideWhatHoldsWhereTheirFactsDo) {
  size_t decided = 0, by_some = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Choices choices(seed);
    const std::vector<std::string> assumed = some_facts(choices);
    BoxedFacts facts(assumed);
    if (facts.domain().conflict()) continue;
    const std::string question = some_question(choices);
    Search search(facts.expr(question), facts.formula(question));
    const Decision d = restart(facts.reasoner(), search);
    if (!d.value) continue;
    ++decided;
    const size_t used = facts.facts_in(search.why()).size();
    by_some += used > 0 && used < assumed.size();
    EXPECT_EQ(facts.failure(question, *d.value, search.why()), "") << seed;
  }
  std::cout << decided << " decided, " << by_some << " by some of the facts\n";
  EXPECT_GE(by_some, 10u);
}

// --- contradictions

TEST(Consistency, WhatContradictsHasNoPoint) {
  size_t found = 0, consistent = 0, by_enumeration = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Choices choices(seed);
    BoxedFacts facts(some_facts(choices));
    if (facts.domain().conflict()) continue;
    const std::string question = some_question(choices);
    const FormulaId goal = facts.formula(question);
    Search search(facts.expr(question), goal);
    decide_by_proof(facts.reasoner(), search);
    if (!search.value()) continue;
    const auto why = relevant_contradiction(
        facts.reasoner(),
        {facts.expr(question), *search.value(), search.tier(), search.why()});
    by_enumeration += facts.reasoner()
                          .statistics()
                          .by_strategy[Strategy::kFactsEnumeration]
                          .decided;
    if (!why) {
      ++consistent;
      continue;
    }
    ++found;
    EXPECT_EQ(facts.failure("0 == 1", true, *why), "") << question;
  }
  std::cout << found << " contradictions, " << consistent << " without\n";
  EXPECT_GE(found, 5u);
  EXPECT_GE(by_enumeration, 1u);
  EXPECT_GE(consistent, 20u);
}

}  // namespace
}  // namespace proviso
