// What running an exported program costs over the same calls from C++.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include "bench/require.h"
#include "tracer_adapter/export.h"

namespace proviso::bench {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr int kOperators = 100;

Tensors chain(const Tensors& in) {
  at::Tensor x = in[0];
  for (int i = 0; i < kOperators; i += 2) x = at::relu(x).add(in[1]);
  return {x};
}

Tensors small() { return {at::randn({2, 2}), at::randn({2, 2})}; }

void Eager(benchmark::State& state) {
  const at::NoGradGuard no_grad;
  const Tensors in = small();
  for (auto _ : state) benchmark::DoNotOptimize(chain(in));
  state.SetItemsProcessed(state.iterations() * kOperators);
}
BENCHMARK(Eager);

void Interpreted(benchmark::State& state) {
  const Module run = export_program(chain, small()).module();
  const Tensors in = small();
  require(at::equal(run(in)[0], chain(in)[0]), "the program equals eager");
  for (auto _ : state) benchmark::DoNotOptimize(run(in));
  state.SetItemsProcessed(state.iterations() * kOperators);
}
BENCHMARK(Interpreted);

}  // namespace
}  // namespace proviso::bench
