// What stands before an error, each part alone: the facts of a log as a
// context, names of symbols, checks of the quoted program, who asks, which side
// is taken, and what "Constraints violated" needs.
#include "guards/errors/known_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "guards/errors/asker.h"
#include "guards/errors/choice.h"
#include "guards/errors/dim_specs.h"
#include "guards/errors/user_checks.h"
#include "sym/print.h"

namespace proviso {
namespace {
using namespace internal;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TextEnv env_of(const std::vector<const char*>& facts) {
  TextEnv env;
  for (const char* fact : facts) env.facts.push_back({fact, {}});
  return env;
}
std::vector<std::string> facts_of(const Context& context) {
  std::vector<std::string> all;
  for (const Fact& fact : context.facts()) all.push_back(fact.origin.text);
  return all;
}

// --- known facts

TEST(KnownFacts, OfWhatStoodBeforeAndMatters) {
  const TextEnv env =
      env_of({"u0 >= u1", "u1 >= 3", "u5 >= 7", "not one (", "u0 <= 9"});
  KnownFacts known(env);
  TextError e;
  e.facts_before = 4;
  const Expr about = *read_expression(known.pool(), "u0 > 2");
  Context context = known.before(e, about);
  EXPECT_THAT(facts_of(context), ElementsAre("u0 >= u1", "u1 >= 3"));
  EXPECT_EQ(context.ask(about).verdict, Verdict::kYes);
}

TEST(KnownFacts, SymbolsHaveTheRangesOfTheText) {
  TextEnv env;
  env.symbols["u0"].upper = Int(9);
  env.symbols["s0"].source = "L['x'].size()[0]";
  env.symbols["u1"].example = Int(4);
  KnownFacts known(env);
  TextError e;
  e.size_like = {"u0"};
  const Expr about = *read_expression(known.pool(), "u0 + u1 <= s0");
  Context context = known.before(e, about);
  const auto bounds = [&](const char* symbol) {
    return context.bounds(*read_expression(known.pool(), symbol)).to_string();
  };
  EXPECT_EQ(bounds("u0"), Interval(0, 9).to_string());
  EXPECT_EQ(bounds("s0"), Interval::at_least(0).to_string());
  EXPECT_EQ(known.example(about), std::nullopt);
  const Expr alone = *read_expression(known.pool(), "u1 > 3");
  ASSERT_TRUE(known.example(alone));
  EXPECT_TRUE(evaluate(alone, *known.example(alone)).is_true());
}

// Those that share symbols, directly or not, and no others.
TEST(KnownFacts, AreTheConnectedOnes) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    TextEnv env;
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < 8; ++i) {
      const int a = static_cast<int>(random() % 7),
                b = static_cast<int>(random() % 7);
      pairs.emplace_back(a, b);
      env.facts.push_back({"u" + std::to_string(a) + " + 2*u" +
                               std::to_string(b) + " <= " + std::to_string(i),
                           {}});
    }
    TextError e;
    e.facts_before = static_cast<uint32_t>(random() % 9);
    std::set<int> symbols = {0};
    std::set<std::string> expected;
    for (int round = 0; round < 8; ++round) {
      for (size_t i = 0; i < e.facts_before && i < pairs.size(); ++i) {
        const auto [a, b] = pairs[i];
        if (!symbols.contains(a) && !symbols.contains(b)) continue;
        symbols.insert({a, b});
        expected.insert(env.facts[i].text);
      }
    }
    KnownFacts known(env);
    const Context context =
        known.before(e, *read_expression(known.pool(), "u0 >= 0"));
    const std::vector<std::string> found = facts_of(context);
    EXPECT_EQ(std::set<std::string>(found.begin(), found.end()), expected);
  }
}

// --- names

