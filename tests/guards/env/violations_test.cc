// Which promises count as broken, and how a Dim is mended: what
// tests/guards/violations_test.cc does not ask of the public class.
#include "guards/env/violations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guards/env/parts.h"

namespace proviso {
namespace {

using ::testing::HasSubstr;

struct Dims : Parts {
  Expr dim(int64_t hint, const char* input, const DimConstraint& constraint) {
    return symbols.create_size(hint, source(input, 0), constraint);
  }
  std::string report() {
    return message_of<ConstraintViolationError>([&] {
      internal::check_constraints(options, facts, symbols, replacements,
                                  recorder);
    });
  }
};

DimConstraint derived(const char* name, RootDim root) {
  DimConstraint d = named(name);
  d.root = std::move(root);
  return d;
}

TEST(BrokenPromises, OneSizeAloneIsNoPromise) {
  Dims a;
  a.branch(eq(a.dim(5, "x", named("dx", 5, 5)), 5));
  EXPECT_EQ(a.report(), "");
}

TEST(BrokenPromises, WhatTheCallerPromisedBesidesIsNotBroken) {
  Dims a;
  const Expr n = a.dim(8, "x", named("dx"));
  a.branch(le(n, 200));
  EXPECT_THAT(a.report(), HasSubstr("L['x'].size()[0] <= 200"));
  a.recorder.require(le(n, 100), {});
  EXPECT_EQ(a.report(), "");
  a.branch(le(n, 50));
  EXPECT_THAT(a.report(), HasSubstr("L['x'].size()[0] <= 50"));
}

TEST(BrokenPromises, AConstantMendsTheRootOfADerivedDim) {
  Dims a;
  a.branch(eq(a.dim(7, "x", derived("2*r + 1", {"r", 2, 1})), 7));
  EXPECT_THAT(a.report(), HasSubstr("Suggested fixes:\n  r = 3"));
}

TEST(BrokenPromises, ARangeMendsTheRootOfADerivedDim) {
  Dims a;
  const Expr n = a.dim(9, "x", derived("2*r + 1", {"r", 2, 1}));
  a.branch(le(n, 20));
  a.branch(ge(n, 6));
  EXPECT_THAT(a.report(), HasSubstr("  r = Dim('r', min=3, max=9)"));
}

TEST(BrokenPromises, ADimThatBecomesAnothersPassesItsRangeOn) {
  Dims a;
  const Expr x = a.dim(6, "x", named("dx", 2, 50)),
             y = a.dim(6, "y", named("dy", 4, 40));
  a.branch(eq(x, y));
  EXPECT_THAT(a.report(), HasSubstr("  dx = Dim('dx', min=4, max=40)"));
  EXPECT_THAT(a.report(), HasSubstr("  dy = dx"));
}

TEST(BrokenPromises, AreNamedWithTheirPlacesAndASizeThatIsRefused) {
  Dims a;
  const Expr n = a.dim(8, "x", named("dx"));
  a.branch(le(n, 40), 5);
  a.branch(ge(n, 4), 6);
  const std::string text = a.report();
  EXPECT_THAT(text, HasSubstr("4 <= L['x'].size()[0] and "
                              "L['x'].size()[0] <= 40."));
  EXPECT_THAT(text, HasSubstr("\n      at m.py:5\n      at m.py:6"));
  EXPECT_THAT(text, HasSubstr("for instance, dx = 41 is refused"));
}

TEST(BrokenPromises, GuardsBetweenDimsAreCheckedWhenTheProgramRuns) {
  Dims a;
  const Expr x = a.dim(6, "x", named("dx")), y = a.dim(9, "y", named("dy"));
  a.branch(lt(x, y));
  EXPECT_EQ(a.report(), "");
}

}  // namespace
}  // namespace proviso
