#include "guards/requirements.h"

#include <gmock/gmock.h>

#include "guards/torch_form.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Sizes B, T, H, W, K of inputs that are 3, 12, 64, 96, 12 in the example.
class RequirementsTest : public testing::Test {
 protected:
  Expr p(std::string text) {
    for (const auto& [name, symbol] : names) {
      for (size_t at; (at = text.find(name)) != std::string::npos;)
        text.replace(at, 1, to_string(symbol));
    }
    return parse(env.pool(), text);
  }
  void ask(const std::string& condition, int line = 1) {
    env.guard_bool(p(condition), {"model.py", line});
  }
  Requirements found() {
    std::vector<Word> words;
    for (const auto& [name, symbol] : names) words.push_back({symbol, name});
    return requirements(env, words);
  }
  std::vector<std::string> texts() {
    std::vector<std::string> result;
    for (const Requirement& r : found().conditions) result.push_back(r.text);
    return result;
  }
  std::vector<std::string> for_torch() {
    std::vector<std::string> result;
    for (const TorchCondition& c : torch_form(env, found()).conditions)
      result.push_back(to_string(c.condition));
    return result;
  }

  ShapeEnv env{{.specialize_zero_one = false}};
  std::map<std::string, Expr> names = {
      {"B", env.create_size(3, "L['x'].size()[0]")},
      {"T", env.create_size(12, "L['x'].size()[1]")},
      {"H", env.create_size(64, "L['x'].size()[2]")},
      {"W", env.create_size(96, "L['x'].size()[3]")},
      {"K", env.create_size(12, "L['m'].size()[1]")},
  };
};

