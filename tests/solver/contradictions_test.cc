// Facts that cannot hold: what mentions no symbol and is false.  Points are
// shown only where the facts have some.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>

#include "sym/evaluate.h"
#include "tests/solver/support.h"
#include "tests/support/random_expr.h"

namespace proviso {
namespace {

// Random conditions without a symbol, many of which have no form.
class RandomClosed {
 public:
  explicit RandomClosed(uint32_t seed) : random_(seed) {}

  std::string condition(int depth) {
    if (depth > 0 && below(5) == 0) {
      return pick({"And", "Or"}) + "(" + condition(depth - 1) + ", " +
             condition(depth - 1) + ")";
    }
    const bool is_integer = below(4) == 0;
    auto side = [&] { return is_integer ? integer(depth) : number(depth); };
    return pick({"Le", "Lt", "Eq", "Ne", "Ge"}) + "(" + side() + ", " + side() +
           ")";
  }

 private:
  int below(int n) { return static_cast<int>(random_() % unsigned(n)); }
  std::string pick(std::vector<std::string> of) {
    return of[static_cast<size_t>(below(static_cast<int>(of.size())))];
  }
  std::string integer(int depth) {
    if (depth == 0) return std::to_string(below(9) - 3);
    return pick({"math.floor", "math.ceil", "TruncToInt", "RoundToInt"}) + "(" +
           number(depth - 1) + ")";
  }
  std::string number(int depth) {
    if (depth == 0 || below(4) == 0) {
      return pick({"0.5", "2.0", "-2.5", "0.25", "3.0", "4.0", "-1.0",
                   "ToFloat(3)", "7/2", "1/0"});
    }
    auto sub = [&] { return number(depth - 1); };
    switch (below(9)) {
      case 0: return "Max(" + sub() + ", " + sub() + ")";
      case 1: return "Min(" + sub() + ", " + sub() + ")";
      case 2: return "Abs(" + sub() + ")";
      case 3: return "TruncToFloat(" + sub() + ")";
      case 4: return "sqrt(" + sub() + ")";
      case 5: return "(" + sub() + ")**0.5";
      case 6:
        return "Where(" + condition(0) + ", " + sub() + ", " + sub() + ")";
      case 7: return "(" + sub() + " + " + sub() + ")";
      default: return "(" + sub() + "*" + sub() + ")";
    }
  }

  std::mt19937 random_;
};

TEST(Contradictions, WhatMentionsNoSymbolHasItsValue) {
  const uint32_t seed = testing::seed_or(20261128);
  size_t holds = 0, fails = 0, undefined = 0;
  for (uint32_t i = 0; i < 600; ++i) {
    ExprPool pool;
    const std::string text = RandomClosed(seed + i).condition(2);
    SCOPED_TRACE(text);
    const Expr fact = parse(pool, text);
    const Evaluation value = evaluate(fact, {});
    if (value.gave_up) continue;
    (!value.defined() ? undefined : value.is_true() ? holds : fails) += 1;
    Context asked(pool, testing::native_only());
    EXPECT_EQ(asked.ask_quick(fact), !value.defined()  ? Verdict::kUnknown
                                     : value.is_true() ? Verdict::kYes
                                                       : Verdict::kNo);
    Context context(pool, testing::native_only());
    const Expr n = pool.symbol("u0", SymbolKind::kUnbackedInt);
    const FactId id = context.assume(fact);
    const auto which = context.contradiction();
    const Answer answer = context.ask(ge(n, 3));
    EXPECT_EQ(which.has_value(), !value.is_true());
    EXPECT_EQ(answer.is_contradiction, !value.is_true());
    EXPECT_EQ(answer.witness.has_value(), value.is_true());
    EXPECT_EQ(answer.counterexample.has_value(), value.is_true());
    if (which) {
      EXPECT_EQ(*which, std::vector<FactId>{id});
    }
  }
  std::cout << holds << " hold, " << fails << " fail, " << undefined
            << " are undefined\n";
  EXPECT_GT(std::min({holds, fails, undefined}), 30u);
}

}  // namespace
}  // namespace proviso
