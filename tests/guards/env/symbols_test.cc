// How sizes get their symbols, alone: without questions or guards.
#include "guards/env/symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sym/print.h"
#include "tests/guards/support.h"

namespace proviso {
namespace {

using namespace internal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Session {
  explicit Session(ShapeEnvOptions o = {}) : options(o) {}

  ShapeEnvOptions options;
  SessionLog log;
  SessionFacts facts{options.solver, log};
  Symbols symbols{options, facts, log};
};

DimConstraint unbacked(const std::string& name) {
  return {DimPolicy::kUnbacked, name, {}, {}};
}

TEST(Symbols, SizesAreNumberedAndZeroAndOneAreConstants) {
  Session a;
  std::vector<std::string> made;
  for (int64_t hint : {8, 1, 0, 8})
    made.push_back(to_string(a.symbols.create_size(hint, "x", {})));
  EXPECT_THAT(made, ElementsAre("s0", "1", "0", "s1"));
  EXPECT_EQ(a.symbols.dims().size(), 4u);
  Session b({.specialize_zero_one = false});
  EXPECT_EQ(to_string(b.symbols.create_size(1, "x", {})), "s0");
  EXPECT_THAT(b.facts.assumed(), IsEmpty());  // as 1 is no size >= 2
}

TEST(Symbols, ASizeIsAssumedToBeTwoOnlyWhereItsRangeDoesNotSaySo) {
  Session a;
  const Expr s0 = a.symbols.create_size(8, "x", {});
  a.symbols.create_size(8, "y", named("dy", 4));
  EXPECT_THAT(a.facts.assumed(), ElementsAre(s0));
  Session b({.assume_at_least_two = false});
  b.symbols.create_size(8, "x", {});
  EXPECT_THAT(b.facts.assumed(), IsEmpty());
}

TEST(Symbols, TheEventShowsTheFirstRange) {
  Session a;
  const Expr s0 = a.symbols.create_size(8, "L['x'].size()[0]", {});
  EXPECT_EQ(a.log.events()[0].text,
            "create_symbol s0 = 8 for L['x'].size()[0] [2, int_oo]");
  EXPECT_EQ(a.symbols.first_range(s0), Interval::at_least(2));
  EXPECT_THAT(a.log.shapelog(),
              HasSubstr("symbol s0 backed hint 8 range [0, int_oo]\n"
                        "assume s0 >= 2\n"));
  EXPECT_EQ(a.symbols.dims()[0].display_name, "x.size()[0]");
  const Expr other = a.facts.pool().symbol("t", SymbolKind::kBackedInt);
  EXPECT_EQ(a.symbols.first_range(other), Interval::all());
}

TEST(Symbols, ADimHasOneSymbolAndOneDefinition) {
  Session a;
  const Expr first = a.symbols.create_size(8, "x", named("d", 4, 9));
  EXPECT_EQ(a.symbols.create_size(8, "y", named("d", 4, 9)), first);
  EXPECT_THAT(message_of<ConstraintViolationError>(
                  [&] { a.symbols.create_size(7, "z", named("d", 4, 9)); }),
              HasSubstr("z = 7 is not equal to x = 8"));
  EXPECT_THAT(message_of<ConstraintViolationError>(
                  [&] { a.symbols.create_size(8, "z", named("d", 4)); }),
              HasSubstr("Found different definitions"));
  EXPECT_EQ(a.symbols.source_name(first), "x");
}

TEST(Symbols, EqualExamplesAreOneSizeWithDuckShapesAlone) {
  Session duck({.duck_shape = true}), plain;
  for (Session* a : {&duck, &plain}) {
    const Expr first = a->symbols.create_size(8, "x", {});
    const Expr same = a->symbols.create_size(8, "y", {});
    EXPECT_EQ(first == same, a == &duck);
    EXPECT_NE(a->symbols.create_size(8, "z", dynamic()), first);
  }
}

TEST(Symbols, UnbackedInputsAreSizeLikeAndHaveNoHint) {
  Session a;
  const Expr u0 = a.symbols.create_size(8, "x", unbacked("d"));
  EXPECT_EQ(a.symbols.create_size(8, "y", unbacked("d")), u0);
  EXPECT_EQ(to_string(u0), "u0");
  EXPECT_TRUE(a.symbols.is_size_like(u0));
  EXPECT_EQ(a.symbols.hints().find(u0), nullptr);
  const Expr u1 = a.symbols.create_unbacked(SymbolKind::kUnbackedInt, {0, 9});
  EXPECT_FALSE(a.symbols.is_size_like(u1));
  EXPECT_EQ(a.facts.context().bounds_quick(u1), Interval(0, 9));
}

TEST(Symbols, ValuesCountForThemselves) {
  Session a;
  const auto text = [](Expr e) { return to_string(e); };
  EXPECT_EQ(text(a.symbols.create_backed_float(2.5, "f")), "zf0");
  EXPECT_EQ(text(a.symbols.create_backed_int(-3, "n", {})), "s0");
  EXPECT_EQ(text(a.symbols.create_backed_int(-3, "k", {DimPolicy::kStatic})),
            "-3");
  EXPECT_EQ(text(a.symbols.create_backed_int(4, "l", {})), "s1");
  EXPECT_EQ(text(a.symbols.create_unbacked(SymbolKind::kUnbackedFloat, {})),
            "zuf0");
  EXPECT_EQ(text(a.symbols.create_unbacked(SymbolKind::kUnbackedBool, {0, 1})),
            "u0");
  EXPECT_THAT(message_of<ConstraintViolationError>([&] {
                a.symbols.create_backed_int(9, "n", named("n", 0, 5));
              }),
              HasSubstr("9 not in range [0, 5] for n"));
}

TEST(Symbols, AnExpressionDependsOnDataByOneOfItsSymbols) {
  Session a;
  const Expr s0 = a.symbols.create_size(8, "x", {});
  const Expr u0 = a.symbols.create_unbacked(SymbolKind::kUnbackedInt, {});
  EXPECT_THAT(a.symbols.in(s0 * u0 + 1), ElementsAre(s0, u0));
  EXPECT_TRUE(a.symbols.depends_on_data(s0 * u0 + 1));
  EXPECT_FALSE(a.symbols.depends_on_data(s0 + 1));
}

TEST(Symbols, AnEqualityOfSizesIsOneOfTwoBackedSymbols) {
  Session a;
  const Expr s0 = a.symbols.create_size(8, "x", {});
  const Expr s1 = a.symbols.create_size(8, "y", {});
  const Expr u0 = a.symbols.create_unbacked(SymbolKind::kUnbackedInt, {});
  EXPECT_TRUE(equates_sizes(eq(s0, s1)));
  EXPECT_FALSE(equates_sizes(eq(s0, u0)));
  EXPECT_FALSE(equates_sizes(eq(s0, s1 * 2)));
  EXPECT_FALSE(equates_sizes(ne(s0, s1)));
}

}  // namespace
}  // namespace proviso
