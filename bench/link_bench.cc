// What another compiler pays for Proviso: contexts by the ten thousand, a few
// facts each, a question.  Each row is one operation as a caller would do it,
// pools and expressions made before the loop.
#include <benchmark/benchmark.h>
#include <malloc.h>

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
    benchmark::DoNotOptimize(context.simplify(form));
  }
}
BENCHMARK(SmallContext);

// The same, each of a thousand with its own ranges, question and index.
void SmallContextOfItsOwn(benchmark::State& state) {
  Sizes input(2);
  const Expr n = input.sizes[0], m = input.sizes[1];
  struct Work {
    Interval range;
    Expr question, form;
  };
  std::vector<Work> all;
  for (int i = 0; i < 1000; ++i) {
    const int tile = 4 + i % 61, last = 64 + i;
    all.push_back({Interval(0, last), n + m <= 2 * last,
                   floor_div(n * tile + i % tile, tile) + m});
  }
  size_t next = 0;
  for (auto _ : state) {
    const Work& work = all[next++ % all.size()];
    Context context(input.pool);
    context.declare(n, work.range);
    context.declare(m, work.range);
    expect_yes(context.ask_quick(work.question));
    benchmark::DoNotOptimize(context.simplify(work.form));
  }
}
BENCHMARK(SmallContextOfItsOwn);

// What the reasoner is for: a fact about two symbols.
void reason_in_contexts(benchmark::State& state) {
  Sizes input(2);
  const Expr n = input.sizes[0], m = input.sizes[1];
  const Expr fact = n + 2 <= m, question = n < m;
  for (auto _ : state) {
    Context context(input.pool);
    context.assume(fact);
    expect_yes(context.ask_quick(question));
  }
}

void ReasoningContext(benchmark::State& state) { reason_in_contexts(state); }
BENCHMARK(ReasoningContext);

// --- memory

size_t bytes_in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void BytesOfAnEmptyContext(benchmark::State& state) {
  Sizes input(1);
  const Context first(input.pool);
  for (auto _ : state) {
    const size_t before = bytes_in_use();
    const Context context(input.pool);
    state.counters["bytes"] = static_cast<double>(bytes_in_use() - before);
  }
}
BENCHMARK(BytesOfAnEmptyContext)->Iterations(1);

// Of a context with 10,000 ranges: when nothing was asked of it, when the
// reasoner has asserted all of them, and when each was asked about, with what
// is remembered of the answers.
void BytesOfARange(benchmark::State& state) {
  constexpr int kRanges = 10'000;
  for (auto _ : state) {
    Sizes input(kRanges);
    {
      Context made(input.pool);  // what the pool keeps
      for (Expr s : input.sizes) made.declare(s, Interval(1, 64));
      for (int i = 0; i + 1 < kRanges; ++i) {
        (void)made.ask_quick(input.sizes[i] < input.sizes[i + 1]);
      }
    }
    const size_t before = bytes_in_use();
    Context context(input.pool);
    for (Expr s : input.sizes) context.declare(s, Interval(1, 64));
    state.counters["unasked"] =
        static_cast<double>(bytes_in_use() - before) / kRanges;
    (void)context.ask_quick(input.sizes[0] < input.sizes[1]);
    state.counters["asked"] =
        static_cast<double>(bytes_in_use() - before) / kRanges;
    for (int i = 0; i + 1 < kRanges; ++i) {
      (void)context.ask_quick(input.sizes[i] < input.sizes[i + 1]);
    }
    state.counters["each_asked"] =
        static_cast<double>(bytes_in_use() - before) / kRanges;
  }
}
BENCHMARK(BytesOfARange)->Iterations(1);

// What 200,000 different questions leave behind in their context and in the
// pool, which keeps their expressions.
void BytesOfQuestions(benchmark::State& state) {
  constexpr int kQuestions = 200'000;
  for (auto _ : state) {
    Sizes input(1);
    const size_t before = bytes_in_use();
    auto context = std::make_unique<Context>(input.pool);
    context->declare(input.sizes[0], Interval(1, 64));
    (void)context->ask_quick(input.sizes[0] < input.sizes[0] * 2);
    for (int i = 0; i < kQuestions; ++i)
      expect_yes(context->ask_quick(input.sizes[0] <= 64 + i));
    const size_t all = bytes_in_use() - before;
    context.reset();
    const size_t of_pool = bytes_in_use() - before;
    state.counters["context"] = static_cast<double>(all - of_pool);
    state.counters["pool"] = static_cast<double>(of_pool);
  }
}
BENCHMARK(BytesOfQuestions)->Iterations(1);

// --- threads: each has a pool of its own, as pools are used by one at a time

void ContextsOnThreads(benchmark::State& state) {
  reason_in_contexts(state);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ContextsOnThreads)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace proviso::bench
