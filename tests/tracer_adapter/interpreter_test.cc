// Running an exported program: memory is freed early, threads do not meet, and
// kernels are called where nothing speaks against their arguments.
#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DefaultDtype.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <atomic>
#include <thread>

#include "tests/tracer_adapter/support.h"
#include "tracer_adapter/export.h"
#include "tracer_adapter/run/checked_calls.h"

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

// --- nodes that give the same every time

// How often an operator of this name runs while it lives, on any thread; the
// `out` overload that it calls does not count.
class Counting {
 public:
  explicit Counting(const char* name) {
    wanted = name;
    count = 0;
    handle_ = at::addGlobalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& f)
                                       -> std::unique_ptr<at::ObserverContext> {
          const auto op = f.operator_name();
          count += op && op->name == wanted &&
                   op->overload_name.find("out") == std::string::npos;
          return nullptr;
        }).scopes({at::RecordScope::FUNCTION}));
  }
  ~Counting() { at::removeCallback(handle_); }

  static inline std::string wanted;
  static inline std::atomic<int> count;

 private:
  at::CallbackHandle handle_;
};

using Body = std::function<Tensor(const Tensor&)>;

Module program_of(const Body& body) {
  return export_program(
             [&](const Tensors& in) -> Tensors { return {body(in[0])}; },
             {at::randn({5})})
      .module();
}

// How often arange runs in three calls, each of which is right.
int runs_of_arange(const Body& body) {
  const Module run = program_of(body);
  const Tensor x = at::randn({5});
  const Tensor expected = body(x.clone());
  int runs = 0;
  for (int i = 0; i < 3; ++i) {
    const Counting counting("aten::arange");
    const Tensor found = run({x.clone()})[0];
    runs += Counting::count;
    EXPECT_TRUE(at::allclose(found, expected));
    found.fill_(-1000);  // ours to change
  }
  return runs;
}

TEST(ConstantsTest, WhatLiteralsFeedRunsOnce) {
  EXPECT_EQ(runs_of_arange([](const Tensor& x) {
              return x + at::sin(at::arange(5) * 2).unsqueeze(0).select(0, 0);
            }),
            1);
}

TEST(ConstantsTest, WhatIsWrittenToRunsEveryTime) {
  EXPECT_EQ(runs_of_arange([](const Tensor& x) {
              return at::arange(5, at::kFloat).add_(x);
            }),
            3);
  EXPECT_EQ(runs_of_arange([](const Tensor& x) {  // through a view
              const Tensor t = at::arange(5, at::kFloat);
              t.view({5, 1}).select(1, 0).mul_(x);
              return t + 1;
            }),
            3);
  EXPECT_EQ(runs_of_arange([](const Tensor& x) {  // before it is used
              const Tensor t = at::arange(5, at::kFloat);
              t.slice(0, 1, 3).fill_(7);
              return x + t;
            }),
            3);
}

TEST(ConstantsTest, WhatLeavesTheProgramRunsEveryTime) {
  EXPECT_EQ(runs_of_arange([](const Tensor&) { return at::arange(5); }), 3);
  EXPECT_EQ(runs_of_arange([](const Tensor&) {
              return at::arange(5).unsqueeze(0).expand({3, 5});
            }),
            3);
  // Aliases that no schema tells of.
  EXPECT_EQ(runs_of_arange([](const Tensor&) {
              return at::_unsafe_view(at::arange(5), {5, 1});
            }),
            3);
  EXPECT_EQ(runs_of_arange([](const Tensor&) {
              return at::dropout(at::arange(5, at::kFloat), 0.5, false);
            }),
            3);
  EXPECT_EQ(runs_of_arange([](const Tensor&) {
              return std::get<0>(
                  at::native_dropout(at::arange(5, at::kFloat), 0.5, false));
            }),
            3);
}

TEST(ConstantsTest, RandomNumbersAreDrawnEveryTime) {
  const Module run =
      program_of([](const Tensor& x) { return x + at::rand({5}); });
  const Tensor x = at::zeros({5});
  EXPECT_FALSE(at::equal(run({x})[0], run({x})[0]));
}

