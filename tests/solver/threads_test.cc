// Questions from users' threads: what must be proved, what must be refused with
// a counterexample, and what the weakest check amounts to.
#include <gtest/gtest.h>

#include "tests/solver/support.h"

namespace proviso {
namespace {

struct Thread {
  const char* name;
  std::vector<const char*> facts;
  const char* question;
  Verdict verdict;
};

constexpr Verdict kYes = Verdict::kYes, kNo = Verdict::kNo,
                  kUnknown = Verdict::kUnknown;

void PrintTo(const Thread& t, std::ostream* out) { *out << t.question; }

class UserThreads : public ::testing::TestWithParam<Thread> {};

TEST_P(UserThreads, IsAnswered) {
  const Thread& t = GetParam();
  ExprPool pool;
  Context context(pool, testing::native_only());
  for (const char* fact : t.facts) {
    context.assume(parse(pool, fact), {fact});
  }
  Expr question = parse(pool, t.question);
  Answer a = context.ask(question);
  EXPECT_EQ(a.verdict, t.verdict) << t.question << ": " << a.reason;
  EXPECT_EQ(testing::check_points(context, question, a), "");
  if (t.verdict == kUnknown) {
    EXPECT_TRUE(a.counterexample && a.witness)
        << t.question << ": " << a.reason;
  }
}

// clang-format off
const Thread kThreads[] = {
    // proved
    {"V01_pt154240_zero", {"u0 + u1 + u2 > 1"}, "Eq(u0 + u1 + u2, 0)", kNo},
    {"V01_pt154240_one", {"u0 + u1 + u2 > 1"}, "Ne(u0 + u1 + u2, 1)", kYes},
    {"V02_pt119969_le", {"u1 < u2"}, "u1 <= u2", kYes},
    {"V02_pt119969_ne", {"u1 < u2"}, "Ne(u1, u2)", kYes},
    {"V02_pt119969_next", {"u1 < u2"}, "u1 + 1 <= u2", kYes},
    {"V03_pt134268",
     {"u49 >= 0", "u50 >= 0", "Eq(Mod(2*u49, u49 + u50), 0)",
      "Ne((2*u49)//(u49 + u50), 0)"},
     "Eq((2*u49)//(u49 + u50), 0)", kNo},
    {"V05_pt118332b", {"s0 >= 3"},
     "Ne(32*(s0//2)*(s0//2) - 16*(s0//2), 0)", kYes},
    {"V06_pt149774", {"s0 >= 2"}, "s0 - Mod(s0, 8) >= 0", kYes},
    {"V07_pt177214", {"Eq(Mod(s1, 16), 0)"}, "Eq(Mod(s0*s1, 16), 0)", kYes},
    {"V09_pt183696_divisible", {"s0 >= 1", "s1 >= 0"},
     "Eq(Mod(128*s0*(s1 + 1), s0*(s1 + 1)), 0)", kYes},
    {"V09_pt183696_quotient", {"s0 >= 1", "s1 >= 0"},
     "Eq((128*s0*(s1 + 1))//(s0*(s1 + 1)), 128)", kYes},
    {"V10_pt183840", {"u0 >= 1"}, "256*u0 >= 256", kYes},
    {"V10_pt183840_zero", {"u0 >= 0"}, "256*u0 >= 256", kUnknown},
    {"V11_onnxscript2539_16", {"s0 >= 64", "s0 <= 128"},
     "Eq(Max(1, 16*((s0 + Mod(64 - Mod(s0, 64), 64))//64)), "
     "16*((s0 + Mod(64 - Mod(s0, 64), 64))//64))", kYes},
    {"V11_onnxscript2539_64", {"s0 >= 64", "s0 <= 128"},
     "Eq(Max(1, 64*((s0 + Mod(64 - Mod(s0, 64), 64))//64)), "
     "64*((s0 + Mod(64 - Mod(s0, 64), 64))//64))", kYes},
    {"V13_pt136216_padded", {"s0 >= 0"},
     "Eq(Mod(s0 + Mod(32 - Mod(s0, 32), 32), 32), 0)", kYes},
    {"V13_pt136216_pad", {"s0 >= 0"},
     "(Mod(32 - Mod(s0, 32), 32) >= 0) & (Mod(32 - Mod(s0, 32), 32) <= 31)",
     kYes},
    {"V15_pt137748", {"s0 >= 2", "s1 >= 2", "Eq(s0*s1, 16)"},
     "Eq((s0*s1)//4, 4)", kYes},
    {"V15_pt137748_values", {"s0 >= 2", "s1 >= 2", "Eq(s0*s1, 16)"},
     "Eq(s0, 2) | Eq(s0, 4) | Eq(s0, 8)", kYes},
    {"V16_pt175819", {"s0 >= 0", "s1 >= 0"}, "Min(s1, s0 - 1) <= s0 - 1",
     kYes},
    {"V19_onnxruntime21120", {},
     "Eq(CeilToInt(IntTrueDiv(u0 - 1, 2)), FloorToInt(IntTrueDiv(u0, 2)))",
     kYes},
    {"V21_tilelang1367", {"u0 > 0", "u1 > 0", "u2 > 0"},
     "((u0 - u1)//u2)*u2 + u1 <= u0", kYes},
    {"V22_pt146315", {"u0 >= 1", "u1 >= 1", "Eq(u0 + u1, (1 + u2)//2)"},
     "Ne((1 + u2)//2, 1)", kYes},
    {"V22_pt146315_without", {"u2 >= 2"}, "Ne((1 + u2)//2, 1)", kUnknown},
    {"V22_pt146315_machine", {"u2 >= 2", "u2 <= 2**63 - 2"},
     "Ne(u2, 2**63 - 1)", kYes},
    {"V23_pt148478", {"s0 >= 2", "s0 <= 2**63 - 1"},
     "s0 <= 9223372036854775807", kYes},
    {"V24_jax23456", {"Eq(u0, 5)"}, "u0 >= 0", kYes},
    {"V24_jax23456_zero", {"u0 >= 0"}, "u0 <= 0", kUnknown},
    {"V25_torchtitan2399",
     {"u0 >= 0", "u1 >= 0", "u2 >= 0", "s0 - (u0 + u1 + u2) >= 0"},
     "(u0 + u1 + u2 >= 0) & (u0 + u1 + u2 <= s0)", kYes},
    // refused
    {"F01_pt169602", {"u0 >= 1"}, "PythonMod(-u0 - 1, 4) <= 0", kUnknown},
    {"F03_pt164385", {"s37 >= 1", "s14 >= 1"},
     "Eq(((24*s37 + 672)*(s14//2016) + 21)//22, "
     "(24*s37 + 672)*(s14//2016)//22)", kUnknown},
    {"F04_pt118332a", {"s0 >= 3"}, "Ne(Mod(1, s0//2), 0)", kUnknown},
    {"F04_pt118332a_exact", {"s0 >= 4"}, "Ne(Mod(1, s0//2), 0)", kYes},
    {"F05_pt127693", {"s0 >= 2"}, "Ne(Mod(s0, s0 - 1), 0)", kUnknown},
    {"F05_pt127693_weakest", {"s0 >= 3"}, "Ne(Mod(s0, s0 - 1), 0)", kYes},
    // a fact is missing
    {"S02_pt147672", {"u0 >= 0", "Ne(u0, 1)"}, "Eq(256*u0, 256)", kNo},
    {"S03_piper248", {"u6 >= 2"}, "Eq(u6, 1) | Eq(96*u6, 0)", kNo},
    {"S03_piper248_open", {"u6 >= 0"}, "Eq(u6, 1) | Eq(96*u6, 0)", kUnknown},
    {"S04_pt138026", {"u1 >= 0", "u1 <= 1000"}, "4*u1 > 4000", kNo},
    {"S06_pt146298", {"u0 >= 0", "u0 + 5 <= 512"}, "507 - u0 >= 0", kYes},
    {"S06_pt146298_open", {"u0 >= 0", "u0 + 5 <= 512"}, "Eq(507 - u0, 0)",
     kUnknown},
    {"S06_pt146298_check", {"u0 >= 0", "u0 + 5 <= 512", "Ne(u0, 507)"},
     "Eq(507 - u0, 0)", kNo},
    {"S10_executorch8988", {"Eq(u77 - 1, 1)"}, "Eq(u77, 2)", kYes},
    {"S12_pt153220", {"Eq(u0, s1 + u2)"}, "Eq(u0, s1 + u2)", kYes},
    {"S13_pt163791", {}, "u0 > 4096", kUnknown},
    {"S14_pt147096", {"u0 >= 0"}, "Ne(u0, 589824)", kUnknown},
};
// clang-format on

INSTANTIATE_TEST_SUITE_P(All, UserThreads, ::testing::ValuesIn(kThreads),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

TEST(UserThreadBounds, F07HasNoFiniteBound) {
  ExprPool pool;
  Context context(pool, testing::native_only());
  Expr batch = parse(pool, "s0");
  context.assume(ge(batch, 1));
  EXPECT_FALSE(context.bounds(batch).upper()) << "executorch#20834";
  EXPECT_EQ(context.bounds(batch).to_string(), "[1, int_oo]");
}

TEST(UserThreadBounds, V06IsCorrelated) {
  ExprPool pool;
  Context context(pool, testing::native_only());
  Expr s = parse(pool, "s0");
  context.assume(ge(s, 2));
  Interval b = context.bounds(parse(pool, "s0 - Mod(s0, 8)"));
  ASSERT_TRUE(b.lower());
  EXPECT_EQ(*b.lower(), Int(0));
}

TEST(UserThreadBounds, S09NeedsNoCheck) {
  ExprPool pool;
  Context context(pool, testing::native_only());
  context.assume(parse(pool, "u1 >= 0"));
  EXPECT_EQ(context.bounds(parse(pool, "Min(u1, 200)")), Interval(0, 200));
}

}  // namespace
}  // namespace proviso
