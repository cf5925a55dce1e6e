// Mistakes of a caller of the tracer in C++: each is an error that says what is
// wrong, none is a crash.
#include "tests/support/misuse.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tracer_adapter/export.h"
#include "tracer_adapter/run/constants.h"
#include "tracer_adapter/trace/sub_graph.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso {
namespace {

using at::Tensor;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Tensors = std::vector<Tensor>;

bool is_clear(const std::exception& e) {
  return (dynamic_cast<const Error*>(&e) ||
          dynamic_cast<const c10::Error*>(&e));
}

Tensors add_one(Tensors in) { return {in[0] + 1}; }

ExportOptions named(std::vector<std::string> names) {
  ExportOptions options;
  options.input_names = std::move(names);
  return options;
}

ExportOptions with_dims(std::vector<TensorDims> dims) {
  ExportOptions options;
  options.dynamic_shapes = std::move(dims);
  return options;
}

DimConstraint at_most_three() {
  DimConstraint dim;
  dim.max = Int(3);
  return dim;
}

struct Open {  // a trace under way
  const Tensor example = at::ones({2, 3});
  Tracer tracer;
  Tensor x = tracer.add_input("x", example);
};

struct Finished : Open {  // a trace that has ended, its tracer still there
  Finished() { tracer.finish({x}); }
};

// A traced tensor whose trace has ended.
Tensor dead() { return Open().x; }

const std::vector<Misuse>& list() {
  // clang-format off
  static const std::vector<Misuse> kList = {
      {"no program", [] { export_program(nullptr, {at::ones({2})}); },
       "program"},
      {"an undefined example", [] { export_program(add_one, {Tensor()}); },
       "undefined"},
      {"an undefined parameter",
       [] { export_program(add_one, {{"w", Tensor()}}, {}, {at::ones({2})}); },
       "undefined"},
      {"a traced parameter",
       [] { export_program(add_one, {{"w", dead()}}, {}, {at::ones({2})}); },
       "traced tensor"},
      {"a traced example", [] { export_program(add_one, {dead()}); },
       "traced tensor"},
      {"a sparse example",
       [] { export_program(add_one, {at::ones({2, 3}).to_sparse()}); },
       "only plain strided"},
      {"dims of another rank",
       [] {
         export_program(add_one, {at::ones({2})},
                        with_dims({{Dim::fixed(), Dim::fixed()}}));
       },
       "same length"},
      {"too many dims",
       [] { export_program(add_one, {at::ones({2})}, with_dims({{}, {}})); },
       "give one a tensor"},
      {"too many names",
       [] { export_program(add_one, {at::ones({2})}, named({"a", "b"})); },
       "give one a tensor"},
      {"an output of another trace",
       [] {
         const Tensor other = dead();
         export_program([&](Tensors) -> Tensors { return {other}; },
                        {at::ones({2})});
       },
       "another trace"},
      {"a tensor after its trace", [] { dead() + 1; }, "after its trace ended"},
      {"the data of a tensor after its trace",
       [] { (void)dead().item(); }, "Proviso"},
      {"data set after the trace",
       [] { dead().set_data(at::ones({2, 3})); }, "after"},
      {"a size of another trace",
       [] {
         const c10::SymInt n = dead().sym_size(0);
         Open open;
         at::ones_symint({n});
       },
       "another trace"},
      {"a symbol of another environment as a size",
       [] {
         ShapeEnv env;
         Open open;
         to_expr(open.tracer.env(),
                 to_sym_int(env, env.create_size(4, "L['y'].size()[0]")));
       },
       "another trace"},
      {"a null expression as a size",
       [] { Open open; to_sym_int(open.tracer.env(), Expr()); }, "null"},
      {"another environment's expression as a size",
       [] {
         ShapeEnv env;
         Open open;
         make_sym_node(open.tracer.env(), env.create_size(4, "y"));
       },
       "another"},
      {"a null node", [] { Open open; make_sym_node(open.tracer.env(), Expr()); },
       "null"},
      {"leaving a module that was not entered",
       [] { Open open; open.tracer.exit_module(); }, "enter_module"},
      {"ending a sub-graph that was not begun",
       [] { Open open; open.tracer.end_sub_graph({}); }, "no sub-graph"},
      {"abandoning a sub-graph that was not begun",
       [] { Open open; open.tracer.abandon_sub_graph(); }, "no sub-graph"},
      {"an operand without a sub-graph",
       [] { Open open; open.tracer.add_operand("a", open.x); }, "no sub-graph"},
      {"a number without a sub-graph",
       [] { Open open; open.tracer.add_int_operand("a"); }, "no sub-graph"},
      {"finishing inside a sub-graph",
       [] {
         Open open;
         open.tracer.begin_sub_graph("a branch");
         open.tracer.finish({open.x});
       },
       "a branch is still being recorded"},
      {"finishing twice", [] { Finished f; f.tracer.finish({f.x}); },
       "finish: the trace has ended with finish()"},
      {"finishing again after a refusal",
       [] {
         const Tensor example = at::ones({3}), other = at::ones({3});
         Tracer tracer;
         const Tensor x =
             tracer.add_input("x", example, {Dim::named("n", Int(2))});
         const Tensor y = x * other;
         try {
           tracer.finish({y});
         } catch (const std::exception&) {
           tracer.finish({x});
         }
       },
       "the trace has ended"},
      {"an operator on a traced tensor after finish",
       [] { Finished f; f.x + 1; }, "aten::add.Scalar: the trace has ended"},
      {"an operator on a real tensor after finish",
       [] { Finished f; at::ones({2}) + 1; }, "the trace has ended"},
      {"a size of a finished trace in an operator",
       [] { Finished f; at::ones_symint({f.x.sym_size(0)}); },
       "the trace has ended"},
      {"an input after finish",
       [] { Finished f; f.tracer.add_input("y", f.example); },
       "an input: the trace has ended"},
      {"a number after finish",
       [] { Finished f; f.tracer.add_int_input("n", 3); },
       "the trace has ended"},
      {"a float after finish",
       [] { Finished f; f.tracer.add_float_input("f", 0.5); },
       "the trace has ended"},
      {"a constant input after finish",
       [] { Finished f; f.tracer.add_constant_input("c", {int64_t{3}}); },
       "the trace has ended"},
      {"a parameter after finish",
       [] { Finished f; f.tracer.add_parameter("w", f.example); },
       "the trace has ended"},
      {"a buffer after finish",
       [] { Finished f; f.tracer.add_buffer("b", f.example); },
       "the trace has ended"},
      {"a constant after finish",
       [] { Finished f; f.tracer.add_constant("c", f.example); },
       "the trace has ended"},
      {"a node after finish", [] { Finished f; f.tracer.append(Node{}); },
       "the trace has ended"},
      {"a new value after finish", [] { Finished f; f.tracer.fresh(f.x); },
       "the trace has ended"},
      {"a sub-graph after finish",
       [] { Finished f; f.tracer.begin_sub_graph("a branch"); },
       "the trace has ended"},
      {"two inputs of one name",
       [] { Open open; open.tracer.add_input("x", open.example); },
       "there is an input L['x'] already"},
      {"a tensor and a number of one name",
       [] { Open open; open.tracer.add_int_input("x", 4); },
       "there is an input L['x'] already"},
      {"two inputs of one source",
       [] { Open open; open.tracer.add_float_input("y", 4., "L['x']"); },
       "there is an input L['x'] already"},
      {"two names of an export that are one",
       [] {
         export_program([](Tensors in) -> Tensors { return {in[0] + in[1]}; },
                        {at::ones({2}), at::ones({2})}, named({"a", "a"}));
       },
       "there is an input L['a'] already"},
      {"a name that is another input's default",
       [] {
         export_program([](Tensors in) -> Tensors { return {in[0] + in[1]}; },
                        {at::ones({2}), at::ones({2})}, named({"x1"}));
       },
       "there is an input L['x1'] already"},
      {"two parameters of one name",
       [] {
         export_program(add_one, {{"w", at::ones({2})}, {"w", at::ones({3})}},
                        {}, {at::ones({2})});
       },
       "there is a parameter or buffer 'w' already"},
      {"a parameter and a buffer of one name",
       [] {
         export_program(add_one, {{"w", at::ones({2})}},
                        {{"w", at::ones({2})}}, {at::ones({2})});
       },
       "there is a parameter or buffer 'w' already"},
      {"an autocast block that is left and was not entered",
       [] { Open open; open.tracer.exit_autocast_block(); },
       "exit_autocast_block: nothing is open; call enter_autocast_block"},
      {"a mode that is released and was not held",
       [] { Open open; open.tracer.release_mode(); },
       "release_mode: nothing is open; call hold_mode"},
      {"a module that is not left",
       [] {
         Open open;
         open.tracer.enter_module("m", "Linear");
         open.tracer.finish({open.x});
       },
       "finish: enter_module and exit_module do not balance"},
      {"an autocast block that a sub-graph does not leave",
       [] {
         Open open;
         open.tracer.begin_sub_graph("a branch");
         open.tracer.enter_autocast_block();
         open.tracer.end_sub_graph({});
       },
       "enter_autocast_block and exit_autocast_block do not balance"},
      {"a mode that is not released",
       [] {
         Open open;
         open.tracer.hold_mode();
         open.tracer.finish({open.x});
       },
       "hold_mode and release_mode do not balance"},
      {"a sub-graph that ends inside a module of its own",
       [] {
         Open open;
         open.tracer.begin_sub_graph("a branch");
         open.tracer.enter_module("m", "Linear");
         open.tracer.end_sub_graph({});
       },
       "a branch: enter_module and exit_module do not balance"},
      {"a sub-graph that leaves the module around it",
       [] {
         Open open;
         open.tracer.enter_module("m", "Linear");
         open.tracer.begin_sub_graph("a branch");
         open.tracer.exit_module();
         open.tracer.end_sub_graph({});
       },
       "a branch: enter_module and exit_module do not balance"},
      {"an undefined operand",
       [] {
         Open open;
         open.tracer.begin_sub_graph("a branch");
         open.tracer.add_operand("a", Tensor());
       },
       "undefined"},
      {"the value of a fake of no operator",
       [] {
         Open open;
         open.tracer.value_of(make_contiguous({2}, at::kFloat, at::kCPU));
       },
       "no recorded operator"},
      {"a new value of nothing", [] { Open open; open.tracer.fresh(Tensor()); },
       "undefined"},
      {"an undefined buffer",
       [] { Open open; open.tracer.add_buffer("b", Tensor()); }, "undefined"},
      {"an undefined constant",
       [] { Open open; open.tracer.add_constant("c", Tensor()); }, "undefined"},
      {"a constant's name for nothing",
       [] { Open open; open.tracer.name_constant("c", Tensor()); },
       "undefined"},
      {"an example out of range",
       [] {
         Open open;
         open.tracer.add_int_input("n", 4, "", at_most_three());
       },
       "not in range"},
      {"fewer strides than sizes",
       [] { make_fake({2, 3}, {1}, at::kFloat, at::kCPU); }, "2 sizes but 1"},
      {"the layout of a real tensor",
       [] { set_layout(at::ones({2}), {2}, {1}, 0); }, "the program owns"},
      {"the layout of nothing",
       [] { set_layout(Tensor(), {2}, {1}, 0); }, "layout"},
      {"running with too few inputs",
       [] { export_program(add_one, {at::ones({2})}).module()({}); },
       "input"},
      {"running with too many inputs",
       [] {
         export_program(add_one, {at::ones({2})})
             .module()({at::ones({2}), at::ones({2})});
       },
       "input"},
      {"running with an undefined input",
       [] { export_program(add_one, {at::ones({2})}).module()({Tensor()}); },
       ""},
      {"running with another dtype",
       [] {
         export_program(add_one, {at::ones({2})})
             .module()({at::ones({2}, at::kLong)});
       },
       "dtype"},
      {"running with another rank",
       [] {
         export_program(add_one, {at::ones({2})}).module()({at::ones({2, 2})});
       },
       "dim"},
      {"running with a traced tensor",
       [] { export_program(add_one, {at::ones({2, 3})}).module()({dead()}); },
       "trace"},
  };
  // clang-format on
  return kList;
}

TEST(TracerMisuse, IsAnErrorThatSaysWhatIsWrong) {
  for (const Misuse& misuse : list()) {
    SCOPED_TRACE(misuse.name);
    const std::string outcome = outcome_of(misuse.body, is_clear);
    EXPECT_THAT(outcome, StartsWith("error: "));
    EXPECT_THAT(outcome, HasSubstr(misuse.text));
    EXPECT_THAT(outcome, Not(HasSubstr("INTERNAL ASSERT")));
  }
}

// The thread is as before, and the tracer inside traces on.
TEST(TracerMisuse, TracersMayEndInAnyOrder) {
  EXPECT_EQ(outcome_of([] {
              const Tensor example = at::ones({2, 3});
              auto outer = std::make_unique<Tracer>();
              auto middle = std::make_unique<Tracer>();
              auto inner = std::make_unique<Tracer>();
              const Tensor x = inner->add_input("x", example);
              middle.reset();
              if (Tracer::current() != inner.get()) throw Error("not inner");
              const Tensor y = x + 1;
              if (inner->graph().nodes.size() != 1) throw Error("not traced");
              outer.reset();
              const Tensor z = y * 2;
              inner.reset();
              if (Tracer::current()) throw Error("a tracer is left");
              if (!at::equal(at::ones({2}) + 1, at::full({2}, 2.)))
                throw Error("not run");
            }),
            "nothing");
}

// An undefined tensor is no fake and no constant, and no mistake.
TEST(TracerMisuse, NothingIsNoFake) {
  EXPECT_FALSE(is_fake(Tensor()));
  EXPECT_EQ(fake_impl(Tensor()), nullptr);
  EXPECT_FALSE(constant_of(Tensor()).defined());
  EXPECT_FALSE(constant_number(Tensor()).has_value());
}

}  // namespace
}  // namespace proviso