TEST(ConstantsTest, LargeResultsAreNotKept) {
  EXPECT_EQ(runs_of_arange(
                [](const Tensor& x) { return x + at::arange(1 << 20).sum(); }),
            3);
}

TEST(ConstantsTest, FollowTheDefaultDtype) {
  const Module run = program_of(
      [](const Tensor& x) { return x.to(at::kDouble) + at::arange(0.1, 5.); });
  const Tensor x = at::zeros({5});
  const auto scoped = [&](at::ScalarType dtype) {
    const caffe2::TypeMeta before = c10::get_default_dtype();
    c10::set_default_dtype(c10::scalarTypeToTypeMeta(dtype));
    const Tensor found = run({x})[0];
    c10::set_default_dtype(before);
    return found;
  };
  const Tensor coarse = scoped(at::kFloat), fine = scoped(at::kDouble);
  EXPECT_TRUE(at::equal(fine, at::arange(0.1, 5., at::kDouble)));
  EXPECT_FALSE(at::equal(coarse, fine));
  EXPECT_TRUE(at::equal(coarse, scoped(at::kFloat)));
}

TEST(ConstantsTest, ThreadsMayMeetAtTheFirstRun) {
  const auto body = [](const Tensor& x) {
    return x * at::arange(5).cos().cumsum(0);
  };
  for (int round = 0; round < 20; ++round) {
    const Module run = program_of(body);
    std::atomic<int> wrong = 0;
    const Counting counting("aten::arange");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 10; ++i) {
          const Tensor x = at::full({5}, double(t + i));
          const Tensor found = run({x})[0];
          wrong +=
              !at::allclose(found, x * at::linspace(0, 4, 5).cos().cumsum(0));
          found.zero_();
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(Counting::count, 1);
  }
}

// The norms of the first n columns.  The kernel divides by their number.
Tensor norms(const Tensor& x, const Tensor& n) {
  const Tensor v = x.narrow(1, 0, n.item<int64_t>()).contiguous();
  return std::get<1>(
      at::_weight_norm_interface(v, v.narrow(0, 0, 1).contiguous(), 1));
}

Tensor call_checked(const char* name, std::vector<c10::IValue> stack,
                    const char* overload = "") {
  CheckedCalls::call(
      c10::Dispatcher::singleton().findSchemaOrThrow(name, overload), stack);
  return stack.at(0).toTensor();
}

TEST(CheckedCalls, LookAtThePartsThatTheDataDecide) {
  torch::Library library(torch::Library::DEF, "checked_calls_test",
                         std::nullopt, __FILE__, __LINE__);
  library.def("norms(Tensor x, Tensor n) -> Tensor", &norms);
  const Tensor x = at::rand({3, 4});
  const auto columns = [](int64_t n) { return at::full({}, n, at::kLong); };
  const CheckedCalls checked;
  for (int64_t n : {1, 4})
    EXPECT_TRUE(
        at::equal(call_checked("checked_calls_test::norms", {x, columns(n)}),
                  norms(x, columns(n))));
  EXPECT_THAT(error_of([&] {
                call_checked("checked_calls_test::norms", {x, columns(0)});
              }),
              ::testing::HasSubstr("v has size 0"));
}

