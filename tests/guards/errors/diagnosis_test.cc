// Texts are in the wordings of PyTorch 2.1 to 2.13; programs and paths are
// made up.
#include "guards/errors/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "guards/errors/diagnosis_html.h"
#include "guards/errors/diagnosis_text.h"
#include "sym/budget.h"

namespace proviso {
namespace {
using namespace internal;

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Diagnosis> all_of(const std::string& text) {
  return diagnose(read_errors(text));
}

Diagnosis one_of(const std::string& text) {
  const std::vector<Diagnosis> all = all_of(text);
  EXPECT_THAT(all, SizeIs(1)) << text;
  return all.empty() ? Diagnosis{} : all[0];
}

std::string guard_error(const std::string& expression,
                        const std::string& size_like = "u0") {
  return "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: "
         "Could not guard on data-dependent expression " +
         expression + " (unhinted: " + expression +
         ").  (Size-like symbols: " + size_like + ")\n";
}

std::string kind_of(const Diagnosis& d) { return std::string(name_of(d.kind)); }

TEST(Diagnosis, TheCheckIsTheWeakestInItsShortestForm) {
  struct Case {
    const char *expression, *size_like, *condition;
  };
  const Case cases[] = {
      {"Eq(256*u0, 256)", "u0", "Ne(u0, 1)"},
      {"Eq(1, u6) | Eq(96*u6, 0)", "u6", "u6 >= 2"},
      {"4*u1 > 4000", "u1", "u1 <= 1000"},
      {"Eq(507 - u0, 0)", "u0", "Ne(u0, 507)"},
      {"Eq(u77 - 1, 1)", "u77", "Ne(u77, 2)"},
      {"Ne(u0, 589824)", "none", "Eq(u0, 589824)"},
      {"Eq(u0, 0)", "none", "Ne(u0, 0)"},
      {"u0 >= 0", "none", "u0 >= 0"},
      {"Eq(Mod(6*u0, 24), 0)", "u0", "Eq(Mod(u0, 4), 0)"},
      {"Ne(Mod(u0, 4), 0)", "u0", "Eq(Mod(u0, 4), 0)"},
      {"Mod(3*u0, 4) > 0", "u0", "Eq(Mod(u0, 4), 0)"},
      {"Eq(u0, s0)", "u0", "Eq(u0, s0)"},
  };
  for (const Case& c : cases) {
    const Diagnosis d = one_of(guard_error(c.expression, c.size_like));
    EXPECT_THAT(d.conditions, ElementsAre(c.condition)) << c.expression;
    EXPECT_EQ(d.question, c.expression);
  }
}

TEST(Diagnosis, AProductIsItsFactors) {
  EXPECT_THAT(one_of(guard_error("Eq(8*u0*u1, 0)", "u1, u0")).conditions,
              ElementsAre("u0 >= 1", "u1 >= 1"));
  EXPECT_THAT(one_of(guard_error("Eq(8*u0*u1, 0)", "none")).conditions,
              ElementsAre("Ne(u0, 0)", "Ne(u1, 0)"));
}

TEST(Diagnosis, WhatTheLogKnowsImplies) {
  const std::string log =
      "I0926 17:32:44.844 12 torch/fx/experimental/symbolic_shapes.py:3787] "
      "create_env\n"
      "I0926 17:32:44.854 12 torch/fx/experimental/symbolic_shapes.py:4798] "
      "create_unbacked_symint u0 [-int_oo, int_oo] (model.py:3 in f)\n"
      "I0926 17:32:44.855 12 torch/fx/experimental/symbolic_shapes.py:7241] "
      "runtime_assert u0 + u1 > 1 [guard added] (model.py:5 in f), for more\n";
  const Diagnosis d = one_of(log + guard_error("Eq(u0 + u1, 0)", "none"));
  EXPECT_EQ(kind_of(d), "implied");
  EXPECT_THAT(d.conditions, ElementsAre("Ne(u0 + u1, 0)"));
  EXPECT_THAT(d.facts, ElementsAre("u0 + u1 > 1  # model.py:5"));
}

TEST(Diagnosis, WhatIsLearntLaterDoesNotImply) {
  const std::string log = "runtime_assert u0 > 5 [guard added] (a.py:3 in f)\n";
  EXPECT_EQ(kind_of(one_of(log + guard_error("u0 > 4"))), "implied");
  EXPECT_NE(kind_of(one_of(guard_error("u0 > 4") + log)), "implied");
}

TEST(Diagnosis, ASymbolOfAnotherCompilationIsAnother) {
  const std::string text =
      "create_env\n"
      "create_unbacked_symint u0 [7, 9] (a.py:3 in f)\n"
      "create_env\n"
      "create_unbacked_symint u0 [-int_oo, int_oo] (b.py:3 in f)\n";
  EXPECT_NE(kind_of(one_of(text + guard_error("Eq(u0, 0)"))), "implied");
}

TEST(Diagnosis, ABranchOfTheProgramIsReal) {
  const std::string error =
      guard_error("u0 > 20") +
      "\nfrom user code:\n"
      "   File \"/home/me/model.py\", line 10, in forward\n"
      "    if n > 20:\n";
  const Diagnosis d = one_of(error);
  EXPECT_EQ(kind_of(d), "real_branch");
  EXPECT_EQ(d.file, "/home/me/model.py");
  EXPECT_EQ(d.line, 10);
  EXPECT_THAT(d.conditions, ElementsAre("u0 <= 20"));
  EXPECT_THAT(d.excludes, ElementsAre("u0 >= 21"));
}

TEST(Diagnosis, ARefusalIsAPromise) {
  const Diagnosis d =
      one_of(guard_error("Ne(u0, s45)", "none") +
             "\nUser Stack (most recent call last):\n"
             "  (snipped, see stack below for prefix)\n"
             "  File \"/home/me/model.py\", line 8, in forward\n"
             "    if n != img.shape[0]: raise ValueError('differ')\n");
  EXPECT_EQ(kind_of(d), "needed_check");
  EXPECT_THAT(d.conditions, ElementsAre("Eq(u0, s45)"));
}

TEST(Diagnosis, NamesComeFromTheTextAlone) {
  const Diagnosis d = one_of(
      guard_error("Eq(u0, 1)") +
      "\nThe following call raised this error:\n"
      "  File \"/home/me/model.py\", line 7, in forward\n"
      "    return y.mean(0)\n\n"
      "To fix the error, insert one of the following checks before this call:\n"
      "  1. torch._check(y.shape[0] == 1)\n"
      "  2. torch._check(y.shape[0] != 1)\n\n"
      "(These suggested fixes were derived by replacing `u0` with y.shape[0] "
      "or n in Eq(u0, 1) and its negation.)\n");
  EXPECT_THAT(d.code, ElementsAre("torch._check(y.shape[0] != 1)"));
  EXPECT_EQ(d.names.at("u0"), "y.shape[0]");
  EXPECT_THAT(one_of(guard_error("Eq(u0, 1)")).code, IsEmpty());
}

TEST(Diagnosis, WhatPyTorchAdvisesIsTheSide) {
  EXPECT_THAT(one_of(guard_error("u0 > 3") +
                     "\nATTENTION: guard_size_oblivious would fix the error, "
                     "evaluating expression to True.\n")
                  .conditions,
              ElementsAre("u0 >= 4"));
}

TEST(Diagnosis, OlderWordingsAreRead) {
  const Diagnosis d = one_of(
      "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: It "
      "appears that you're trying to get a value out of symbolic int/float "
      "whose value is data-dependent (and thus we do not know the true value.) "
      " "
      "The expression we were trying to evaluate is Eq(i0, 1) (unhinted: "
      "Eq(i0, 1)).  Scroll up to see where each of these data-dependent "
      "accesses originally occurred.\n");
  EXPECT_THAT(d.conditions, ElementsAre("Ne(i0, 1)"));
}

TEST(Diagnosis, ConstraintsAreDimSpecs) {
  const Diagnosis d = one_of(
      "torch._dynamo.exc.UserError: Constraints violated (batch)! For more "
      "information, run with TORCH_LOGS=\"+dynamic\".\n"
      "  - Not all values of batch = L['x'].size()[0] in the specified range "
      "2 <= batch <= 64 satisfy the generated guard L['x'].size()[0] <= 10.\n"
      "Suggested fixes:\n"
      "  batch = Dim('batch', min=2, max=10)\n");
  EXPECT_EQ(kind_of(d), "dim_spec");
  EXPECT_THAT(d.conditions, ElementsAre("batch <= 10"));
  EXPECT_THAT(d.code, ElementsAre("batch = Dim('batch', min=2, max=10)"));
  EXPECT_EQ(d.names.at("batch"), "x.shape[0]");
}

TEST(Diagnosis, AConstantIsSaid) {
  EXPECT_THAT(
      one_of("Constraints violated (L['q'].size()[2])! For more information\n"
             "  - Not all values of RelaxedUnspecConstraint(L['q'].size()[2]) "
             "are valid because L['q'].size()[2] was inferred to be a constant "
             "(22).\n")
          .conditions,
      ElementsAre("L['q'].size()[2] == 22"));
}

TEST(Diagnosis, OperatorsWithoutKernelsAreFaults) {
  for (const char* text :
       {"torch._subclasses.fake_tensor.DynamicOutputShapeException: "
        "aten.nonzero.default\n",
        "PendingUnbackedSymbolNotFound: Pending unbacked symbols {u0} not in "
        "returned outputs\n",
        "NotImplementedError: There was no fake impl registered for <x>\n"}) {
    EXPECT_EQ(kind_of(one_of(text)), "bug_in_op") << text;
  }
}

TEST(Diagnosis, EachProcessIsReadAlone) {
  std::string text;
  const std::string error = guard_error("Eq(u0, 1)");
  text += "[rank0]: " + error + "[rank1]: create_env\n[rank1]: " + error +
          "[rank1]: " + guard_error("u0 > 50", "none");
  const std::vector<Diagnosis> all = all_of(text);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].times, 2);
  EXPECT_EQ(all[1].stream, "rank1");
}

