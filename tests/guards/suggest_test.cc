#include "guards/suggest.h"

#include <gmock/gmock.h>

#include "guards/shape_env.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// u0, u1 >= 0 are n and x.shape[1]; u2 in [0, 1] is the flag.
class SuggestTest : public testing::Test {
 protected:
  SuggestTest() {
    for (Expr u : {u0, u1}) env.constrain_range(u, Int(0), std::nullopt);
  }

  Expr p(const std::string& text) { return parse(env.pool(), text); }

  // What is offered where the question is open; the sizes are the example's.
  std::vector<Suggestion> offered(const std::string& question, int64_t n,
                                  int64_t rows = 3) {
    const Expr asked = p(question);
    try {
      asked.is_bool() ? (void)env.guard_bool(asked)
                      : (void)env.guard_int(asked);
    } catch (const DataDependentError&) {
      Assignment example;
      example.set(u0, Int(n));
      example.set(u1, Int(rows));
      example.set(p("u2"), Int(1));
      return suggest(env, *last_refused(env), words, example);
    }
    ADD_FAILURE() << question << " is decided";
    return {};
  }

  ShapeEnv env;
  Expr u0 = env.create_unbacked_int();
  Expr u1 = env.create_unbacked_int();
  Expr flag = env.create_unbacked_bool();
  std::vector<Word> words = {{u0, "n"}, {u1, "x.shape[1]"}, {flag, "found"}};
};

TEST_F(SuggestTest, AQuestionIsSaidAsAPersonWouldSayIt) {
  struct Row {
    const char* asked;
    int64_t n;
    const char* code;
    const char* excludes;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"u0 > 20", 60, "torch._check(n >= 21)", "n <= 20"},
           {"u0 > 20", 7, "torch._check(n <= 20)", "n >= 21"},
           {"Eq(384*u0, 0)", 8, "torch._check(n >= 1)", "n == 0"},
           {"Min(u0, 512) >= 2", 8, "torch._check(n >= 2)", "n <= 1"},
           {"Mod(3*u0, 4) <= 0", 8, "torch._check(n % 4 == 0)", "n % 4 != 0"},
           {"Ne(Mod(u0, 4), 0)", 6, "torch._check(n % 4 != 0)", "n % 4 == 0"},
           {"Eq(u0 - 5, 2)", 8, "torch._check(n != 7)", "n == 7"},
           {"Eq(u0, 1) | Eq(96*u0, 0)", 8, "torch._check(n >= 2)", "n <= 1"},
           {"256*u0 > 1024000", 8, "torch._check(n <= 4000)", "n >= 4001"},
           {"Ne(u0, 589824)", 589824, "torch._check(n == 589824)",
            "n != 589824"},
           {"2*u0 - 2*u1 > 0", 2, "torch._check(n <= x.shape[1])",
            "x.shape[1] < n"},
           {"Eq(u2, 1)", 2, "torch._check(found)", "torch.sym_not(found)"},
       }) {
    const auto found = offered(row.asked, row.n);
    ASSERT_EQ(found.size(), 2u) << row.asked;
    EXPECT_EQ(found[0].code, row.code) << row.asked;
    EXPECT_EQ(found[0].excludes, row.excludes) << row.asked;
    EXPECT_EQ(found[1].condition, found[0].excludes) << row.asked;
  }
}

TEST_F(SuggestTest, SeveralSidesAreSaidTogether) {
  const auto said = [&](const std::vector<std::string>& sides) {
    std::vector<Expr> all;
    for (const std::string& text : sides) all.push_back(p(text));
    const auto found = suggest_together(env, all, words);
    return found ? found->code : "";
  };
  EXPECT_EQ(said({"Ne(u0, 0)", "u0 >= 4", "u0 < 16"}),
            "torch._check(n >= 4); torch._check(n <= 15)");
  EXPECT_EQ(said({"Ne(u0, 0)", "Ne(u0, 1)"}), "torch._check(n >= 2)");
  EXPECT_EQ(said({"Eq(Mod(u0, 2), 0)", "Eq(Mod(u0, 4), 0)"}),
            "torch._check(n % 4 == 0)");
  EXPECT_EQ(said({"u0 > 2", "u1 <= u0"}),
            "torch._check(n >= 3); torch._check(x.shape[1] <= n)");
  EXPECT_EQ(said({"u0 > 2", "u7 > 2"}), "");
}

TEST_F(SuggestTest, AProductIsSaidByItsFactors) {
  const auto found = offered("Ne(8*u0*u1, 0)", 2);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].code,
            "torch._check(n >= 1); torch._check(x.shape[1] >= 1)");
}

TEST_F(SuggestTest, AValueIsFilledIn) {
  const auto found = offered("u0", 8);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "torch._check(n == 8)");
  EXPECT_EQ(found[0].excludes, "n != 8");
}

TEST_F(SuggestTest, ACountOfChunksIsSaidOfWhatIsCut) {
  env.expect_true(ge(u0, 1));
  const auto found = offered("(u0 + (u0 + 1)//2 - 1)//((u0 + 1)//2)", 8);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "torch._check(n >= 2)");
}

TEST_F(SuggestTest, ASymbolIsFoundBehindWhatIsMadeOfIt) {
  words = {{p("2*u0 + u1"), "total"}, {u1, "k"}};
  const auto found = offered("u0 > 20", 60);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].code, "torch._check((total - k)//2 >= 21)");
}

TEST_F(SuggestTest, NothingIsOfferedWithoutWords) {
  words = {{u1, "k"}};
  EXPECT_THAT(offered("u0 > 20", 60), IsEmpty());
}

// What is offered decides the question that it was offered for.
TEST_F(SuggestTest, NoSuggestionIsRefusedBack) {
  for (const char* asked :
       {"u0 > 20", "Min(u0, 512) >= 2", "Mod(3*u0, 4) <= 0", "Ne(u0*u1, 0)",
        "Eq(u0*u1//(u1 + 1), u0)", "Eq(u0*u0, u1*u1)", "u0*u1 > 4096",
        "Eq(Mod(u0, 3), 2) | (u0 > 50)", "Max(u0, u1) > 7"}) {
    for (const Suggestion& s : offered(asked, 8)) {
      Context with = env.context().clone();
      std::string text = s.condition;
      for (auto [word, symbol] :
           {std::pair("x.shape[1]", "u1"), std::pair("torch.sym_", "")})
        for (size_t at; (at = text.find(word)) != std::string::npos;)
          text.replace(at, std::string(word).size(), symbol);
      Expr n = parse(env.pool(), text);
      const Expr renamed = substitute(n, {{parse(env.pool(), "n"), u0}});
      with.assume(renamed);
      EXPECT_NE(with.ask(p(asked)).verdict, Verdict::kUnknown)
          << asked << " after " << s.condition;
    }
  }
}

}  // namespace
}  // namespace proviso
