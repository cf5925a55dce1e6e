// The record of a session: what replay reads, and what watchers hear.
#include "guards/env/session_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guards/logs.h"
#include "sym/operators.h"

namespace proviso {
namespace {

using namespace internal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> lines(const SessionLog& log) {
  std::vector<std::string> result;
  std::string line;
  for (char c : log.shapelog()) {
    if (c != '\n') {
      line += c;
      continue;
    }
    result.push_back(line);
    line.clear();
  }
  return result;
}

TEST(SessionLog, HasSymbolsFactsAndQuestionsInTheirOrder) {
  ExprPool pool;
  const Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize),
             u0 = pool.symbol("u0", SymbolKind::kBackedSize);
  SessionLog log;
  log.add_symbol(s0, Int(8), Interval::at_least(0));
  log.add_fact(ge(s0, 2));
  log.set_query("guard");
  log.set_verdict(log.add_question(le(s0, 512)), Verdict::kYes);
  log.add_symbol(u0, std::nullopt, {0, 9});
  log.add_question(ge(u0, 3));
  EXPECT_THAT(
      lines(log),
      ElementsAre("# shapelog 1, recorded by proviso",
                  "symbol s0 backed hint 8 range [0, int_oo]", "assume s0 >= 2",
                  "ask guard s0 <= 512 ; truth valid ; peer True 0us",
                  "symbol u0 unbacked range [0, 9]",
                  "ask guard u0 >= 3 ; truth hard ; peer unknown 0us"));
}

TEST(SessionLog, SaysWhatIsKnownUntilAVerdictComes) {
  ExprPool pool;
  const Expr question = le(pool.symbol("s0", SymbolKind::kBackedSize), 512);
  SessionLog log;
  const size_t first = log.add_question(question);
  const size_t second = log.add_question(question, Verdict::kYes);
  EXPECT_THAT(lines(log)[1], HasSubstr("truth hard"));
  EXPECT_THAT(lines(log)[2], HasSubstr("truth valid"));
  log.set_verdict(first, Verdict::kNo);
  EXPECT_THAT(lines(log)[1], HasSubstr("truth refuted ; peer False"));
  EXPECT_THAT(lines(log)[2], HasSubstr("truth valid"));
  EXPECT_NE(first, second);
}

TEST(SessionLog, AQuestionIsOfTheKindThatWasSetLast) {
  ExprPool pool;
  const Expr question = le(pool.symbol("s0", SymbolKind::kBackedSize), 512);
  SessionLog log;
  log.add_question(question);
  log.set_query("assert");
  log.add_question(question);
  log.add_question(question);
  EXPECT_THAT(lines(log)[1], HasSubstr("ask static "));
  EXPECT_THAT(lines(log)[2], HasSubstr("ask assert "));
  EXPECT_THAT(lines(log)[3], HasSubstr("ask assert "));
}

TEST(SessionLog, FloatsHaveTheRangeOfAllNumbers) {
  ExprPool pool;
  SessionLog log;
  log.add_symbol(pool.symbol("zf0", SymbolKind::kBackedFloat),
                 Rational(Int(5), Int(2)), {});
  EXPECT_THAT(lines(log)[1], "symbol zf0 backed hint 5/2 range [-oo, oo]");
}

TEST(SessionLog, EventsAreKeptAndGivenToBothListeners) {
  SessionLog log;
  std::vector<std::string> own, everyone;
  log.set_sink([&](const ShapeEvent& e) { own.push_back(e.text); });
  set_log_callback([&](const ShapeEvent& e) { everyone.push_back(e.subject); });
  log.emit("eval", "s0 <= 512", "eval s0 <= 512 [guard added]", {"m.py", 7});
  log.set_sink({});
  set_log_callback({});
  log.emit("eval", "s0 <= 9", "eval s0 <= 9 [guard added]");
  EXPECT_THAT(own, ElementsAre("eval s0 <= 512 [guard added]"));
  EXPECT_THAT(everyone, ElementsAre("s0 <= 512"));
  ASSERT_EQ(log.events().size(), 2u);
  EXPECT_EQ(log.events()[0].location.line, 7);
  EXPECT_EQ(log.events()[1].kind, "eval");
  EXPECT_THAT(log.shapelog(), Not(HasSubstr("512")));
}

}  // namespace
}  // namespace proviso
