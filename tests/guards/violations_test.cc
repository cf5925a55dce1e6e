#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guards/support.h"

namespace proviso {
namespace {

using ::testing::HasSubstr;

std::string violations(ShapeEnv& env) {
  return message_of<ConstraintViolationError>([&] { env.check_constraints(); });
}

TEST(Violations, NoneForAutomaticDims) {
  DynamicModel model;
  model.trace();
  EXPECT_EQ(violations(model.env), "");
}

TEST(Violations, SpecializedDynamicDim) {
  DynamicModel model({}, {{}, dynamic(), {}, {}, {}, {}});
  model.trace();
  EXPECT_EQ(violations(model.env),
            "Constraints violated (L['w'].size()[1])! For more information, "
            "run with PROVISO_LOGS=dynamic.\n"
            "  - You marked L['w'].size()[1] as dynamic but your code "
            "specialized it to be a constant (5). If you're using "
            "Dim.DYNAMIC, replace it with either Dim.STATIC or Dim.AUTO.\n"
            "      at model.py:8 in `x1 = self.l(w)`");
}

TEST(Violations, DynamicAgainstStatic) {
  DynamicModel model({}, {{}, {}, fixed(), {}, dynamic(), {}});
  model.trace();
  EXPECT_THAT(violations(model.env),
              HasSubstr("You marked L['y'].size()[1] as dynamic but your code "
                        "specialized it to be a constant (4)."));
}

// (x + y) + ones(4) with x = (dx, d1), y = (dy, d1).
TEST(Violations, EqualNamedDimsAndAConstant) {
  ShapeEnv env;
  Expr x0 = env.create_size(6, source("x", 0), named("dx"));
  Expr x1 = env.create_size(4, source("x", 1), named("d1"));
  Expr y0 = env.create_size(6, source("y", 0), named("dy"));
  env.create_size(4, source("y", 1), named("d1"));
  env.guard_bool(eq(x0, y0));
  env.guard_bool(eq(x1, 4));
  EXPECT_EQ(violations(env),
            "Constraints violated (d1, dy)! For more information, run with "
            "PROVISO_LOGS=dynamic.\n"
            "  - You marked d1 as dynamic but your code specialized it to be "
            "a constant (4). If you're using Dim.DYNAMIC, replace it with "
            "either Dim.STATIC or Dim.AUTO.\n"
            "  - The values of dy = L['y'].size()[0] and dx = "
            "L['x'].size()[0] must always be equal.\n"
            "Suggested fixes:\n"
            "  d1 = 4\n"
            "  dy = dx");
}

// x[:-1] + y
TEST(Violations, RelatedNamedDims) {
  ShapeEnv env;
  Expr x = env.create_size(7, source("x", 0), named("dx"));
  Expr y = env.create_size(6, source("y", 0), named("dy"));
  env.guard_bool(eq(x - 1, y));
  std::string text = violations(env);
  EXPECT_THAT(text,
              HasSubstr("The values of dx = L['x'].size()[0] must always be "
                        "related to the values of dy = L['y'].size()[0] by "
                        "dx = dy + 1."));
  EXPECT_THAT(text, HasSubstr("Suggested fixes:\n  dx = dy + 1"));
}

TEST(Violations, AnAutomaticDimTakesUpTheDifference) {
  ShapeEnv env;
  Expr x = env.create_size(7, source("x", 0), named("dx"));
  Expr y = env.create_size(6, source("y", 0));
  Expr z = env.create_size(14, source("z", 0), named("dz"));
  env.guard_bool(eq(x - 1, y));
  EXPECT_EQ(violations(env), "");
  env.guard_bool(eq(z, (y + 1) * 2));
  EXPECT_THAT(violations(env), HasSubstr("dz was inferred to be equal to"));
}

// if 5 < n < 100
TEST(Violations, NarrowedRange) {
  ShapeEnv env;
  Expr n = env.create_size(8, source("x", 0), named("dx"));
  env.guard_bool(logical_and(gt(n, 5), lt(n, 100)));
  EXPECT_EQ(violations(env),
            "Constraints violated (dx)! For more information, run with "
            "PROVISO_LOGS=dynamic.\n"
            "  - Not all values of dx = L['x'].size()[0] in the specified "
            "range satisfy the generated guard 6 <= L['x'].size()[0] and "
            "L['x'].size()[0] <= 99.\n"
            "      for instance, dx = 100 is refused\n"
            "Suggested fixes:\n"
            "  dx = Dim('dx', min=6, max=99)");
}

TEST(Violations, NarrowedOnOneSideOfAPromisedRange) {
  ShapeEnv env;
  Expr n = env.create_size(8, source("x", 0), named("dx", 4, 50));
  env.guard_bool(le(n, 40));
  std::string text = violations(env);
  EXPECT_THAT(text, HasSubstr("in the specified range 4 <= dx <= 50 satisfy "
                              "the generated guard L['x'].size()[0] <= 40."));
  EXPECT_THAT(text, HasSubstr("  dx = Dim('dx', min=4, max=40)"));
}

TEST(Violations, NoneWhenThePromisedRangeIsEnough) {
  ShapeEnv env;
  Expr n = env.create_size(8, source("x", 0), named("dx", 6, 99));
  Expr m = env.create_size(9, source("y", 0), named("dy"));
  env.guard_bool(logical_and(gt(n, 5), lt(n, 100)));
  env.guard_bool(ne(n, m));  // several dims: checked at run time
  EXPECT_EQ(violations(env), "");
}

TEST(Violations, DivisibilityOfANamedDim) {
  ShapeEnv env;
  Expr n = env.create_size(7, source("x", 0), named("dx"));
  env.guard_bool(eq(mod(n, env.pool().integer(3)), 1));
  std::string text = violations(env);
  EXPECT_THAT(text, HasSubstr("satisfy the generated guard "));
  EXPECT_THAT(text, HasSubstr("  _dx = Dim('_dx')\n  dx = 3*_dx + 1"));
}

TEST(Violations, AProductOfDimsIsADimOfItsOwn) {
  ShapeEnv env;
  Expr x = env.create_size(4, source("x", 0), named("dx"));
  Expr y = env.create_size(8, source("y", 0), named("dy"));
  Expr z = env.create_size(32, source("z", 0), named("dz", {}, 99));
  env.guard_bool(eq(x * y, z));
  std::string text = violations(env);
  EXPECT_THAT(text, HasSubstr("Not all values of dz = L['z'].size()[0] in the "
                              "specified range dz <= 99 are valid because dz "
                              "was inferred to be equal to dx*dy."));
  EXPECT_THAT(text, HasSubstr("Suggested fixes:\n  dz = dx*dy"));
}

TEST(Violations, ExampleSizeOne) {
  ShapeEnv env;
  env.create_size(1, source("x", 0), named("b"));
  std::string text = violations(env);
  EXPECT_THAT(text, HasSubstr("You marked b as dynamic but your code "
                              "specialized it to be a constant (1)."));
  EXPECT_THAT(text, HasSubstr("  b = 1"));
  ShapeEnv other;
  other.create_size(1, source("x", 0), dynamic());
  EXPECT_THAT(violations(other), HasSubstr("example size 1 was specialized"));
}

}  // namespace
}  // namespace proviso