TEST(CheckedCalls, LookAtTheLabelsOfALoss) {
  const Tensor probs = at::rand({4, 2, 3}).log_softmax(-1);
  const auto loss = [&](std::vector<int64_t> targets, at::IntArrayRef sizes,
                        std::vector<int64_t> inputs,
                        std::vector<int64_t> lengths) {
    return error_of([&] {
      call_checked("aten::_ctc_loss",
                   {probs, at::tensor(targets, at::kLong).reshape(sizes),
                    inputs, lengths, 0, false});
    });
  };
  const CheckedCalls checked;
  EXPECT_EQ(loss({1, 2, 1, -5}, {2, 2}, {4, 4}, {2, 1}), "");  // -5: padding
  EXPECT_EQ(loss({1, 2, 1}, {3}, {4, 4}, {2, 1}), "");
  const auto refused = ::testing::HasSubstr("ctc_loss");
  EXPECT_THAT(loss({1, 2, 1, 3}, {2, 2}, {4, 4}, {2, 2}), refused);
  EXPECT_THAT(loss({1, 2, -1, 1}, {2, 2}, {4, 4}, {2, 2}), refused);
  EXPECT_THAT(loss({1, 99, 1}, {3}, {4, 4}, {2, 1}), refused);
  EXPECT_THAT(loss({1, 2, 1}, {3}, {4, 4}, {2, 2}), refused);
  EXPECT_THAT(loss({1, 2, 1}, {3}, {4, 5}, {2, 1}), refused);
  EXPECT_THAT(loss({1, 2, 1}, {3}, {4, 4}, {2, -1}), refused);
}

TEST(CheckedCalls, LookAtTheSegmentsOfAReduction) {
  const auto reduce = [](size_t by, std::vector<int64_t> places,
                         at::IntArrayRef sizes) {
    return error_of([&] {
      c10::Stack args = {
          at::rand({2, 4}), std::string("sum"), {}, {}, {}, 1, true,
          c10::IValue()};
      args[by] = at::tensor(places, at::kLong).reshape(sizes);
      call_checked("aten::segment_reduce", args);
    });
  };
  const CheckedCalls checked;
  EXPECT_EQ(reduce(2, {1, 3, 2, 1}, {2, 2}), "");
  EXPECT_EQ(reduce(4, {0, 2, 4, 0, 0, 3}, {2, 3}), "");
  const auto refused = ::testing::HasSubstr("segment_reduce: ");
  EXPECT_THAT(reduce(2, {1, 3, 2, 100000000}, {2, 2}), refused);
  EXPECT_THAT(reduce(2, {4, 1, 2, 1}, {2, 2}), refused);  // 5 in all
  EXPECT_THAT(reduce(2, {4, -1, 2, 1}, {2, 2}), refused);
  EXPECT_THAT(reduce(4, {0, 2, 5, 0, 0, 3}, {2, 3}), refused);
  EXPECT_THAT(reduce(4, {-9, 2, 4, 0, 0, 3}, {2, 3}), refused);
}

TEST(CheckedCalls, LookAtTheIndicesOfAnEmbeddingsGradient) {
  const auto gradient = [](std::vector<int64_t> indices, bool is_scaled) {
    return error_of([&] {
      const auto count = static_cast<int64_t>(indices.size());
      call_checked("aten::embedding_dense_backward",
                   {at::rand({count, 3}), at::tensor(indices, at::kLong), 5, -1,
                    is_scaled});
    });
  };
  const CheckedCalls checked;
  EXPECT_EQ(gradient({0, 4, 4}, true), "");
  EXPECT_EQ(gradient({0, 5, -1}, false), "");  // not counted
  const auto refused = ::testing::HasSubstr("indices must be from 0 to 4");
  EXPECT_THAT(gradient({0, 5, 4}, true), refused);
  EXPECT_THAT(gradient({0, -1, 4}, true), refused);
}

TEST(CheckedCalls, LookAtTheOffsetsOfBags) {
  for (const char* name : {"aten::embedding_bag", "aten::_embedding_bag",
                           "aten::_embedding_bag_forward_only"}) {
    for (const int64_t mode : {0, 1, 2}) {
      const auto bags = [&](std::vector<int64_t> indices,
                            std::vector<int64_t> offsets) {
        return error_of([&] {
          c10::Stack args = {at::rand({5, 3}),
                             at::tensor(indices, at::kLong),
                             at::tensor(offsets, at::kLong),
                             false,
                             mode,
                             false,
                             c10::IValue(),
                             false};
          if (name[6] == '_') args.emplace_back(-1);
          call_checked(name, args);
        });
      };
      const CheckedCalls checked;
      EXPECT_EQ(bags({0, 4, 4}, {0, 1, 3}), "") << name << mode;
      const auto refused = ::testing::HasSubstr(" must be from 0 to ");
      EXPECT_THAT(bags({0, 4, 5}, {0, 1}), refused) << name << mode;
      EXPECT_THAT(bags({0, -4, 4}, {0, 1}), refused) << name << mode;
      EXPECT_THAT(bags({0, 4, 4}, {0, 4}), refused) << name << mode;
      EXPECT_THAT(bags({0, 4, 4}, {0, -1000}), refused) << name << mode;
    }
  }
}

