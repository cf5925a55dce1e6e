#include "guards/shape_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "sym/budget.h"
#include "tests/guards/support.h"
#include "tests/support/random_expr.h"

namespace proviso {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> log_of(const ShapeEnv& env, const std::string& kind) {
  std::vector<std::string> lines;
  for (const ShapeEvent& e : env.events()) {
    if (e.kind == kind) lines.push_back(e.text);
  }
  return lines;
}

// --- symbols

TEST(CreateSize, CountsSymbolsNotSizes) {
  ShapeEnv env;
  EXPECT_EQ(to_string(env.create_size(6, source("w", 0))), "s0");
  EXPECT_EQ(to_string(env.create_size(3, source("w", 1), fixed())), "3");
  EXPECT_EQ(to_string(env.create_size(1, source("w", 2))), "1");
  EXPECT_EQ(to_string(env.create_size(5, source("w", 3))), "s1");
  EXPECT_EQ(to_string(env.create_unbacked_int()), "u0");
  EXPECT_EQ(to_string(env.create_unbacked_float()), "zuf0");
  EXPECT_EQ(to_string(env.create_unbacked_bool()), "Eq(u1, 1)");
  EXPECT_EQ(to_string(env.create_backed_int(7, "L['n']")), "s2");
  EXPECT_EQ(to_string(env.create_backed_float(0.5, "L['f']")), "zf0");
  EXPECT_EQ(env.input_dims().size(), 5u);
  EXPECT_EQ(env.input_dims()[0].display_name, "w.size()[0]");
}

TEST(CreateSize, LogsAsPyTorchDoes) {
  ShapeEnv env;
  env.create_size(6, source("w", 0));
  env.create_size(10, source("x", 0), named("dx", 4, 256));
  env.create_unbacked_int();
  env.create_backed_int(16, "L['n']");
  EXPECT_THAT(log_of(env, "create_symbol"),
              ElementsAre("create_symbol s0 = 6 for L['w'].size()[0] "
                          "[2, int_oo]",
                          "create_symbol s1 = 10 for L['x'].size()[0] "
                          "[4, 256]",
                          "create_symbol s2 = 16 for L['n'] "
                          "[-int_oo, int_oo]"));
  EXPECT_THAT(log_of(env, "create_unbacked_symbol"),
              ElementsAre("create_unbacked_symbol u0 [-int_oo, int_oo]"));
}

TEST(CreateSize, ShowsTheAssumptionAsAFact) {
  ShapeEnv env;
  env.create_size(6, source("w", 0));
  std::vector<std::string> origins;
  for (const Fact& f : env.context().facts()) origins.push_back(f.origin.text);
  EXPECT_THAT(origins, ::testing::Contains("assumed: s0 >= 2"));
}

TEST(CreateSize, KeepsZeroAndOneWhenNotSpecialized) {
  ShapeEnv env({.specialize_zero_one = false});
  Expr s = env.create_size(1, source("x", 0));
  EXPECT_TRUE(s.is_symbol());
  EXPECT_FALSE(env.statically_known_true(ge(s, 1)));
  EXPECT_TRUE(env.statically_known_true(ge(s, 0)));
}

TEST(CreateSize, DuckShapingSharesSymbols) {
  ShapeEnv env({.duck_shape = true});
  Expr a = env.create_size(8, source("x", 0));
  EXPECT_EQ(env.create_size(8, source("y", 0)), a);
  EXPECT_NE(env.create_size(9, source("y", 1)), a);
  EXPECT_NE(env.create_size(8, source("z", 0), dynamic()), a);
}

TEST(CreateSize, OneNameIsOneSize) {
  ShapeEnv env;
  Expr a = env.create_size(10, source("x", 0), named("d", 0, 20));
  EXPECT_EQ(env.create_size(10, source("y", 0), named("d", 0, 20)), a);
  EXPECT_EQ(message_of<ConstraintViolationError>([&] {
              env.create_size(11, source("y", 1), named("d", 0, 20));
            }),
            "L['y'].size()[1] = 11 is not equal to L['x'].size()[0] = 10");
  EXPECT_THAT(message_of<ConstraintViolationError>([&] {
                env.create_size(10, source("y", 1), named("d", 0, 30));
              }),
              StartsWith("Found different definitions Dim('d', min=0, max=20) "
                         "and Dim('d', min=0, max=30)"));
}

TEST(CreateSize, RefusesExamplesOutsideTheRange) {
  ShapeEnv env;
  EXPECT_THAT(message_of<ConstraintViolationError>([&] {
                env.create_size(3, source("x", 0), named("dx", 4, 256));
              }),
              StartsWith("3 not in range [4, 256]"));
  EXPECT_EQ(message_of<ConstraintViolationError>([&] {
              env.create_size(4, source("x", 1),
                              {DimPolicy::kStatic, "", Int(5), Int(5)});
            }),
            "Static shape constraint of 5 does not match input size of 4, for "
            "L['x'].size()[1]");
  EXPECT_THAT(message_of<Error>([&] { env.create_size(-1, "L['x']"); }),
              HasSubstr("-1"));
}

// --- the tutorial's model

TEST(DynamicModel, RecordsTheSeedsGuards) {
  DynamicModel model;
  model.trace();
  EXPECT_THAT(texts(model.env.guards()),
              ElementsAre("Eq(s2, s4)", "Eq(s1, 5)", "Eq(s2*s3, s5)"));
  EXPECT_EQ(texts(model.env.minimal_guards()), texts(model.env.guards()));
  EXPECT_THAT(texts(model.env.runtime_asserts()), IsEmpty());
  EXPECT_EQ(model.env.guards()[1].origins[0].to_string(),
            "model.py:8 in `x1 = self.l(w)`");
}

TEST(DynamicModel, LogsGuardsAndReplacements) {
  DynamicModel model;
  model.trace();
  EXPECT_THAT(log_of(model.env, "eval"),
              ElementsAre("eval Eq(s2, s4) [guard added]",
                          "eval Eq(s1, 5) [guard added]",
                          "eval Eq(s2*s3, s5) [guard added]"));
  EXPECT_THAT(log_of(model.env, "set_replacement"),
              ElementsAre("set_replacement s4 = s2 (solve) VR[2, int_oo]",
                          "set_replacement s1 = 5 (range_refined_to_singleton) "
                          "VR[5, 5]",
                          "set_replacement s5 = s2*s3 (solve) VR[4, int_oo]"));
}

TEST(DynamicModel, GivesTheResultShapes) {
  DynamicModel model;
  model.trace();
  EXPECT_EQ(to_string(model.env.simplify(model.z0)), "s2*s3");
  EXPECT_EQ(to_string(model.env.simplify(model.y1)), "s2");
  EXPECT_EQ(to_string(model.env.simplify(model.w1)), "5");
  EXPECT_EQ(model.env.bounds(model.z0), Interval::at_least(4));
}

TEST(DynamicModel, DeferredGuardsBecomeAssertions) {
  DynamicModel model({.prefer_deferred_runtime_asserts_over_guards = true});
  model.trace();
  EXPECT_THAT(texts(model.env.guards()), IsEmpty());
  EXPECT_THAT(texts(model.env.runtime_asserts()),
              ElementsAre("Eq(s2, s4)", "Eq(s1, 5)", "Eq(s2*s3, s5)"));
  // Only k*symbol + c is substituted, so that the sizes stay symbols.
  EXPECT_EQ(to_string(model.env.simplify(model.w1)), "s1");
  EXPECT_EQ(to_string(model.env.simplify(model.y1)), "s2");
  EXPECT_EQ(model.env.enforced_range(model.w1), Interval(5, 5));
}

TEST(DynamicModel, SolvesForTheLargerExample) {
  DynamicModel model;
  model.trace();
  ShapeEnv& env = model.env;
  EXPECT_TRUE(env.guard_bool(le(model.w0, 512)));
  EXPECT_TRUE(env.expect_true(ge(model.x0, 4)));
  EXPECT_TRUE(env.guard_bool(eq(model.w0, model.x0 + 2)));
  EXPECT_EQ(to_string(env.simplify(model.w0)), "s2 + 2");
  EXPECT_EQ(env.bounds(model.x0), Interval(4, 510));
  EXPECT_EQ(env.bounds(model.w0), Interval(6, 512));
  EXPECT_EQ(env.bounds(model.z0), Interval::at_least(8));
}

// --- guards

TEST(GuardBool, TakesTheHintAndRecordsTheConditionOrItsNegation) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  EXPECT_TRUE(env.guard_bool(le(s, 512)));
  EXPECT_FALSE(env.guard_bool(eq(s, 9)));
  EXPECT_THAT(texts(env.guards()), ElementsAre("s0 <= 512", "Ne(s0, 9)"));
}

