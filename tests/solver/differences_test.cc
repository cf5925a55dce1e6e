// Differences of variables, asserted and taken back at random: what follows is
// what the closure of the steps says (Floyd and Warshall), and nothing else; of
// the graph alone, and of a context.
#include "solver/state/differences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "solver/lower.h"
#include "solver/state/state.h"
#include "tests/solver/support.h"
#include "tests/support/random_expr.h"

namespace proviso {
namespace {
using namespace internal;

constexpr int kVariables = 9;

struct Step {  // to - from >= least
  int from, to;
  int64_t least;
};

// The largest known lower bound of to - from.
class Closure {
 public:
  explicit Closure(const std::vector<Step>& steps) {
    for (int i = 0; i < kVariables; ++i) at(i, i) = 0;
    for (const Step& s : steps) raise(s.from, s.to, s.least);
    for (int k = 0; k < kVariables; ++k) {
      for (int i = 0; i < kVariables; ++i) {
        for (int j = 0; j < kVariables; ++j) {
          if (at(i, k) && at(k, j)) raise(i, j, *at(i, k) + *at(k, j));
        }
      }
    }
  }
  std::optional<int64_t>& at(int from, int to) { return least_[from][to]; }
  bool is_contradictory() {
    for (int i = 0; i < kVariables; ++i) {
      if (*at(i, i) > 0) return true;
    }
    return false;
  }
  Verdict verdict(const Step& s) {
    if (at(s.from, s.to) && *at(s.from, s.to) >= s.least) return Verdict::kYes;
    if (at(s.to, s.from) && *at(s.to, s.from) > -s.least) return Verdict::kNo;
    return Verdict::kUnknown;
  }

 private:
  void raise(int from, int to, int64_t least) {
    at(from, to) = std::max(at(from, to).value_or(least), least);
  }
  std::optional<int64_t> least_[kVariables][kVariables];
};

Step random_step(std::mt19937& random) {
  auto below = [&random](uint32_t n) { return static_cast<int>(random() % n); };
  const int from = below(kVariables);
  return {from, (from + 1 + below(kVariables - 1)) % kVariables, below(7) - 3};
}

std::string text(const Step& s) {
  return "u" + std::to_string(s.to) + " - u" + std::to_string(s.from) +
         " >= " + std::to_string(s.least);
}

// The graph over constraints that are inequalities between variables, and no
// more.
class Graph {
 public:
  Graph() : forms_(Forms::of(pool_)) {
    for (int i = 0; i < kVariables; ++i) {
      atoms_.push_back(forms_.pool.atoms.symbol(
          pool_.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt)));
    }
  }
  // to - from - least
  Poly poly(const Step& s) {
    Poly p = variable(s.to) - variable(s.from);
    p.constant = -s.least;
    return p;
  }
  std::optional<Reason> add(const Step& s) {
    const Poly inequality = poly(s);
    const Reason why = reasons_.leaf(leaves_++);
    state_.constraints.add(forms_.pool.formulas.ge(inequality), why);
    return state_.differences.add(inequality, why);
  }
  State& state() { return state_; }
  ReasonArena& reasons() { return reasons_; }

 private:
  Poly variable(int i) {
    return internal::variable(forms_.pool, atoms_[static_cast<size_t>(i)]);
  }

