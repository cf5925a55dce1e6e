// From a C++ program to an exported one: symbols, guards, text, running.
#include "tracer_adapter/trace/tracer.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <thread>

#include "sym/print.h"
#include "tests/tracer_adapter/support.h"
#include "tracer_adapter/export.h"

namespace proviso {
namespace {

using at::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using Tensors = std::vector<Tensor>;

std::vector<std::string> conditions(const ExportedProgram& program) {
  std::vector<std::string> result;
  for (const Guard& guard : program.guards())
    result.push_back(to_string(guard.condition));
  return result;
}

std::string shape_of_output(const ExportedProgram& program, size_t i) {
  return program.graph.annotation(
      program.output_specs()[i].arg.get<ValueRef>()->id);
}

void expect_equal(const Tensors& got, const Tensors& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].sizes(), expected[i].sizes());
    EXPECT_EQ(got[i].scalar_type(), expected[i].scalar_type());
    EXPECT_TRUE(at::allclose(got[i], expected[i], 1e-5, 1e-6, true));
  }
}

// --- the tutorial's DynamicModel

struct DynamicModel {
  Tensor weight = at::randn({3, 5}), bias = at::randn({3});

  Tensors operator()(const Tensors& in) const {
    const Tensor x0 = PROVISO_LINE(in[1] + in[2]);
    const Tensor x1 = PROVISO_LINE(at::linear(in[0], weight, bias));
    const Tensor x2 = PROVISO_LINE(x0.flatten());
    const Tensor x3 = PROVISO_LINE(x2 + in[3]);
    return {x1, x3};
  }

  static Tensors inputs(int64_t batch, int64_t columns, int64_t rows) {
    return {at::randn({batch, 5}), at::randn({columns}),
            at::randn({rows, columns}), at::randn({rows * columns})};
  }

  ExportedProgram trace() const {
    ExportOptions options;
    options.input_names = {"w", "x", "y", "z"};
    return export_program(*this, {{"l.weight", weight}, {"l.bias", bias}}, {},
                          inputs(6, 4, 8), options);
  }
};

TEST(DynamicModelTest, EveryDimAutomaticGivesTheThreeGuardsOfTheTutorial) {
  const ExportedProgram program = DynamicModel().trace();
  EXPECT_THAT(conditions(program),
              UnorderedElementsAre("Eq(s2, s4)", "Eq(s1, 5)", "Eq(s2*s3, s5)"));
  for (const Guard& guard : program.guards()) {
    ASSERT_FALSE(guard.origins.empty());
    EXPECT_THAT(guard.origins[0].file, HasSubstr("tracer_test.cc"));
    EXPECT_GT(guard.origins[0].line, 0);
  }
}

TEST(DynamicModelTest, ResultsHaveTheShapesOfTheTutorial) {
  const ExportedProgram program = DynamicModel().trace();
  EXPECT_EQ(shape_of_output(program, 0), "f32[s0, 3]");
  EXPECT_EQ(shape_of_output(program, 1), "f32[s2*s3]");
}

TEST(DynamicModelTest, RunsAsEagerAtOtherSizes) {
  const DynamicModel model;
  const Module run = model.trace().module();
  for (auto [batch, columns, rows] :
       {std::array<int64_t, 3>{6, 4, 8}, {2, 3, 5}, {17, 9, 2}, {64, 2, 33}}) {
    const Tensors in = DynamicModel::inputs(batch, columns, rows);
    expect_equal(run(in), model(in));
  }
}

TEST(DynamicModelTest, InputsOutsideTheGuardsAreRefusedByName) {
  const Module run = DynamicModel().trace().module();
  const auto refusal = [&](size_t i, at::IntArrayRef sizes) {
    Tensors in = DynamicModel::inputs(6, 4, 8);
    in[i] = at::randn(sizes);
    return error_of([&] { run(in); });
  };
  EXPECT_THAT(refusal(0, {6, 7}), HasSubstr("w.size()[1] == 5"));
  EXPECT_THAT(refusal(1, {5}), HasSubstr("x.size()[0]"));
  EXPECT_THAT(refusal(3, {33}), HasSubstr("z.size()[0]"));
  EXPECT_THAT(refusal(1, {4, 1}), HasSubstr("x.dim() == 1 (x.dim() is 2)"));
  Tensors in = DynamicModel::inputs(6, 4, 8);
  in[1] = in[1].to(at::kDouble);
  EXPECT_THAT(error_of([&] { run(in); }),
              HasSubstr("x.dtype == torch.float32"));
  in.pop_back();
  EXPECT_THAT(error_of([&] { run(in); }), HasSubstr("takes 4 inputs"));
}

