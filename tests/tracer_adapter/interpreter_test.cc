// Running an exported program: memory is freed early, threads do not meet.
#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tracer_adapter/tracer.h"

namespace proviso {
namespace {

using at::Tensor;
using Tensors = std::vector<Tensor>;

// While it lives, counts the tensors' bytes and their peak.
class CountingAllocator final : public c10::Allocator {
 public:
  CountingAllocator() : below_(c10::GetCPUAllocator()) {
    bytes = peak = 0;
    c10::SetCPUAllocator(this, /*priority=*/100);
  }
  ~CountingAllocator() override { c10::SetCPUAllocator(below_, 100); }

  c10::DataPtr allocate(size_t size) override {
    bytes += size;
    peak = std::max(peak, bytes);
    auto* block = new Block{below_->allocate(size), size};
    return {block->data.get(), block, &release, c10::kCPU};
  }
  void copy_data(void* to, const void* from, size_t size) const override {
    below_->copy_data(to, from, size);
  }

  static inline size_t bytes = 0, peak = 0;

 private:
  struct Block {
    c10::DataPtr data;
    size_t size;
  };
  static void release(void* context) {
    auto* block = static_cast<Block*>(context);
    bytes -= block->size;
    delete block;
  }

  c10::Allocator* below_;
};

ExportedProgram chain(int length) {
  return export_program(
      [length](const Tensors& in) -> Tensors {
        Tensor x = in[0];
        for (int i = 0; i < length; ++i) x = at::relu(x) + 1;
        return {x};
      },
      {at::randn({4, 3})});
}

TEST(InterpreterTest, FreesAValueAfterItsLastUse) {
  constexpr size_t kBytes = 4 * 100 * 100;
  const Module run = chain(100).module();
  std::vector<c10::IValue> in{at::randn({100, 100})};
  const CountingAllocator counting;
  const auto out = run.run(std::move(in));
  EXPECT_GE(CountingAllocator::peak, 2 * kBytes);
  EXPECT_LE(CountingAllocator::peak, 3 * kBytes);
  EXPECT_GE(CountingAllocator::bytes, kBytes) << "only the result is left";
  EXPECT_LT(CountingAllocator::bytes, 2 * kBytes) << "only the result is left";
}

TEST(InterpreterTest, ThreadsRunOneProgramAtOnce) {
  const Module run = chain(20).module();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&run, &wrong, t] {
      for (int64_t i = 0; i < 50; ++i) {
        const Tensor x = at::full({2 + t, 3 + i}, double(t));
        wrong += !at::equal(run({x})[0], x + 20);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(InterpreterTest, ThreadsAreRefusedEachByItsOwnSizes) {
  const Module run =
      export_program(
          [](const Tensors& in) -> Tensors { return {in[0] + in[1]}; },
          {at::randn({4}), at::randn({4})})
          .module();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&run, &wrong, t] {
      const std::string mine = std::to_string(10 + t);
      for (int i = 0; i < 50; ++i) {
        try {
          run({at::zeros({10 + t}), at::zeros({30 + t})});
          ++wrong;
        } catch (const c10::Error& error) {
          wrong += std::string(error.what()).find(mine) == std::string::npos;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace proviso
