// Each virtual of the fake tensor beside a real tensor, at every index.
#include "tracer_adapter/fake/fake_tensor.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/tracer_adapter/support.h"
#include "tracer_adapter/export.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso {
namespace {

using at::Tensor;
using ::testing::HasSubstr;

const c10::MemoryFormat kFormats[] = {c10::MemoryFormat::Contiguous,
                                      c10::MemoryFormat::ChannelsLast,
                                      c10::MemoryFormat::ChannelsLast3d};

// Contiguous, permuted, strided, expanded and empty ones of each rank.
std::vector<Tensor> layouts() {
  return {
      at::ones({}),
      at::ones({4}),
      at::ones({8}).slice(0, 1, 8, 2),
      at::ones({2, 3}),
      at::ones({2, 3}).t(),
      at::ones({1, 3}).expand({4, 3}),
      at::ones({0, 3}),
      at::ones({2, 3, 4}).permute({2, 0, 1}),
      at::ones({2, 3, 4, 5}),
      at::ones({2, 3, 4, 5}).contiguous(c10::MemoryFormat::ChannelsLast),
      at::ones({2, 3, 4, 5}).slice(3, 1, 4),
      at::ones({2, 3, 4, 5, 6}).contiguous(c10::MemoryFormat::ChannelsLast3d)};
}

// "value" or what it throws.
template <typename Call>
std::string outcome(const Call& call) {
  std::string value;
  const std::string error = error_of([&] { value = std::to_string(call()); });
  return error.empty() ? value : error;
}

// The trace's fake of `real`, with these dims.
class Fake {
 public:
  Fake(const Tensor& real, const TensorDims& dims)
      : tensor(tracer_.add_input("x", real, dims)) {}
  int64_t hint(const c10::SymInt& n) {
    ShapeEnv& env = tracer_.env();
    return *std::get<Int>(*env.hint(to_expr(env, n))).to_int64();
  }

 private:
  Tracer tracer_;