TEST(CheckedCalls, LookAtThePlacesOfMaxima) {
  const auto gradient = [](int64_t place) {
    return error_of([&] {
      const std::vector<int64_t> two = {2, 2}, none = {0, 0}, one = {1, 1};
      call_checked(
          "aten::max_pool2d_with_indices_backward",
          {at::rand({1, 2, 2, 2}), at::rand({1, 2, 4, 5}), two, two, none, one,
           false, at::full({1, 2, 2, 2}, place, at::kLong)});
    });
  };
  const CheckedCalls checked;
  EXPECT_EQ(gradient(19), "");
  const auto refused = ::testing::HasSubstr("indices must be from -1 to 19");
  EXPECT_THAT(gradient(20), refused);
  EXPECT_THAT(gradient(-2), refused);
}

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                  kMost = std::numeric_limits<int64_t>::max();

TEST(CheckedCalls, LookAtHowOftenAnElementIsRepeated) {
  const auto repeat = [](std::vector<int64_t> repeats,
                         std::optional<int64_t> size = std::nullopt) {
    return error_of([&] {
      call_checked("aten::repeat_interleave",
                   {at::tensor(repeats, at::kLong), size}, "Tensor");
    });
  };
  const auto repeat_rows = [](std::vector<int64_t> repeats) {
    return error_of([&] {
      call_checked(
          "aten::repeat_interleave",
          {at::rand({4, 2}), at::tensor(repeats, at::kLong), 0, c10::IValue()},
          "self_Tensor");
    });
  };
  const CheckedCalls checked;
  EXPECT_EQ(repeat({1, 0, 2}), "");
  EXPECT_EQ(repeat({1, 0, 2}, 3), "");
  EXPECT_EQ(repeat_rows({1, 0, 2, 5}), "");
  EXPECT_EQ(repeat_rows({3}), "");
  const auto refused = ::testing::HasSubstr("repeats must be from 0 to ");
  constexpr int64_t kQuarter = int64_t{1} << 62;
  EXPECT_THAT(repeat({5, -3}, 2), refused);
  EXPECT_THAT(repeat({kQuarter, kQuarter, kQuarter, kQuarter + 1}), refused);
  EXPECT_THAT(repeat_rows({5, -3, 1, 1}), refused);
  EXPECT_THAT(repeat_rows({kQuarter}), refused);  // 0 in all
}

TEST(CheckedCalls, LookAtWhatIsCounted) {
  const auto count = [](std::vector<int64_t> values) {
    return error_of([&] {
      call_checked("aten::bincount",
                   {at::tensor(values, at::kLong), c10::IValue(), 5});
    });
  };
  const CheckedCalls checked;
  EXPECT_EQ(count({7, 0}), "");
  EXPECT_THAT(count({7, kMost}),
              ::testing::HasSubstr("self must be from 0 to"));
}