TEST(GuardBool, RecordsNothingWhenTheFactsDecide) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  EXPECT_TRUE(env.guard_bool(ge(s, 0)));
  EXPECT_FALSE(env.guard_bool(eq(s * 2, 3)));
  EXPECT_TRUE(env.guard_bool(le(s, 10)));
  EXPECT_TRUE(env.guard_bool(le(s, 12)));
  EXPECT_THAT(texts(env.guards()), ElementsAre("s0 <= 10"));
}

TEST(GuardBool, MergesEqualGuardsAndKeepsTheirOrigins) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(8, source("y", 0));
  env.guard_bool(eq(s, t), {"a.py", 1});
  env.guard_bool(eq(t, s), {"a.py", 2});
  env.guard_bool(ne(t, s), {"a.py", 3});
  env.guard_bool(eq(s, t), {"a.py", 2});
  ASSERT_EQ(env.guards().size(), 1u);
  std::vector<int> lines;
  for (const SourceLocation& o : env.guards()[0].origins) {
    lines.push_back(o.line);
  }
  EXPECT_THAT(lines, ElementsAre(1, 2, 3));
}

TEST(GuardBool, SplitsConjunctions) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  EXPECT_TRUE(env.guard_bool(logical_and(gt(s, 5), lt(s, 100))));
  EXPECT_FALSE(env.guard_bool(logical_or(eq(s, 6), eq(s, 7))));
  for (const Guard& g : env.guards()) EXPECT_FALSE(g.condition.is(Op::kAnd));
  EXPECT_TRUE(env.statically_known_true(ge(s, 6)));
  EXPECT_TRUE(env.statically_known_true(ge(s, 8)));
}

TEST(GuardBool, WrongTypeAndUndefinedExamplesAreClearErrors) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  EXPECT_THAT(message_of<Error>([&] { env.guard_bool(s + 1); }),
              HasSubstr("guard_bool: expected a boolean"));
  Expr quotient = floor_div(env.pool().integer(4), s - 8);
  EXPECT_THAT(message_of<GuardError>([&] { env.guard_bool(eq(quotient, 2)); }),
              HasSubstr("undefined at the example inputs"));
}

