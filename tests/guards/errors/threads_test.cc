// Cases from users' threads: which checks end the error, by the thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guards/errors/diagnosis.h"
#include "guards/shape_env.h"
#include "guards/weakest_checks.h"
#include "sym/canonical.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso {
namespace {
using namespace internal;

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Diagnosis only(const std::string& text) {
  const std::vector<Diagnosis> all = diagnose(read_errors(text));
  EXPECT_THAT(all, SizeIs(1)) << text;
  return all.empty() ? Diagnosis{} : all[0];
}

std::string asks(const std::string& expression, const std::string& size_like) {
  return "torch._dynamo.exc.UserError: Could not guard on data-dependent "
         "expression " +
         expression + " (unhinted: " + expression +
         ").  (Size-like symbols: " + size_like + ")\n";
}

TEST(Threads, S02_pt147672_AMaskedBatchIsNotOne) {
  const Diagnosis d = only(asks("Eq(256*u0, 256)", "u0") +
                           "\nATTENTION: guard_size_oblivious would fix the "
                           "error, evaluating expression to False.\n");
  EXPECT_EQ(d.kind, DiagnosisKind::kNeededCheck);
  EXPECT_THAT(d.conditions, ElementsAre("Ne(u0, 1)"));
  EXPECT_EQ(d.counterexample, "u0 = 1");
}

TEST(Threads, S03_piper148_OneCheckForBothPartsOfAnOr) {
  const Diagnosis d = only(
      asks("Eq(1, u6) | Eq(96*u6, 0)", "u6") +
      "\nconsider using data-dependent friendly APIs such as guard_or_false, "
      "guard_or_true and statically_known_trueCaused by: "
      "(_meta_registrations.py:2449 in pick_memory_format)\n");
  EXPECT_EQ(d.kind, DiagnosisKind::kNeededCheck);
  EXPECT_THAT(d.conditions, ElementsAre("u6 >= 2"));
}

TEST(Threads, S04_pt138026_AThresholdOfBoxesIsSaidOfTheirNumber) {
  const Diagnosis d = only(
      "  File \"/x/site-packages/torchvision/ops/boxes.py\", line 81, in "
      "batched_nms\n"
      "    if boxes.numel() > (4000 if is_cpu else 20000):\n" +
      asks("4*u1 > 4000", "u1"));
  EXPECT_EQ(d.kind, DiagnosisKind::kRealBranch);
  EXPECT_THAT(d.conditions, ElementsAre("u1 <= 1000"));
  EXPECT_THAT(d.excludes, ElementsAre("u1 >= 1001"));
}

TEST(Threads, S06_pt146298_WhatFollowsIsProvedAndTheRestIsOneCheck) {
  const std::string log =
      "create_unbacked_symint u0 [-int_oo, int_oo] (m.py:9 in forward)\n"
      "runtime_assert u0 + 5 <= 512 [guard added] (m.py:10 in forward)\n"
      "runtime_assert u0 >= 0 [guard added] (m.py:11 in forward)\n";
  const Diagnosis proved = only(log + asks("507 - u0 >= 0", "u0"));
  EXPECT_EQ(proved.kind, DiagnosisKind::kImplied);
  EXPECT_THAT(proved.facts, ElementsAre("u0 + 5 <= 512  # m.py:10"));
  // Under what is known u0 != 507 is the same.
  const Diagnosis open = only(log + asks("Eq(507 - u0, 0)", "u0"));
  EXPECT_EQ(open.kind, DiagnosisKind::kNeededCheck);
  EXPECT_THAT(open.conditions, ElementsAre("u0 <= 506"));
  EXPECT_THAT(only(asks("Eq(507 - u0, 0)", "u0")).conditions,
              ElementsAre("Ne(u0, 507)"));
}

TEST(Threads, S09_geti5073_ASliceNeedsNoCheck) {
  const Diagnosis d =
      only(asks("u1 < 200", "u1") +
           "\nCaused by: (_decomp/decompositions.py:757 in slice_forward)\n");
  EXPECT_EQ(d.kind, DiagnosisKind::kBugInOp);
  EXPECT_THAT(d.why, testing::HasSubstr("smaller of the two ends"));
}

TEST(Threads, S10_executorch8988_ADifferenceIsSaidOfItsSymbol) {
  const Diagnosis d = only(asks("Eq(u77 - 1, 1)", "u77"));
  EXPECT_EQ(d.kind, DiagnosisKind::kNeededCheck);
  EXPECT_THAT(d.conditions, ElementsAre("Ne(u77, 2)"));
}

TEST(Threads, S12_pt153220_EqualSizesHaveOneFormAndOneHint) {
  ShapeEnv env;
  const Expr s = env.create_size(4, "L['x'].size()[0]");
  const Expr u0 = env.create_unbacked_int(Interval::at_least(0));
  const Expr u1 = env.create_unbacked_int(Interval::at_least(0));
  ASSERT_TRUE(env.expect_true(eq(u0, s + u1)));
  EXPECT_EQ(canonical(env.context().substitute(s + u1)),
            canonical(env.context().substitute(u0)));
  EXPECT_EQ(env.context().simplify(u0), env.context().simplify(s + u1));
  EXPECT_EQ(env.hint(u0), env.hint(s + u1));
  EXPECT_EQ(env.optimization_hint(u0), env.optimization_hint(s + u1));
  EXPECT_TRUE(env.statically_known_true(eq(u0, s + u1)));
}

TEST(Threads, S13_pt163791_TwoRopesAreTwoPrograms) {
  const Diagnosis d = only(
      asks("u0 + 1 > 4096", "none") +
      "\nfrom user code:\n"
      "   File \"/srv/modeling.py\", line 380, in longrope_frequency_update\n"
      "    if seq_len > original_max_position_embeddings:\n");
  EXPECT_EQ(d.kind, DiagnosisKind::kRealBranch);
  EXPECT_THAT(d.conditions, ElementsAre("u0 <= 4095"));
  EXPECT_THAT(d.excludes, ElementsAre("u0 >= 4096"));
}

TEST(Threads, S14_pt147096_OnlyTheEqualityIsOffered) {
  const Diagnosis d = only(
      asks("Ne(u0, 589824)", "none") +
      "\nCaused by: (transformers/models/p/modeling_p.py:532 in forward)\n");
  EXPECT_EQ(d.kind, DiagnosisKind::kNeededCheck);
  EXPECT_THAT(d.conditions, ElementsAre("Eq(u0, 589824)"));
}

TEST(Threads, WhatIsAskedIsSaidByItsShortestEquivalent) {
  struct Row {
    const char *of, *known, *asked, *same;
  };
  const Row rows[] = {
      {"S02 pt147672", "u0 >= 0", "Eq(256*u0, 256)", "Eq(u0, 1)"},
      {"S03 piper148", "u6 >= 0", "Eq(u6, 1) | Eq(96*u6, 0)", "u6 <= 1"},
      {"S04 pt138026", "u1 >= 0", "4*u1 > 4000", "u1 >= 1001"},
      {"S06 pt146298", "u0 + 5 <= 512", "Eq(507 - u0, 0)", "Eq(u0, 507)"},
      {"S10 executorch8988", "u77 >= 0", "Eq(u77 - 1, 1)", "Eq(u77, 2)"},
      {"S13 pt163791", "u0 >= 0", "u0 + 1 > 4096", "u0 >= 4096"},
      {"S14 pt147096", "u0 >= 0", "~(Ne(u0, 589824))", "Eq(u0, 589824)"},
  };
  for (const Row& row : rows) {
    ExprPool pool;
    Context context(pool);
    context.assume(parse(pool, row.known));
    const Expr asked = parse(pool, row.asked), same = parse(pool, row.same);
    EXPECT_THAT(weakest_checks(context, asked), ElementsAre(same)) << row.of;
    EXPECT_EQ(context.equivalent(asked, same), Verdict::kYes) << row.of;
  }
}

// V: true already.
TEST(Threads, V11_onnxscript2539_AGuardThatHoldsInTheWholeRange) {
  const Diagnosis d = only(
      "torch._dynamo.exc.UserError: Constraints violated (W)! For more\n"
      "  - Not all values of W = L['I'].size()[3] in the specified range "
      "64 <= W <= 128 satisfy the generated guard max(1, 16*((L['I'].size()[3] "
      "+ ((64 + (-1)*(L['I'].size()[3] % 64)) % 64)) // 64)) == "
      "(16*((L['I'].size()[3] + ((64 + (-1)*(L['I'].size()[3] % 64)) % 64)) // "
      "64)).\n"
      "Suggested fixes:\n  _W = Dim('_W', min=1, max=2)\n  W = 64*_W\n");
  EXPECT_EQ(d.kind, DiagnosisKind::kImplied);
  EXPECT_THAT(d.conditions, SizeIs(1));
}

TEST(Threads, V22_pt146315_ASizeIsBelowTheLargestNumber) {
  const Diagnosis d = only(
      "Constraints violated (dz)!\n"
      "  - Not all values of dz = L['z'].size()[0] in the specified range 2 <= "
      "dz satisfy the generated guard Ne(L['z'].size()[0], "
      "9223372036854775807).\n");
  EXPECT_EQ(d.kind, DiagnosisKind::kImplied);
}

// A chain of checks that stands in the code alone.
TEST(Threads, pt193092_ChecksOfTheQuotedProgramCount) {
  const std::string program =
      "class M(torch.nn.Module):\n"
      "    def forward(self, x, t):\n"
      "        a = t[0].item()\n"
      "        b = t[1].item()\n"
      "        c = t[2].item()\n"
      "        torch._check(a <= b)\n"
      "        torch._check(b <= c)\n"
      "        if a <= c:\n"
      "            return x + 1\n"
      "        return x - 1\n";
  const std::string error =
      asks("u0 <= u2", "none") + "\nCaused by: (m.py:10 in forward)\n";
  const Diagnosis d = only(program + error);
  EXPECT_EQ(d.kind, DiagnosisKind::kImplied);
  EXPECT_THAT(d.conditions, ElementsAre("u0 <= u2"));
  EXPECT_THAT(d.facts, SizeIs(2));
  // What is quoted later may be the program mended.
  EXPECT_NE(only(error + program).kind, DiagnosisKind::kImplied);
}

// A check does not count where it may not have been made, or of another value.
TEST(Threads, pt193092_OnlyChecksOnTheWayCount) {
  for (const char* between :
       {"        b = t[1].item()\n", "        c = t[2].item() + 9\n"}) {
    const Diagnosis d = only(
        "    def forward(self, x, t):\n"
        "        a = t[0].item()\n"
        "        b = t[1].item()\n"
        "        c = t[2].item()\n"
        "        torch._check(a <= b)\n"
        "        torch._check(b <= c)\n" +
        std::string(between) + "        if a <= c:\n            pass\n" +
        asks("u0 <= u2", "none") + "\nCaused by: (m.py:10 in forward)\n");
    EXPECT_NE(d.kind, DiagnosisKind::kImplied) << between;
  }
  const Diagnosis d = only(
      "    def forward(self, x, t):\n"
      "        a = t[0].item()\n"
      "        c = t[2].item()\n"
      "        if x.shape[0] > 3:\n"
      "            torch._check(a + 1 <= c)\n"
      "        if a <= c:\n            pass\n" +
      asks("u0 <= u2", "none") + "\nCaused by: (m.py:10 in forward)\n");
  EXPECT_NE(d.kind, DiagnosisKind::kImplied);
}

}  // namespace
}  // namespace proviso
