// What checking a program's inputs costs.
#include <benchmark/benchmark.h>

#include "bench/require.h"
#include "guards/input_check.h"
#include "sym/parse.h"

namespace proviso::bench {
namespace {

// One condition, asked of sizes that satisfy it.
void Guard(benchmark::State& state, const char* text) {
  ExprPool pool;
  std::vector<Expr> symbols;
  for (const char* name : {"s0", "s1", "s2"}) {
    symbols.push_back(pool.symbol(name, SymbolKind::kBackedSize));
  }
  GuardProgram program(symbols, {parse(pool, text)});
  const int64_t good[] = {8, 16, 128}, bad[] = {7, 15, 125};
  require(program.holds(good), text);
  require(!program.holds(bad), text);
  for (auto _ : state) benchmark::DoNotOptimize(program.holds(good));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(Guard, range, "(8 <= s0) & (s0 <= 512)");
BENCHMARK_CAPTURE(Guard, constant, "Eq(s1, 16)");
BENCHMARK_CAPTURE(Guard, linear, "Eq(s1, 3*s0 - 8)");
BENCHMARK_CAPTURE(Guard, remainder, "Eq(Mod(s0, 8), 0)");
BENCHMARK_CAPTURE(Guard, product, "Eq(s0*s1, s2)");
BENCHMARK_CAPTURE(Guard, stack, "Ne((s0 + s1)//3 + 13, s2 - s1*7)");

// The inputs of a two-layer BERT with dynamic batch and tokens: input_ids and
// attention_mask [batch, tokens <= 512].
void BertInputs(benchmark::State& state) {
  ShapeEnv env;
  const DimConstraint batch{DimPolicy::kNamed, "batch", {}, {}, {}};
  const DimConstraint tokens{DimPolicy::kNamed, "tokens", {}, Int(512), {}};
  for (const char* name : {"L['input_ids']", "L['attention_mask']"}) {
    env.create_size(2, std::string(name) + ".size()[0]", batch);
    env.create_size(16, std::string(name) + ".size()[1]", tokens);
  }
  InputCheck check(env);
  const int64_t good[] = {4, 40, 4, 40}, bad[] = {4, 40, 4, 41};
  require(check.fits(good) && !check.fits(bad), "BERT's inputs");
  for (auto _ : state) benchmark::DoNotOptimize(check.fits(good));
  state.counters["ns_a_guard"] = benchmark::Counter(
      static_cast<double>(state.iterations() * check.program().size()) * 1e-9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BertInputs);

}  // namespace
}  // namespace proviso::bench