TEST(GuardInt, SpecializesBackedValues) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(6, source("y", 0));
  EXPECT_EQ(env.guard_int(s + 1), Int(9));
  EXPECT_EQ(to_string(env.simplify(s)), "8");
  EXPECT_EQ(env.guard_int(s), Int(8));
  EXPECT_EQ(env.guard_int(floor_div(t, env.pool().integer(4))), Int(1));
  EXPECT_EQ(env.guards().size(), 2u);
  EXPECT_EQ(env.bounds(t), Interval(4, 7));
}

TEST(Bounds, FollowWhateverTeaches) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr u = env.create_unbacked_int();
  const Expr sum = s + u;
  EXPECT_TRUE(env.bounds(sum).contains(Interval(-5, 5)));
  env.constrain_range(u, Int(0), std::nullopt);
  EXPECT_EQ(env.bounds(sum), Interval::at_least(2));
  env.know(ge(u, 3), "the operator says so");
  EXPECT_EQ(env.bounds(sum), Interval::at_least(5));
  EXPECT_TRUE(env.expect_true(le(u, 10)));
  EXPECT_TRUE(env.guard_bool(le(s, 20)));
  EXPECT_EQ(env.bounds(sum), Interval(5, 30));
  env.guard_int(s);
  EXPECT_EQ(env.bounds(sum), Interval(11, 18));
}

TEST(GuardFloat, SpecializesToTheExactExample) {
  ShapeEnv env;
  Expr f = env.create_backed_float(0.5, "L['f']");
  EXPECT_EQ(env.guard_float(f), 0.5);
  EXPECT_EQ(env.guards().size(), 1u);
}

TEST(BackedInt, MayBeNegative) {
  ShapeEnv env;
  Expr n = env.create_backed_int(1, "L['n']");
  EXPECT_FALSE(env.statically_known_true(ge(n, 0)));
  EXPECT_TRUE(env.guard_bool(ge(n, 0)));
  EXPECT_EQ(env.guards().size(), 1u);
}

// --- data-dependent questions

TEST(Unbacked, GuardBoolSaysWhatIsMissing) {
  ShapeEnv env;
  Expr u = env.create_unbacked_int();
  std::string text = message_of<DataDependentError>(
      [&] { env.guard_bool(ge(u, 5), {"m.py", 12, "if a >= 5:"}); });
  EXPECT_THAT(text, StartsWith("Could not guard on data-dependent expression "
                               "u0 >= 5 (unhinted: u0 >= 5).  (Size-like "
                               "symbols: none)"));
  EXPECT_THAT(text, HasSubstr("To fix the error, insert one of the following "
                              "checks before this call:\n"
                              "  1. torch._check(u0 >= 5)\n"
                              "  2. torch._check(u0 <= 4)"));
  EXPECT_THAT(text, HasSubstr("Caused by: m.py:12 in `if a >= 5:`"));
  EXPECT_THAT(text, HasSubstr("guard_or_false"));
  EXPECT_THAT(texts(env.guards()), IsEmpty());
}

TEST(Unbacked, MixedConditionsAreDataDependentAndShowTheHint) {
  ShapeEnv env;
  Expr s = env.create_size(12, source("x", 0));
  Expr u = env.create_unbacked_int();
  env.mark_size_like(u);
  EXPECT_THAT(
      message_of<DataDependentError>([&] { env.guard_bool(eq(u, s)); }),
      ::testing::AnyOf(
          StartsWith("Could not guard on data-dependent expression Eq(u0, 12) "
                     "(unhinted: Eq(u0, s0)).  (Size-like symbols: u0)"),
          StartsWith("Could not guard on data-dependent expression Eq(u0, 12) "
                     "(unhinted: Eq(s0, u0)).  (Size-like symbols: u0)")));
}

TEST(Unbacked, GuardIntCannotExtract) {
  ShapeEnv env;
  Expr u = env.create_unbacked_int();
  EXPECT_THAT(message_of<DataDependentError>([&] { env.guard_int(u); }),
              StartsWith("Could not extract specialized integer from "
                         "data-dependent expression u0 (unhinted: u0).  "
                         "(Size-like symbols: none)"));
  EXPECT_THROW(env.guarding_hint_or_throw(u), DataDependentError);
  EXPECT_TRUE(env.expect_true(eq(u, 60)));
  EXPECT_EQ(env.guard_int(u), Int(60));
}

TEST(ExpectTrue, OnDataBecomesAnAssertionAndAFact) {
  ShapeEnv env;
  Expr u = env.create_unbacked_int();
  EXPECT_TRUE(env.expect_true(ge(u, 10), {"m.py", 3}));
  EXPECT_TRUE(env.expect_true(le(u, 60), {"m.py", 4}));
  EXPECT_TRUE(env.expect_true(ge(u, 5), {"m.py", 5}));    // follows
  EXPECT_FALSE(env.expect_true(ge(u, 61), {"m.py", 6}));  // known false
  EXPECT_THAT(texts(env.runtime_asserts()),
              ElementsAre("u0 >= 10", "u0 <= 60"));
  EXPECT_EQ(env.runtime_asserts()[0].origin.line, 3);
  EXPECT_EQ(env.bounds(u), Interval(10, 60));
  EXPECT_EQ(env.enforced_range(u), Interval(10, 60));
  EXPECT_TRUE(env.guard_bool(ge(floor_div(u, env.pool().integer(2)), 5)));
  EXPECT_THAT(log_of(env, "runtime_assert"),
              ElementsAre("runtime_assert u0 >= 10 [guard added]",
                          "runtime_assert u0 <= 60 [guard added]"));
}

TEST(ExpectTrue, OnSizesIsAGuardOrFalse) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  EXPECT_TRUE(env.expect_true(ge(s, 4)));
  EXPECT_FALSE(env.expect_true(ge(s, 9)));
  EXPECT_THAT(texts(env.guards()), ElementsAre("s0 >= 4", "s0 <= 8"));
  EXPECT_THAT(texts(env.runtime_asserts()), IsEmpty());
}

