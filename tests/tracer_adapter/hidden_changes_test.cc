// `.data = ..`, and torch's modes after a trace.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include "tests/tracer_adapter/support.h"
#include "tracer_adapter/export.h"

namespace proviso {
namespace {

using at::Tensor;
using ::testing::HasSubstr;
using Tensors = std::vector<Tensor>;

// --- .data

TEST(SetDataTest, OfATracedTensorIsRefused) {
  EXPECT_THAT(error_of([&] {
                export_program(
                    [](Tensors in) -> Tensors {
                      const Tensor y = in[0] + 1;
                      y.set_data(in[0] * 2);
                      return {y};
                    },
                    {at::randn({4, 3})});
              }),
              HasSubstr("copy_"));
}

TEST(SetDataTest, OfWhatTheProgramOwnsIsRefusedAndLeavesIt) {
  const Tensor buffer = at::zeros({3});
  const std::string error = error_of([&] {
    export_program(
        [&](Tensors in) -> Tensors {
          buffer.set_data(in[0].sum(0));
          return {in[0] + buffer};
        },
        {}, {{"b", buffer}}, {at::randn({4, 3})});
  });
  EXPECT_THAT(error, HasSubstr("copy_"));
  EXPECT_FALSE(is_fake(buffer));
  EXPECT_TRUE(at::equal(buffer, at::zeros({3})));
}

// --- modes

struct Modes {
  bool grad = at::GradMode::is_enabled();
  bool inference = c10::InferenceMode::is_enabled();
  bool autocast = at::autocast::is_autocast_enabled(at::kCPU);
  at::ScalarType autocast_dtype = at::autocast::get_autocast_dtype(at::kCPU);
  bool cache = at::autocast::is_autocast_cache_enabled();
  caffe2::TypeMeta dtype = c10::get_default_dtype();
  bool deterministic = at::globalContext().deterministicAlgorithms();
  bool mkldnn = at::globalContext().userEnabledMkldnn();
  bool anomaly = torch::autograd::AnomalyMode::is_enabled();
  int threads = at::get_num_threads();
  c10::DispatchKeySet keys = c10::impl::tls_local_dispatch_key_set().included_;
  uint64_t seed = at::detail::getDefaultCPUGenerator().current_seed();
  bool operator==(const Modes&) const = default;
};

void change_modes() {
  at::GradMode::set_enabled(false);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, at::kHalf);
  at::autocast::set_autocast_cache_enabled(false);
  at::autocast::increment_nesting();
  c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  at::globalContext().setDeterministicAlgorithms(true, true);
  at::globalContext().setUserEnabledMkldnn(false);
  torch::autograd::AnomalyMode::set_enabled(true);
  at::set_num_threads(1 + at::get_num_threads());
  at::manual_seed(1234567);
}

TEST(TorchStateTest, AProgramThatChangesModesLeavesThemAsTheyWere) {
  at::manual_seed(5);
  const Tensor next = [] {
    const Tensor drawn = at::rand({3});
    at::manual_seed(5);
    return drawn;
  }();
  const Modes before;
  for (const bool fails : {false, true}) {
    const std::string error = error_of([&] {
      export_program(
          [&](Tensors in) -> Tensors {
            change_modes();
            TORCH_CHECK(!fails, "as asked");
            return {in[0] + 1};
          },
          {at::randn({4, 3}, at::detail::createCPUGenerator(1))});
    });
    EXPECT_EQ(error.empty(), !fails) << error;
    EXPECT_TRUE(Modes() == before);
  }
  EXPECT_TRUE(at::equal(at::rand({3}), next));
}

}  // namespace
}  // namespace proviso
