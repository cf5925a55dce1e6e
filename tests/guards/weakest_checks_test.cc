// Each row is a set of questions that a model or program leaves open, on the
// side that its example takes, with what it asserts anyway.  The checks are
// proved by Z3 to say the same, each to be needed, and all to hold somewhere.
#include "guards/weakest_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guards/conjuncts.h"
#include "solver/z3_backend.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso {
namespace {
using namespace internal;

using testing::ElementsAre;
using testing::IsEmpty;

struct Row {
  const char* of;  // models and programs
  std::vector<const char*> facts;
  std::vector<const char*> questions;
  std::vector<const char*> checks;
};

// B, T, MB, MT of input_ids and attention_mask, H, W of images, n of data are
// s0, s1, s2, s3, s4, s5, u0; all are sizes.
const Row kRows[] = {
    {"bert distilbert roberta albert electra gpt_neox phi3 olmo persimmon",
     {"Ne(s0*s1, 0)"},
     {"s1 > 1", "Eq(s3, s1)"},
     {"s1 >= 2", "Eq(s1, s3)"}},
    {"llama mistral qwen2 qwen3 gemma mixtral starcoder2 cohere granite",
     {"Ne(s0*s1, 0)"},
     {"Ne(s1, 1)", "s1 > 1", "Eq(s3, s1)"},
     {"s1 >= 2", "Eq(s1, s3)"}},
    {"stablelm",
     {},
     {"Ne(s1, 1)", "s1 > 1", "Eq(s3, s1)"},
     {"s1 >= 2", "Eq(s1, s3)"}},
    {"opt",
     {"Ne(s0, 0)", "Ne(s1, 0)", "Eq(s3, s1)", "Eq(s2, s0)"},
     {"s3 > 1", "Ne(8*s2*s3, 0)"},
     {"s3 >= 2"}},
    // s1 = 0 alone does not break it.
    {"a sum that fails at one point",
     {"Ne(s0, 0)"},
     {"2*s1 + s0 >= 2"},
     {"s0 + 2*s1 >= 2"}},
    {"bloom", {}, {"Ne(32*s0, 0)"}, {"s0 >= 1"}},
    {"xglm",
     {"Ne(s0, 0)"},
     {"2 + s1 <= 2050", "Ne(32*s0, 0)", "Eq(s3, s1)"},
     {"s1 <= 2048", "Eq(s1, s3)"}},
    {"swin swinv2", {"Ne(s0, 0)"}, {"Ne(1, s0)", "s0 > 1"}, {"s0 >= 2"}},
    {"levit",
     {},
     {"Ne(4096*s0, 0)", "Ne(2048*s0, 0)", "Ne(1024*s0, 0)", "Ne(512*s0, 0)"},
     {"s0 >= 1"}},
    {"resnet regnet, the first of five",
     {},
     {"Ne(8*s0*((s4 - 1)//2 + 1)*((s5 - 1)//2 + 1), 0)"},
     {"s0 >= 1", "s4 >= 1", "s5 >= 1"}},
    {"dinov2", {}, {"Ne((s4//14)*(s5//14), 4)"}, {"Ne((s4//14)*(s5//14), 4)"}},
    {"mobilenet_v2, of H",
     {},
     {"Eq(Mod(s4, 2), 0)", "Eq(Mod(s4//2, 2), 0)", "Eq(Mod(s4//4, 2), 0)",
      "Eq(Mod(s4//8, 2), 0)", "Eq(Mod(s4//16, 2), 0)", "Ne(16*s0*(s4//2), 0)"},
     {"Eq(Mod(s4, 32), 0)", "s0 >= 1", "s4 >= 1"}},
    {"mamba",
     {},
     {"Ne(s3, 0)", "s3 >= 2", "s3//2 >= 2", "s3//4 >= 2", "s3//8 < 2",
      "Ne(Mod(s3//4, 2), 0)", "1024*s2*(s3//8) > 0", "Eq(Mod(s3//2, 2), 0)",
      "Eq(Mod(s3, 2), 0)"},
     {"s2 >= 1", "Eq(s3, 12)"}},
    {"rwkv", {"Ne(s1, 1)"}, {"Eq(s1, 12)"}, {"Eq(s1, 12)"}},
    {"longformer, at its entry",
     {},
     {"Mod(4 - Mod(s1, 4), 4) <= 0", "s1 > 4", "32*s0*s1 >= 2"},
     {"Eq(Mod(s1, 4), 0)", "s0 >= 1", "s1 >= 8"}},
    {"nms_branch", {}, {"u0 <= 20"}, {"u0 <= 20"}},
    {"moe_skip_empty gru_unbacked", {}, {"Ne(u0, 0)"}, {"u0 >= 1"}},
    {"masked_scatter", {}, {"Eq(u0, s0)"}, {"Eq(s0, u0)"}},
    {"early_exit", {}, {"Ne(u0, 0)", "u0 <= 10"}, {"u0 >= 1", "u0 <= 10"}},
    {"assert_divides pad_if_needed",
     {},
     {"Eq(Mod(u0, 4), 0)"},
     {"Eq(Mod(u0, 4), 0)"}},
    {"is_causal_branch", {}, {"u0 > 1"}, {"u0 >= 2"}},
    {"dedup_unique", {}, {"u0 <= 50"}, {"u0 <= 50"}},
    {"batch_of_crops",
     {"u0 <= 64", "u1 <= 64"},
     {"u0*u1 <= 4096", "Ne(u0, u1)"},
     {"Ne(u0, u1)"}},
    {"chunk", {}, {"Ne((u0 + 1)//2, 0)"}, {"u0 >= 1"}},
    {"bn_masked bn_conv_masked",
     {},
     {"Ne(6*u0, 0)", "Ne(384*u0, 0)"},
     {"u0 >= 1"}},
    {"split_half", {"Eq(Mod(u0, 2), 0)"}, {"Ne(u0//2, 0)"}, {"u0 >= 2"}},
};

class WeakestChecks : public testing::TestWithParam<Row> {
 protected:
  WeakestChecks() {
    for (const char* name : {"s0", "s1", "s2", "s3", "s4", "s5", "u0", "u1"}) {
      const Expr symbol = parse(pool, name);
      context.declare(symbol, Interval::at_least(0));
      facts.push_back(ge(symbol, 0));
    }
    for (const char* fact : GetParam().facts) {
      facts.push_back(parse(pool, fact));
      context.assume(facts.back());
    }
    std::vector<Expr> questions;
    for (const char* question : GetParam().questions) {
      questions.push_back(parse(pool, question));
    }
    wanted = conjunction(pool, questions);
    checks = weakest_checks(context, wanted);
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> result;
    for (Expr check : checks) result.push_back(to_string(check));
    return result;
  }