// einsum asks Eq(a, b) | Eq(a, 1) and then requires Eq(a, b).
TEST(ExpectTrue, AnEqualityThatFollowsIsAGuardAndNoAssumption) {
  ShapeEnv env;
  Expr a = env.create_size(4, source("x", 1));
  Expr b = env.create_size(4, source("y", 0));
  EXPECT_TRUE(env.expect_true(logical_or(eq(a, b), eq(a, 1))));
  EXPECT_TRUE(env.expect_true(eq(a, b)));
  EXPECT_TRUE(env.statically_known_true(eq(a * 3, b * 3)));
  EXPECT_FALSE(env.used_assumption(a));
  EXPECT_EQ(env.enforced_range(a), Interval::at_least(0));
  EXPECT_THAT(texts(env.minimal_guards()), ElementsAre("Eq(s0, s1)"));
}

TEST(ExpectTrue, KeepsAnEqualityThatBecameAReplacement) {
  ShapeEnv env;
  Expr s = env.create_size(5, source("y", 0));
  Expr u = env.create_unbacked_int();
  EXPECT_TRUE(env.expect_true(eq(u, s + 4)));
  EXPECT_EQ(to_string(env.simplify(u)), "s0 + 4");
  ASSERT_EQ(env.runtime_asserts().size(), 1u);
  Expr kept = env.runtime_asserts()[0].condition;
  EXPECT_EQ(free_symbols(kept).size(), 2u) << kept;
  EXPECT_EQ(env.hint(u), Value(Int(9)));
  // What follows is about the size now, so it has a hint.
  EXPECT_TRUE(env.guard_bool(le(u, 100)));
  EXPECT_THAT(texts(env.guards()), ElementsAre("s0 <= 96"));
}

TEST(ExpectTrue, NeverReplacesSizesByData) {
  ShapeEnv env;
  Expr s = env.create_size(5, source("y", 0));
  Expr u = env.create_unbacked_int();
  Expr v = env.create_unbacked_int();
  EXPECT_TRUE(env.expect_true(eq(s, u + v)));
  EXPECT_TRUE(env.expect_true(eq(u, v)));
  EXPECT_TRUE(env.replacements().empty());
  EXPECT_TRUE(env.statically_known_true(eq(s, u * 2)));
}

TEST(ExpectTrue, AConstantIsLearntAndStillAsserted) {
  ShapeEnv env;
  Expr u = env.create_unbacked_int();
  EXPECT_TRUE(env.expect_true(eq(u, 4)));
  EXPECT_EQ(to_string(env.simplify(u * 5)), "20");
  EXPECT_THAT(texts(env.runtime_asserts()), ElementsAre("Eq(u0, 4)"));
}

TEST(Queries, FollowTheTableOfSection11) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr u = env.create_unbacked_int();
  // data, undecided: the named default, nothing recorded
  EXPECT_FALSE(env.guard_or_false(eq(u, 0)));
  EXPECT_TRUE(env.guard_or_true(gt(u, 7)));
  EXPECT_FALSE(env.statically_known_true(eq(u, 0)));
  EXPECT_FALSE(env.statically_known_false(eq(u, 0)));
  EXPECT_FALSE(env.has_static_value(u));
  EXPECT_EQ(env.optimization_hint(u), Int(8192));
  EXPECT_FALSE(env.hint(u).has_value());
  EXPECT_THAT(texts(env.guards()), IsEmpty());
  // sizes, undecided: the hint, with a guard for guard_or_* alone
  EXPECT_FALSE(env.statically_known_true(ge(s, 4)));
  EXPECT_FALSE(env.statically_known_false(eq(s, 9)));
  EXPECT_FALSE(env.has_static_value(s));
  EXPECT_EQ(env.guarding_hint_or_throw(s + 1), Int(9));
  EXPECT_EQ(env.optimization_hint(s * 2), Int(16));
  EXPECT_THAT(texts(env.guards()), IsEmpty());
  EXPECT_TRUE(env.guard_or_false(ge(s, 4)));
  EXPECT_FALSE(env.guard_or_true(ge(s, 9)));
  EXPECT_THAT(texts(env.guards()), ElementsAre("s0 >= 4", "s0 <= 8"));
  EXPECT_TRUE(env.statically_known_true(ge(s, 3)));
  EXPECT_TRUE(env.statically_known_false(ge(s, 10)));
  EXPECT_THAT(texts(env.runtime_asserts()), IsEmpty());
}

TEST(Queries, SizeObliviousTakesDataSizesAsTwoOrMore) {
  ShapeEnv env;
  Expr u = env.create_unbacked_int();
  EXPECT_THROW(env.guard_size_oblivious(eq(u, 0)), DataDependentError);
  env.mark_size_like(u);
  EXPECT_FALSE(env.guard_size_oblivious(eq(u, 0)));
  EXPECT_TRUE(env.guard_size_oblivious(ne(u, 1)));
  // ... and nobody else does.
  EXPECT_THROW(env.guard_bool(eq(u, 0)), DataDependentError);
}

TEST(Queries, OptimizationHintsRespectRangesAndEqualities) {
  ShapeEnv env;
  Expr u = env.create_unbacked_int();
  Expr v = env.create_unbacked_int();
  env.constrain_range(u, Int(0), Int(100));
  EXPECT_TRUE(env.expect_true(eq(v, u * 2)));
  EXPECT_EQ(env.optimization_hint(u), Int(100));
  EXPECT_EQ(env.optimization_hint(v), Int(200));
}