TEST(SymbolNames, AreWhatTheProgramCallsThemInScope) {
  EXPECT_EQ(words_of_source("L['x'].size()[0]"), "x.shape[0]");
  EXPECT_EQ(words_of_source("L['self'].n"), "");
  EXPECT_EQ(words_of_source("G['x']"), "");
  TextEnv env;
  TextSymbol& u0 = env.symbols["u0"];
  u0.words = {{"later", {"m.py", 30, "f", ""}},
              {"elsewhere", {"m.py", 3, "g", ""}},
              {"n", {"m.py", 5, "f", ""}}};
  u0.made_at = {"m.py", 5, "f", "n = x.item()"};
  env.symbols["s0"].source = "L['x'].size()[0]";
  TextError e;
  const TextFrame place{"m.py", 9, "f", ""};
  const SymbolNames names(env, e, place);
  EXPECT_EQ(names.of("u0"), "n");
  EXPECT_EQ(names.of("s0"), "x.shape[0]");
  EXPECT_EQ(names.of("u9"), "");
  EXPECT_EQ(names.made("u0"), "m.py:5 in `n = x.item()`");
  EXPECT_EQ(names.made("s0"), "L['x'].size()[0]");
  EXPECT_TRUE(names.is_argument("s0"));
  EXPECT_FALSE(names.is_argument("u0"));
  e.words["u0"] = "count";
  EXPECT_EQ(names.of("u0"), "count");
  e.words["u0"] = "a + b";  // no name
  EXPECT_EQ(names.of("u0"), "n");
}

// --- checks of the program

struct Program {
  const char* about;
  std::vector<SourceLine> lines;
  std::vector<const char*> checks;  // that hold at the last line
};

TEST(UserChecks, CountOnEveryWayToTheLine) {
  const Program programs[] = {
      {"checks before",
       {{4, "a, b, c = t.tolist()"},
        {4, "torch._check(a <= b)"},
        {4, "torch._check(b <= c)"},
        {4, "if a <= c:"}},
       {"torch._check(a <= b)", "torch._check(b <= c)"}},
      {"in another branch",
       {{4, "a, b, c = t.tolist()"},
        {4, "if flag:"},
        {8, "torch._check(a <= b)"},
        {4, "torch._check(b <= c)"},
        {4, "if a <= c:"}},
       {"torch._check(b <= c)"}},
      {"assigned again",
       {{4, "a, b, c = t.tolist()"},
        {4, "torch._check(a <= b)"},
        {4, "b = 3"},
        {4, "assert a <= 7"},
        {4, "if a <= c:"}},
       {"assert a <= 7"}},
      {"after the line that asks",
       {{4, "a, b, c = t.tolist()"},
        {4, "if a <= c:"},
        {8, "torch._check(a <= b)"}},
       {}},
      {"of what may be no integer",
       {{4, "a, b, c = t.tolist()"},
        {4, "w = g(t)"},
        {4, "torch._check(a <= w)"},
        {4, "if a <= c:"}},
       {}},
  };
  for (const Program& p : programs) {
    ErrorText text;
    text.functions.push_back({"f", p.lines, 1, 0});
    TextError e;
    e.line = 20;
    const TextFrame place{"m.py", 9, "f", "if a <= c:"};
    TextEnv env;
    ExprPool pool;
    const Expr question = *read_expression(pool, "u0 <= u2");
    Context context(pool);
    const SymbolNames names(env, e, place);
    QuotedCode code(text);
    const bool any =
        assume_user_checks(code, e, question, place, names, context);
    std::vector<std::string> found;
    for (const std::string& fact : facts_of(context)) {
      if (!fact.empty()) found.push_back(fact);
    }
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(p.checks))
        << p.about;
    EXPECT_EQ(any, !p.checks.empty()) << p.about;
    e.line = 1;  // quoted after the error
    Context before(pool);
    EXPECT_FALSE(assume_user_checks(code, e, question, place, names, before));
  }
}