TEST(DynamicModelTest, PrintsAsTorchExportDoes) {
  const std::string text = DynamicModel().trace().to_string();
  EXPECT_THAT(
      text,
      HasSubstr("ExportedProgram:\n"
                "    class GraphModule(torch.nn.Module):\n"
                "        def forward(self, p_l_weight: \"f32[3, 5]\", "
                "p_l_bias: \"f32[3]\", w: \"f32[s0, 5]\", x: \"f32[s2]\", "
                "y: \"f32[s3, s2]\", z: \"f32[s2*s3]\"):\n"
                "            # File: "));
  EXPECT_THAT(
      text,
      HasSubstr(
          "            linear: \"f32[s0, 3]\" = "
          "torch.ops.aten.linear.default(w, "
          "p_l_weight, p_l_bias);  w = p_l_weight = p_l_bias = None\n    \n"));
  EXPECT_THAT(text, HasSubstr("            return (linear, add_1)\n    \n"
                              "Graph signature: \n    # inputs\n"
                              "    p_l_weight: PARAMETER target='l.weight'\n"));
  EXPECT_THAT(text, HasSubstr("    z: USER_INPUT\n    \n    # outputs\n"
                              "    linear: USER_OUTPUT\n"));
  EXPECT_THAT(text, HasSubstr("Range constraints: {s0: VR[0, int_oo]"));
}

TEST(DynamicModelTest, SignatureReprIsTorchs) {
  EXPECT_THAT(
      DynamicModel().trace().signature_repr(),
      HasSubstr("ExportGraphSignature(input_specs=[InputSpec(kind=<InputKind."
                "PARAMETER: 2>, arg=TensorArgument(name='p_l_weight'), "
                "target='l.weight', persistent=None), "));
}

// --- dims

TEST(TracerTest, StaticDimsAreConstantsAndAreChecked) {
  const ExportedProgram program =
      export_program([](Tensors in) -> Tensors { return {at::relu(in[0])}; },
                     {at::randn({3, 4})},
                     {.dynamic_shapes = {{Dim::automatic(), Dim::fixed()}},
                      .input_names = {},
                      .shape_env = {}});
  EXPECT_EQ(shape_of_output(program, 0), "f32[s0, 4]");
  EXPECT_THAT(error_of([&] { program.module()({at::randn({3, 5})}); }),
              HasSubstr("x.size()[1] == 4"));
}

TEST(TracerTest, ADynamicDimThatTheProgramSpecialisesIsAnError) {
  const auto program = [](Tensors in) -> Tensors {
    return {in[0] + at::ones({4})};
  };
  EXPECT_THAT(error_of([&] {
                export_program(program, {at::randn({4})},
                               {.dynamic_shapes = {{Dim::dynamic()}},
                                .input_names = {},
                                .shape_env = {}});
              }),
              HasSubstr("Constraints violated"));
}

TEST(TracerTest, ASpecOfTheWrongLengthNamesTheInput) {
  EXPECT_THAT(error_of([&] {
                export_program([](Tensors in) { return in; },
                               {at::randn({4, 2})},
                               {.dynamic_shapes = {{Dim::dynamic()}},
                                .input_names = {"rows"},
                                .shape_env = {}});
              }),
              HasSubstr("shape spec of rows"));
}

// --- recording

TEST(TracerTest, InPlaceOperatorsStayAndSharedParametersAreNotExecuted) {
  const Tensor counter = at::zeros({}, at::kLong);
  const ExportedProgram program = export_program(
      [&](Tensors in) -> Tensors {
        counter.add_(1);
        return {at::relu_(in[0].add_(1)) * counter};
      },
      {}, {{"steps", counter}}, {at::randn({3})});
  EXPECT_EQ(counter.item<int64_t>(), 0);
  EXPECT_THAT(program.to_string(), HasSubstr("b_steps: BUFFER target='steps' "
                                             "persistent=True"));
  const Module run = program.module();
  const Tensor x = at::ones({5});
  expect_equal(run({x.clone()}), {at::full({5}, 2.f)});
  EXPECT_EQ(counter.item<int64_t>(), 1);
}

TEST(TracerTest, UnknownRealTensorsBecomeLiftedConstants) {
  const Tensor table = at::arange(4, at::kFloat);
  const ExportedProgram program =
      export_program([&](Tensors in) -> Tensors { return {in[0] + table}; },
                     {at::randn({3, 4})});
  EXPECT_THAT(program.to_string(),
              HasSubstr("c_lifted_tensor_0: CONSTANT_TENSOR "
                        "target='lifted_tensor_0'"));
  const Tensor x = at::randn({7, 4});
  expect_equal(program.module()({x}), {x + table});
}