  bool holds_at(const std::vector<Expr>& conditions,
                const Assignment& point) const {
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](Expr c) { return evaluate(c, point).is_true(); });
  }
  std::vector<Expr> with(std::vector<Expr> more) const {
    more.insert(more.begin(), facts.begin(), facts.end());
    return more;
  }

  static constexpr uint32_t kBudget = 4'000'000;
  ExprPool pool;
  Context context{pool, {.use_z3 = false}};
  std::vector<Expr> facts, checks;
  Expr wanted;
  Z3Backend z3;
};

TEST_P(WeakestChecks, AreTheLinesThatAPersonWouldWrite) {
  EXPECT_THAT(texts(), testing::UnorderedElementsAreArray(GetParam().checks))
      << GetParam().of;
}

#ifdef PROVISO_WITH_Z3
TEST_P(WeakestChecks, SayJustTheQuestions) {
  const auto yes = Z3Backend::Result::kYes;
  EXPECT_EQ(z3.implied(with(checks), wanted, false, kBudget).verdict, yes)
      << to_string(wanted);
  for (Expr check : checks) {
    EXPECT_EQ(z3.implied(with({wanted}), check, false, kBudget).verdict, yes)
        << to_string(check);
  }
}

TEST_P(WeakestChecks, AreEachNeededAndHoldTogether) {
  for (Expr check : checks) {
    std::vector<Expr> others = checks;
    std::erase(others, check);
    const auto without = z3.implied(with(others), check, false, kBudget);
    ASSERT_TRUE(without.counterexample) << to_string(check);
    EXPECT_TRUE(holds_at(with(others), *without.counterexample));
    EXPECT_FALSE(evaluate(check, *without.counterexample).is_true());
    ASSERT_TRUE(without.witness) << to_string(check);
    EXPECT_TRUE(holds_at(with(checks), *without.witness)) << to_string(check);
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(OfModelsAndPrograms, WeakestChecks,
                         testing::ValuesIn(kRows));

void PrintTo(const Row& row, std::ostream* out) { *out << row.of; }

TEST(WeakestChecksOver, TermsThatTheProgramHasWordsFor) {
  ExprPool pool;
  Context context(pool);
  const auto p = [&](const char* text) { return parse(pool, text); };
  context.declare(p("u0"), Interval::at_least(0));
  EXPECT_THAT(weakest_checks(context, p("u0 > 6"), {p("u0 + 1")}),
              ElementsAre(p("u0 + 1 >= 8")));
  EXPECT_THAT(weakest_checks(context, p("Ne(6*u0, 6)"), {p("u0")}),
              ElementsAre(p("Ne(u0, 1)")));
}

TEST(WeakestChecksOver, ADivisionByZeroIsNotPromisedAway) {
  ExprPool pool;
  Context context(pool);
  const auto p = [&](const char* text) { return parse(pool, text); };
  for (const char* name : {"u0", "u1"}) {
    context.declare(p(name), Interval::at_least(0));
  }
  // Where both are 0 there is no quotient, so that u0 >= u1 is too weak.
  EXPECT_THAT(weakest_checks(context, p("Ne((2*u0)//(u0 + u1), 0)")),
              ElementsAre(p("Ne((2*u0)//(u0 + u1), 0)")));
}

}  // namespace
}  // namespace proviso
