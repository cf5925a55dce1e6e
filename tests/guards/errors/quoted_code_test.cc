// What quoted lines say, and which errors ask alike.
#include "guards/errors/quoted_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "guards/errors/asked_alike.h"

namespace proviso {
namespace {
using namespace internal;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TextFunction function_of(std::vector<SourceLine> lines) {
  return {"f", std::move(lines), 1, 0};
}

TEST(QuotedCode, ConditionsAreOfWords) {
  const TextFunction text = function_of({{4, "torch._check(a + b <= a)"},
                                         {4, "assert x.size(0) > n, 'no'"},
                                         {4, "if a[0] < 3 or b:"},
                                         {4, "while n < x.shape[0]:"},
                                         {4, "assert 3 > 2"}});
  const QuotedFunction f(text);
  EXPECT_EQ(f.lines()[0].check->text, "w0 + w1 <= w0");
  EXPECT_THAT(f.lines()[0].check->words, ElementsAre("a", "b"));
  EXPECT_THAT(f.lines()[1].check->words, ElementsAre("x.shape[0]", "n"));
  EXPECT_FALSE(f.lines()[2].check || f.lines()[2].asked);
  EXPECT_EQ(f.lines()[3].asked->text, "w0 < w1");
  EXPECT_FALSE(f.lines()[4].check || f.lines()[4].asked);
}

// A line is on every way to a later one where it is no deeper than any between.
TEST(QuotedCode, ChecksAboveAreOnEveryWay) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<SourceLine> lines;
    for (size_t i = 0; i < 12; ++i)
      lines.push_back(
          {4 + random() % 3, random() % 2 ? "assert a < b" : "x()"});
    const TextFunction text = function_of(lines);
    const QuotedFunction f(text);
    for (size_t asking = 0; asking < lines.size(); ++asking) {
      size_t indent = lines[asking].indent, next = asking;
      for (size_t i = asking; i-- > 0;) {
        if (lines[i].indent > indent) continue;
        indent = lines[i].indent;
        if (lines[i].code == "x()") continue;
        next = f.lines()[next].check_above;
        EXPECT_EQ(next, i);
      }
      EXPECT_EQ(f.lines()[next].check_above, kNoLine);
    }
  }
}

TEST(QuotedCode, AssignmentsAreFound) {
  const TextFunction text = function_of({{4, "a, b = t.tolist()"},
                                         {4, "for b in range(9):"},
                                         {4, "if a == b:"},
                                         {4, "a += 1"},
                                         {4, "c: int = 1"}});
  const QuotedFunction f(text);
  EXPECT_EQ(f.assigned_before("a", 3), 0u);
  EXPECT_EQ(f.assigned_before("a", 4), 3u);
  EXPECT_EQ(f.assigned_before("b", 1), 0u);
  EXPECT_EQ(f.assigned_before("b", 9), 1u);
  EXPECT_EQ(f.assigned_before("c", 9), 4u);
  EXPECT_EQ(f.assigned_before("a", 0), kNoLine);
  EXPECT_EQ(f.assigned_before("d", 9), kNoLine);
}

TEST(QuotedCode, OfLinesThatAskAlikeTheFirstStandsForAll) {
  const TextFunction text = function_of({{4, "if a < b:"},
                                         {4, "if a < b:"},
                                         {4, "if b < a:"},
                                         {4, "if a < b:"},
                                         {4, "assert a < c"},
                                         {4, "if a < b:"},
                                         {4, "if a < b:"},
                                         {4, "d = 1"},
                                         {4, "if a < b:"}});
  const QuotedFunction f(text);
  EXPECT_THAT(f.askers("if a < b:"), ElementsAre(0, 5, 8));
  EXPECT_THAT(f.askers("d = 1"), ElementsAre(7));
  EXPECT_THAT(f.askers("d = 2"), IsEmpty());
  EXPECT_THAT(f.askers(""), ElementsAre(0, 2, 4, 5, 8));
}

// --- errors that ask alike

TEST(AskedAlike, WhereAllButTheProcessIsTheSame) {
  const std::string ask =
      "Could not guard on data-dependent expression u0 > 4\n";
  const std::string fact = "eval u0 > 1 [guard added] (m.py:3 in f)\n";
  const std::string code = "def f(a, b):\n    assert a < b\n";
  struct Case {
    std::string one, other;
    bool is_alike;
  };
  const Case cases[] = {
      {ask, ask, true},
      {ask, "Could not guard on data-dependent expression u0 > 5\n", false},
      {ask, "x.py:3: in f\n    if n > 4:\n" + ask, false},
      {ask, ask + "evaluating expression to False.\n", false},
      {fact + ask, fact + ask, true},
      {fact + ask, ask, false},
      {fact + ask, "eval u0 > 2 [guard added] (m.py:3 in f)\n" + ask, false},
      {fact + ask, "eval u0 > 1 [guard added] (m.py:4 in f)\n" + ask, false},
      // What is learnt later matters to neither.
      {fact + ask, fact + ask + "eval u0 > 2 [guard added]\n", true},
      {"create_unbacked_symint u0 [0, 9]\n" + ask, ask, false},
      {"create_unbacked_symint u0 [0, 9]\n" + ask,
       "create_unbacked_symint u0 [0, 8]\n" + ask, false},
      {code + ask, code + ask, true},
      {code + ask, ask, false},
      {code + ask, "def f(a, b):\n    assert a < c\n" + ask, false},
      {ask, ask + code, true},
  };
  for (const Case& c : cases) {
    std::string text;
    for (const auto& [rank, lines] :
         {std::pair("[rank0]: ", c.one), std::pair("[rank1]: ", c.other)}) {
      for (size_t from = 0; from < lines.size();) {
        const size_t end = lines.find('\n', from) + 1;
        text += rank + lines.substr(from, end - from);
        from = end;
      }
    }
    text += "[rank2]: \n";  // three processes, so that each is read alone
    const ErrorText read = read_errors(text);
    ASSERT_EQ(read.errors.size(), 2u) << text;
    AskedAlike alike(read);
    EXPECT_EQ(alike.number_of(read.errors[0]), 0u);
    EXPECT_EQ(alike.number_of(read.errors[1]), c.is_alike ? 0u : 1u) << text;
    EXPECT_EQ(alike.number_of(read.errors[0]), 0u);
  }
}

}  // namespace
}  // namespace proviso