TEST(TracerTest, SymbolicSizesBecomeNodesAndRun) {
  const auto program = [](Tensors in) -> Tensors {
    const c10::SymInt rows = in[0].sym_size(0);
    const Tensor total =
        at::full_symint({rows * 2, rows - 1}, 3.0, in[0].options());
    return {total, in[0].reshape_symint({in[0].sym_size(1), -1})};
  };
  const ExportedProgram exported = export_program(program, {at::randn({4, 6})});
  EXPECT_THAT(exported.to_string(),
              HasSubstr("sym_size_int: \"Sym(s0)\" = "
                        "torch.ops.aten.sym_size.int(x, 0)\n"));
  EXPECT_THAT(exported.to_string(),
              HasSubstr("mul: \"Sym(2*s0)\" = sym_size_int * 2\n"));
  const Tensor x = at::randn({5, 3});
  expect_equal(exported.module()({x}), program({x}));
}

TEST(TracerTest, NumbersReadFromDataAreCheckedWhenRun) {
  const auto program = [](Tensors in) -> Tensors {
    const c10::SymInt count = in[0].sum().item().toSymInt();
    TORCH_SYM_CHECK(count.sym_ge(0), "count is negative");
    TORCH_SYM_CHECK(count.sym_le(40), "count is large");
    return {at::zeros_symint({count}, at::kFloat) + 1};
  };
  const ExportedProgram exported =
      export_program(program, {at::ones({3}, at::kLong)});
  EXPECT_THAT(exported.to_string(),
              HasSubstr("\"Runtime assertion failed for expression u0 >= 0 on "
                        "node 'ge'\""));
  EXPECT_THAT(exported.range_constraints_to_string(),
              HasSubstr("u0: VR[0, 40]"));
  const Module run = exported.module();
  expect_equal(run({at::ones({5}, at::kLong)}), {at::ones({5})});
  EXPECT_THAT(error_of([&] { run({at::full({5}, -1, at::kLong)}); }),
              HasSubstr("Runtime assertion failed for expression u0 >= 0"));
  EXPECT_THAT(error_of([&] { run({at::full({5}, 10, at::kLong)}); }),
              HasSubstr("Runtime assertion failed for expression u0 <= 40"));
}

TEST(TracerTest, AnEqualityToldOfDataIsAssertedBetweenTheValuesThemselves) {
  const auto program = [](Tensors in) -> Tensors {
    const c10::SymInt a = in[0].sum().item().toSymInt();
    TORCH_SYM_CHECK(a.sym_eq(in[1].sym_size(0) + 4), "a is not right");
    return {at::zeros_symint({a}, at::kFloat)};
  };
  const Module run =
      export_program(program, {at::ones({9}, at::kLong), at::ones({5})})
          .module();
  EXPECT_EQ(run({at::ones({7}, at::kLong), at::ones({3})})[0].size(0), 7);
  EXPECT_THAT(error_of([&] { run({at::ones({8}, at::kLong), at::ones({5})}); }),
              HasSubstr("Runtime assertion failed"));
}

TEST(TracerTest, BranchingOnDataIsADataDependentError) {
  EXPECT_THAT(error_of([] {
                export_program(
                    [](Tensors in) -> Tensors {
                      const c10::SymInt a = in[0].sum().item().toSymInt();
                      return {a > 3 ? in[0] + 1 : in[0] - 1};
                    },
                    {at::ones({3}, at::kLong)});
              }),
              HasSubstr("Could not guard on data-dependent expression"));
}

TEST(TracerTest, SymbolicFloatsRunWithTheirOwnValue) {
  const auto program = [](Tensors in) -> Tensors {
    const c10::SymFloat half = c10::SymFloat(in[0].sym_size(0)) / 2.0;
    return {in[0] + at::Scalar(half)};
  };
  const ExportedProgram exported = export_program(program, {at::randn({4})});
  const Tensor x = at::randn({7});
  expect_equal(exported.module()({x}), {x + 3.5});
}

TEST(TracerTest, ConstantsKeepTheirValueUntilWritten) {
  const Tensor real = at::scalar_tensor(2, at::kLong);
  const ExportedProgram exported = export_program(
      [&](Tensors in) -> Tensors {
        return {in[0] * at::lift_fresh(real).add(1).item().toLong()};
      },
      {at::randn({3})});
  const Tensor x = at::randn({5});
  expect_equal(exported.module()({x}), {x * 3});
  EXPECT_THAT(error_of([&] {
                export_program(
                    [&](Tensors in) -> Tensors {
                      const Tensor c = at::lift_fresh(real);
                      c.add_(1);
                      return {in[0] * c.item().toLong()};
                    },
                    {at::randn({3})});
              }),
              HasSubstr("Could not extract specialized integer"));
}

