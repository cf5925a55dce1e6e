// What expressions cost: to intern, to parse, to simplify.
#include <benchmark/benchmark.h>

#include "bench/require.h"
#include "sym/canonical.h"
#include "sym/expr.h"
#include "sym/parse.h"
#include "sym/pool_stores.h"
#include "sym/print.h"

namespace proviso::bench {
namespace {

// A node that the pool has already.
void InternKnown(benchmark::State& state) {
  ExprPool pool;
  Expr s0 = pool.symbol("s0", SymbolKind::kBackedSize);
  Expr s1 = pool.symbol("s1", SymbolKind::kBackedSize);
  require(s0 + s1 == s0 + s1, "equal structure, equal handle");
  for (auto _ : state) benchmark::DoNotOptimize(s0 + s1);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(InternKnown);

// A node that is new: s0 + 1, s0 + 2, ...  The pool is renewed every 100,000.
void InternNew(benchmark::State& state) {
  auto pool = std::make_unique<ExprPool>();
  Expr s0 = pool->symbol("s0", SymbolKind::kBackedSize);
  int64_t k = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(s0 + ++k);
    if (k % 100000 != 0) continue;
    state.PauseTiming();
    pool = std::make_unique<ExprPool>();
    s0 = pool->symbol("s0", SymbolKind::kBackedSize);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(InternNew);

struct Case {
  const char* name;
  const char* text;
  const char* simple;  // what it must become
};

const Case kCases[] = {
    {"cancel", "s0 + s0 - 2*s0", "0"},
    {"relation", "Eq(2*s0 + 2, 4*u0)", "Eq(s0 + 1, 2*u0)"},
    {"mod", "Mod(6*s0 + 5, 3)", "2"},
    {"numel", "s0*s1*64 - s1*64*s0 + 7", "7"},
    {"square", "(s0 + s1)*(s0 + s1) - s0*s0 - s1*s1 - 2*s0*s1", "0"},
};

void Parse(benchmark::State& state, const Case& c) {
  ExprPool pool;
  require(canonical(parse(pool, c.text)) == parse(pool, c.simple), c.text);
  for (auto _ : state) benchmark::DoNotOptimize(parse(pool, c.text));
  state.SetItemsProcessed(state.iterations());
}

// First time: the pool's memo is emptied before each.
void SimplifyFirst(benchmark::State& state, const Case& c) {
  ExprPool pool;
  Expr e = parse(pool, c.text);
  require(canonical(e) == parse(pool, c.simple), c.text);
  for (auto _ : state) {
    internal::PoolStores::canonical_memo(pool).clear();
    benchmark::DoNotOptimize(canonical(e));
  }
  state.SetItemsProcessed(state.iterations());
}

void SimplifyAgain(benchmark::State& state, const Case& c) {
  ExprPool pool;
  Expr e = parse(pool, c.text);
  require(canonical(e) == parse(pool, c.simple), c.text);
  for (auto _ : state) benchmark::DoNotOptimize(canonical(e));
  state.SetItemsProcessed(state.iterations());
}

const bool registered = [] {
  for (const Case& c : kCases) {
    std::string suffix = std::string("/") + c.name;
    benchmark::RegisterBenchmark(("Parse" + suffix).c_str(), Parse, c);
    benchmark::RegisterBenchmark(("SimplifyFirst" + suffix).c_str(),
                                 SimplifyFirst, c);
    benchmark::RegisterBenchmark(("SimplifyAgain" + suffix).c_str(),
                                 SimplifyAgain, c);
  }
  return true;
}();

}  // namespace
}  // namespace proviso::bench
