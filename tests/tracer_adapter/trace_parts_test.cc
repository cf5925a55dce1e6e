// The parts of a Tracer, each without one.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sym/parse.h"
#include "tests/tracer_adapter/support.h"
#include "tracer_adapter/trace/mode_stack.h"
#include "tracer_adapter/trace/module_stacks.h"
#include "tracer_adapter/trace/nesting.h"
#include "tracer_adapter/trace/program_inputs.h"
#include "tracer_adapter/trace/source_stacks.h"
#include "tracer_adapter/trace/trace_asserts.h"

namespace proviso {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ModeStackTest, AHeldModeStaysWhateverIsSet) {
  const at::AutoGradMode on(true);
  ModeStack modes;
  EXPECT_EQ(modes.now(), 0u);
  const at::AutoGradMode off(false);
  EXPECT_EQ(modes.now(), 1u);
  EXPECT_FALSE(modes.records_grad());
  modes.hold();
  {
    const at::AutoGradMode again(true);
    EXPECT_EQ(modes.now(), 1u);
    EXPECT_FALSE(modes.records_grad());
    modes.release();
    EXPECT_EQ(modes.now(), 0u);
    EXPECT_TRUE(modes.records_grad());
  }
  EXPECT_THAT(error_of([&] { modes.release(); }),
              HasSubstr("release_mode: nothing is open; call hold_mode first"));
}

TEST(ModeStackTest, AnAutocastBlockIsAModeEvenWhereItChangesNothing) {
  ModeStack modes;
  modes.enter_autocast();
  EXPECT_EQ(modes.now(), 1u);
  modes.exit_autocast();
  EXPECT_EQ(modes.now(), 0u);
  EXPECT_THAT(error_of([&] { modes.exit_autocast(); }),
              HasSubstr("call enter_autocast_block first"));
}

TEST(ModuleStacksTest, ModulesNestAndCountTheirCalls) {
  ModuleStacks modules;
  modules.enter("a", "A");
  modules.enter("a.b", "B");
  EXPECT_THAT(modules[modules.now()], ElementsAre(ModuleFrame{"a", "A", 0},
                                                  ModuleFrame{"a.b", "B", 0}));
  modules.exit();
  EXPECT_THAT(modules[modules.now()], ElementsAre(ModuleFrame{"a", "A", 0}));
  EXPECT_EQ(modules.calls_of("a.b"), 1);
  modules.enter("a.b", "B");
  EXPECT_EQ(modules[modules.now()].back().call, 1);
  EXPECT_EQ(modules.depth(), 3u);
  EXPECT_EQ(modules.number_of({{"a", "A", 0}}), 1u);
}

TEST(NestingTest, WhatDoesNotBalanceIsNamed) {
  EXPECT_EQ(error_of([] { check_nesting({}, {}, "finish"); }), "");
  EXPECT_THAT(error_of([] { check_nesting({.held = 1}, {}, "finish"); }),
              HasSubstr("finish: hold_mode and release_mode do not balance"));
}

TEST(SourceStacksTest, AStackHasOneNumber) {
  SourceStacks stacks;
  const uint32_t first = stacks.number_of({{"a.py", 3, "f", "x + 1"}});
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(stacks.number_of({{"a.py", 4, "f", "x + 1"}}), 2u);
  EXPECT_EQ(stacks.number_of({{"a.py", 3, "f", "x + 1"}}), first);
  EXPECT_EQ(stacks[first].back().line, 3);
}

TEST(TraceAssertsTest, WhatIsAssertedInsideIsTheSubGraphs) {
  ShapeEnv env;
  TraceAsserts asserts(env);
  const Expr a = env.create_unbacked_int(), b = env.create_unbacked_int(),
             c = env.create_unbacked_int();
  env.expect_true(ge(a, 2));
  const size_t first = env.runtime_asserts().size();
  env.expect_true(ge(b, 3));
  Graph inner, outer;
  asserts.give(first, &inner);
  env.expect_true(ge(c, 4));
  asserts.give(first, &outer);  // what has an owner keeps it
  asserts.add_check({le(a, 9), {}, "at most nine"});
  asserts.add_check({le(a, 9), {}, "once more"});
  const auto conditions = [&](const Graph* owner) {
    std::vector<Expr> result;
    for (const RuntimeAssert& a : asserts.of(owner))
      result.push_back(a.condition);
    return result;
  };
  EXPECT_THAT(conditions(nullptr), ElementsAre(ge(a, 2), le(a, 9)));
  EXPECT_THAT(conditions(&inner), ElementsAre(ge(b, 3)));
  EXPECT_THAT(conditions(&outer), ElementsAre(ge(c, 4)));
}

TEST(ProgramInputsTest, OwnedTensorsComeFirstByTheirKind) {
  const at::Tensor w = at::zeros({2}), t = at::zeros({3});
  ProgramInputs inputs;
  inputs.add(inputs.user_input("x", ""));
  inputs.own(InputKind::kConstantTensor, inputs.constant_name(t), t, {}, 4);
  inputs.own(InputKind::kBuffer, "count", t, false, 6);
  inputs.own(InputKind::kParameter, "linear.weight", w, {}, 5);
  std::vector<std::string> names;
  for (const InputSpec& spec : inputs.specs()) names.push_back(spec.name);
  EXPECT_THAT(names, ElementsAre("p_linear_weight", "b_count",
                                 "c_lifted_tensor_0", "x"));
  ExportedProgram program;
  inputs.give_tensors(program);
  ASSERT_EQ(program.state_dict.size(), 1u);
  EXPECT_EQ(program.state_dict[0].first, "linear.weight");
  ASSERT_EQ(program.constants.size(), 2u);  // the buffer is not persistent
  EXPECT_EQ(program.constants[0].first, "count");
}

TEST(ProgramInputsTest, AnAliasIsOfTheSameMemoryAndLayout) {
  const at::Tensor w = at::zeros({2, 3});
  ProgramInputs inputs;
  inputs.own(InputKind::kParameter, "w", w, {}, 0);
  ASSERT_NE(inputs.alias_of(w.detach()), nullptr);
  EXPECT_TRUE(inputs.alias_of(w.detach())->is_same(w));
  EXPECT_EQ(inputs.alias_of(w.t()), nullptr);
  EXPECT_EQ(inputs.alias_of(at::zeros({2, 3})), nullptr);
}

TEST(ProgramInputsTest, ANameIsGivenOnce) {
  ProgramInputs inputs;
  inputs.claim_target("w");
  EXPECT_THAT(error_of([&] { inputs.claim_target("w"); }),
              HasSubstr("there is a parameter or buffer 'w' already"));
  inputs.user_input("x", "");
  EXPECT_THAT(error_of([&] { inputs.user_input("y", "L['x']"); }),
              HasSubstr("there is an input L['x'] already"));
}

}  // namespace
}  // namespace proviso
