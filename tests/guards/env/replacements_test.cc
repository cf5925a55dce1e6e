#include "guards/env/replacements.h"

#include <gtest/gtest.h>

#include "sym/parse.h"
#include "sym/print.h"

namespace proviso {
namespace {

using namespace internal;

struct Session {
  ShapeEnvOptions options;
  SessionLog log;
  SessionFacts facts{options.solver, log};
  Symbols symbols{options, facts, log};
  Replacements replacements{symbols};
  std::vector<Expr> s, u;

  Session() {
    for (int64_t hint : {2, 3, 4, 5})
      s.push_back(symbols.create_size(hint, "x", {}));
    for (int i = 0; i < 3; ++i)
      u.push_back(symbols.create_unbacked(SymbolKind::kUnbackedInt, {}));
  }
};

TEST(Replacements, ApplyAndMakeCanonical) {
  Session a;
  EXPECT_EQ(to_string(a.replacements.apply(a.s[0] + a.s[0])), "2*s0");
  a.replacements.set(a.s[3], a.s[1] * 4);
  EXPECT_EQ(to_string(a.replacements.apply(a.s[3] + a.s[1])), "5*s1");
  EXPECT_TRUE(a.replacements.has(a.s[3]));
  EXPECT_FALSE(a.replacements.has(a.s[1]));
}

TEST(Replacements, ALaterOneIsTakenIntoEarlierTargets) {
  Session a;
  a.replacements.set(a.s[3], a.s[1] + 1);
  EXPECT_EQ(to_string(a.replacements.apply(a.s[3])), "s1 + 1");
  a.replacements.set(a.s[1], a.s[0] * 2);
  EXPECT_EQ(to_string(a.replacements.apply(a.s[3])), "2*s0 + 1");
  EXPECT_EQ(to_string(a.replacements.all().at(a.s[3])), "2*s0 + 1");
}

TEST(Replacements, EqualDataReplaceNothingButInPlausibleValues) {
  Session a;
  a.replacements.set_equal_data(a.u[1], a.u[0] + 1);
  a.replacements.set_equal_data(a.u[2], a.u[1] * 2);
  a.replacements.set_equal_data(a.u[2], a.u[0]);  // the first stays
  EXPECT_EQ(a.replacements.apply(a.u[2]), a.u[2]);
  EXPECT_FALSE(a.replacements.has(a.u[2]));
  EXPECT_EQ(to_string(a.replacements.apply_equal_data(a.u[2])), "2*u0 + 2");
  EXPECT_EQ(a.replacements.apply_equal_data(a.s[0]), a.s[0]);
}

}  // namespace
}  // namespace proviso
