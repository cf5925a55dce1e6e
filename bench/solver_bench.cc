// What knowledge costs: to assume a fact, and to answer a question on each
// tier.
#include <benchmark/benchmark.h>

#include <memory>
#include <tuple>

#include "bench/require.h"
#include "solver/solver.h"
#include "sym/parse.h"

namespace proviso::bench {
namespace {

struct Question {
  const char* name;  // the tier that is meant to answer
  std::vector<const char*> facts;
  const char* text;
  Verdict verdict;
};

// Each line is answered by its tier or a cheaper one; the counter `tier` of
// the output tells which did.
const Question kQuestions[] = {
    {"structure", {}, "Eq(s0 + s1, s1 + s0)", Verdict::kYes},
    {"ranges", {}, "s0*s1 >= 4", Verdict::kYes},
    {"congruences", {"Eq(Mod(s0, 8), 0)"}, "Eq(Mod(s0, 4), 0)", Verdict::kYes},
    {"equalities",
     {"Eq(s2, s4)", "Eq(s2*s3, s5)"},
     "Eq(s3*s4, s5)",
     Verdict::kYes},
    {"linear",
     {"s0 <= s1", "s1 + 3 <= s2", "s2 < s3"},
     "s0 + 3 < s3",
     Verdict::kYes},
    {"linear-no", {"s0 <= s1", "s1 <= s2"}, "s0 > s2", Verdict::kNo},
    {"cases",
     {"Ne(s0, s1)", "s0 <= s1 + 1", "s1 <= s0 + 1"},
     "Eq(Abs(s0 - s1), 1)",
     Verdict::kYes},
    {"open", {"Eq(Mod(s0, 8), 0)"}, "Eq(Mod(s0, 16), 0)", Verdict::kUnknown},
};

// A context in which sizes s0 .. s5 are at least 2.
struct Problem {
  ExprPool pool;
  std::unique_ptr<Context> context;
  Expr question;

  explicit Problem(const Question& q) {
    SolverOptions options;
    options.use_z3 = false;
    context = std::make_unique<Context>(pool, options);
    for (int i = 0; i < 6; ++i)
      context->declare(
          pool.symbol("s" + std::to_string(i), SymbolKind::kBackedSize),
          Interval::at_least(2));
    for (const char* fact : q.facts) context->assume(parse(pool, fact));
    question = parse(pool, q.text);
  }
};

void check(const Question& q) {
  Problem problem(q);
  require(problem.context->ask(problem.question).verdict == q.verdict, q.text);
}

// In a fresh context every time: nothing remembered.  The building of the
// context is not timed.
void AskFirst(benchmark::State& state, const Question& q) {
  check(q);
  Tier tier = Tier::kNone;
  for (auto _ : state) {
    state.PauseTiming();
    Problem problem(q);
    state.ResumeTiming();
    tier = problem.context->ask(problem.question).tier;
  }
  state.SetLabel(std::string(name_of(tier)));
  state.SetItemsProcessed(state.iterations());
}

// The same question again, as tracers ask.
void AskAgain(benchmark::State& state, const Question& q) {
  check(q);
  Problem problem(q);
  std::ignore = problem.context->ask(problem.question);
  for (auto _ : state)
    benchmark::DoNotOptimize(problem.context->ask_quick(problem.question));
  state.SetItemsProcessed(state.iterations());
}

const bool registered = [] {
  for (const Question& q : kQuestions) {
    std::string suffix = std::string("/") + q.name;
    benchmark::RegisterBenchmark(("AskFirst" + suffix).c_str(), AskFirst, q);
    benchmark::RegisterBenchmark(("AskAgain" + suffix).c_str(), AskAgain, q);
  }
  return true;
}();

// One more fact, inside a scope, among state.range(0) unrelated ones.
void AssumeAmong(benchmark::State& state) {
  ExprPool pool;
  Context context(pool);
  for (int i = 0; i < state.range(0); ++i) {
    std::string name = "s" + std::to_string(i);
    context.declare(pool.symbol(name, SymbolKind::kBackedSize),
                    Interval::at_least(2));
    context.assume(parse(pool, "Eq(Mod(" + name + ", 8), 0)"));
  }
  Expr fact = parse(pool, "s0 <= 512");
  Expr question = parse(pool, "s0 < 1000");
  for (auto _ : state) {
    Scope scope(context);
    context.assume(fact);
    benchmark::DoNotOptimize(context.facts().size());
  }
  Scope scope(context);
  context.assume(fact);
  require(context.ask(question).verdict == Verdict::kYes, "s0 < 1000");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(AssumeAmong)->Arg(1)->Arg(16)->Arg(256);

// The fewest facts behind an answer that is known, among state.range(0) facts
// in chains of six; nothing is remembered of it.
void Explain(benchmark::State& state) {
  const auto count = static_cast<int>(state.range(0));
  const auto s = [](int i) { return "s" + std::to_string(i); };
  for (auto _ : state) {
    state.PauseTiming();
    {
      ExprPool pool;
      SolverOptions options;
      options.use_z3 = false;
      Context context(pool, options);
      for (int i = 0; i <= count; ++i) {
        context.declare(pool.symbol(s(i), SymbolKind::kBackedSize),
                        Interval::at_least(2));
      }
      for (int i = 0; i < count; ++i) {
        if (i % 7 != 6) context.assume(parse(pool, s(i) + " <= " + s(i + 1)));
      }
      const Expr question = parse(pool, "s0 <= s6");
      std::ignore = context.ask_quick(question);
      state.ResumeTiming();
      const Answer answer = context.ask(question);
      state.PauseTiming();
      require(answer.facts.size() == 6, "s0 <= s6 by six facts");
    }
    state.ResumeTiming();
  }
}
BENCHMARK(Explain)->Arg(10)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace proviso::bench
