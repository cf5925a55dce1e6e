#include "guards/input_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sym/evaluate.h"
#include "tests/guards/support.h"

namespace proviso {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string problem(const InputCheck& check, std::vector<int64_t> sizes) {
  return check.problem(sizes).value_or("");
}

TEST(InputCheck, AcceptsOtherSizesInsideTheGuards) {
  DynamicModel model;
  model.trace();
  InputCheck check(model.env);
  EXPECT_EQ(problem(check, {6, 5, 4, 8, 4, 32}), "");
  EXPECT_EQ(problem(check, {9, 5, 4, 3, 4, 12}), "");
  EXPECT_EQ(problem(check, {2, 5, 7, 2, 7, 14}), "");
}

TEST(InputCheck, NamesTheDimThatFails) {
  DynamicModel model;
  model.trace();
  InputCheck check(model.env);
  EXPECT_THAT(
      problem(check, {6, 7, 4, 8, 4, 32}),
      StartsWith("Guard failed: w.size()[1] == 5 (w.size()[1] is 7)\n"));
  EXPECT_THAT(problem(check, {6, 5, 5, 8, 4, 32}),
              StartsWith("Guard failed: x.size()[0] == y.size()[1] "
                         "(x.size()[0] is 5, y.size()[1] is 4)\n"));
  EXPECT_THAT(
      problem(check, {6, 5, 4, 8, 4, 33}),
      StartsWith("Guard failed: x.size()[0]*y.size()[0] == z.size()[0] "
                 "(x.size()[0] is 4, y.size()[0] is 8, z.size()[0] is 33)\n"));
}

// The lines that needed it, and what to change.
TEST(InputCheck, TellsWhyAndTheWayOut) {
  ShapeEnv env;
  env.create_size(3, source("x", 0), fixed());
  Expr b = env.create_size(10, source("x", 1), named("b", 4, 256));
  env.create_size(10, source("y", 0), named("b", 4, 256));
  env.create_size(1, source("y", 1));
  Expr n = env.create_size(6, source("z", 0));
  Expr m = env.create_size(7, source("z", 1));
  Expr k = env.create_size(5, source("w", 0));
  env.guard_bool(ge(n, m), {"model.py", 7, "if n >= m:"});
  env.guard_bool(le(n, 8), {"model.py", 9, "if n <= 8:"});
  env.guard_bool(gt(k, 1), {"model.py", 11, "assert k > 1"});
  env.require(le(b, m * 3), {"", 0, "dynamic_shapes: b <= 3*m"});
  InputCheck check(env);
  EXPECT_EQ(problem(check, {3, 10, 10, 1, 6, 7, 5}), "");
  struct Case {
    std::vector<int64_t> sizes;
    const char* remedy;
  };
  const Case kCases[] = {
      {{4, 10, 10, 1, 6, 7, 5},
       "\n  the dimension is static: give it Dim.AUTO"},
      {{3, 3, 3, 1, 6, 7, 5},
       "\n  Dim b promises sizes in [4, 256]: widen it to allow 3"},
      {{3, 10, 11, 1, 6, 7, 5}, "\n  both are Dim b: give them Dims of two"},
      {{3, 10, 10, 2, 6, 7, 5}, "\n  the example size 1 became a constant"},
      {{3, 10, 10, 1, 8, 7, 5},
       "\n  needed at model.py:7 in `if n >= m:`\n  give sizes for which"},
      {{3, 10, 10, 1, 9, 10, 5}, "\n  needed at model.py:9 in `if n <= 8:`"},
      {{3, 10, 10, 1, 6, 7, 1}, "\n  needed at model.py:11 in `assert k > 1`"},
      {{3, 25, 25, 1, 6, 7, 5},
       "\n  needed at `dynamic_shapes: b <= 3*m`\n  give such sizes, or "
       "promise"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(problem(check, c.sizes), HasSubstr(c.remedy));
  }
}

TEST(InputCheck, ChecksStaticSizesRangesAndSharedNames) {
  ShapeEnv env;
  env.create_size(3, source("x", 0), fixed());
  env.create_size(10, source("x", 1), named("d", 4, 256));
  env.create_size(10, source("y", 0), named("d", 4, 256));
  env.create_size(1, source("y", 1));
  InputCheck check(env);
  EXPECT_EQ(problem(check, {3, 5, 5, 1}), "");
  EXPECT_THAT(problem(check, {4, 5, 5, 1}), HasSubstr("x.size()[0] == 3"));
  EXPECT_THAT(problem(check, {3, 3, 3, 1}), HasSubstr("x.size()[1] >= 4"));
  EXPECT_THAT(problem(check, {3, 257, 257, 1}),
              HasSubstr("x.size()[1] <= 256 (x.size()[1] is 257)"));
  EXPECT_THAT(problem(check, {3, 5, 6, 1}),
              HasSubstr("x.size()[1] == y.size()[0]"));
  EXPECT_THAT(problem(check, {3, 5, 5, 2}), HasSubstr("y.size()[1] == 1"));
  EXPECT_THAT(
      check.conditions(),
      ElementsAre("x.size()[0] == 3", "x.size()[1] >= 4", "x.size()[1] <= 256",
                  "x.size()[1] == y.size()[0]", "y.size()[1] == 1"));
}

// What is promised is what was asked: not what follows of it from sizes >= 2,
// which nothing promises.
TEST(InputCheck, APromiseHoldsWhereItWasAskedTo) {
  for (const char* text :
       {"Ne(s0, 0)", "Ne(s0, 1)", "s0 >= 1", "s0 + s1 >= 1", "Ne(s0*s1, 1)",
        "Eq(Max(s0, 1), s0)", "Or(Ne(s0, 1), Ne(s1, 0))",
        "Or(s0 >= 2, Eq(s1, 0))", "And(Ne(s0, 1), s1 >= 1)", "s0 <= 2*s0 - 1",
        "s0//2 >= 1", "Eq(Mod(s0, 2), 0)", "Ne(s0, 3)", "s0 <= s1 + 1"}) {
    ShapeEnv env;
    env.create_size(4, source("x", 0));
    env.create_size(5, source("x", 1));
    const Expr promise = parse(env.pool(), text);
    env.require(promise, {});
    const InputCheck check(env);
    for (int64_t a = 0; a < 6; ++a)
      for (int64_t b = 0; b < 6; ++b) {
        Assignment point;
        point.set(env.pool().symbol("s0", SymbolKind::kBackedSize), Int(a));
        point.set(env.pool().symbol("s1", SymbolKind::kBackedSize), Int(b));
        const bool holds = std::get<bool>(*evaluate(promise, point).value);
        EXPECT_EQ(!check.problem(std::vector<int64_t>{a, b}), holds)
            << text << " at " << a << ", " << b;
      }
  }
}

// A program that decided `x.size(0) == 1` as false must not run at size 1.
TEST(InputCheck, EnforcesTheAssumptionWhereItWasUsed) {
  ShapeEnv used, unused;
  Expr s = used.create_size(4, source("x", 0));
  used.guard_bool(eq(s, 1));
  unused.create_size(4, source("x", 0));
  EXPECT_THAT(problem(InputCheck(used), {1}), HasSubstr("x.size()[0] != 1"));
  EXPECT_EQ(problem(InputCheck(used), {0}), "");
  EXPECT_EQ(problem(InputCheck(unused), {1}), "");
  EXPECT_EQ(problem(InputCheck(unused), {0}), "");
}

TEST(InputCheck, IntegerInputsMayBeNegative) {
  ShapeEnv env;
  Expr n = env.create_backed_int(4, "L['n']");
  env.guard_bool(lt(n, 10));
  InputCheck check(env);
  EXPECT_EQ(problem(check, {-3}), "");
  EXPECT_THAT(problem(check, {10}), HasSubstr("n <= 9"));
}

TEST(InputCheck, AsksBySource) {
  DynamicModel model;
  model.trace();
  InputCheck check(model.env);
  std::vector<std::string> asked;
  auto sizes = [&](const std::string& source) -> int64_t {
    asked.push_back(source);
    return 2;
  };
  EXPECT_TRUE(check.problem(sizes).has_value());
  EXPECT_THAT(asked, Contains("L['z'].size()[0]"));
}

TEST(InputCheck, RefusesAWrongCountAndFloatGuards) {
  DynamicModel model;
  InputCheck check(model.env);
  EXPECT_THROW(problem(check, {1, 2}), Error);
  ShapeEnv env;
  env.guard_float(env.create_backed_float(0.5, "L['f']"));
  EXPECT_THROW(InputCheck{env}, Error);
}

// At every small size: the check passes exactly where the original guards and
// ranges do.
TEST(InputCheck, EqualsEvaluatingEveryGuard) {
  ShapeEnv env;
  Expr s = env.create_size(6, source("x", 0));
  Expr t = env.create_size(7, source("y", 0));
  for (const char* q : {"s0 <= 9", "Eq(Mod(s0, 2), 0)", "s0 < s1", "s1 < 12",
                        "Ne(s0 + s1, 11)", "s1 - s0 <= 5", "s0 <= 100"}) {
    env.guard_bool(parse(env.pool(), q));
  }
  InputCheck check(env);
  for (int64_t a = 0; a < 15; ++a) {
    for (int64_t b = 0; b < 15; ++b) {
      Assignment point;
      point.set(s, Int(a));
      point.set(t, Int(b));
      bool good = env.enforced_range(s).contains(Int(a)) &&
                  env.enforced_range(t).contains(Int(b));
      for (const Guard& g : env.guards()) {
        good &= evaluate(g.condition, point).is_true();
      }
      EXPECT_EQ(problem(check, {a, b}) == "", good) << a << ", " << b;
    }
  }
}

}  // namespace
}  // namespace proviso