TEST(Diagnosis, PrefixesAndColoursAreTakenAway) {
  const std::string wrapped =
      "2025-12-15T20:35:11.123Z \x1b[1;36m(EngineCore_DP0 pid=3112)\x1b[0;0m "
      "ERROR 12-15 12:35:11 [core.py:866] ";
  const Diagnosis d =
      one_of(wrapped + guard_error("Eq(256*u0, 256)") + wrapped + "\n" +
             wrapped + "from user code:\n" + wrapped +
             "   File \"/opt/vllm/model.py\", line 3, in forward\n" + wrapped +
             "    y = x.view(-1)\n");
  EXPECT_THAT(d.conditions, ElementsAre("Ne(u0, 1)"));
  EXPECT_EQ(d.line, 3);
}

TEST(Diagnosis, WhatIsTrueOfEverySizeIsSaidAsItWasAsked) {
  const Diagnosis d = one_of(guard_error("Eq(Mod(4*u0*u1, u0*u1), 0)"));
  EXPECT_EQ(kind_of(d), "needed_check");  // where u0*u1 is 0 nothing is said
  const Diagnosis always = one_of(guard_error("u0 <= Max(u0, u1)"));
  EXPECT_EQ(kind_of(always), "implied");
  EXPECT_THAT(always.conditions, ElementsAre("u0 <= Max(u0, u1)"));
  EXPECT_THAT(one_of(guard_error("u0 > 5 > 5")).conditions, IsEmpty());
}

