// A program's needs are found again from its graph, and sizes can be tried.
#include "tracer_adapter/rerun/retrace.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "sym/parse.h"
#include "sym/print.h"
#include "tracer_adapter/control_flow_ops.h"
#include "tracer_adapter/export.h"
#include "tracer_adapter/ir/sym_functions.h"
#include "tracer_adapter/run/symbolic_functions.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso {
namespace {

using at::Tensor;
using Tensors = std::vector<Tensor>;

Context stated_by(const ExportedProgram& program) {
  ExprPool& pool = program.env->pool();
  Context context(pool);
  for (const RangeConstraint& r : program.range_constraints) {
    if (r.range.lower())
      context.assume(ge(r.expr, pool.integer(*r.range.lower())));
    if (r.range.upper())
      context.assume(le(r.expr, pool.integer(*r.range.upper())));
  }
  for (const Guard& guard : program.guards()) context.assume(guard.condition);
  return context;
}

Assignment point(const ExportedProgram& program,
                 std::vector<std::pair<const char*, int64_t>> sizes) {
  Assignment result;
  for (const auto& [name, size] : sizes)
    result.set(parse(program.env->pool(), name), Int(size));
  return result;
}

ExportedProgram traced(const Program& program, Tensors examples) {
  return export_program(program, std::move(examples));
}

struct Retraced {
  const char* name;
  ExportedProgram program;
};

std::vector<Retraced> retraced() {
  std::vector<Retraced> found;
  found.push_back(
      {"equal sizes",
       traced([](const Tensors& in) -> Tensors { return {in[0] + in[1]}; },
              {at::randn({4, 3}), at::randn({4, 3})})});
  found.push_back({"an even size", traced(
                                       [](const Tensors& in) -> Tensors {
                                         return {in[0].view({-1, 2}).sum(1)};
                                       },
                                       {at::randn({8, 3})})});
  found.push_back({"a table's length",
                   traced(
                       [](const Tensors& in) -> Tensors {
                         const Tensor table = at::ones({16});
                         return {in[0] *
                                 table.slice_symint(0, 0, in[0].sym_size(0))};
                       },
                       {at::randn({4})})});
  found.push_back({"numbers", traced(
                                  [](const Tensors& in) -> Tensors {
                                    const c10::SymInt n = in[0].sym_size(0);
                                    return {
                                        at::zeros_symint({n * 2 + 1, n / 2}),
                                        in[0] * 2};
                                  },
                                  {at::randn({6})})});
  found.push_back({"transposed", traced(
                                     [](const Tensors& in) -> Tensors {
                                       return {in[0].t().reshape({-1})};
                                     },
                                     {at::randn({4, 3}).t()})});
  found.push_back(
      {"rows of a map",
       traced(
           [](const Tensors& in) -> Tensors {
             return map(
                 [](const Tensors& rows) -> Tensors {
                   return {rows[0] + rows[1] + rows[2]};
                 },
                 {in[0], in[1]}, {in[2]});
           },
           {at::randn({3, 4}), at::randn({3, 4}), at::randn({4})})});
  found.push_back(
      {"either branch",
       traced(
           [](const Tensors& in) -> Tensors {
             return cond(
                 in[0].sum().gt(0),
                 [](const Tensors& x) -> Tensors { return {x[0] + x[1]}; },
                 [](const Tensors& x) -> Tensors { return {x[0] * x[2]}; },
                 {in[0], in[1], in[2]});
           },
           {at::randn({5}), at::randn({5}), at::randn({5})})});
  found.push_back({"data", traced(
                               [](const Tensors& in) -> Tensors {
                                 return {in[0].nonzero(), in[0] + in[1]};
                               },
                               {at::randn({5}), at::randn({5})})});
  return found;
}

TEST(RetraceTest, FindsWhatTheTracingFoundNeitherMoreNorLess) {
  for (const Retraced& c : retraced()) {
    SCOPED_TRACE(c.name);
    const Retrace again = retrace(c.program);
    EXPECT_EQ(again.problem, "");
    Context stated = stated_by(c.program);
    for (const NeededCondition& need : again.requirements)
      EXPECT_EQ(stated.ask(need.condition).verdict, Verdict::kYes)
          << to_string(need.condition);
    Context needed(c.program.env->pool());
    for (const InputDim& dim : c.program.env->input_dims())
      if (dim.expr.is_symbol()) needed.declare(dim.expr, Interval::at_least(0));
    for (const NeededCondition& need : again.requirements)
      needed.assume(need.condition);
    for (const Guard& guard : c.program.guards())
      EXPECT_EQ(needed.ask(guard.condition).verdict, Verdict::kYes)
          << to_string(guard.condition);
  }
}

TEST(RetraceTest, SizesThatTheGuardsAdmitRunAndOthersAreRefused) {
  const std::vector<Retraced> programs = retraced();
  const auto kind = [&](size_t i, int64_t a, int64_t b) {
    return try_sizes(programs[i].program,
                     point(programs[i].program, {{"s0", a}, {"s1", b}}))
        .kind;
  };
  using enum Trial::Kind;
  const ExportedProgram& add = programs[0].program;
  const auto sizes = [&](int64_t a, int64_t b, int64_t c, int64_t d) {
    return try_sizes(add,
                     point(add, {{"s0", a}, {"s1", b}, {"s2", c}, {"s3", d}}));
  };
  EXPECT_EQ(sizes(5, 7, 5, 7).kind, kRuns);
  EXPECT_EQ(sizes(5, 7, 6, 7).kind, kRefused);
  EXPECT_NE(sizes(5, 7, 6, 7).why.find("aten.add.Tensor"), std::string::npos);
  // They broadcast: an operator takes them, the program does not say so.
  EXPECT_NE(sizes(1, 7, 6, 7).why.find("output 0"), std::string::npos);
  EXPECT_EQ(kind(1, 3, 4), kRuns);
  EXPECT_EQ(kind(1, 3, 5), kRefused);
  EXPECT_EQ(kind(2, 16, 0), kRuns);
  EXPECT_EQ(kind(2, 17, 0), kRefused);
  EXPECT_THROW(try_sizes(add, Assignment()), c10::Error);
}

// --- arithmetic on symbols

TEST(SymbolicFunctionsTest, MeanWhatTheFunctionsOfNumbersMean) {
  const char* const kTwo[] = {
      "_operator.add",      "_operator.sub",     "_operator.mul",
      "_operator.floordiv", "_operator.truediv", "_operator.mod",
      "_operator.eq",       "_operator.ne",      "_operator.lt",
      "_operator.le",       "_operator.gt",      "_operator.ge",
      "torch.sym_min",      "torch.sym_max",     "_operator.and_",
      "_operator.or_",      "_operator.xor",     "_operator.lshift",
      "_operator.rshift"};
  const char* const kOne[] = {
      "_operator.neg", "torch.sym_float", "math.trunc",   "math.floor",
      "math.ceil",     "builtins.round",  "torch.sym_int"};
  Tracer tracer;
  ShapeEnv& env = tracer.env();
  const Expr a = env.create_size(8, "a"), b = env.create_size(5, "b");
  const c10::IValue x = to_sym_int(env, a), y = to_sym_int(env, b);
  const auto expr_of = [&](const c10::IValue& v) {
    return v.isSymInt()     ? to_expr(env, v.toSymInt())
           : v.isSymFloat() ? to_expr(env, v.toSymFloat())
                            : to_expr(env, v.toSymBool());
  };
  const auto compare = [&](const char* target, const c10::IValue& symbolic,
                           const c10::IValue& number, int64_t m, int64_t n) {
    Assignment at;
    at.set(a, Int(m));
    at.set(b, Int(n));
    const Evaluation found = evaluate(expr_of(symbolic), at);
    ASSERT_TRUE(found.defined()) << target << ": " << found.why;
    const c10::IValue& v = number;
    if (v.isBool())
      EXPECT_EQ(std::get<bool>(*found.value), v.toBool()) << target;
    else if (v.isInt())
      EXPECT_EQ(std::get<Int>(*found.value), Int(v.toInt())) << target;
    else if (const Int* whole = std::get_if<Int>(&*found.value))
      EXPECT_EQ(whole->to_double(), v.toDouble()) << target;
    else
      EXPECT_EQ(std::get<Rational>(*found.value).to_double(), v.toDouble())
          << target;
  };
  for (const char* target : kTwo) {
    const std::vector<c10::IValue> symbols{x, y};
    const c10::IValue symbolic = call_symbolic(target, symbols);
    for (int64_t m = 2; m < 9; ++m)
      for (int64_t n = 2; n < 7; ++n) {
        const std::vector<c10::IValue> numbers{m, n};
        compare(target, symbolic, find_sym_function(target)(numbers), m, n);
      }
  }
  const c10::IValue half =
      call_symbolic("_operator.truediv", std::vector<c10::IValue>{x, 4});
  for (const char* target : kOne) {
    const c10::IValue symbolic =
        call_symbolic(target, std::vector<c10::IValue>{half});
    for (int64_t m = 2; m < 12; ++m) {
      const std::vector<c10::IValue> number{static_cast<double>(m) / 4};
      compare(target, symbolic, find_sym_function(target)(number), m, 2);
    }
  }
}

TEST(SymbolicFunctionsTest, WhatIsKnownIsAPlainNumber) {
  Tracer tracer;
  const c10::IValue n =
      to_sym_int(tracer.env(), tracer.env().create_size(8, "n"));
  const auto zero = call_symbolic("_operator.sub", std::vector{n, n});
  EXPECT_TRUE(zero.isInt() && zero.toInt() == 0);
  const auto yes = call_symbolic("_operator.eq", std::vector{n, n});
  EXPECT_TRUE(yes.isBool() && yes.toBool());
  EXPECT_THROW(call_symbolic("no.such", std::vector{n}), c10::Error);
}

}  // namespace
}  // namespace proviso
