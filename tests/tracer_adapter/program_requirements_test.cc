#include "tracer_adapter/rerun/program_requirements.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>

#include "tests/tracer_adapter/support.h"

namespace proviso {
namespace {

using at::Tensor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Tensors = std::vector<Tensor>;

std::vector<std::string> texts(const ProgramRequirements& r) {
  std::vector<std::string> result;
  for (const Requirement& c : r.conditions) result.push_back(c.text);
  return result;
}

ProgramRequirements required(const Program& program, const Tensors& examples) {
  ProgramRequirements found = program_requirements(program, examples);
  EXPECT_TRUE(found.proved) << found.why_not;
  for (const Requirement& c : found.conditions)
    EXPECT_TRUE(evaluate(c.condition, found.witness).is_true()) << c.text;
  return found;
}

TEST(ProgramRequirementsTest, AProgramWithoutQuestionsRequiresNothing) {
  const auto found = required([](Tensors in) -> Tensors { return {in[0] * 2}; },
                              {at::ones({3, 4})});
  EXPECT_THAT(texts(found), IsEmpty());
}

TEST(ProgramRequirementsTest, TheLeastIsRequiredInTheCallersWords) {
  const auto found = required(
      [](Tensors in) -> Tensors {
        Tensor x = in[0];
        if (x.sym_size(0) > 1) x = x + 1;
        if (x.sym_size(0) != 1) x = x * 2;
        return {x.view({-1, 4}) + in[1].sum()};
      },
      {at::ones({3, 8}), at::ones({2})});
  EXPECT_THAT(texts(found),
              UnorderedElementsAre("x0.size(0) >= 2",
                                   "x0.size(0)*x0.size(1) % 4 == 0"));
}

TEST(ProgramRequirementsTest, ASizeThatIsNeededAsANumberIsPinned) {
  const auto found = required(
      [](Tensors in) -> Tensors {
        Tensor x = in[0];
        const int64_t n = x.sym_size(0).guard_int(__FILE__, __LINE__);
        for (int64_t i = 0; i < n; ++i) x = x + i;
        return {x};
      },
      {at::ones({3, 8})});
  EXPECT_THAT(texts(found), ElementsAre("x.size(0) == 3"));
  ASSERT_EQ(found.pinned.size(), 1u);
  EXPECT_EQ(found.pinned[0].text, "x.size(0)");
}

TEST(ProgramRequirementsTest, QuestionsAboutDataAreAnsweredAsTheExampleDoes) {
  const auto found = required(
      [](Tensors in) -> Tensors {
        Tensor y = at::masked_select(in[0], in[1]);
        if (y.sym_size(0) > 2) y = y + 1;
        if (in[0].sym_size(0) == 4) y = y * 2;
        return {y};
      },
      {at::ones({6}), at::arange(6) < 5});
  ASSERT_EQ(found.of_data.size(), 1u);
  EXPECT_EQ(found.of_data[0].text, "u0 >= 3");
  EXPECT_EQ(found.of_data[0].answer, Int(1));
  EXPECT_THAT(texts(found), testing::Contains("x0.size(0) != 4"));
}

struct Pooled : torch::nn::Module {
  Pooled() : l(register_module("l", torch::nn::Linear(4, 3))) {}
  Tensor forward(const Tensor& x) {
    return at::max_pool1d(l->forward(x).transpose(1, 2), 2);
  }
  torch::nn::Linear l;
};

TEST(ProgramRequirementsTest, AModuleWithFixedSizes) {
  Pooled model;
  ExportOptions options;
  options.input_names = {"words"};
  options.dynamic_shapes = {{Dim::automatic(), Dim::automatic(), Dim::fixed()}};
  const auto found =
      module_requirements<1>(model, {at::ones({2, 6, 4})}, options);
  EXPECT_TRUE(found.proved) << found.why_not;
  for (const TorchSize& size : found.for_torch.sizes)
    EXPECT_NE(size.source, "L['words'].size()[2]");
}

TEST(ProgramRequirementsTest, ErrorsNameTheCall) {
  EXPECT_THAT(error_of([] { program_requirements(nullptr, {at::ones({2})}); }),
              HasSubstr("program_requirements"));
}

}  // namespace
}  // namespace proviso