TEST(Queries, OptimizationHintsOfManyProductsEnd) {
  ShapeEnv env;
  Expr last = env.create_unbacked_int();
  env.constrain_range(last, Int(1), Int(9));
  for (int i = 0; i < 96; ++i) {
    const Expr next = env.create_unbacked_int();
    std::ignore = env.expect_true(eq(next, last * (last + i)));
    last = next;
  }
  const Budget all(Budget::kUnlimited);
  const uint64_t before = Budget::units_left();
  std::ignore = env.optimization_hint(mod(last, env.pool().integer(2)));
  EXPECT_LE(before - Budget::units_left(), 1'000'000u);
}

TEST(ConstrainRange, IsAsserted) {
  ShapeEnv env;
  Expr u = env.create_unbacked_int();
  env.constrain_range(u, Int(3), Int(9));
  EXPECT_THAT(texts(env.runtime_asserts()), ElementsAre("u0 >= 3", "u0 <= 9"));
  EXPECT_THROW(env.constrain_range(u, Int(10), {}), GuardError);
  EXPECT_THROW(env.constrain_range(u, Int(5), Int(4)), Error);
}

TEST(RuntimeAssert, IsKeptWithItsMessage) {
  ShapeEnv env;
  Expr u = env.create_unbacked_int();
  env.runtime_assert(gt(u, 3), {"m.py", 5}, "a must be large");
  ASSERT_EQ(env.runtime_asserts().size(), 1u);
  EXPECT_EQ(env.runtime_asserts()[0].message, "a must be large");
  EXPECT_THAT(message_of<GuardError>(
                  [&] { env.runtime_assert(lt(u, 3), {"m.py", 6}, ""); }),
              StartsWith("Runtime assertion failed for expression"));
}

TEST(SuppressGuards, AnswersFromHintsAndLearnsNothing) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr u = env.create_unbacked_int();
  env.suppress_guards(true);
  EXPECT_TRUE(env.guard_bool(ge(s, 4)));
  EXPECT_EQ(env.guard_int(s), Int(8));
  EXPECT_TRUE(env.expect_true(ge(u, 4)));
  env.suppress_guards(false);
  EXPECT_THAT(texts(env.guards()), IsEmpty());
  EXPECT_THAT(texts(env.runtime_asserts()), IsEmpty());
  EXPECT_FALSE(env.statically_known_true(ge(s, 4)));
}

TEST(Freeze, StillRecordsWhatItAnswers) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  env.freeze();
  EXPECT_TRUE(env.guard_bool(ge(s, 4)));
  EXPECT_EQ(env.guards().size(), 1u);
  EXPECT_THAT(log_of(env, "eval"),
              ElementsAre("eval s0 >= 4 [guard added after freeze]"));
}

TEST(Events, GoToTheSink) {
  ShapeEnv env;
  std::vector<std::string> seen;
  env.set_event_sink([&](const ShapeEvent& e) { seen.push_back(e.kind); });
  Expr s = env.create_size(8, source("x", 0));
  env.guard_bool(le(s, 100));
  EXPECT_THAT(seen, ElementsAre("create_symbol", "eval", "update_range"));
}

// --- minimal guards and enforced ranges

TEST(MinimalGuards, DropWhatOthersImply) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(16, source("y", 0));
  env.guard_bool(le(s, 100));
  env.guard_bool(le(s, 50));
  env.guard_bool(ne(s, 9));
  env.guard_bool(le(s, 8));
  env.guard_bool(eq(t, s * 2));
  EXPECT_EQ(env.guards().size(), 5u);
  EXPECT_THAT(texts(env.minimal_guards()),
              ElementsAre("s0 <= 8", "Eq(2*s0, s1)"));
}

TEST(MinimalGuards, KeepOneOfTwoThatImplyEachOther) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(8, source("y", 0));
  env.guard_bool(le(s, t));
  env.guard_bool(le(t, s));
  env.guard_bool(eq(s, t));
  EXPECT_EQ(env.minimal_guards().size(), 2u) << texts(env.guards()).size();
}

TEST(MinimalGuards, CountOnTheRangeBehindAnEquality) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(8, source("y", 0), named("t", {}, 10));
  Expr u = env.create_size(8, source("z", 0));
  env.guard_bool(le(s, 10));
  env.guard_bool(eq(s, t));
  env.guard_bool(eq(s, u));
  EXPECT_THAT(texts(env.minimal_guards()),
              ElementsAre("Eq(s0, s1)", "Eq(s0, s2)"));
}

TEST(EnforcedRange, StartsAtZeroWhenTheAssumptionWasNotUsed) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(9, source("y", 0));
  env.guard_bool(le(s, 100));
  env.guard_bool(ge(s + t, 0));
  EXPECT_FALSE(env.used_assumption(s));
  EXPECT_EQ(env.enforced_range(s), Interval(0, 100));
  EXPECT_EQ(env.enforced_range(t), Interval::at_least(0));
  EXPECT_EQ(env.bounds(s), Interval(2, 100));
}

TEST(EnforcedRange, StartsAtTwoWhenABranchNeededIt) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(9, source("y", 0));
  // Decided by the assumption.
  EXPECT_TRUE(env.guard_bool(gt(s, 1), {"model.py", 7, "if n > 1:"}));
  EXPECT_THAT(texts(env.guards()), IsEmpty());
  EXPECT_THAT(texts(env.minimal_guards()), IsEmpty());
  EXPECT_TRUE(env.used_assumption(s));
  EXPECT_FALSE(env.used_assumption(t));
  EXPECT_EQ(env.enforced_range(s), Interval::at_least(2));
  EXPECT_EQ(env.enforced_range(t), Interval::at_least(0));
  ASSERT_EQ(env.assumption_origins(s).size(), 1u);
  EXPECT_EQ(env.assumption_origins(s)[0].line, 7);
}