TEST(Diagnosis, AListingBeginsWithAnyNumber) {
  const Diagnosis d = one_of("Cell In[3], line 10, in f(x)\n0 n = 5\n" +
                             guard_error("u0 > 5", "none") +
                             "  File \"a.py\", line 3, in g\n1\n");
  EXPECT_EQ(d.question, "u0 > 5");
}

TEST(Diagnosis, AnExpressionEndsWithItsSentence) {
  for (const char* text :
       {"Could not guard on data-dependent expression Eq(u77 - 1, 1)\"\n",
        "Could not guard on data-dependent expression `Eq(u77 - 1, 1)`.\n",
        "(Could not guard on data-dependent expression Eq(u77 - 1, 1)).\n",
        "Could not guard on data-dependent expression Eq(u77 - 1, 1)\nand so",
        "Could not guard on data-dependent expression Eq(u77 -\n1, 1)\n"
        "(unhinted: Eq(u77 - 1, 1)).  (Size-like\nsymbols: u77)\n",
        "Could not guard on data-dependent expression Eq(u77 - 1, 1) (unhi",
        "Could not guard on data-dependent expression Eq(u77 - 1, 1) "
        "(unhinted: Eq(u77 -"}) {
    EXPECT_EQ(one_of(text).question, "Eq(u77 - 1, 1)") << text;
  }
}