TEST(UserChecks, AreAboutTheSymbols) {
  ErrorText text;
  text.functions.push_back({"f",
                            {{4, "a, b, c = t.tolist()"},
                             {4, "torch._check(a <= b)"},
                             {4, "torch._check(b <= c)"},
                             {4, "if a <= c:"}},
                            1,
                            0});
  TextError e;
  e.line = 20;
  const TextFrame place{"m.py", 9, "f", "if a <= c:"};
  TextEnv env;
  ExprPool pool;
  const Expr question = *read_expression(pool, "u0 <= u2");
  Context context(pool);
  const SymbolNames names(env, e, place);
  QuotedCode code(text);
  EXPECT_TRUE(assume_user_checks(code, e, question, place, names, context));
  EXPECT_EQ(context.ask(question).verdict, Verdict::kYes);
  EXPECT_EQ(context.ask(*read_expression(pool, "u0 < u2")).verdict,
            Verdict::kUnknown);
}

// --- who asks

TEST(Asker, IsNearestTheQuestion) {
  const TextFrame program{"model.py", 3, "forward", "y = x.view(n, -1)"};
  const TextFrame ops{"/x/site-packages/torch/_ops.py", 9, "__call__", ""};
  const TextFrame refs{"/x/site-packages/torch/_refs/__init__.py", 7, "view",
                       ""};
  const TextFrame symbolic{
      "/x/site-packages/torch/fx/experimental/symbolic_shapes.py", 1,
      "evaluate", ""};
  const TextFrame inductor{"/x/site-packages/torch/_inductor/ir.py", 1, "f",
                           ""};
  const auto asker = [](std::vector<TextFrame> traceback) {
    TextError e;
    e.traceback = std::move(traceback);
    return asker_of(e);
  };
  TextFrame branch = program;
  branch.code = "if n > 20:";
  EXPECT_EQ(asker({branch, symbolic}), Asker::kProgram);
  EXPECT_EQ(asker({program, ops, symbolic}), Asker::kOperator);
  EXPECT_EQ(asker({program, refs, symbolic}), Asker::kOperator);
  EXPECT_EQ(asker({branch, inductor, symbolic}), Asker::kCompiler);
  EXPECT_EQ(asker({}), Asker::kUnknown);
  TextError e;
  e.traceback = {branch, symbolic};
  EXPECT_EQ(place_of(e).line, 3);
  e.user = {{"net.py", 41, "g", "z"}};
  EXPECT_EQ(place_of(e).file, "net.py");
}

TEST(Asker, UsesOfALine) {
  EXPECT_EQ(use_of("if n > 20:"), Use::kBranch);
  EXPECT_EQ(use_of("assert n % 4 == 0"), Use::kAssertion);
  EXPECT_EQ(use_of("torch._check(n > 2)"), Use::kAssertion);
  EXPECT_EQ(use_of("if n > 50: raise ValueError"), Use::kRefusal);
  EXPECT_EQ(use_of("for t in range(n):"), Use::kLoop);
  EXPECT_EQ(use_of("m = max(n, 3)"), Use::kBranch);
  EXPECT_EQ(use_of("m = x.max(n, 3)"), Use::kCall);
  EXPECT_EQ(use_of("y = x.view(n, -1)"), Use::kCall);
  EXPECT_EQ(use_of(""), Use::kUnknown);
}

// --- which side

