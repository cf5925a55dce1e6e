// A reason names every fact that it needs: what the solver derives, and what
// each strategy decides, holds at every point at which the facts of its reason
// hold, other facts left out.
//
//   x <= 4 (0), y <= x (1), z <= 2 (2)
//   y <= 4 by {0, 1}        right
//   y <= 4 by {1}           wrong: x = y = 5
//
// Answers do not show this: facts that are missing are added to them
// (engine/explanation.h), at the cost of asking again.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "solver/engine/native_answers.h"
#include "solver/forms/form_text.h"
#include "solver/lower.h"
#include "solver/point.h"
#include "sym/evaluate.h"
#include "tests/solver/support.h"
#include "tests/support/random_expr.h"
#include "tests/support/random_facts.h"
#include "tests/support/random_index.h"

namespace proviso {
namespace {
using namespace internal;

constexpr int kLow = -3, kHigh = 6;  // of each symbol
constexpr size_t kSymbols = 3;

std::vector<std::array<int, kSymbols>> all_points() {
  std::vector<std::array<int, kSymbols>> points;
  for (int a = kLow; a <= kHigh; ++a) {
    for (int b = kLow; b <= kHigh; ++b) {
      for (int c = kLow; c <= kHigh; ++c) points.push_back({a, b, c});
    }
  }
  return points;
}

// What random facts and questions rarely are.
constexpr const char* kFacts[] = {
    "u0*u1 == u1*u2",    "2*u0*u1 == u2*u2",
    "u0*u1 == 2*u2",     "u0 == 1 or u0 == u1",
    "u0 >= 0",           "u1 >= 1",
    "u2 >= 1",           "u0 < u1*u2",
    "u0 <= u1",          "Mod(u0, u1) == 0",
    "u0 == 3*(u1//2)",   "Mod(u1, 3) == 1",
    "max(u0, u1) <= u2", "u0 < u1",
};
constexpr const char* kQuestions[] = {
    "(u0//u1)//u2 == u0//(u1*u2)",
    "(u2*u1 + u0)//u1 == u2",
    "(u2*u1 + u0) % u1 == u0",
    "min(max(u0, u1), max(u0, u2)) == max(min(u1, u2), u0)",
    "max(u0, u1) + min(u1, 2) <= max(u0, u2) + min(u2, 3)",
    "u0 == u2 or u1 == 0",
    "u0*u1*u1 == u1*u1*u2",
    "4*u0*u0*u1*u1 == u2**4",
    "u0*u0*u1 <= u1*u1*u2",
    "u0 <= u2",
    "u0*u1 <= u2*u2",
    "u0 + u1 < u2*u1 + u2",
    "Mod(u0*u2, u1) == 0",
    "Mod(u0, 3) == 0",
    "u0*u1 + 1 > u2 - u0",
    "u0//2 == u2",
    "2**(u0 + 1) == 2*2**u0",
    "2**(u0 + 1) <= 2*u1 + 2",
    "u1*(u0//u1) <= u0",
    "u1*(u0//u1) + u1 + u2 > u0 + u2",
    "u2*(u0//u1)*u1 + u2 <= u2*u0 + u2",
    "Mod(u0, u1) + Mod(u2, u1) < 2*u1",
    "max(u0, u1)//u2 <= max(u0//u2, u1)",
};

constexpr const char* kIntegers[] = {
    "2**u0",
    "2**(u0 + 1)",
    "(u1 + 2)**u0",
    "2**u0*u1",
    "u0 & u1",
    "u0 | u1",
    "u0*u0 - 3*u0",
    "u0*u1 - u1*u2",
    "u0//u1",
    "u0 % u1",
    "(u0*u1)//u2",
    "(u0*u1 + u2)//u1",
    "(u0*u1 + u2) % u1",
    "u2*u1*(u0//u1)",
    "u0 - u1*(u0//u1)",
    "u2 - (u0 % u1)",
    "max(u0, u1)//u2",
    "max(u0, u1) - u0",
    "2*min(u0, u1) - u1",
    "abs(u0) + u0",
    "u0**3",
    "(u0*u1) // (u1*u2)",
    "u2*(u0//u2) - u0",
    "(u0//u1)//u2",
    "(u0*u0)//u0",
    "CeilDiv(u0, u1)",

};

// Random facts and questions, of which one point is a model.
struct Problem {
  explicit Problem(uint32_t seed) : random(seed) {
    for (size_t i = 0; i < kSymbols; ++i) {
      symbols.push_back(
          pool.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt));
    }
    Assignment hidden;
    std::vector<int> at;
    for (Expr s : symbols) {
      at.push_back(below(6) - 1);
      hidden.set(s, Int(at.back()));
    }
    testing::RandomFacts make(pool, symbols, hidden, seed);
    testing::RandomIndex index(pool, symbols, seed);
    for (size_t i = 0; i < kSymbols; ++i) {
      if (below(3) > 0) facts.push_back(ge(symbols[i], at[i] - below(3)));
      if (below(3) > 0) facts.push_back(le(symbols[i], at[i] + below(4)));
    }
    for (int more = 1 + below(4); more > 0; --more)
      facts.push_back(make.fact());
    if (seed % 2 == 0) {
      for (const char* text : kFacts) {
        const Expr fact = parse(pool, text);
        if (below(3) == 0 && evaluate(fact, hidden).is_true())
          facts.push_back(fact);
      }
      for (const char* text : kQuestions) {
        if (below(3) == 0) questions.push_back(parse(pool, text));
      }
    }
    std::shuffle(facts.begin(), facts.end(), random);
    for (int i = 0; i < 6; ++i) {
      questions.push_back(i < 4 ? make.question() : index.boolean(1));
    }
    testing::RandomExpr any(pool, symbols, seed);
    for (int i = 0; i < 10; ++i)
      integers.push_back(i < 6 ? any.integer(2) : index.integer(1));
    for (const char* text : kIntegers) {
      if (below(2) == 0) integers.push_back(parse(pool, text));
    }
  }
  int below(int n) { return static_cast<int>(random() % unsigned(n)); }

