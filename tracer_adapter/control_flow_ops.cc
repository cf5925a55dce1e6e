#include "tracer_adapter/control_flow_ops.h"

#include <ATen/ops/stack.h>

#include "tracer_adapter/trace/sub_graph.h"

namespace proviso::inline v0_2 {
namespace {

std::vector<c10::IValue> ivalues(const Tensors& tensors) {
  return {tensors.begin(), tensors.end()};
}

SubGraph record(Tracer& tracer, const char* what,
                const std::function<Tensors()>& body) {
  tracer.begin_sub_graph(what);
  try {
    return tracer.end_sub_graph(ivalues(body()));
  } catch (...) {
    tracer.abandon_sub_graph();
    throw;
  }
}

void require_alike(const SubGraph& a, const SubGraph& b, ShapeEnv& env) {
  TORCH_CHECK_VALUE(a.outputs.size() == b.outputs.size(),
                    "cond: the true branch gives ", a.outputs.size(),
                    " tensors, the false one ", b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const at::Tensor &x = a.outputs[i].toTensor(), &y = b.outputs[i].toTensor();
    bool same = x.dtype() == y.dtype() && x.device() == y.device() &&
                x.dim() == y.dim();
    for (int64_t d = 0; same && d < x.dim(); ++d)
      same = env.statically_known_true(eq(to_expr(env, x.sym_size(d)),
                                          to_expr(env, y.sym_size(d)))) &&
             env.statically_known_true(eq(to_expr(env, tracer_strides(x)[d]),
                                          to_expr(env, tracer_strides(y)[d])));
    TORCH_CHECK_VALUE(same, "cond: output ", i, " is ", x.dtype(),
                      x.sym_sizes(), " in the true branch, ", y.dtype(),
                      y.sym_sizes(),
                      " in the false one; the branches must agree in dtype, "
                      "sizes and strides");
  }
}

Tensors record_cond(Tracer& tracer, const c10::IValue& predicate,
                    const SubProgram& true_fn, const SubProgram& false_fn,
                    const Tensors& operands) {
  SubGraph yes = record(tracer, "the true branch of cond",
                        [&] { return true_fn(operands); });
  SubGraph no = record(tracer, "the false branch of cond",
                       [&] { return false_fn(operands); });
  require_alike(yes, no, tracer.env());
  const Tensors captured = join_captures(tracer, {&yes, &no});
  Tensors outputs;
  for (const c10::IValue& value : yes.outputs)
    outputs.push_back(fake_like(value.toTensor()));
  record_higher_order(tracer, "cond", {"true_graph", "false_graph"},
                      {predicate, yes, no, ivalues(captured)},
                      ivalues(outputs));
  return outputs;
}

}  // namespace

Tensors cond(const at::Tensor& predicate, const SubProgram& true_fn,
             const SubProgram& false_fn, const Tensors& operands) {
  TORCH_CHECK_TYPE(predicate.scalar_type() == at::kBool &&
                       predicate.sym_numel().maybe_as_int() == 1,
                   "cond: the predicate must be a tensor of one bool, got ",
                   predicate.dtype(), predicate.sym_sizes());
  if (Tracer* tracer = Tracer::current())
    return record_cond(*tracer, predicate, true_fn, false_fn, operands);
  return predicate.item().toBool() ? true_fn(operands) : false_fn(operands);
}

Tensors cond(const c10::SymBool& predicate, const SubProgram& true_fn,
             const SubProgram& false_fn, const Tensors& operands) {
  std::optional<bool> known = predicate.maybe_as_bool();
  Tracer* tracer = Tracer::current();
  if (!known && tracer) {
    const Expr e = to_expr(tracer->env(), predicate);
    if (tracer->env().statically_known_true(e)) known = true;
    if (tracer->env().statically_known_false(e)) known = false;
  }
  if (known) return *known ? true_fn(operands) : false_fn(operands);
  TORCH_CHECK(tracer, "cond: a symbolic predicate outside tracing");
  return record_cond(*tracer, predicate, true_fn, false_fn, operands);
}

Tensors map(const SubProgram& f, const Tensors& xs, const Tensors& args) {
  TORCH_CHECK_VALUE(!xs.empty() && xs[0].dim() > 0,
                    "map: xs has no dimension to go over");
  const c10::SymInt steps = xs[0].sym_size(0);
  for (const at::Tensor& x : xs)
    TORCH_CHECK_VALUE(x.sym_size(0) == steps,
                      "map: leading dimensions of xs must be consistent, got ",
                      steps, " and ", x.sym_size(0));
  TORCH_CHECK_VALUE(steps.sym_ne(0).expect_true(__FILE__, __LINE__),
                    "map: leading dimensions of xs cannot be 0");
  Tracer* tracer = Tracer::current();
  if (!tracer) {
    std::vector<Tensors> columns;
    for (int64_t i = 0; i < xs[0].size(0); ++i) {
      Tensors in;
      for (const at::Tensor& x : xs) in.push_back(x.select(0, i));
      in.insert(in.end(), args.begin(), args.end());
      const Tensors out = f(in);
      columns.resize(out.size());
      for (size_t k = 0; k < out.size(); ++k) columns[k].push_back(out[k]);
    }
    Tensors result;
    for (const Tensors& column : columns) result.push_back(at::stack(column));
    return result;
  }
  SubGraph body = record(*tracer, "the body of map", [&] {
    Tensors in;
    for (const at::Tensor& x : xs)
      in.push_back(tracer->add_operand("xs", fake_row(x)));
    in.insert(in.end(), args.begin(), args.end());
    return f(in);
  });
  const Tensors captured = join_captures(*tracer, {&body});
  Tensors outputs;
  for (const c10::IValue& value : body.outputs) {
    const at::Tensor& t = value.toTensor();
    std::vector<c10::SymInt> sizes{steps};
    sizes.insert(sizes.end(), t.sym_sizes().begin(), t.sym_sizes().end());
    outputs.push_back(make_contiguous(sizes, t.scalar_type(), t.device()));
  }
  record_higher_order(*tracer, "map_impl", {"body_graph"},
                      {body, ivalues(xs), ivalues(captured)}, ivalues(outputs));
  return outputs;
}

}  // namespace proviso::inline v0_2