TEST(Choice, OfSidesAndKinds) {
  struct Row {
    const char *question, *code;
    bool side;
    DiagnosisKind kind;
  };
  for (const Row& row : {
           Row{"Eq(u0, 0)", "if n == 0: return x.sum(0)", false,
               DiagnosisKind::kNeededCheck},
           {"u0 > 4096", "if seq > 4096:", false, DiagnosisKind::kRealBranch},
           {"Eq(Mod(u0, 4), 0)", "assert n % 4 == 0", true,
            DiagnosisKind::kNeededCheck},
           {"u0 > 50", "if n > 50: raise ValueError", false,
            DiagnosisKind::kNeededCheck},
           {"Eq(u0, u1)", "y = a.view(n, m)", true,
            DiagnosisKind::kNeededCheck},
       }) {
    TextEnv env;
    KnownFacts known(env);
    TextError e;
    e.size_like = {"u0", "u1"};
    e.says_size_like = true;
    e.user = {{"model.py", 3, "forward", row.code}};
    const Expr question = *read_expression(known.pool(), row.question);
    Context context = known.before(e, question);
    const Choice choice = choose(known, e, question, context);
    EXPECT_EQ(choice.side, row.side) << row.code;
    EXPECT_EQ(choice.kind, row.kind) << row.code;
    e.advised = !row.side;  // what the text advises goes before all else
    EXPECT_EQ(choose(known, e, question, context).side, !row.side);
    e.advised.reset();
    e.example = !row.side;
    EXPECT_EQ(choose(known, e, question, context).side, !row.side);
  }
}

// --- dims

TextError constraint_error(std::vector<std::string> violations,
                           std::vector<std::string> suggestions) {
  TextError e;
  e.kind = TextErrorKind::kConstraint;
  e.violations = std::move(violations);
  e.suggestions = std::move(suggestions);
  return e;
}

TEST(DimNeeds, OfGuards) {
  const DimNeeds needs = dim_needs(constraint_error(
      {"Not all values of W = L['x'].size()[3] in the specified range 2 <= W "
       "<= 512 satisfy the generated guard Eq(Mod(L['x'].size()[3], 16), 0)."},
      {"W = 16*_W"}));
  EXPECT_THAT(needs.conditions, ElementsAre("Eq(Mod(W, 16), 0)"));
  EXPECT_THAT(needs.specs, ElementsAre("W = 16*_W"));
  EXPECT_EQ(needs.names.at("W"), "x.shape[3]");
  EXPECT_FALSE(needs.always_held);
}

TEST(DimNeeds, OfConstantsRangesAndEqualDims) {
  EXPECT_THAT(dim_needs(constraint_error({"You marked W as dynamic but your "
                                          "code specialized it to be a "
                                          "constant (4)."},
                                         {}))
                  .conditions,
              ElementsAre("Eq(W, 4)"));
  EXPECT_THAT(
      dim_needs(constraint_error({"The values of A = L['x'].size()[0] and B = "
                                  "L['y'].size()[0] must always be equal."},
                                 {}))
          .conditions,
      ElementsAre("Eq(A, B)"));
  EXPECT_THAT(dim_needs(constraint_error({}, {"dx = Dim('dx', min=6, max=99)"}))
                  .conditions,
              UnorderedElementsAre("dx >= 6", "dx <= 99"));
  EXPECT_THAT(
      dim_needs(constraint_error({}, {"dx = 4; import os", "x y = 3"})).specs,
      IsEmpty());
}

TEST(DimNeeds, AGuardThatHoldsInTheRangeWasHeldAlways) {
  const DimNeeds needs = dim_needs(constraint_error(
      {"Not all values of W = L['x'].size()[3] in the specified range 2 <= W "
       "<= 512 satisfy the generated guard L['x'].size()[3] <= 600."},
      {}));
  EXPECT_TRUE(needs.always_held);
}

// None of them follows from the others.
TEST(DimNeeds, SayNothingTwice) {
  const DimNeeds needs = dim_needs(constraint_error(
      {"Not all values of W = L['x'].size()[3] in the specified range 2 <= W "
       "<= 512 satisfy the generated guard Eq(Mod(L['x'].size()[3], 16), 0).",
       "Not all values of W = L['x'].size()[3] in the specified range 2 <= W "
       "<= 512 satisfy the generated guard Eq(Mod(L['x'].size()[3], 4), 0)."},
      {}));
  EXPECT_THAT(needs.conditions, ElementsAre("Eq(Mod(W, 16), 0)"));
}

}  // namespace
}  // namespace proviso
