#include "guards/env/open_questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guards/env/parts.h"

namespace proviso {
namespace {

using namespace internal;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string refusal(Parts& a, Expr question, bool is_value = false,
                    const SourceLocation& where = {}) {
  return a.open_questions.refuse(question, where, is_value).what();
}

TEST(OpenQuestions, TheTextShowsExamplesAndWhatHasNone) {
  Parts a;
  const Expr s0 = a.size(8), u0 = a.data();
  EXPECT_THAT(refusal(a, le(u0, s0 * 2)),
              StartsWith("Could not guard on data-dependent expression u0 <= "
                         "16 (unhinted: u0 <= 2*s0).  (Size-like symbols: "
                         "none)\n\n"));
  a.symbols.mark_size_like(u0);
  EXPECT_THAT(refusal(a, le(u0, 3)), HasSubstr("(Size-like symbols: u0)"));
}

TEST(OpenQuestions, TheAdviceIsForABranchOrForAValue) {
  Parts a;
  const Expr u0 = a.data();
  const std::string branch = refusal(a, ge(u0, 5), false, {"m.py", 7});
  EXPECT_THAT(branch, HasSubstr("  1. torch._check(u0 >= 5)\n"
                                "  2. torch._check(u0 <= 4)\n"));
  EXPECT_THAT(branch, HasSubstr("Caused by: m.py:7\n"));
  const std::string value = refusal(a, u0, true);
  EXPECT_THAT(value, StartsWith("Could not extract specialized integer from "
                                "data-dependent expression u0 (unhinted"));
  EXPECT_THAT(value, HasSubstr("torch._check(u0 == <value>)"));
  EXPECT_THAT(value, Not(HasSubstr("Caused by")));
}

TEST(OpenQuestions, AnInputThatIsMarkedAsUnbackedIsNamed) {
  Parts a;
  const Expr u0 = a.symbols.create_size(8, "L['x'].size()[0]",
                                        {DimPolicy::kUnbacked, "", {}, {}});
  EXPECT_THAT(refusal(a, ge(u0, 5)),
              HasSubstr("u0 is x.size()[0], which is marked as unbacked"));
}

TEST(OpenQuestions, TheLastOfAThreadIsOfOnePoolWhileItsSessionLives) {
  Parts a;
  const Expr u0 = a.data();
  EXPECT_EQ(OpenQuestions::last_of(a.facts.pool()), nullptr);
  refusal(a, ge(u0, 5));
  const OpenQuestion* last = OpenQuestions::last_of(a.facts.pool());
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->condition, ge(u0, 5));
  {
    Parts b;
    refusal(b, ge(b.data(), 1));
    EXPECT_EQ(OpenQuestions::last_of(a.facts.pool()), nullptr);
    EXPECT_NE(OpenQuestions::last_of(b.facts.pool()), nullptr);
  }
  EXPECT_EQ(OpenQuestions::last_of(a.facts.pool()), nullptr);
}

}  // namespace
}  // namespace proviso
