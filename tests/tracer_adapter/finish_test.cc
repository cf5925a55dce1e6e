// The parts of the end of a trace (tracer_adapter/finish/), each without a
// trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sym/evaluate.h"
#include "sym/parse.h"
#include "sym/print.h"
#include "tests/tracer_adapter/support.h"
#include "tracer_adapter/finish/deferred_asserts.h"
#include "tracer_adapter/finish/expr_expander.h"
#include "tracer_adapter/finish/legal_form.h"
#include "tracer_adapter/finish/lifted_symbols.h"
#include "tracer_adapter/finish/metadata.h"
#include "tracer_adapter/finish/names.h"
#include "tracer_adapter/finish/ranges.h"
#include "tracer_adapter/finish/symbol_bindings.h"
#include "tracer_adapter/run/executable.h"

namespace proviso {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

// A graph to which nodes are written, over the symbols of an environment.
struct Writing {
  ShapeEnv env;
  Graph graph;
  NodeBuilder builder{graph};
  ExprExpander expander{env.pool(), builder};

  Expr p(const std::string& text) { return parse(env.pool(), text); }

  ValueId input(const std::string& name, std::variant<TensorMeta, Expr> meta) {
    InputSpec spec;
    spec.name = name;
    const ValueId id = graph.add_value(std::move(meta));
    spec.arg = {ValueRef{id}};
    graph.inputs.push_back(std::move(spec));
    return id;
  }
  ValueId tensor(const std::string& name, std::vector<Expr> sizes) {
    return input(name, meta_of(std::move(sizes)));
  }
  TensorMeta meta_of(std::vector<Expr> sizes) {
    TensorMeta meta;
    meta.strides.assign(sizes.size(), env.pool().integer(1));
    meta.sizes = std::move(sizes);
    meta.offset = env.pool().integer(0);
    return meta;
  }
  // A recorded node that gives a tensor.
  Node factory(std::vector<Argument> args, std::vector<Expr> sizes) {
    Node node;
    node.kind = Node::Kind::kHigherOrder;
    node.target = "torch.ops.higher_order.made";
    node.args = std::move(args);
    node.outputs = {{false, {graph.add_value(meta_of(std::move(sizes)))}}};
    return node;
  }
  // "mul: "Sym(2*s0)" = ..", without the metadata.
  Lines lines() {
    graph.nodes = builder.take();
    give_names(graph);
    Lines result;
    for (const Node& node : graph.nodes)
      result.push_back(node.name + " = " + graph.to_string(node));
    return result;
  }
};

// --- expressions

const char* const kExpressions[] = {"x",
                                    "2*x + 3*y - 5",
                                    "-x",
                                    "x - y",
                                    "x*y*3",
                                    "-x*y",
                                    "x//3",
                                    "Mod(x, 4)",
                                    "PythonMod(x, 4)",
                                    "CeilDiv(x, 3)",
                                    "ModularIndexing(x, 2, 3)",
                                    "Min(x, y)",
                                    "Max(x, y, 2)",
                                    "Abs(x - y)",
                                    "x**2",
                                    "Where(x < y, x, 3)",
                                    "Where(x < y, x, y)",
                                    "Where(x < y, 7, 3)",
                                    "x << 2",
                                    "x >> 1",
                                    "BitwiseFn_bitwise_and(x, y)",
                                    "BitwiseFn_bitwise_or(x, y)",
                                    "BitwiseFn_bitwise_xor(x, y)",
                                    "Eq(x, y)",
                                    "Ne(x, y)",
                                    "0 <= x",
                                    "x < 3",
                                    "And(x < 3, y < 3)",
                                    "Or(x < 3, y < 3)",
                                    "Not(And(x < 3, y < 3))",
                                    "FloorToInt(IntTrueDiv(x, 3))",
                                    "CeilToInt(IntTrueDiv(x, 3))",
                                    "RoundToInt(IntTrueDiv(x, 4))",
                                    "TruncToInt(IntTrueDiv(x, 4))",
                                    "RoundToInt(ToFloat(x)*0.25)",
                                    "RoundToInt(IntTrueDiv(x, 2) + 0.25)",
                                    "FloorToInt(ToFloat(x)*0.25)",
                                    "Identity(x)"};

int64_t as_int(const c10::IValue& value) {
  return value.isBool() ? value.toBool() : value.toInt();
}
int64_t as_int(const Value& value) {
  if (const bool* truth = std::get_if<bool>(&value)) return *truth;
  return *std::get<Int>(value).to_int64();
}

// Calls check(e, x, y, value) at each point of a box where e has a value.
template <typename Check>
void at_points(Writing& w, const char* text, const Check& check) {
  const Expr e = w.p(text), x = w.p("x"), y = w.p("y");
  for (int64_t a = 0; a <= 9; ++a)
    for (int64_t b = 0; b <= 4; ++b) {
      Assignment point;
      point.set(x, Int(a));
      point.set(y, Int(b));
      const Evaluation value = evaluate(e, point);
      ASSERT_TRUE(value.defined()) << text << ": " << value.why;
      check(e, point, as_int(*value.value));
    }
}

TEST(LegalFormTest, HasTheValueOfTheExpression) {
  size_t forms = 0;
  for (const char* text : kExpressions) {
    Writing w;
    at_points(w, text, [&](Expr e, const Assignment& point, int64_t value) {
      const std::optional<Expr> form = legal_form(e);
      if (!form) return;
      ++forms;
      EXPECT_EQ(as_int(*evaluate(*form, point).value), value)
          << text << " as " << to_string(*form) << " at " << point.to_string();
    });
  }
  EXPECT_GE(forms, 5 * 50);
}

TEST(ExprExpanderTest, NodesComputeTheExpression) {
  for (const char* text : kExpressions) {
    Writing w;
    const ValueId x = w.input("x", w.p("x")), y = w.input("y", w.p("y"));
    w.expander.define(w.p("x"), x);
    w.expander.define(w.p("y"), y);
    ASSERT_TRUE(w.expander.can_expand(w.p(text)));
    w.graph.outputs.push_back(
        {OutputKind::kUserOutput, w.expander.expand(w.p(text)), ""});
    w.graph.nodes = w.builder.take();
    const Executable run(w.graph);
    at_points(w, text, [&](Expr, const Assignment& point, int64_t value) {
      const auto given = [&](const char* symbol) {
        return c10::IValue(as_int(*point.find(w.p(symbol))));
      };
      EXPECT_EQ(as_int(run.run({given("x"), given("y")})[0]), value)
          << text << " at " << point.to_string();
    });
  }
}

TEST(ExprExpanderTest, NodesReadAsPeopleWriteThem) {
  Writing w;
  w.expander.define(w.p("x"), w.input("x", w.p("x")));
  w.expander.expand(w.p("2*x - 1"));
  w.expander.expand(w.p("2*x"));  // is there already
  w.expander.expand(w.p("5 <= x"));
  EXPECT_THAT(w.lines(),
              ElementsAre("mul = x * 2", "sub = mul - 1", "ge = x >= 5"));
}

TEST(ExprExpanderTest, ASymbolThatNothingGivesCannotBeExpanded) {
  Writing w;
  w.expander.define(w.p("x"), w.input("x", w.p("x")));
  EXPECT_FALSE(w.expander.can_expand(w.p("x + y")));
  w.expander.define(w.p("x + y"), w.input("sum", w.p("x + y")));
  EXPECT_TRUE(w.expander.can_expand(w.p("x + y")));
  EXPECT_FALSE(w.expander.can_expand(w.p("y")));
}

// --- symbols

Lines bound(Writing& w, const std::vector<std::string>& needed) {
  SymbolUses uses;
  for (const std::string& symbol : needed) uses.needed.insert(w.p(symbol));
  SymbolBindings bindings(w.env, uses, w.builder, w.expander);
  bindings.bind_inputs();
  return w.lines();
}

TEST(SymbolBindingsTest, AnInputsSizeGivesItsSymbolWhereItIsNeeded) {
  Writing w;
  w.tensor("a", {w.p("s"), w.p("t")});
  w.tensor("b", {w.p("t"), w.p("r")});
  EXPECT_THAT(
      bound(w, {"t", "r"}),
      ElementsAre("sym_size_int = torch.ops.aten.sym_size.int(a, 1)",
                  "sym_size_int_1 = torch.ops.aten.sym_size.int(b, 1)"));
}

TEST(SymbolBindingsTest, ADerivedSizeGivesASymbolThatNoneHasBare) {
  Writing w;
  w.tensor("a", {w.p("2*s + t + 1"), w.p("t")});
  EXPECT_THAT(bound(w, {"s", "t"}),
              ElementsAre("sym_size_int = torch.ops.aten.sym_size.int(a, 1)",
                          "sym_size_int_1 = torch.ops.aten.sym_size.int(a, 0)",
                          "add = sym_size_int + 1",
                          "sub = sym_size_int_1 - add", "floordiv = sub // 2"));
}

TEST(SymbolBindingsTest, ATruthValueFromDataGivesItsNumber) {
  Writing w;
  const Expr truth = w.env.create_unbacked_bool();
  w.input("flag", truth);
  EXPECT_THAT(bound(w, {to_string(free_symbols(truth)[0])}),
              ElementsAre("sym_ite = torch.sym_ite(flag, 1, 0)"));
}

TEST(LiftedSymbolsTest, AGraphLacksWhatNothingBeforeTheReadGivesBare) {
  Writing w;
  const TraceAsserts asserts(w.env);
  const LiftedSymbols lifted(w.env, asserts);
  const auto read = [&](const char* text) {
    return std::vector<Argument>{{ExprArgument{w.p(text)}}};
  };
  w.tensor("a", {w.p("s"), w.p("2*r")});
  w.graph.nodes.push_back(w.factory(read("s + t"), {w.p("t + 1"), w.p("v")}));
  w.graph.nodes.push_back(w.factory(read("v + r"), {}));
  EXPECT_THAT(lifted.of(w.graph), ElementsAre(w.p("r"), w.p("t")));
}

TEST(LiftedSymbolsTest, TheyBecomeOperandsAndInputs) {
  Writing w;
  const TraceAsserts asserts(w.env);
  auto body = std::make_shared<Graph>();
  body->outputs.push_back(
      {OutputKind::kUserOutput, {ExprArgument{w.p("s + t")}}, ""});
  Node node;
  node.kind = Node::Kind::kHigherOrder;
  node.target = "torch.ops.higher_order.map";
  node.args = {{GraphArgument{"body", body}}, {ListArgument{}}};
  w.expander.define(w.p("s"), w.input("n", w.p("s")));
  LiftedSymbols(w.env, asserts).lift(node, w.expander);
  const auto& operands = node.args[1].get<ListArgument>()->items;
  ASSERT_EQ(operands.size(), 1u);  // t is given nowhere: the graph will say so
  EXPECT_EQ(operands[0].get<ExprArgument>()->expr, w.p("s"));
  ASSERT_EQ(body->inputs.size(), 1u);
  EXPECT_EQ(body->value(body->inputs[0].arg.get<ValueRef>()->id).expr(),
            w.p("s"));
}

// --- assertions

TEST(DeferredAssertsTest, OneIsPlacedOnceItsSymbolsAreThere) {
  Writing w;
  DeferredAsserts asserts({{w.p("2 <= u"), {}, ""}, {w.p("Eq(u, v)"), {}, ""}},
                          w.builder, w.expander);
  asserts.place();
  EXPECT_EQ(asserts.pending().size(), 2u);
  w.expander.define(w.p("u"), w.input("u", w.p("u")));
  asserts.place();
  EXPECT_THAT(error_of([&] { asserts.require_placed(); }),
              HasSubstr("the condition Eq(u, v) must be checked"));
  EXPECT_THAT(asserts.equalities(), IsEmpty());
  w.expander.define(w.p("v"), w.input("v", w.p("v")));
  asserts.place();
  asserts.require_placed();
  EXPECT_TRUE(asserts.equalities().contains(w.p("Eq(u, v)")));
  w.lines();
  asserts.name_conditions(w.graph);
  Lines lines;
  for (const Node& node : w.graph.nodes)
    lines.push_back(w.graph.to_string(node));
  EXPECT_THAT(
      lines,
      ElementsAre("u >= 2",
                  HasSubstr("Runtime assertion failed for expression u >= 2 "
                            "on node 'ge'"),
                  "u == v",
                  HasSubstr("Runtime assertion failed for expression Eq(u, v) "
                            "on node 'eq'")));
}

// torch.export.load computes ranges of what _assert_scalar takes, and knows no
// range of a root.
TEST(DeferredAssertsTest, WhatTorchHasNoRangeOfIsAssertedOfATensor) {
  Writing w;
  DeferredAsserts asserts({{w.p("2.0 <= OpaqueUnaryFn_sqrt(u)"), {}, ""},
                           {w.p("Eq(u < 3, u < 5)"), {}, ""}},
                          w.builder, w.expander);
  w.expander.define(w.p("u"), w.input("u", w.p("u")));
  asserts.place();
  asserts.require_placed();
  w.lines();
  asserts.name_conditions(w.graph);
  Lines targets;
  for (const Node& node : w.graph.nodes) targets.push_back(node.target);
  EXPECT_THAT(
      targets,
      ElementsAre("torch._sym_sqrt", "_operator.ge", "torch.sym_ite",
                  "aten.scalar_tensor.default", "aten._assert_async.msg",
                  "_operator.le", "_operator.le", "_operator.eq",
                  "torch.sym_ite", "aten.scalar_tensor.default",
                  "aten._assert_async.msg"));
}

// --- what is known at the end

TEST(MetadataTest, SymbolsAreReplacedButAnInputIsNoDifference) {
  Writing w;
  const Expr a = w.env.create_size(6, "a"), b = w.env.create_size(4, "b"),
             c = w.env.create_size(3, "c"), d = w.env.create_size(7, "d");
  w.env.guard_bool(eq(b + c, d));  // replaces one of them by a difference
  w.env.guard_bool(eq(a, c * 2));
  const ValueId x = w.tensor("x", {a, b, c, d});
  const ValueId y = w.graph.add_value(w.meta_of({a, d}));
  substitute_metadata(w.graph, GraphRole::kProgram, {}, w.env);
  const std::vector<Expr>& sizes = w.graph.value(x).tensor().sizes;
  EXPECT_EQ(to_string(sizes[0]), "2*s2");
  EXPECT_EQ(to_string(sizes[3]), to_string(w.env.simplify(d)));
  EXPECT_EQ(w.graph.value(y).tensor().sizes[0], sizes[0]);
}

TEST(RangesTest, DataComeFirstThenTheInputsInTheirOrder) {
  Writing w;
  const Expr s = w.env.create_size(
      4, "x",
      {.policy = DimPolicy::kNamed, .name = "n", .min = Int(2), .max = Int(9)});
  const Expr u = w.env.create_unbacked_int(Interval(0, 5));
  w.tensor("x", {s});
  w.graph.add_value(w.meta_of({u, s}));
  Lines lines;
  for (const RangeConstraint& c : range_constraints(w.graph, w.env))
    lines.push_back(to_string(c.expr) + " in " + c.range.to_string());
  EXPECT_THAT(lines, ElementsAre("u0 in [0, 5]", "s0 in [2, 9]"));
}

}  // namespace
}  // namespace proviso