TEST_F(RequirementsTest, NothingIsRequiredWhereNothingWasAsked) {
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(RequirementsTest, WhatFollowsFromOthersIsLeftOut) {
  ask("Ne(T, 1)", 7);
  ask("T > 1", 8);
  ask("Ne(B*T, 0)", 9);
  EXPECT_THAT(texts(), UnorderedElementsAre("T >= 2", "B >= 1"));
  for (const AnsweredQuestion& q : found().questions)
    EXPECT_TRUE(q.follows_from.has_value()) << q.text;
}

TEST_F(RequirementsTest, EachConditionHasAPointThatNeedsIt) {
  ask("Ne(B*H*W, 0)");
  ask("Eq(Mod(T, 4), 0)");
  ask("K <= 512");
  const Requirements r = found();
  ASSERT_EQ(r.conditions.size(), 5u);
  for (const Requirement& broken : r.conditions) {
    ASSERT_TRUE(broken.counterexample) << broken.text;
    for (const Requirement& other : r.conditions) {
      Assignment point = *broken.counterexample;
      for (const auto& [name, symbol] : names)
        if (!point.find(symbol)) point.set(symbol, *env.hint(symbol));
      EXPECT_EQ(evaluate(other.condition, point).is_true(),
                other.condition != broken.condition)
          << other.text << " where " << broken.text << " is broken";
    }
  }
}

TEST_F(RequirementsTest, HalvingsAreOneDivisibility) {
  for (const char* q : {"Eq(Mod(H, 2), 0)", "Eq(Mod(H//2, 2), 0)",
                        "Eq(Mod(H//4, 2), 0)", "Ne(H//8, 0)"})
    ask(q);
  EXPECT_THAT(texts(), UnorderedElementsAre("H % 8 == 0", "H >= 1"));
}

TEST_F(RequirementsTest, AnEqualityIsARequirementAndAPinnedSizeIsNamed) {
  ask("Eq(K, T)");
  ask("Eq(H, 64)");
  const Requirements r = found();
  ASSERT_EQ(r.pinned.size(), 1u);
  EXPECT_EQ(r.pinned[0].text, "H");
  EXPECT_EQ(r.pinned[0].value, Int(64));
  ASSERT_EQ(r.pinned[0].follows_from.size(), 1u);
  EXPECT_EQ(r.conditions[r.pinned[0].follows_from[0]].text, "H == 64");
}

TEST_F(RequirementsTest, TorchIsToldRangesAndItsOwnDivisions) {
  ask("Ne(T, 1)");
  ask("Eq(Mod(H, 2), 0)");
  ask("Eq(Mod(H//2, 2), 0)");
  EXPECT_THAT(for_torch(), Contains("s1 >= 2"));
  EXPECT_THAT(for_torch(), Contains("Eq(Mod(s2, 2), 0)"));
  EXPECT_THAT(for_torch(), Contains("Eq(Mod((s2//2), 2), 0)"));
  EXPECT_THAT(for_torch(), Contains("s0 >= 1"));
}

// What PyTorch assumes implies what is required.
TEST_F(RequirementsTest, TorchsFormIsStrongEnough) {
  for (const char* q : {"Ne(T, 1)", "Ne(B*T*H, 0)", "Eq(Mod(H, 4), 0)",
                        "Eq(B*T, 3*K)", "W <= 2048", "Eq((W + 1)//2, 48)"})
    ask(q);
  const Requirements r = found();
  Context context(env.pool());
  for (const auto& [name, symbol] : names)
    context.declare(symbol, Interval::at_least(0));
  for (const TorchCondition& c : torch_form(env, r).conditions)
    context.assume(c.condition);
  for (const Requirement& needed : r.conditions)
    EXPECT_EQ(context.ask(needed.condition).verdict, Verdict::kYes)
        << needed.text;
}

TEST_F(RequirementsTest, AQuestionOfTorchIsAnsweredAsByTheExample) {
  ask("Eq(Mod(H, 4), 0)");
  ask("T >= 5");
  const Requirements r = found();
  struct Row {
    const char* question;
    std::vector<std::string> answers;
    bool is_stronger;
  };
  for (const Row& row : std::initializer_list<Row>{
           // Implied, and PyTorch does not see it.
           {"Eq(Mod(H, 2), 0)", {"Eq(Mod(s2, 2), 0)"}, false},
           {"Eq(Mod(3*H, 2), 0)",
            {"Eq(Mod(s2, 2), 0)", "Eq(Mod(3*s2, 2), 0)"},
            false},
           {"Eq(T, 1)", {"s1 >= 2", "Ne(s1, 1)"}, false},
           // Not implied: the requirements are enough without it.
           {"B > 1", {"s0 >= 2", "s0 > 1"}, true},
           {"W//32", {"(s3 >= 96) & (s3 <= 127)", "Eq((s3//32), 3)"}, true},
           {"W//(B - 3)", {}, false},
       }) {
    std::vector<std::string> texts;
    for (const TorchCondition& c : answers_to_torch(env, r, p(row.question))) {
      texts.push_back(to_string(c.condition));
      EXPECT_EQ(c.is_stronger, row.is_stronger) << row.question;
    }
    EXPECT_EQ(texts, row.answers) << row.question;
  }
}

// Each row of the table, of all small sizes: the same, or stronger where it
// says so.
TEST(TorchRulesTest, EachRuleKeepsItsPromiseOnAllSmallSizes) {
  ExprPool pool;
  std::vector<Expr> symbols;
  for (const char* name : {"v", "w", "x", "y"})
    symbols.push_back(pool.symbol(name, SymbolKind::kBackedSize));
  for (const TorchRule& rule : torch_rules()) {
    const Expr before = parse(pool, rule.before);
    const Expr after = parse(pool, rule.after);
    bool differs = false;
    for (int code = 0; code < 9 * 9 * 9 * 9; ++code) {
      Assignment point;
      for (int i = 0, rest = code; i < 4; ++i, rest /= 9)
        point.set(symbols[static_cast<size_t>(i)], Int(rest % 9));
      const bool was = evaluate(before, point).is_true();
      const bool is = evaluate(after, point).is_true();
      EXPECT_TRUE(was || !is) << rule.name << " at " << point.to_string();
      differs |= was != is;
    }
    EXPECT_EQ(differs, rule.is_stronger) << rule.name;
  }
}

}  // namespace
}  // namespace proviso
