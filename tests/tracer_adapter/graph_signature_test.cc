// The signature of a C++ program and the tensors it owns, under torch.export's
// names.
#include "tracer_adapter/ir/graph_signature.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tracer_adapter/support.h"
#include "tracer_adapter/export.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso {
namespace {

using at::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using Tensors = std::vector<Tensor>;

// A parameter, buffers of both kinds, a constant, a number and None.
struct Model {
  Tensor weight = at::randn({3, 2}).requires_grad_();
  Tensor count = at::zeros({}), scratch = at::ones({2});
  Tensor shift = at::ones({2});

  ExportedProgram trace() const {
    const Tensor example = at::randn({4, 3});
    Tracer tracer;
    tracer.add_parameter("linear.weight", weight);
    tracer.add_buffer("count", count);
    tracer.add_buffer("scratch", scratch, /*persistent=*/false);
    const Tensor x = tracer.add_input("x", example);
    const c10::SymInt n = tracer.add_int_input("n", 5);
    tracer.add_constant_input("flag", {true});
    tracer.add_constant_input("none", {NoneArgument{}});
    count.add_(1);
    const Tensor y = at::mm(x, weight) * scratch + shift;
    return tracer.finish({y, n * 2, 7, c10::IValue()});
  }
};

TEST(GraphSignatureTest, NamesInputsByKind) {
  const ExportGraphSignature s = Model().trace().graph_signature();
  EXPECT_THAT(s.parameters(), ElementsAre("linear.weight"));
  EXPECT_THAT(s.buffers(), ElementsAre("count", "scratch"));
  EXPECT_THAT(s.non_persistent_buffers(), ElementsAre("scratch"));
  EXPECT_THAT(s.lifted_tensor_constants(), ElementsAre("lifted_tensor_0"));
  EXPECT_THAT(s.user_inputs(), ElementsAre("x", "n", "True", "None"));
  EXPECT_THAT(s.inputs_to_parameters(),
              ElementsAre(Pair("p_linear_weight", "linear.weight")));
  EXPECT_THAT(s.inputs_to_buffers(), ElementsAre(Pair("b_count", "count"),
                                                 Pair("b_scratch", "scratch")));
  EXPECT_THAT(s.inputs_to_lifted_tensor_constants(),
              ElementsAre(Pair("c_lifted_tensor_0", "lifted_tensor_0")));
  EXPECT_EQ(s.input_specs.back().arg,
            SignatureArgument(ConstantArgument{"none", "None"}));
}

TEST(GraphSignatureTest, NamesOutputsByKind) {
  const ExportGraphSignature s = Model().trace().graph_signature();
  EXPECT_THAT(s.user_outputs(), ElementsAre("add", "mul_1", "7", "None"));
  EXPECT_EQ(s.output_specs[0].arg, SignatureArgument(TensorArgument{"add"}));
  EXPECT_EQ(s.output_specs[1].arg, SignatureArgument(SymIntArgument{"mul_1"}));
  EXPECT_THAT(s.buffers_to_mutate(), IsEmpty());
  EXPECT_FALSE(s.backward_signature());
  EXPECT_FALSE(s.assertion_dep_token());
}

TEST(GraphSignatureTest, ReadsMutationsAndGradientsFromTheOutputs) {
  ExportGraphSignature s = Model().trace().graph_signature();
  const auto kinds = [&](OutputKind first, OutputKind second) {
    s.output_specs[0].kind = first;
    s.output_specs[0].target = "one";
    s.output_specs[1].kind = second;
    s.output_specs[1].target = "two";
  };
  kinds(OutputKind::kBufferMutation, OutputKind::kUserInputMutation);
  EXPECT_THAT(s.buffers_to_mutate(), ElementsAre(Pair("add", "one")));
  EXPECT_THAT(s.user_inputs_to_mutate(), ElementsAre(Pair("mul_1", "two")));
  EXPECT_THAT(s.user_outputs(), ElementsAre("7", "None"));
  kinds(OutputKind::kParameterMutation, OutputKind::kLossOutput);
  EXPECT_THAT(s.parameters_to_mutate(), ElementsAre(Pair("add", "one")));
  EXPECT_THAT(s.user_outputs(), ElementsAre("mul_1", "7", "None"));
  kinds(OutputKind::kGradientToParameter, OutputKind::kLossOutput);
  ASSERT_TRUE(s.backward_signature());
  EXPECT_EQ(s.backward_signature()->loss_output, "mul_1");
  EXPECT_THAT(s.backward_signature()->gradients_to_parameters,
              ElementsAre(Pair("add", "one")));
}

TEST(GraphSignatureTest, ReplacesAllUsesOfAName) {
  ExportGraphSignature s = Model().trace().graph_signature();
  s.replace_all_uses("add", "fresh");
  s.replace_all_uses("p_linear_weight", "p_w");
  s.replace_all_uses("flag", "banner");  // no value: a constant's own name
  EXPECT_EQ(s.user_outputs()[0], "fresh");
  EXPECT_THAT(s.inputs_to_parameters(),
              ElementsAre(Pair("p_w", "linear.weight")));
  EXPECT_EQ(name_of(s.input_specs[6].arg), "flag");
}

TEST(GraphSignatureTest, HooksFollowTheGraph) {
  ExportedProgram program = Model().trace();
  ExportGraphSignature outputs = program.graph_signature(), all = outputs;
  const std::vector<ReplaceHook> hooks = {outputs.get_replace_hook(),
                                          all.get_replace_hook(true)};
  rename_value(program.graph, "add", "result", hooks);
  rename_value(program.graph, "x", "image", hooks);
  EXPECT_EQ(outputs.user_outputs()[0], "result");
  EXPECT_EQ(outputs.user_inputs()[0], "x");
  EXPECT_EQ(all.user_inputs()[0], "image");
  EXPECT_EQ(program.graph_signature().user_inputs()[0], "image");
  EXPECT_THAT(program.to_string(), HasSubstr("mm.default(image, "));
}

TEST(GraphSignatureTest, ANameThatIsTakenOrUnknownIsRefused) {
  ExportedProgram program = Model().trace();
  EXPECT_THAT(error_of([&] { rename_value(program.graph, "z", "a"); }),
              HasSubstr("the graph has no value 'z'"));
  EXPECT_THAT(error_of([&] { rename_value(program.graph, "add", "x"); }),
              HasSubstr("the name 'x' for 'add' is taken"));
}

TEST(ExportedProgramTest, GivesItsOwnTensorsByName) {
  const Model model;
  const ExportedProgram program = model.trace();
  ASSERT_EQ(program.named_parameters().size(), 1u);
  EXPECT_EQ(program.named_parameters()[0].first, "linear.weight");
  EXPECT_TRUE(program.parameters()[0].is_same(model.weight));
  ASSERT_EQ(program.named_buffers().size(), 2u);
  EXPECT_EQ(program.named_buffers()[1].first, "scratch");
  EXPECT_TRUE(program.buffers()[0].is_same(model.count));
  ASSERT_EQ(program.state_dict.size(), 2u);  // scratch does not persist
  EXPECT_EQ(program.state_dict[1].first, "count");
}

TEST(ExportedProgramTest, VerifiesItsForm) {
  const ExportedProgram program = Model().trace();
  program.verify();
  program.verify("training");
  EXPECT_THAT(error_of([&] { program.verify("functional"); }),
              HasSubstr("aten.add_.Scalar writes to its arguments"));
  EXPECT_THAT(error_of([&] { program.verify("pretty"); }),
              HasSubstr("no form 'pretty'"));
  const ExportedProgram linear = export_program(
      [](const Tensors& in) -> Tensors { return {at::linear(in[0], in[1])}; },
      {at::randn({4, 3}), at::randn({2, 3})});
  linear.verify("functional");
  EXPECT_THAT(error_of([&] { linear.verify("core"); }),
              HasSubstr("aten.linear.default is no core ATen operator"));
}

}  // namespace
}  // namespace proviso