TEST(CheckedCalls, LookAtQuotientsThatNoIntegerIs) {
  const auto divide = [](const char* name, const c10::IValue& by,
                         const char* rounding, at::ScalarType type) {
    const int64_t least = type == at::kInt ? INT32_MIN : kLeast;
    return error_of([&] {
      call_checked(name,
                   {at::tensor({least, 1 - least}, at::kLong).to(type), by,
                    std::string(rounding)},
                   by.isTensor() ? "Tensor_mode" : "Scalar_mode");
    });
  };
  const auto by = [](std::vector<int64_t> values) {
    return at::tensor(values, at::kLong).to(at::kInt);
  };
  const CheckedCalls checked;
  const auto refused = ::testing::HasSubstr("where other is -1");
  for (const char* name :
       {"aten::div", "aten::div_", "aten::divide", "aten::divide_"}) {
    for (const at::ScalarType type : {at::kInt, at::kLong}) {
      EXPECT_EQ(divide(name, by({2, -1}), "trunc", type), "") << name;
      EXPECT_EQ(divide(name, by({-1, -1}), "floor", type), "") << name;
      EXPECT_EQ(divide(name, -2, "trunc", type), "") << name;
      EXPECT_THAT(divide(name, by({-1, 2}), "trunc", type), refused) << name;
      EXPECT_THAT(divide(name, -1, "trunc", type), refused) << name;
    }
    EXPECT_EQ(divide(name, -1, "trunc", at::kDouble), "") << name;
    EXPECT_EQ(divide(name, -1, "trunc", at::kChar), "") << name;
  }
}

TEST(CheckedCalls, LookAtMultiplesOfTheLeastInteger) {
  const auto multiple = [](int64_t a, int64_t b, at::ScalarType type) {
    return error_of([&] {
      call_checked("aten::lcm",
                   {at::full({2}, a, type), at::full({}, b, type)});
    });
  };
  const CheckedCalls checked;
  const auto refused = ::testing::HasSubstr("where their gcd() is -1");
  EXPECT_EQ(multiple(kLeast, 3, at::kLong), "");
  EXPECT_EQ(multiple(5, kLeast, at::kLong), "");
  EXPECT_THAT(multiple(kLeast, 5, at::kLong), refused);
  EXPECT_EQ(multiple(INT32_MIN, 3, at::kInt), "");
  EXPECT_THAT(multiple(INT32_MIN, -5, at::kInt), refused);
}

TEST(CheckedCalls, LookAtTheStepsOfPolynomials) {
  const auto polynomial = [](double n) {
    return error_of([&] {
      call_checked("aten::special_shifted_chebyshev_polynomial_u",
                   {at::rand({2}), at::full({2}, n)});
    });
  };
  const CheckedCalls checked;
  EXPECT_EQ(polynomial(100), "");
  EXPECT_THAT(polynomial(1e9), ::testing::HasSubstr("a number of steps"));
}

TEST(CheckedCalls, LookAtPivotsBelowZero) {
  const auto solve = [](std::vector<int64_t> pivots) {
    return error_of([&] {
      const int64_t rows = static_cast<int64_t>(pivots.size()) / 2;
      call_checked("aten::linalg_ldl_solve",
                   {at::eye(rows).expand({2, rows, rows}),
                    at::tensor(pivots, at::kInt).reshape({2, rows}),
                    at::rand({rows, 2}), false});
    });
  };
  const CheckedCalls checked;
  EXPECT_EQ(solve({1, 2, 3, -2, -2, 3}), "");
  EXPECT_EQ(solve({1, -3, -3, -2, -2, 3}), "");
  EXPECT_EQ(solve({-2, -2, -4, -4, 1, 2, 3, 4}), "");
  const auto refused = ::testing::HasSubstr("must come in pairs");
  EXPECT_THAT(solve({-1, 2, 3, 1, 2, 3}), refused);
  EXPECT_THAT(solve({1, 2, -3, -3, 2, 3}), refused);
  EXPECT_THAT(solve({-1, -2, -3, 1, 2, 3}), refused);
  EXPECT_THAT(solve({1, 2, 3, 1, 2, -3}), refused);
}

TEST(CheckedCalls, CallNoKernelOfWhichNothingLooksAtTheArguments) {
  const Tensor x = at::rand({2, 2});
  const auto call = [&] { call_checked("aten::mkldnn_linear", {x, x, x}); };
  {
    const CheckedCalls checked;
    EXPECT_THAT(error_of(call), ::testing::HasSubstr("allow it by its name"));
  }
  const CheckedCalls trusting(pt2::AllowedOperators({"aten.mkldnn_linear"}));
  EXPECT_THAT(error_of(call),
              ::testing::Not(::testing::HasSubstr("allow it by its name")));
}

}  // namespace
}  // namespace proviso
