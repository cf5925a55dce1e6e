#include "sym/translate.h"

#include <gtest/gtest.h>

#include "sym/parse.h"
#include "sym/print.h"
#include "sym/symbol_kinds.h"

namespace proviso {
namespace {

TEST(Translate, GivesTheSameTextOverTheOtherPoolsSymbols) {
  ExprPool mine, yours;
  for (const char* text :
       {"2*n + 1", "Eq(Mod(s0, 8), 0) & (u0 < s0)", "Where(n > 2, n//3, 0)",
        "True", "0.5", "Min(n, m, 123456789012345678901234567890)"}) {
    const Expr e = parse(yours, text);
    const Expr here = translate(e, mine);
    EXPECT_EQ(&here.pool(), &mine);
    EXPECT_EQ(to_string(here), to_string(e));
    EXPECT_EQ(translate(here, yours), e);  // and back to the same node
    EXPECT_EQ(translate(here, mine), here);
  }
}

TEST(Translate, TakesWhatIsSharedOnce) {
  ExprPool mine, yours;
  Expr e = yours.symbol("n", SymbolKind::kBackedInt);
  for (int i = 0; i < 200; ++i) e = e + e;  // 2**200 terms when written out
  translate(e, mine);
  EXPECT_EQ(mine.size(), yours.size());
}

TEST(Translate, KeepsKindAndSourceAndRefusesAnotherKind) {
  ExprPool mine, yours, third;
  const Expr u =
      yours.symbol("u0", SymbolKind::kUnbackedInt, "torch.item:model.py:3");
  const Expr here = translate(u, mine);
  EXPECT_EQ(here.symbol().kind, SymbolKind::kUnbackedInt);
  EXPECT_EQ(here.symbol().source, "torch.item:model.py:3");
  third.symbol("u0", SymbolKind::kBackedSize);
  EXPECT_THROW(translate(u, third), Error);
  EXPECT_THROW(translate(Expr(), mine), Error);
}

TEST(SymbolKinds, HaveNamesBothWays) {
  for (int i = 0; i < 6; ++i) {
    const auto kind = static_cast<SymbolKind>(i);
    EXPECT_EQ(find_symbol_kind(name_of(kind)), kind);
  }
  EXPECT_EQ(name_of(SymbolKind::kUnbackedFloat), "unbacked_float");
  EXPECT_EQ(name_of(SymbolKind::kUnbackedBool), "unbacked_bool");
  EXPECT_EQ(find_symbol_kind("size"), std::nullopt);
}

TEST(Translate, LeavesNothingBehindWhereItFails) {
  ExprPool mine, yours;
  (void)mine.symbol("n", SymbolKind::kBackedInt);
  (void)yours.symbol("n", SymbolKind::kUnbackedInt);
  const size_t before = mine.size();
  EXPECT_THROW((void)translate(parse(yours, "(m + 3)*n"), mine), Error);
  EXPECT_EQ(mine.size(), before);
  EXPECT_FALSE(mine.find_symbol("m").has_value());
}

}  // namespace
}  // namespace proviso
