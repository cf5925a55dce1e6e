// NoGradGuard and autocast in C++ programs.
#include "tracer_adapter/trace/mode_blocks.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include "tests/tracer_adapter/support.h"
#include "tracer_adapter/export.h"

namespace proviso {
namespace {

using at::Tensor;
using ::testing::HasSubstr;
using ::testing::Not;
using Tensors = std::vector<Tensor>;

Tensor stopped(const Tensor& x, const Tensor& w) {
  Tensor scale;
  {
    const at::NoGradGuard no_grad;
    scale = (x * w).sum();
    const at::AutoGradMode again(true);
    scale = scale * w;
  }
  return x * w * scale;
}

Tensor gradient(const Tensor& result, const Tensor& of) {
  return torch::autograd::grad({result.sum()}, {of}, {},
                               /*retain_graph=*/true)[0];
}

TEST(ModeBlocksTest, GradientsStopWhereEagerStopsThem) {
  const Tensor w = at::randn({3}).requires_grad_();
  const Program program = [&](Tensors in) -> Tensors {
    return {stopped(in[0], w)};
  };
  const ExportedProgram ep =
      export_program(program, {{"w", w}}, {}, {at::randn({4, 3})});
  EXPECT_THAT(ep.to_string(), HasSubstr("wrap_with_set_grad_enabled(False, "));
  const Module run = ep.module();
  for (int64_t rows : {2, 5}) {
    const Tensor x = at::randn({rows, 3});
    const Tensor found = run({x})[0], expected = stopped(x, w);
    EXPECT_TRUE(at::allclose(found, expected));
    EXPECT_TRUE(at::allclose(gradient(found, w), gradient(expected, w)));
    // Without the block the gradient is another.
    const Tensor free = x * w * (x * w).sum() * w;
    EXPECT_FALSE(at::allclose(gradient(free, w), gradient(expected, w)));
  }
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(run({at::randn({2, 3})})[0].requires_grad());
}

// With a backward of its own: that of 3 * x * y.
struct Tripled : torch::autograd::Function<Tripled> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x,
                        const Tensor& y) {
    ctx->save_for_backward({x, y});
    return x * y * 3;
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* ctx,
      torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    return {grads[0] * saved[1] * 3, grads[0] * saved[0] * 3};
  }
};

// Gives one of its arguments back.
struct Same : torch::autograd::Function<Same> {
  static Tensor forward(torch::autograd::AutogradContext*, const Tensor& x) {
    return x;
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext*, torch::autograd::variable_list grads) {
    return grads;
  }
};

struct Tuned {  // a parameter and what it is multiplied with
  const Tensor w = at::ones({3}).requires_grad_();
  ExportedProgram export_of(const Program& program) const {
    return export_program(program, {{"w", w}}, {}, {at::randn({4, 3})});
  }
};

TEST(ModeBlocksTest, AFunctionWithABackwardOfItsOwnDoesNotLoseItsGradient) {
  const Tuned tuned;
  const Tensor& w = tuned.w;
  const std::vector<Program> programs = {
      [&](Tensors in) -> Tensors { return {Tripled::apply(in[0], w)}; },
      [&](Tensors in) -> Tensors { return {Tripled::apply(in[0], w).sin()}; },
      [&](Tensors in) -> Tensors { return {Same::apply(in[0] * w)}; },
      [&](Tensors in) -> Tensors {
        Tensor y = Tripled::apply(in[0], w);
        y.add_(1);
        return {y};
      },
      [&](Tensors in) -> Tensors { return {in[0], Same::apply(w)[0]}; }};
  for (const Program& program : programs) {
    EXPECT_THAT(error_of([&] { tuned.export_of(program); }),
                HasSubstr("would be lost: the forward of a "
                          "torch::autograd::Function runs without gradients"));
    // Where none is wanted there is none to lose.
    const at::NoGradGuard no_grad;
    const Tensor x = at::randn({2, 3});
    EXPECT_TRUE(at::allclose(tuned.export_of(program).module()({x}).back(),
                             program({x}).back()));
  }
}

TEST(ModeBlocksTest, AHeldModeDifferentiatesAFunctionsForward) {
  const Tuned tuned;
  const Tensor& w = tuned.w;
  const Program program = [&](Tensors in) -> Tensors {
    Tensor y;
    {
      const at::NoGradGuard no_grad;
      y = in[0] * w;  // stays without
    }
    const HeldMode held;
    return {Tripled::apply(y, w) + w};
  };
  const Module run = tuned.export_of(program).module();
  for (int64_t rows : {1, 5}) {
    const Tensor x = at::randn({rows, 3});
    const Tensor found = run({x})[0], expected = program({x})[0];
    ASSERT_TRUE(found.requires_grad());
    EXPECT_TRUE(at::allclose(found, expected));
    EXPECT_TRUE(at::allclose(gradient(found, w), gradient(expected, w)));
  }
}

// The CPU's autocast as a scope.
struct Autocast {
  Autocast() {
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  }
  ~Autocast() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
  }
};

Tensors cast(const Tensors& in) {
  Tensor low;
  {
    const Autocast scope;
    low = at::mm(in[0], in[1]);
  }
  return {low, at::mm(in[0], in[1])};
}

TEST(ModeBlocksTest, AutocastCastsInsideItsBlockAlone) {
  const ExportedProgram ep =
      export_program(cast, {at::randn({4, 3}), at::randn({3, 2})});
  EXPECT_THAT(ep.to_string(),
              HasSubstr("wrap_with_autocast('cpu', torch.bfloat16, True, "));
  EXPECT_THAT(ep.to_string(), Not(HasSubstr("aten.to.")));
  const Tensors in = {at::randn({5, 3}), at::randn({3, 2})};
  const Tensors found = ep.module()(in), expected = cast(in);
  EXPECT_EQ(found[0].scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::equal(found[0], expected[0]));
  EXPECT_TRUE(at::equal(found[1], expected[1]));
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
}

TEST(ModeBlocksTest, TheModeAroundTheTraceMakesNoBlock) {
  const at::NoGradGuard no_grad;
  const ExportedProgram ep = export_program(
      [](const Tensors& in) -> Tensors { return {at::relu(in[0])}; },
      {at::randn({4, 3})});
  EXPECT_THAT(ep.to_string(), Not(HasSubstr("wrap_with")));
}

TEST(ModeBlocksTest, ANumberReadInABlockIsKnownAfterIt) {
  const Program program = [](Tensors in) -> Tensors {
    Tensor found;
    {
      const at::NoGradGuard no_grad;
      found = at::nonzero(in[0] > 0);
    }
    return {at::full_symint({found.sym_size(0) * 2}, 1.0), in[0] + 1};
  };
  const ExportedProgram ep = export_program(program, {at::ones({4})});
  for (int64_t n : {3, 6}) {
    const Tensor x = at::ones({n});
    x[0].zero_();
    const Tensors out = ep.module()({x});
    EXPECT_EQ(out[0].size(0), (n - 1) * 2);
    EXPECT_TRUE(at::equal(out[1], x + 1));
  }
}

}  // namespace
}  // namespace proviso
