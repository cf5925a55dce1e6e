// Promises, places, explanations, logs and shapelogs of a session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guards/explain.h"
#include "guards/logs.h"
#include "tests/guards/support.h"

namespace proviso {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int> lines_of(const Guard& guard) {
  std::vector<int> lines;
  for (const SourceLocation& where : guard.origins) lines.push_back(where.line);
  return lines;
}

TEST(Require, IsKnownWhileTracingAndChecked) {
  ShapeEnv env;
  Expr x = env.create_size(8, source("x", 0), named("4*dx"));
  Expr four = env.pool().integer(4);
  env.require(eq(mod(x, four), 0), {"", 0, "dynamic_shapes: 4*dx"});
  EXPECT_TRUE(env.statically_known_true(eq(mod(x, env.pool().integer(2)), 0)));
  EXPECT_TRUE(env.guard_bool(eq(mod(x, env.pool().integer(2)), 0)));
  env.check_constraints();
  EXPECT_THAT(texts(env.minimal_guards()), ElementsAre("Eq(Mod(s0, 4), 0)"));
  EXPECT_TRUE(env.guards()[0].promised);
}

TEST(Require, MustHoldForTheExample) {
  ShapeEnv env;
  Expr x = env.create_size(9, source("x", 0), named("dx"));
  EXPECT_THAT(message_of<ConstraintViolationError>([&] {
                env.require(eq(mod(x, env.pool().integer(4)), 0), {});
              }),
              HasSubstr("does not hold for the example"));
}

TEST(Require, ARelationBetweenNamedDimsIsNoViolation) {
  ShapeEnv env;  // V15: (s0*s1)//4 == 4
  Expr a = env.create_size(2, source("x", 0), named("a"));
  Expr b = env.create_size(8, source("x", 1), named("b"));
  env.require(eq(a * b, 16), {});
  EXPECT_TRUE(env.guard_bool(eq(floor_div(a * b, env.pool().integer(4)), 4)));
  env.check_constraints();
}

TEST(Policies, OpenQuestionsAboutSizesMayTakeTheirDefaults) {
  for (bool oblivious : {false, true}) {
    ShapeEnv env({.backed_size_oblivious = oblivious});
    Expr s = env.create_size(4, source("x", 0));
    EXPECT_EQ(env.guard_or_false(eq(s, 4)), !oblivious);
    EXPECT_TRUE(env.guard_or_true(ne(s, 0)));
    EXPECT_EQ(env.guards().size(), oblivious ? 0u : 1u);
  }
}

TEST(MinimalGuards, KeepTheLinesOfWhatTheyReplace) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr two = env.pool().integer(2), eight = env.pool().integer(8);
  env.guard_bool(eq(mod(s * 4, eight), 0), {"model.py", 3, ""});
  env.guard_bool(eq(mod(s, two), 0), {"model.py", 4, ""});
  env.guard_bool(eq(floor_div(s, two) * 2, s), {"model.py", 5, ""});
  env.guard_bool(le(s, 100), {"model.py", 6, ""});
  env.guard_bool(le(s, 50), {"model.py", 7, ""});
  std::vector<Guard> kept = env.minimal_guards();
  ASSERT_THAT(texts(kept), ElementsAre("Eq(Mod(s0, 2), 0)", "s0 <= 50"));
  EXPECT_THAT(lines_of(kept[0]), ElementsAre(3, 4, 5));
  EXPECT_THAT(lines_of(kept[1]), ElementsAre(7, 6));
}

TEST(Explain, NamesPlacesAndSizes) {
  ShapeEnv env;
  Expr s = env.create_size(6, source("x", 0));
  env.guard_bool(eq(mod(s, env.pool().integer(2)), 0),
                 {"model.py", 9, "y = x.view(-1, 2, 4)"});
  EXPECT_EQ(explain(env, env.minimal_guards()[0]),
            "Eq(Mod(s0, 2), 0), that is x.size()[0] % 2 == 0\n"
            "  needed at model.py:9 in `y = x.view(-1, 2, 4)`\n"
            "  holds for the example: x.size()[0] = 6\n"
            "  fails for instance for: x.size()[0] = 1");
}

TEST(Logs, EventsAreSaidAsTheyHappen) {
  std::vector<std::string> seen;
  set_log_callback([&](const ShapeEvent& e) { seen.push_back(to_json(e)); });
  DynamicModel model;
  model.trace();
  set_log_callback({});
  ASSERT_GE(seen.size(), 9u);
  EXPECT_EQ(seen[0],
            "{\"event\": \"create_symbol\", \"subject\": \"s0\", \"text\": "
            "\"create_symbol s0 = 6 for L['w'].size()[0] [2, int_oo]\", "
            "\"file\": \"\", \"line\": 0, \"code\": \"\"}");
  EXPECT_THAT(seen, ::testing::Contains(HasSubstr(
                        "eval Eq(s2, s4) [guard added]\", \"file\": "
                        "\"model.py\", \"line\": 7, \"code\": \"x0 = x + y")));
}

TEST(Logs, TheStackIsShownWhereAGuardArises) {
  set_logs({.dynamic = false, .guard = "Eq(s2, s4)"});
  set_log_stack([] { return std::string("the stack"); });
  testing::internal::CaptureStderr();
  DynamicModel model;
  model.trace();
  const std::string text = testing::internal::GetCapturedStderr();
  set_logs({});
  set_log_stack({});
  EXPECT_EQ(text,
            "[proviso] eval Eq(s2, s4) [guard added] at model.py:7 in `x0 = x "
            "+ y`\nthe stack\n");
}

TEST(Shapelog, HasEverySymbolFactAndQuestion) {
  ShapeEnv env;
  Expr s = env.create_size(6, source("x", 0));
  Expr u = env.create_unbacked_int({0, 9});
  env.guard_bool(le(s, 50));
  env.expect_true(ge(u, 3));
  env.guard_or_false(eq(u, 4));
  EXPECT_EQ(env.shapelog(),
            "# shapelog 1, recorded by proviso\n"
            "symbol s0 backed hint 6 range [0, int_oo]\n"
            "assume s0 >= 2\n"
            "symbol u0 unbacked range [0, 9]\n"
            "ask guard s0 <= 50 ; truth hard ; peer unknown 0us\n"
            "ask guard s0 <= 50 ; truth hard ; peer unknown 0us\n"
            "assume s0 <= 50\n"
            "ask assert u0 >= 3 ; truth hard ; peer unknown 0us\n"
            "ask assert u0 >= 3 ; truth hard ; peer unknown 0us\n"
            "assume u0 >= 3\n"
            "ask guard_or_false Eq(u0, 4) ; truth hard ; peer unknown 0us\n");
}

}  // namespace
}  // namespace proviso