// --- errors, and life goes on

TEST(TracerTest, AnOperatorWithoutARuleIsNamed) {
  torch::Library library(torch::Library::FRAGMENT, "proviso_test", std::nullopt,
                         __FILE__, __LINE__);
  library.def("no_rule(Tensor x) -> Tensor");
  const auto no_rule = c10::Dispatcher::singleton()
                           .findSchemaOrThrow("proviso_test::no_rule", "")
                           .typed<Tensor(const Tensor&)>();
  const auto program = [&](Tensors in) -> Tensors {
    return {no_rule.call(in[0])};
  };
  const std::string error =
      error_of([&] { export_program(program, {at::randn({8})}); });
  EXPECT_THAT(error, HasSubstr("no shape rule for proviso_test::no_rule"));
  EXPECT_THAT(error, HasSubstr("f32[s0]"));
  const Tensor x = at::ones({2});
  expect_equal({x + 1}, {at::full({2}, 2.f)});  // not traced any more
}

TEST(TracerTest, AFakeOutsideItsTraceIsACleanError) {
  Tensor escaped;
  export_program(
      [&](Tensors in) -> Tensors {
        escaped = in[0] + 1;
        return {escaped};
      },
      {at::randn({3})});
  EXPECT_THAT(error_of([&] { at::relu(escaped); }),
              HasSubstr("after its trace ended"));
  EXPECT_THAT(error_of([&] { escaped.data_ptr<float>(); }),
              HasSubstr("has no data"));
  EXPECT_THAT(error_of([&] {
                export_program(
                    [&](Tensors in) -> Tensors { return {in[0] + escaped}; },
                    {at::randn({3})});
              }),
              HasSubstr("another trace"));
}

TEST(TracerTest, OtherThreadsComputeWhileOneTraces) {
  Tensor seen;
  export_program(
      [&](Tensors in) -> Tensors {
        std::thread([&] { seen = at::ones({2}) + 1; }).join();
        return {in[0] + 1};
      },
      {at::randn({3})});
  EXPECT_FALSE(is_fake(seen));
  EXPECT_EQ(seen.sum().item<float>(), 4.f);
}

TEST(TracerTest, AProgramThatThrowsLeavesNoTracingBehind) {
  EXPECT_EQ(error_of([] {
              export_program(
                  [](Tensors) -> Tensors { throw std::runtime_error("mine"); },
                  {at::randn({3})});
            }),
            "mine");
  EXPECT_EQ(Tracer::current(), nullptr);
  EXPECT_FALSE(is_fake(at::ones({2})));
}

TEST(FakeTensorTest, LayoutIsAnsweredWithoutGuards) {
  const Tensor example = at::randn({4, 6});
  Tracer tracer;
  const Tensor x = tracer.add_input("x", example);
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_FALSE(x.t().is_contiguous());
  EXPECT_TRUE(x.t().is_non_overlapping_and_dense());
  EXPECT_TRUE(tracer.env().guards().empty());
  EXPECT_THAT(error_of([&] { x.sizes(); }),
              HasSubstr("called sizes() on a tensor with symbolic sizes"));
}

TEST(FakeTensorTest, StridesOfATransposedExampleAreSymbolic) {
  const Tensor example = at::randn({4, 6}).t();
  Tracer tracer;
  const Tensor x = tracer.add_input("x", example);
  EXPECT_EQ(to_string(to_expr(tracer.env(), x.sym_stride(1))), "s0");
  EXPECT_EQ(x.sym_stride(0).maybe_as_int(), 1);
}

TEST(UnbackedSizes, RunForEverySizeAndBranchForNone) {
  const ExportOptions options{
      .dynamic_shapes = {{Dim::unbacked(), Dim::fixed()}},
      .input_names = {},
      .shape_env = {}};
  const Program twice = [](Tensors in) { return Tensors{in[0] + in[0]}; };
  ExportedProgram ep = export_program(twice, {at::ones({1, 3})}, options);
  EXPECT_THAT(conditions(ep), ElementsAre());
  EXPECT_EQ(ep.range_constraints[0].range, Interval::at_least(0));
  for (int64_t n : {0, 1, 5}) {
    const Tensor x = at::randn({n, 3});
    expect_equal(ep.module()({x}), {x + x});
  }
  const Program branches = [](Tensors in) {
    return Tensors{in[0].sym_size(0) > 2 ? in[0] + 1 : in[0]};
  };
  EXPECT_THAT(
      error_of([&] { export_program(branches, {at::ones({4, 3})}, options); }),
      HasSubstr("which is marked as unbacked: no branch may depend on it"));
}

}  // namespace
}  // namespace proviso