 public:
  const Tensor tensor;
};

TensorDims all_of(const Tensor& real, const DimConstraint& dim) {
  return TensorDims(static_cast<size_t>(real.dim()), dim);
}

TEST(FakeTensorTest, FixedSizesAreThoseOfTheRealTensorAtEveryIndex) {
  for (const Tensor& real : layouts()) {
    SCOPED_TRACE(real.toString() + " " + std::to_string(real.dim()));
    Fake fake(real, all_of(real, Dim::fixed()));
    const Tensor& t = fake.tensor;
    EXPECT_EQ(t.sizes(), real.sizes());
    EXPECT_EQ(t.strides(), real.strides());
    EXPECT_EQ(t.numel(), real.numel());
    EXPECT_EQ(t.dim(), real.dim());
    EXPECT_EQ(t.device(), real.device());
    EXPECT_EQ(t.layout(), real.layout());
    EXPECT_EQ(t.is_non_overlapping_and_dense(),
              real.is_non_overlapping_and_dense());
    for (const c10::MemoryFormat format : kFormats) {
      EXPECT_EQ(t.is_contiguous(format), real.is_contiguous(format));
      EXPECT_EQ(t.unsafeGetTensorImpl()->is_strides_like(format),
                real.unsafeGetTensorImpl()->is_strides_like(format));
    }
    for (int64_t d = -7; d <= 7; ++d) {
      EXPECT_EQ(outcome([&] { return t.size(d); }),
                outcome([&] { return real.size(d); }));
      EXPECT_EQ(outcome([&] { return t.stride(d); }),
                outcome([&] { return real.stride(d); }));
      EXPECT_EQ(outcome([&] { return fake.hint(t.sym_size(d)); }),
                outcome([&] { return real.size(d); }));
      EXPECT_EQ(outcome([&] { return fake.hint(t.sym_stride(d)); }),
                outcome([&] { return real.stride(d); }));
    }
  }
}

TEST(FakeTensorTest, ADimensionThatIsFixedAmongSymbolicOnesIsReadAtEveryIndex) {
  for (const Tensor& real : layouts()) {
    if (real.dim() == 0 || real.numel() == 0) continue;
    for (int64_t fixed = 0; fixed < real.dim(); ++fixed) {
      TensorDims dims = all_of(real, Dim::automatic());
      dims[static_cast<size_t>(fixed)] = Dim::fixed();
      Fake fake(real, dims);
      const Tensor& t = fake.tensor;
      for (int64_t d = -7; d <= 7; ++d) {
        const std::string expected = outcome([&] { return real.size(d); });
        const std::string found = outcome([&] { return t.size(d); });
        const int64_t at = d < 0 ? d + real.dim() : d;
        const bool outside = at < 0 || at >= real.dim();
        if (outside || at == fixed || real.size(at) == 1)
          EXPECT_EQ(found, expected) << d;
        else
          EXPECT_THAT(found, HasSubstr("called size() on a tensor with "
                                       "symbolic sizes"));
        EXPECT_EQ(outcome([&] { return fake.hint(t.sym_size(d)); }), expected);
        EXPECT_EQ(outcome([&] { return fake.hint(t.sym_stride(d)); }),
                  outcome([&] { return real.stride(d); }));
      }
      EXPECT_EQ(t.dim(), real.dim());
      EXPECT_EQ(fake.hint(t.sym_numel()), real.numel());
    }
  }
}

// What is not known of the layout is no, for no tensor wrongly yes.
TEST(FakeTensorTest, AYesAboutTheLayoutIsRightForTheRealTensor) {
  for (const Tensor& real : layouts()) {
    Fake fake(real, all_of(real, Dim::automatic()));
    const Tensor& t = fake.tensor;
    for (const c10::MemoryFormat format : kFormats) {
      EXPECT_LE(t.is_contiguous(format), real.is_contiguous(format));
      EXPECT_LE(t.unsafeGetTensorImpl()->is_strides_like(format),
                real.unsafeGetTensorImpl()->is_strides_like(format));
    }
    EXPECT_LE(t.is_contiguous(c10::MemoryFormat::Preserve),
              real.is_contiguous(c10::MemoryFormat::Preserve));
    EXPECT_EQ(t.is_contiguous(c10::MemoryFormat::Preserve), t.is_contiguous());
    EXPECT_LE(t.is_non_overlapping_and_dense(),
              real.is_non_overlapping_and_dense());
  }
}

TEST(FakeTensorTest, WhatWouldReadOrChangeAFakeThrows) {
  Fake fake(at::ones({2, 3}), all_of(at::ones({2, 3}), Dim::automatic()));
  const Tensor& t = fake.tensor;
  c10::TensorImpl* impl = t.unsafeGetTensorImpl();
  EXPECT_NE(error_of([&] { t.data_ptr(); }), "");
  EXPECT_NE(error_of([&] { t.const_data_ptr(); }), "");
  EXPECT_NE(error_of([&] { t.sizes(); }), "");
  EXPECT_NE(error_of([&] { t.strides(); }), "");
  EXPECT_NE(error_of([&] { t.numel(); }), "");
  EXPECT_NE(error_of([&] { impl->set_size(0, 1); }), "");
  EXPECT_NE(error_of([&] { impl->set_stride(0, 1); }), "");
  EXPECT_NE(error_of([&] { impl->set_storage_offset(1); }), "");
}

TEST(FakeTensorTest, AProgramComputesWithTheSizeThatALastDimensionHas) {
  const Program program = [](std::vector<Tensor> in) -> std::vector<Tensor> {
    const Tensor& q = in[0];
    return {q.matmul(in[1].transpose(-2, -1)) /
            std::sqrt(static_cast<double>(q.size(-1)))};
  };
  const std::vector<Tensor> in = {at::randn({2, 5, 16}), at::randn({2, 5, 16})};
  const TensorDims dims = {Dim::automatic(), Dim::automatic(), Dim::fixed()};
  ExportOptions options;
  options.dynamic_shapes = {dims, dims};
  const ExportedProgram ep = export_program(program, in, options);
  EXPECT_THAT(ep.to_string(), HasSubstr("div.Scalar(matmul, 4.0)"));
  const std::vector<Tensor> other = {at::randn({3, 7, 16}),
                                     at::randn({3, 7, 16})};
  EXPECT_TRUE(at::allclose(ep.module()(other)[0], program(other)[0]));
}

}  // namespace
}  // namespace proviso
