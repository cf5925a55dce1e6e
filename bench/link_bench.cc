// What another compiler pays for Proviso: contexts by the ten thousand, a few
// facts each, a question.  Each row is one operation as a caller would do it,
// pools and expressions made before the loop.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/require.h"
#include "solver/solver.h"
#include "sym/operators.h"

namespace proviso::bench {
namespace {

struct Sizes {
  ExprPool pool;
  std::vector<Expr> sizes;

  explicit Sizes(int count) {
    for (int i = 0; i < count; ++i)
      sizes.push_back(
          pool.symbol("s" + std::to_string(i), SymbolKind::kBackedSize));
  }
};

// No text is made while it holds.
void expect_yes(Verdict verdict) {
  if (verdict != Verdict::kYes) require(false, "expected yes");
}

void EmptyContext(benchmark::State& state) {
  Sizes input(1);
  for (auto _ : state) {
    Context context(input.pool);
    benchmark::DoNotOptimize(context);
  }
}
BENCHMARK(EmptyContext);

void ContextOfTenRanges(benchmark::State& state) {
  Sizes input(10);
  for (auto _ : state) {
    Context context(input.pool);
    for (Expr s : input.sizes) context.declare(s, Interval(1, 64));
    benchmark::DoNotOptimize(context);
  }
}
BENCHMARK(ContextOfTenRanges);

void AFact(benchmark::State& state) {
  Sizes input(1);
  std::vector<Expr> facts;
  for (int i = 0; i < 1000; ++i) facts.push_back(input.sizes[0] * (i + 1) >= i);
  for (auto _ : state) {
    state.PauseTiming();
    auto context = std::make_unique<Context>(input.pool);
    state.ResumeTiming();
    for (Expr fact : facts) context->assume(fact);
    state.PauseTiming();
    context.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(AFact)->Unit(benchmark::kMicrosecond);

void FirstQuestion(benchmark::State& state) {
  Sizes input(1);
  const Expr n = input.sizes[0];
  const Expr fact = n % 8 == 0, question = n % 4 == 0;
  for (auto _ : state) {
    Context context(input.pool);
    context.assume(fact);
    expect_yes(context.ask_quick(question));
  }
}
BENCHMARK(FirstQuestion);

template <bool quick>
void SameQuestionAgain(benchmark::State& state) {
  Sizes input(1);
  Context context(input.pool);
  const Expr n = input.sizes[0];
  context.assume(n % 8 == 0);
  const Expr question = n % 4 == 0;
  for (auto _ : state) {
    expect_yes(quick ? context.ask_quick(question)
                     : context.ask(question).verdict);
  }
}
BENCHMARK(SameQuestionAgain<true>)->Name("SameQuestionAgain/ask_quick");
BENCHMARK(SameQuestionAgain<false>)->Name("SameQuestionAgain/ask");

// What TileLang's compiler does 67,000 times.
void SmallContext(benchmark::State& state) {
  Sizes input(2);
  const Expr n = input.sizes[0], m = input.sizes[1];
  const Expr question = n + m <= 128, form = ceil_div(n * 4, 4) + m;
  for (auto _ : state) {
    Context context(input.pool);
    context.declare(n, Interval(1, 64));
    context.declare(m, Interval(1, 64));
    expect_yes(context.ask_quick(question));
    benchmark::DoNotOptimize(context.canonical(form));
  }
}
BENCHMARK(SmallContext);

}  // namespace
}  // namespace proviso::bench