// A branch that falls for fewer sizes than 0 and 1 is a guard, the weakest.
TEST(EnforcedRange, ABranchThatNeedsLessThanTheAssumptionIsAGuard) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(9, source("y", 0));
  EXPECT_FALSE(env.guard_bool(eq(s, 1), {"model.py", 7, "if n == 1:"}));
  EXPECT_TRUE(env.expect_true(ge(s * t, t), {"model.py", 8}));
  EXPECT_THAT(texts(env.guards()), IsEmpty());
  EXPECT_THAT(texts(env.minimal_guards()),
              ElementsAre("Ne(s0, 1)", "s1 <= s0*s1"));
  EXPECT_EQ(env.minimal_guards()[0].origins[0].line, 7);
  EXPECT_FALSE(env.used_assumption(s));
  EXPECT_EQ(env.enforced_range(s), Interval::at_least(0));
  // What follows asks for the whole of it, and the first is not needed then.
  EXPECT_TRUE(env.guard_bool(gt(s, 1)));
  EXPECT_THAT(texts(env.minimal_guards()), IsEmpty());
  EXPECT_EQ(env.enforced_range(s), Interval::at_least(2));
}

// What needs one of two sizes is a guard on both: no range says it.
TEST(EnforcedRange, AnAnswerThatNeedsLessThanTheAssumptionIsAGuard) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(9, source("y", 0));
  EXPECT_TRUE(env.statically_known_true(gt(s + t, 0)));
  const Expr two = env.pool().integer(2);
  EXPECT_TRUE(env.statically_known_true(eq(min(s, two), min(t, two))));
  EXPECT_THAT(texts(env.minimal_guards()),
              ElementsAre("s0 + s1 >= 1", "Eq(Min(s0, 2), Min(s1, 2))"));
  EXPECT_EQ(env.enforced_range(s), Interval::at_least(0));
  EXPECT_EQ(env.enforced_range(t), Interval::at_least(0));
}

TEST(EnforcedRange, ASizeThatWasAdmittedIsNotLeftOut) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(9, source("y", 0));
  Expr r = env.create_size(9, source("z", 0));
  EXPECT_TRUE(env.guard_bool(gt(s, 1), {"model.py", 7, "if n > 1:"}));
  EXPECT_FALSE(env.guard_bool(eq(t, 1), {"model.py", 8, "if m == 1:"}));
  EXPECT_TRUE(env.statically_known_true(gt(r, 1)));  // by no branch
  EXPECT_TRUE(env.guard_bool(le(s, 100), {"model.py", 9}));
  using Sizes = std::vector<std::pair<Expr, int>>;
  EXPECT_EQ(env.left_out_by_branches(), (Sizes{{s, 1}, {t, 1}}));
  env.admit(s, 1);
  EXPECT_EQ(env.enforced_range(s), Interval(1, 100));
  EXPECT_FALSE(env.used_assumption(s));
  EXPECT_EQ(env.left_out_by_branches(), (Sizes{{s, 0}, {t, 1}}));
  env.admit(t, 1);
  EXPECT_EQ(env.left_out_by_branches(), (Sizes{{s, 0}}));
  EXPECT_THAT(texts(env.minimal_guards()), ElementsAre("s0 <= 100"));
  env.admit(s, 0);
  EXPECT_THAT(env.left_out_by_branches(), IsEmpty());
  EXPECT_EQ(env.enforced_range(s), Interval(0, 100));
  EXPECT_EQ(env.enforced_range(r), Interval::at_least(2));
}

// What else its guards leave out stays out.
TEST(EnforcedRange, NoOtherSizeIsAdmittedWithIt) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(9, source("y", 0));
  EXPECT_TRUE(env.guard_bool(gt(t, s), {"model.py", 6, "if m > n:"}));
  EXPECT_TRUE(env.guard_bool(ge(t, 3), {"model.py", 7, "if m >= 3:"}));
  env.admit(t, 1);
  Context allowed(env.pool());
  for (const Guard& guard : env.minimal_guards())
    allowed.assume(guard.condition);
  EXPECT_EQ(allowed.ask(ne(t, 2)).verdict, Verdict::kYes);
  EXPECT_NE(allowed.ask(ne(t, 1)).verdict, Verdict::kYes);
}

TEST(EnforcedRange, DoesNotBlameTheAssumptionForWhatGuardsEnforce) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  EXPECT_TRUE(env.guard_bool(ge(s, 4)));
  EXPECT_FALSE(env.guard_bool(eq(s, 1)));
  EXPECT_FALSE(env.used_assumption(s));
  EXPECT_EQ(env.enforced_range(s), Interval::at_least(4));
}

TEST(EnforcedRange, FollowsAssumptionsThroughGuards) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(9, source("y", 0));
  EXPECT_TRUE(env.guard_bool(gt(t, s)));
  EXPECT_TRUE(env.statically_known_true(ge(t, 3)));  // t > s >= 2
  EXPECT_EQ(env.guards().size(), 1u);
  EXPECT_FALSE(env.used_assumption(s));  // that t >= 3 is less, and enough
  EXPECT_EQ(env.enforced_range(t), Interval::at_least(3));
  EXPECT_EQ(env.enforced_range(s).lower(), Int(0));
}