TEST(Diagnosis, JsonIsAsPromised) {
  EXPECT_EQ(to_json(all_of(guard_error("Eq(u0, 1)"))),
            "{\"errors\": [{\"kind\": \"needed_check\", \"conditions\": "
            "[\"Ne(u0, 1)\"], \"code\": [], \"file\": null, \"line\": "
            "null, \"names\": {}}]}");
  EXPECT_EQ(to_json(all_of("nothing here\n")), R"({"errors": []})");
}

TEST(Diagnosis, JsonAndPagesQuoteWhatTextsHold) {
  const std::vector<Diagnosis> all =
      all_of(guard_error("Eq(u0, 1)") + "\nfrom user code:\n" +
             "  File \"/a<b>\\\xff.py\", line 3, in f\n    s = '\"</pre>'\n");
  EXPECT_THAT(to_json(all), testing::HasSubstr(R"(/a<b>\\\ufffd.py)"));
  const std::string page = to_html(all);
  EXPECT_THAT(page, testing::HasSubstr("/a&lt;b&gt;"));
  EXPECT_THAT(page, testing::HasSubstr("&quot;&lt;/pre&gt;"));
  EXPECT_THAT(page, testing::Not(testing::HasSubstr("://")));
}

// --- work

uint64_t units_of(const std::string& text) {
  const Budget all(Budget::kUnlimited);
  const uint64_t before = Budget::units_left();
  diagnose(read_errors(text));
  return before - Budget::units_left();
}

bool is_answered(const Diagnosis& d) {
  return d.why.find("more work") == d.why.npos;
}

TEST(DiagnosisWork, OneAnswerIsThatOfAllRanks) {
  const std::string ask = guard_error("Eq(Mod(s0*u0, u0 + 7), 7)");
  std::string text;
  for (int i = 0; i < 140; ++i)
    text += "[rank" + std::to_string(i) + "]: " + ask;
  const std::vector<Diagnosis> all = all_of(text);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_TRUE(is_answered(all[0]));
  EXPECT_EQ(all[0].times, 140u);
  EXPECT_LT(units_of(text), 2 * units_of(ask));
}

TEST(DiagnosisWork, LinesThatSayNothingAllowNoMore) {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += guard_error("Mod((u0*u1 + u" + std::to_string(i) +
                        ")**5, u3*13 + " + std::to_string(i + 1) + ") > u4");
  }
  const uint64_t without = units_of(text);
  EXPECT_LT(units_of(std::string(3000, '\n') + text), without + 150'000);
  EXPECT_LE(read_errors(std::string(10'000, '\n')).units, 1'500'000u);
}

TEST(DiagnosisWork, ALongLogGetsItsAnswers) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    for (int k = 0; k < 30; ++k) {
      text += "  File \"/srv/app/model.py\", line " + std::to_string(k + 1) +
              ", in forward\n    x = self.layer(x, " + std::to_string(k) +
              ")\n";
    }
    text += guard_error("Eq(Mod(u0*" + std::to_string(i + 2) + ", u1 + " +
                        std::to_string(i) + "), 0)");
  }
  const std::vector<Diagnosis> all = all_of(text);
  EXPECT_THAT(all, SizeIs(300));
  EXPECT_TRUE(std::all_of(all.begin(), all.end(), is_answered));
}

// Checks of the code are found however often it asks.
TEST(DiagnosisWork, LinesOfCodeThatAskAlikeAreOne) {
  std::string program = "def f(a, b, c):\n";
  for (const char* line :
       {"    a = t[0].item()\n", "    b = t[1].item()\n",
        "    c = t[2].item()\n", "    torch._check(a <= b)\n",
        "    torch._check(b <= c)\n"}) {
    program += line;
  }
  for (int i = 0; i < 400; ++i) program += "    if a <= c:\n";
  std::string errors;
  for (int i = 0; i < 60; ++i) {
    errors +=
        guard_error("u" + std::to_string(i) + " <= u" + std::to_string(i + 1));
  }
  const std::vector<Diagnosis> all = all_of(program + errors);
  EXPECT_THAT(all, SizeIs(60));
  for (const Diagnosis& d : all) EXPECT_EQ(kind_of(d), "implied");
  EXPECT_LT(units_of(program + errors), 1'000'000u);
}

}  // namespace
}  // namespace proviso