  ExprPool pool_;
  Forms& forms_;
  ReasonArena reasons_;
  State state_{forms_.pool, reasons_, Interval::all()};
  std::vector<AtomId> atoms_;
  uint32_t leaves_ = 0;
};

TEST(Differences, TheGraphSaysWhatTheClosureSays) {
  size_t by_potentials = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Graph graph;
    std::vector<Step> steps;
    for (int turn = 0; turn < 14; ++turn) {
      Step step = random_step(random);
      if (random() % 3 != 0) step.to = (step.from + 1) % kVariables;
      const Trail::Mark before = graph.state().trail.mark();
      steps.push_back(step);
      const bool is_contradictory = Closure(steps).is_contradictory();
      const auto conflict = graph.add(step);
      if (is_contradictory) {
        // By potentials at once; else where bounds would grow without end.
        const auto cycle =
            graph.state().differences.find_cycle(graph.poly(step));
        EXPECT_TRUE(conflict || cycle) << seed;
        graph.state().trail.undo(before);
        steps.pop_back();
        continue;
      }
      ASSERT_FALSE(conflict) << seed;
      Closure closure(steps);
      for (int k = 0; k < 4; ++k) {
        const Step asked = random_step(random);
        const Poly p = graph.poly(asked);
        const Range paths = graph.state().differences.by_paths(p);
        const Range potentials = graph.state().differences.by_potentials(p);
        const auto least = closure.at(asked.from, asked.to);
        const auto most = closure.at(asked.to, asked.from);
        OptionalInt low, high;
        if (least) low = Int(*least - asked.least);
        if (most) high = Int(-*most - asked.least);
        ASSERT_EQ(paths.span, Interval::of(low, high)) << seed;
        ASSERT_TRUE(potentials.span.contains(paths.span)) << seed;
        by_potentials += potentials.span != Interval::all();
      }
    }
  }
  EXPECT_GT(by_potentials, 100u);
}

TEST(Differences, AContextSaysWhatTheClosureSays) {
  const uint32_t seed = testing::seed_or(31001);
  size_t asked = 0, yes = 0, no = 0, by_several = 0;
  for (uint32_t run = 0; run < 120; ++run) {
    std::mt19937 random(seed + run);
    testing::Case c("", "");
    for (int i = 0; i < kVariables; ++i) {
      c.pool.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt);
    }
    std::vector<Step> asserted;
    std::vector<size_t> scopes;
    for (int turn = 0; turn < 60; ++turn) {
      const uint32_t choice = random() % 8;
      if (choice == 0) {
        c.context.push();
        scopes.push_back(asserted.size());
      } else if (choice == 1 && !scopes.empty()) {
        c.context.pop();
        asserted.resize(scopes.back());
        scopes.pop_back();
      } else {
        Step step = random_step(random);
        if (random() % 2 == 0) step.to = (step.from + 1) % kVariables;
        asserted.push_back(step);
        if (Closure(asserted).is_contradictory()) {
          asserted.pop_back();
        } else {
          c.context.assume(c.p(text(step)));
        }
      }
      Closure closure(asserted);
      for (int k = 0; k < 3; ++k) {
        const Step step = random_step(random);
        const Verdict expected = closure.verdict(step);
        const Answer answer = c.ask(text(step));
        ASSERT_EQ(answer.verdict, expected) << text(step) << ", run " << run;
        ++asked;
        yes += expected == Verdict::kYes;
        no += expected == Verdict::kNo;
        by_several += answer.facts.size() > 1;
        if (expected == Verdict::kUnknown) continue;
        EXPECT_TRUE(testing::reproduces(c.context, c.p(text(step)), answer))
            << text(step) << ", run " << run;
      }
    }
  }
  std::cout << asked << " asked, " << yes << " yes, " << no << " no, "
            << by_several << " by several facts\n";
  EXPECT_GT(by_several, asked / 10);
}

// A circle that gains is noticed when its last step is asserted, in whatever
// order, and named; one that gains nothing is no contradiction.
TEST(Differences, NoticeCirclesWhenAsserted) {
  constexpr int kSteps = 5;
  for (const int64_t gain : {0, 1}) {
    std::vector<Step> circle;
    for (int i = 0; i < kSteps; ++i) {
      circle.push_back({i, (i + 1) % kSteps, i == 1 ? 4 + gain : -1});
    }
    do {
      testing::Case c("", "");
      for (int i = 0; i < kSteps; ++i) {
        const Expr u =
            c.pool.symbol("u" + std::to_string(i), SymbolKind::kUnbackedInt);
        c.context.declare(u, Interval::at_least(0));
      }
      std::vector<FactId> steps;
      for (const Step& s : circle) {
        EXPECT_FALSE(c.context.contradiction());
        steps.push_back(c.context.assume(c.p(text(s))));
      }
      const auto found = c.context.contradiction();
      ASSERT_EQ(found.has_value(), gain > 0);
      EXPECT_EQ(found.value_or(steps), steps);
    } while (std::next_permutation(
        circle.begin(), circle.end(),
        [](const Step& a, const Step& b) { return a.from < b.from; }));
  }
}

}  // namespace
}  // namespace proviso