TEST(EnforcedRange, ASpecializationThatLeansOnTheAssumptionUsesIt) {
  ShapeEnv env;
  Expr s = env.create_size(2, source("x", 0));
  EXPECT_TRUE(env.guard_bool(le(s, 2)));
  EXPECT_EQ(to_string(env.simplify(s)), "2");
  EXPECT_TRUE(env.used_assumption(s));
  EXPECT_EQ(env.enforced_range(s), Interval(2, 2));
}

TEST(EnforcedRange, NoRewriteLeansOnTheAssumption) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr larger = max(s, env.pool().integer(1));
  EXPECT_EQ(env.simplify(larger), larger);
  EXPECT_FALSE(env.used_assumption(s));
  EXPECT_EQ(env.enforced_range(s), Interval::at_least(0));
}

TEST(EnforcedRange, StartsAtOneWhereOnlyZeroWouldMatter) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  EXPECT_TRUE(env.statically_known_true(gt(s, env.pool().integer(0))));
  EXPECT_FALSE(env.used_assumption(s));
  EXPECT_EQ(env.enforced_range(s), Interval::at_least(1));
  EXPECT_TRUE(env.statically_known_true(gt(s, env.pool().integer(1))));
  EXPECT_TRUE(env.used_assumption(s));
  EXPECT_EQ(env.enforced_range(s), Interval::at_least(2));
}

TEST(EnforcedRange, QuestionsAboutALayoutDoNotKeepTheAssumption) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr is_one = eq(s, env.pool().integer(1));
  {
    const LayoutQuestions layout(env);
    EXPECT_TRUE(env.statically_known_false(is_one));
  }
  EXPECT_EQ(env.enforced_range(s), Interval::at_least(0));
  EXPECT_THAT(env.minimal_guards(), IsEmpty());
  // The same question about something else does, though it is answered.
  EXPECT_TRUE(env.statically_known_false(is_one));
  EXPECT_THAT(texts(env.minimal_guards()), ElementsAre("Ne(s0, 1)"));
}

TEST(EnforcedRange, KeepsTheAssumptionOfALayoutThatIsSeen) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(8, source("x", 1));
  const Expr one = env.pool().integer(1);
  {
    const LayoutQuestions layout(env);
    EXPECT_TRUE(env.statically_known_true(gt(s, one)));
  }
  env.keep_layout_answers();
  EXPECT_EQ(env.enforced_range(s), Interval::at_least(2));
  {
    const LayoutQuestions layout(env);
    EXPECT_TRUE(env.statically_known_false(eq(t, one)));
  }
  EXPECT_EQ(env.enforced_range(t), Interval::at_least(0));
}

TEST(EnforcedRange, GuardsTheConditionOfALayoutThatIsSeen) {
  ShapeEnv env;
  Expr s = env.create_size(8, source("x", 0));
  Expr t = env.create_size(6, source("x", 1));
  env.add_layout_condition(ne(s, t));
  env.add_layout_condition(ne(s, t));
  EXPECT_THAT(env.minimal_guards(), IsEmpty());
  env.keep_layout_answers({"model.py", 9});
  ASSERT_EQ(env.minimal_guards().size(), 1u);
  EXPECT_EQ(env.minimal_guards()[0].condition, ne(s, t));
  EXPECT_EQ(env.minimal_guards()[0].origins[0].line, 9);
  env.keep_layout_answers();
  EXPECT_EQ(env.minimal_guards().size(), 1u);
  EXPECT_THROW(env.add_layout_condition(s), Error);
}

TEST(EnforcedRange, KeepsTheDimsPromise) {
  ShapeEnv env;
  Expr s = env.create_size(10, source("x", 0), named("dx", 4, 256));
  EXPECT_EQ(env.enforced_range(s), Interval(4, 256));
  EXPECT_EQ(env.enforced_range(s * 2), Interval(8, 512));
}

// Every answer that was given while tracing holds at every size that the
// enforced ranges and the guards admit.
TEST(EnforcedRange, AdmitsNoSizeThatAnAnswerIsWrongFor) {
  const char* questions[] = {
      "Eq(s0, 1)",         "Eq(s0*s1, 0)",     "Eq(s0, s1)",  "s0 + s1 >= 3",
      "Eq(Mod(s0, 2), 0)", "Max(s0, 1) <= s0", "s0 <= s0*s1", "s1 - s0 < 4",
      "Ne(s0 - 1, 0)",     "Eq(s0//s1, 0)",    "s0*s1 > s1"};
  constexpr size_t kCount = std::size(questions);
  for (size_t first = 0; first < kCount; ++first) {
    ShapeEnv env;
    Expr s = env.create_size(6, source("x", 0));
    Expr t = env.create_size(7, source("y", 0));
    std::vector<std::pair<Expr, bool>> answers;
    for (size_t i = 0; i < 4; ++i) {
      Expr q = parse(env.pool(), questions[(first + 3 * i) % kCount]);
      answers.emplace_back(q, env.guard_bool(q));
    }
    Interval rs = env.enforced_range(s), rt = env.enforced_range(t);
    std::vector<Guard> guards = env.minimal_guards();
    for (int a = 0; a <= 12; ++a) {
      for (int b = 0; b <= 12; ++b) {
        if (!rs.contains(Int(a)) || !rt.contains(Int(b))) continue;
        Assignment point;
        point.set(s, Int(a));
        point.set(t, Int(b));
        bool admitted = true;
        for (const Guard& g : guards) {
          admitted &= evaluate(g.condition, point).is_true();
        }
        if (!admitted) continue;
        for (const auto& [q, answer] : answers) {
          Evaluation r = evaluate(q, point);
          EXPECT_TRUE(answer ? r.is_true() : r.is_false())
              << q << " was " << answer << " at " << point.to_string();
        }
      }
    }
  }
}

