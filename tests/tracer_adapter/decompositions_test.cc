// run_decompositions in C++: functional, fewer operators, the same results.
#include "tracer_adapter/decompositions.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tracer_adapter/support.h"
#include "tracer_adapter/control_flow_ops.h"
#include "tracer_adapter/export.h"
#include "tracer_adapter/trace/autocast_scope.h"

namespace proviso {
namespace {

using at::Tensor;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

std::vector<std::string> targets(const Graph& graph) {
  std::vector<std::string> result;
  for (const Node& node : graph.nodes) {
    result.push_back(node.target);
    for (const Argument& a : node.args)
      if (const GraphArgument* sub = a.get<GraphArgument>())
        for (std::string& inner : targets(*sub->graph))
          result.push_back(std::move(inner));
  }
  return result;
}

Tensors copies(const Tensors& tensors) {
  Tensors result;
  for (const Tensor& t : tensors) result.push_back(t.clone());
  return result;
}

struct Case {
  const char* name;
  std::function<Tensors(Tensors)> program;
  std::vector<Tensors> inputs;  // the example first
  const char* form = "core";
};

Tensor f(at::IntArrayRef sizes) { return at::randn(sizes); }

std::vector<Case> cases() {
  return {
      {"write to a clone",
       [](Tensors in) -> Tensors {
         Tensor y = in[0].clone();
         y.add_(1);
         return {y * 2};
       },
       {{f({4, 3})}, {f({7, 3})}}},
      {"write to a view",
       [](Tensors in) -> Tensors {
         Tensor y = in[0].clone();
         y.select(1, 0).add_(1);
         y.slice(0, 1).mul_(3);
         y.t().relu_();
         y.diagonal().zero_();
         return {y, y.view({-1}) + 1};
       },
       {{f({4, 3})}, {f({6, 3})}},
       "functional"},  // diagonal_scatter
      {"write to inputs",
       [](Tensors in) -> Tensors {
         in[1].copy_(in[0].relu());
         in[0].mul_(2);
         return {in[0] + in[1]};
       },
       {{f({4, 3}), f({4, 3})}, {f({2, 3}), f({2, 3})}}},
      {"composites",
       [](Tensors in) -> Tensors {
         const Tensor y = at::linear(in[0], in[1], in[2]);
         return {at::layer_norm(y, {2}), at::softmax(y, 1),
                 at::matmul(y, y.t()), at::silu(y), at::dropout(y, .5, false)};
       },
       {{f({4, 3}), f({2, 3}), f({2})}, {f({6, 3}), f({2, 3}), f({2})}}},
      {"factories and sums",
       [](Tensors in) -> Tensors {
         const auto size = in[0].sym_size(0);
         return {at::zeros_symint({size, 2}),
                 at::ones({3}, at::kLong),
                 at::zeros_like(in[0]),
                 at::ones_like(in[0], at::kDouble),
                 in[0].sum(),
                 in[0].sum(at::kDouble)};
       },
       {{f({4, 3})}, {f({5, 3})}}},
      {"index_put_ and masks",
       [](Tensors in) -> Tensors {
         Tensor y = in[0].clone();
         y.index_put_({y > 0}, at::zeros({}));
         return {y, in[0].masked_fill(in[0] < 0, 1)};
       },
       {{f({4, 3})}, {f({5, 3})}}},
      {"numbers from data",
       [](Tensors in) -> Tensors {
         const c10::SymInt n = in[1].item().toSymInt();
         TORCH_CHECK(n.sym_ge(0).expect_true(__FILE__, __LINE__));
         const Tensor found = in[0].nonzero();
         return {at::full_symint({n * 2}, 1.5), found * 2};
       },
       {{f({4, 3}), at::tensor(3)}, {f({6, 3}), at::tensor(5)}}},
      {"branches that write",
       [](Tensors in) -> Tensors {
         return cond(
             in[0].sum() > 0,
             [](Tensors x) -> Tensors {
               Tensor y = x[0] * 2;
               y.add_(1);
               return {y};
             },
             [](Tensors x) -> Tensors { return {x[0].square()}; }, {in[0]});
       },
       {{at::ones({4, 3})}, {-at::ones({5, 3})}, {at::ones({6, 3})}}},
      {"map",
       [](Tensors in) -> Tensors {
         return map(
             [](Tensors x) -> Tensors {
               Tensor y = x[0].clone();
               y.mul_(x[1]);
               return {y};
             },
             {in[0]}, {in[1]});
       },
       {{f({4, 3}), f({3})}, {f({6, 3}), f({3})}}},
  };
}

class DecompositionsTest : public testing::TestWithParam<size_t> {};

TEST_P(DecompositionsTest, AFunctionalProgramGivesWhatEagerGives) {
  const Case c = cases()[GetParam()];
  SCOPED_TRACE(c.name);
  const ExportedProgram program =
      export_program(c.program, copies(c.inputs[0]));
  const ExportedProgram core = run_decompositions(program);
  core.verify(c.form);
  EXPECT_EQ(core.dialect, "ATEN");
  const Module run = core.module();
  for (const Tensors& input : c.inputs) {
    Tensors ours = copies(input), theirs = copies(input);
    const Tensors found = run(ours), expected = c.program(theirs);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].scalar_type(), expected[i].scalar_type());
      EXPECT_TRUE(at::allclose(found[i], expected[i])) << "output " << i;
    }
    for (size_t i = 0; i < ours.size(); ++i)
      EXPECT_TRUE(at::allclose(ours[i], theirs[i])) << "input " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(EachCase, DecompositionsTest,
                         testing::Range<size_t>(0, cases().size()));

TEST(Decompositions, ChangesOfBuffersAreOutputsBeforeTheResults) {
  const Tensor count = at::zeros({}), scale = at::ones({3});
  const auto program = [&](const Tensors& in) -> Tensors {
    in[0].add_(1);
    count.add_(1);
    scale.select(0, 0).mul_(2);
    return {in[0] * scale, count * 1};
  };
  const ExportedProgram core = run_decompositions(export_program(
      program, {}, {{"count", count}, {"scale", scale}}, {at::randn({4, 3})}));
  core.verify("functional");
  const ExportGraphSignature s = core.graph_signature();
  EXPECT_EQ(s.buffers_to_mutate().size(), 2u);
  EXPECT_THAT(s.user_inputs_to_mutate(), ElementsAre(Pair("add", "x")));
  EXPECT_EQ(s.user_outputs().size(), 2u);
  EXPECT_EQ(s.output_specs[0].target, "count");
  Tensor x = at::ones({5, 3});
  const Tensors out = core.module()({x});
  EXPECT_EQ(out.size(), 2u);
  EXPECT_EQ(count.item().toDouble(), 1);
  EXPECT_TRUE(at::equal(scale, at::tensor({2., 1., 1.}).to(at::kFloat)));
  EXPECT_TRUE(at::equal(x, at::full({5, 3}, 2.)));
  EXPECT_TRUE(at::equal(out[0], x * scale));
  EXPECT_EQ(out[1].item().toDouble(), 1);
}

TEST(Decompositions, StatisticsOfABatchNormAreOutputs) {
  const Tensor mean = at::zeros({3}), var = at::ones({3});
  for (const bool training : {true, false}) {
    const auto program = [&](const Tensors& in) -> Tensors {
      return {
          at::batch_norm(in[0], {}, {}, mean, var, training, .1, 1e-5, false)};
    };
    const ExportedProgram core = run_decompositions(export_program(
        program, {}, {{"mean", mean}, {"var", var}}, {at::randn({4, 3})}));
    core.verify("functional");
    EXPECT_EQ(core.graph_signature().buffers_to_mutate().size(),
              training ? 2u : 0u);
    const Tensor x = at::randn({6, 3});
    const Tensor mean_before = mean.clone(), var_before = var.clone();
    const Tensor found = core.module()({x})[0];
    const Tensor found_mean = mean.clone(), found_var = var.clone();
    mean.copy_(mean_before);
    var.copy_(var_before);
    EXPECT_TRUE(at::allclose(found, program({x})[0]));
    EXPECT_TRUE(at::allclose(found_mean, mean));
    EXPECT_TRUE(at::allclose(found_var, var));
  }
}

TEST(Decompositions, ACustomDecompositionIsUsed) {
  const ExportedProgram program = export_program(
      [](const Tensors& in) -> Tensors { return {at::relu(in[0])}; },
      {at::randn({4, 3})});
  DecompositionTable table = default_decompositions();
  table["aten.relu.default"] = [](const DecompositionArgs& args) {
    return DecompositionArgs{at::clamp_min(args[0].toTensor(), 0)};
  };
  const ExportedProgram core = run_decompositions(program, table);
  EXPECT_THAT(targets(core.graph), ElementsAre("aten.clamp_min.default"));
  const Tensor x = at::randn({5, 3});
  EXPECT_TRUE(at::equal(core.module()({x})[0], at::relu(x)));
  table["aten.relu.default"] = [](const DecompositionArgs&) {
    return DecompositionArgs{};
  };
  EXPECT_THAT(error_of([&] { run_decompositions(program, table); }),
              HasSubstr("the decomposition of aten.relu.default gives 0 "
                        "results; the operator has 1"));
}

TEST(Decompositions, CompositesAreOpenedAndViewsAreCore) {
  const ExportedProgram core = run_decompositions(export_program(
      [](const Tensors& in) -> Tensors {
        return {at::linear(in[0], in[1], in[2])};
      },
      {at::randn({4, 3}), at::randn({2, 3}), at::randn({2})}));
  core.verify("core");
  EXPECT_THAT(targets(core.graph), Not(Contains("aten.linear.default")));
  EXPECT_THAT(targets(core.graph), Contains("aten.addmm.default"));
}

TEST(Decompositions, BlocksAreOpenedAndTheirCastsAreOperators) {
  const auto program = [](const Tensors& in) -> Tensors {
    Tensor low;
    {
      const AutocastScope scope("cpu", at::kBFloat16, true, true);
      low = at::mm(in[0], in[1]);
    }
    const at::NoGradGuard no_grad;
    return {low, in[0] + 1};
  };
  const Tensors in = {at::randn({4, 3}), at::randn({3, 2})};
  const ExportedProgram traced = export_program(program, in);
  EXPECT_THAT(traced.to_string(), HasSubstr("wrap_with_autocast"));
  const ExportedProgram core = run_decompositions(traced);
  core.verify("core");
  EXPECT_THAT(core.to_string(), Not(HasSubstr("wrap_with")));
  EXPECT_THAT(targets(core.graph), Contains("aten._to_copy.default"));
  const Tensors found = core.module()(in), expected = program(in);
  EXPECT_EQ(found[0].scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::equal(found[0], expected[0]));
  EXPECT_TRUE(at::equal(found[1], expected[1]));
}

TEST(Decompositions, TheGuardsOfTheProgramStay) {
  const ExportedProgram program = export_program(
      [](const Tensors& in) -> Tensors { return {in[0] + in[1]}; },
      {at::randn({4, 3}), at::randn({4, 3})});
  const ExportedProgram core = run_decompositions(program);
  EXPECT_EQ(core.guards_code(), program.guards_code());
  EXPECT_EQ(core.range_constraints_to_string(),
            program.range_constraints_to_string());
  EXPECT_THAT(
      error_of([&] { core.module()({at::randn({4, 3}), at::randn({5, 3})}); }),
      HasSubstr("Guard failed"));
}

TEST(Decompositions, WritingToAConstantIsRefused) {
  const Tensor constant = at::zeros({3});
  const ExportedProgram program = export_program(
      [&](const Tensors& in) -> Tensors { return {constant.add_(in[0])}; },
      {at::randn({3})});
  EXPECT_THAT(error_of([&] { run_decompositions(program); }),
              HasSubstr("writes to its constant 'lifted_tensor_0'"));
}

}  // namespace
}  // namespace proviso