  std::mt19937 random;
  ExprPool pool;
  std::vector<Expr> symbols, facts, questions, integers;
};

// At which of the points which facts hold.
class FactsAtPoints {
 public:
  explicit FactsAtPoints(const Problem& problem) : symbols_(problem.symbols) {
    for (const auto& values : all_points()) {
      const Assignment point = at(values);
      std::vector<bool> holds;
      for (Expr fact : problem.facts)
        holds.push_back(evaluate(fact, point).is_true());
      rows_.push_back({values, std::move(holds)});
    }
  }

  // Calls `look` with each point at which these hold, until it returns false.
  template <typename Look>
  void where_hold(const std::vector<FactId>& facts, Look look) const {
    for (const auto& [values, holds] : rows_) {
      const bool all = std::all_of(facts.begin(), facts.end(),
                                   [&](FactId f) { return holds[f]; });
      if (all && !look(values)) return;
    }
  }
  Assignment at(const std::array<int, kSymbols>& values) const {
    Assignment point;
    for (size_t i = 0; i < kSymbols; ++i)
      point.set(symbols_[i], Int(values[i]));
    return point;
  }

 private:
  struct Row {
    std::array<int, kSymbols> values;
    std::vector<bool> holds;
  };
  std::vector<Expr> symbols_;
  std::vector<Row> rows_;
};

std::string in_words(const Problem& problem, const std::vector<FactId>& facts) {
  std::string text = "by {";
  for (FactId f : facts) text += to_python(problem.facts[f]) + "; ";
  text += "} of {";
  for (Expr f : problem.facts) text += to_python(f) + "; ";
  return text + "}";
}

struct Tally {
  size_t decided = 0, by_some = 0;  // by some of the facts, but not by all
};

void expect_reasons(const Problem& problem, const FactsAtPoints& at_points,
                    const SolverOptions& options,
                    std::map<Strategy, Tally>& tally) {
  Statistics statistics;
  FactStack stack(problem.symbols[0].pool(), options, statistics);
  for (Expr fact : problem.facts) stack.assume(fact, {});
  NativeAnswers native(stack);
  Reasoner& reasoner = stack.reasoner();
  const auto expect = [&](std::optional<Expr> question, Verdict verdict,
                          const std::vector<FactId>& facts) {
    at_points.where_hold(facts, [&](const auto& values) {
      const Assignment point = at_points.at(values);
      bool agrees = false;
      if (question) {
        const Evaluation e = evaluate(*question, point);
        agrees = verdict == Verdict::kYes ? e.is_true() : e.is_false();
      }
      EXPECT_TRUE(agrees) << (question ? to_python(*question) : "conflict")
                          << " at " << point.to_string() << ' '
                          << in_words(problem, facts);
      return agrees;
    });
  };
  if (const auto& conflict = reasoner.domain().conflict()) {
    expect(std::nullopt, Verdict::kNo, reasoner.facts_in(*conflict));
    return;
  }
  for (Expr question : problem.questions) {
    const Remembered m = native.with_reason(question);
    if (m.verdict == Verdict::kUnknown) continue;
    const std::vector<FactId> facts = reasoner.facts_in(m.why);
    SCOPED_TRACE(name_of(m.strategy));
    if (m.is_contradiction) {
      expect(std::nullopt, Verdict::kNo, facts);
      continue;
    }
    expect(question, m.verdict, facts);
    Tally& t = tally[m.strategy];
    ++t.decided;
    t.by_some += !facts.empty() && facts.size() < problem.facts.size();
  }
}

// The ranges and the normal form of each integer, by themselves.
void expect_reasons_of_integers(const Problem& problem,
                                const FactsAtPoints& at_points, Tally& tally) {
  Statistics statistics;
  const SolverOptions options = testing::native_only();
  FactStack stack(problem.symbols[0].pool(), options, statistics);
  for (Expr fact : problem.facts) stack.assume(fact, {});
  Reasoner& reasoner = stack.reasoner();
  Domain& domain = reasoner.domain();
  if (domain.conflict()) return;
  const auto expect = [&](Expr e, const char* what, Reason why, auto holds) {
    const std::vector<FactId> facts = reasoner.facts_in(why);
    ++tally.decided;
    tally.by_some += !facts.empty() && facts.size() < problem.facts.size();
    at_points.where_hold(facts, [&](const auto& values) {
      const Evaluation v = evaluate(e, at_points.at(values));
      if (!v.defined() || holds(values, std::get<Int>(*v.value))) return true;
      ADD_FAILURE() << to_python(e) << ": its " << what << " at "
                    << at_points.at(values).to_string() << ' '
                    << in_words(problem, facts);
      return false;
    });
  };
  const auto expect_range = [&](Expr e, const char* what, const Range& r) {
    if (const OptionalInt& low = r.span.lower()) {
      expect(e, what, r.lower,
             [&](const auto&, const Int& v) { return v >= *low; });
    }
    if (const OptionalInt& high = r.span.upper()) {
      expect(e, what, r.upper,
             [&](const auto&, const Int& v) { return v <= *high; });
    }
  };
  for (Expr e : problem.integers) {
    const Poly p = reasoner.lower().integer(e);
    expect_range(e, "range", domain.range(p));
    expect_range(e, "plain range", domain.plain_range(p));
    expect_range(e, "factored range", domain.factored_range(p));
    const Normal n = domain.normal(p);
    if (!n.changed) continue;
    Point point(domain.forms());
    expect(e, "normal form", n.why, [&](const auto& values, const Int& v) {
      for (size_t i = 0; i < kSymbols; ++i) {
        point.set(domain.forms().atoms.symbol(problem.symbols[i]), values[i]);
      }
      const Point::Value found = point.value(n.poly);
      return !found || Int(*found) == v;
    });
  }
}

TEST(Reasons, OfRangesAndNormalFormsNameAllFactsThatTheyNeed) {
  const uint32_t seed = testing::seed_or(7);
  Tally tally;
  const char* more = std::getenv("PROVISO_TEST_PROBLEMS");
  const int rounds = more ? std::atoi(more) : 600;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed + uint32_t(round)));
    const Problem problem(seed + uint32_t(round));
    expect_reasons_of_integers(problem, FactsAtPoints(problem), tally);
  }
  std::cout << tally.decided << " known, " << tally.by_some
            << " by some of the facts\n";
  EXPECT_GE(tally.by_some * 4, tally.decided);
}

TEST(Reasons, OfAnswersNameAllFactsThatTheyNeed) {
  const uint32_t seed = testing::seed_or(7);
  std::map<Strategy, Tally> tally;
  const char* more = std::getenv("PROVISO_TEST_PROBLEMS");
  const int rounds = more ? std::atoi(more) : 600;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed + uint32_t(round)));
    const Problem problem(seed + uint32_t(round));
    const FactsAtPoints at_points(problem);
    expect_reasons(problem, at_points, testing::native_only(), tally);
    for (Strategy s : all_strategies()) {
      if (s == Strategy::kZ3) continue;
      expect_reasons(problem, at_points, testing::only(s), tally);
    }
  }
  for (const auto& [strategy, t] : tally) {
    std::cout << name_of(strategy) << ": " << t.decided << " decided, "
              << t.by_some << " by some of the facts\n";
  }
  EXPECT_GE(tally.size(), 10u);
}

}  // namespace
}  // namespace proviso