// The answers of one session over random questions, and the points where they
// must hold: inside the enforced ranges, the guards and the assertions.
class RandomSession {
 public:
  explicit RandomSession(uint32_t seed) {
    s_ = env_.create_size(6, source("x", 0));
    t_ = env_.create_size(4, source("y", 0));
    u_ = env_.create_unbacked_int();
    testing::RandomExpr random(env_.pool(), {s_, t_, u_}, seed);
    for (int i = 0; i < 6; ++i) ask(random, i);
  }

  void check(uint32_t seed) {
    const std::vector<Guard> guards = env_.minimal_guards();
    Interval rs = env_.enforced_range(s_), rt = env_.enforced_range(t_);
    for (int a = 0; a <= 8; ++a) {
      for (int b = 0; b <= 8; ++b) {
        if (!rs.contains(Int(a)) || !rt.contains(Int(b))) continue;
        for (int c = -4; c <= 9; ++c) check_at(guards, a, b, c, seed);
      }
    }
  }
  size_t answers() const { return answers_.size(); }

 private:
  void ask(testing::RandomExpr& random, int i) {
    Expr q = random.boolean(2);
    try {
      switch (i % 3) {
        case 0:
          env_.expect_true(q);  // when false, the caller raises
          return;
        case 1:
          if (env_.statically_known_true(q)) answers_.emplace_back(q, true);
          if (env_.statically_known_false(q)) answers_.emplace_back(q, false);
          return;
        default: answers_.emplace_back(q, env_.guard_bool(q));
      }
    } catch (const GuardError&) {  // data-dependent, or undefined at the hints
    }
  }

  void check_at(const std::vector<Guard>& guards, int a, int b, int c,
                uint32_t seed) {
    Assignment point;
    point.set(s_, Int(a));
    point.set(t_, Int(b));
    point.set(u_, Int(c));
    for (const Guard& g : guards) {
      if (!evaluate(g.condition, point).is_true()) return;
    }
    for (const RuntimeAssert& r : env_.runtime_asserts()) {
      if (!evaluate(r.condition, point).is_true()) return;
    }
    for (const auto& [q, answer] : answers_) {
      Evaluation r = evaluate(q, point);
      EXPECT_FALSE(answer ? r.is_false() : r.is_true())
          << "seed " << seed << ": " << q << " was " << answer << " at "
          << point.to_string();
    }
  }

  ShapeEnv env_;
  Expr s_, t_, u_;
  std::vector<std::pair<Expr, bool>> answers_;
};

TEST(RandomSessions, GiveNoAnswerThatAnAdmittedInputContradicts) {
  const uint32_t first = testing::seed_or(1);
  size_t answers = 0;
  for (uint32_t seed = first; seed < first + 60; ++seed) {
    RandomSession session(seed);
    session.check(seed);
    answers += session.answers();
  }
  EXPECT_GT(answers, 40u) << "first seed " << first;
}

// s*t <= 20 bounds s where t >= 1: the bound is kept, not that t >= 1.
TEST(EnforcedRange, KeepsWhatWasSaidOfOneSize) {
  ShapeEnv env;
  Expr s = env.create_size(3, source("x", 0));
  Expr t = env.create_size(4, source("y", 0));
  EXPECT_TRUE(env.guard_bool(le(s * t, 20)));
  EXPECT_TRUE(env.statically_known_true(le(s, 1000)));
  EXPECT_EQ(env.enforced_range(s), Interval(0, 1000));
  EXPECT_EQ(env.enforced_range(t), Interval::at_least(0));
}

// --- unbacked sizes

TEST(UnbackedSizes, HaveNoExampleAndAreCheckedAsInputs) {
  ShapeEnv env;
  const DimConstraint unbacked{DimPolicy::kUnbacked, "", {}, {}};
  Expr u = env.create_size(1, source("x", 0), unbacked);
  EXPECT_EQ(to_string(u), "u0");
  EXPECT_FALSE(env.hint(u).has_value());
  EXPECT_THAT(message_of<DataDependentError>([&] { env.guard_bool(eq(u, 1)); }),
              HasSubstr("u0 is x.size()[0], which is marked as unbacked"));
  EXPECT_FALSE(env.guard_or_false(eq(u, 1)));
  EXPECT_TRUE(env.statically_known_true(ge(u, 0)));
  EXPECT_EQ(env.enforced_range(u), Interval::at_least(0));
  EXPECT_TRUE(env.expect_true(le(u, 7)));
  EXPECT_EQ(env.enforced_range(u), Interval(0, 7));
}

TEST(UnbackedSizes, OfOneNameAreOneSymbol) {
  ShapeEnv env;
  const DimConstraint n{DimPolicy::kUnbacked, "n", {}, {}};
  const DimConstraint other{DimPolicy::kUnbacked, "", Int(2), Int(9)};
  Expr u = env.create_size(4, source("x", 0), n);
  EXPECT_EQ(env.create_size(4, source("y", 0), n), u);
  Expr v = env.create_size(4, source("z", 0), other);
  EXPECT_NE(v, u);
  EXPECT_EQ(env.enforced_range(v), Interval(2, 9));
  EXPECT_THAT(message_of<ConstraintViolationError>(
                  [&] { env.create_size(1, source("w", 0), other); }),
              HasSubstr("1 not in range [2, 9]"));
  EXPECT_THAT(message_of<ConstraintViolationError>(
                  [&] { env.create_size(4, source("w", 0), named("n")); }),
              HasSubstr("Found different definitions"));
}

}  // namespace
}  // namespace proviso
