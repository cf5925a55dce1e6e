#include "tracer_adapter/rerun/replay.h"

#include <ATen/core/List.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <utility>

#include "sym/print.h"
#include "tracer_adapter/ir/owned_tensors.h"
#include "tracer_adapter/ir/schema_types.h"
#include "tracer_adapter/run/arguments.h"
#include "tracer_adapter/trace/autocast_scope.h"
#include "tracer_adapter/trace/sources.h"
#include "tracer_adapter/trace/sub_graph.h"

namespace proviso::inline v0_2 {
namespace {

int64_t hint_of(ShapeEnv& env, Expr e, int64_t fallback) {
  const std::optional<Value> hint = env.hint(e);
  if (!hint) return fallback;
  return std::get<Int>(*hint).to_int64().value_or(fallback);
}

const InputDim* find_dim(const ExportedProgram& program,
                         const std::string& source) {
  for (const InputDim& dim : program.env->input_dims())
    if (dim.source == source) return &dim;
  return nullptr;
}

bool reads_data(Expr condition) {
  const std::vector<Expr> symbols = free_symbols(condition);
  return std::any_of(symbols.begin(), symbols.end(), [](Expr symbol) {
    return is_unbacked(symbol.symbol().kind);
  });
}

}  // namespace

Expr Translation::operator()(Expr e) const {
  visit_arguments_first(
      e, [&](Expr x) { return made_.contains(x); },
      [&](Expr x) { made_.emplace(x, of_parts(x)); });
  return made_.at(e);
}

Expr Translation::of_parts(Expr e) const {
  ExprPool& pool = to_.pool();
  if (e.is(Op::kInteger)) return pool.integer(e.integer());
  if (e.is(Op::kRational)) return pool.rational(e.rational());
  if (e.is(Op::kBoolean)) return pool.boolean(e.is_true());
  if (e.is_symbol()) {
    auto found = symbols_.find(e);
    TORCH_CHECK(found != symbols_.end(), "Proviso: replay: nothing that ran ",
                "again gives the symbol ", to_string(e));
    return found->second;
  }
  std::vector<Expr> args;
  for (Expr arg : e.args()) args.push_back(made_.at(arg));
  return pool.make(e.op(), args);
}

// --- inputs

std::vector<at::Tensor> blank_examples(const ExportedProgram& program) {
  ShapeEnv& env = *program.env;
  std::vector<at::Tensor> result;
  for (const InputSpec& input : program.graph.inputs) {
    const ValueRef* ref = input.arg.get<ValueRef>();
    if (input.kind != InputKind::kUserInput || ref == nullptr) continue;
    const GraphValue& value = program.graph.value(ref->id);
    if (!value.is_tensor()) continue;
    const TensorMeta& meta = value.tensor();
    std::vector<int64_t> sizes, strides;
    for (Expr size : meta.sizes) sizes.push_back(hint_of(env, size, 4));
    for (Expr stride : meta.strides) strides.push_back(hint_of(env, stride, 1));
    at::Tensor example = at::empty_strided(
        sizes, strides, at::TensorOptions(meta.dtype).device(meta.device));
    if (meta.requires_grad) example.set_requires_grad(true);
    result.push_back(std::move(example));
  }
  return result;
}

c10::IValue Replay::add_user_input(const InputSpec& input, const Graph& graph,
                                   const at::Tensor* example) {
  const ValueRef* ref = input.arg.get<ValueRef>();
  if (ref == nullptr) {
    tracer_.add_constant_input(input.name, input.arg);
    return to_ivalue(input.arg);
  }
  const GraphValue& value = graph.value(ref->id);
  if (!value.is_tensor()) {
    const InputDim* dim = find_dim(program_, input.source);
    if (value.expr().is_float()) {
      const std::optional<Value> hint = program_.env->hint(value.expr());
      const auto* exact = hint ? std::get_if<Rational>(&*hint) : nullptr;
      const c10::SymFloat f = tracer_.add_float_input(
          input.name, exact ? exact->to_double() : 1.0, input.source);
      now_.bind(value.expr(), to_expr(tracer_.env(), f));
      return f;
    }
    const c10::SymInt n = tracer_.add_int_input(
        input.name, hint_of(*program_.env, value.expr(), 1), input.source,
        dim ? dim->constraint : DimConstraint{});
    if (value.expr().is_symbol())
      now_.bind(value.expr(), to_expr(tracer_.env(), n));
    return n;
  }
  TensorDims dims;
  const std::vector<Expr>& sizes = value.tensor().sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const InputDim* dim = find_dim(program_, size_source(input.source, d));
    dims.push_back(dim && !sizes[d].is_constant() ? dim->constraint
                                                  : Dim::fixed());
  }
  const at::Tensor fake =
      tracer_.add_input(input.name, *example, dims, input.source);
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Expr now = to_expr(tracer_.env(), fake.sym_size(d));
    if (sizes[d].is_symbol()) now_.bind(sizes[d], now);
    const InputDim* dim = find_dim(program_, size_source(input.source, d));
    if (dim && dim->expr.is_symbol()) now_.bind(dim->expr, now);
  }
  return fake;
}

std::vector<c10::IValue> Replay::add_inputs(
    const std::vector<at::Tensor>& examples) {
  const Graph& graph = program_.graph;
  const OwnedTensors owned(program_);
  Values values;
  auto example = examples.begin();
  for (const InputSpec& input : graph.inputs) {
    if (input.kind == InputKind::kUserInput) {
      const ValueRef* ref = input.arg.get<ValueRef>();
      const bool tensor = ref && graph.value(ref->id).is_tensor();
      values.push_back(
          add_user_input(input, graph, tensor ? &*example++ : nullptr));
      continue;
    }
    const at::Tensor& tensor = owned.of(input);
    if (input.kind == InputKind::kParameter)
      tracer_.add_parameter(input.target, tensor);
    else if (input.kind == InputKind::kBuffer)
      tracer_.add_buffer(input.target, tensor, input.persistent.value_or(true));
    else
      tracer_.add_constant(input.target, tensor);
    values.emplace_back(tensor);
  }
  tell_guards();
  return values;
}

void Replay::tell_guards() {
  ShapeEnv& env = tracer_.env();
  // Promised: no Dim of the program is broken by what it required already.
  const auto tell = [&](Expr condition, const SourceLocation& where) {
    if (!reads_data(condition)) env.require(condition, where);
  };
  for (const Guard& guard : program_.guards())
    tell(now_(guard.condition),
         guard.origins.empty() ? SourceLocation{} : guard.origins[0]);
  for (const RangeConstraint& range : program_.range_constraints) {
    if (reads_data(range.expr)) continue;
    const Expr e = now_(range.expr);
    if (const auto lower = range.range.lower(); lower && *lower > Int(0))
      tell(ge(e, env.pool().integer(*lower)), {});
    if (const auto upper = range.range.upper())
      tell(le(e, env.pool().integer(*upper)), {});
  }
}

std::vector<c10::IValue> Replay::call(const std::vector<c10::IValue>& values) {
  ShapeEnv& env = tracer_.env();
  for (size_t i = 0; i < values.size(); ++i) {
    const InputSpec& input = program_.graph.inputs[i];
    const ValueRef* ref = input.arg.get<ValueRef>();
    if (ref == nullptr) continue;
    const GraphValue& before = program_.graph.value(ref->id);
    learn(before, values[i]);
    if (!before.is_tensor()) continue;
    // Symbols that a size had before it became another's.
    for (size_t d = 0; d < before.tensor().sizes.size(); ++d)
      if (const InputDim* dim =
              find_dim(program_, size_source(input.source, d));
          dim != nullptr && dim->expr.is_symbol())
        now_.bind(dim->expr, to_expr(env, values[i].toTensor().sym_size(d)));
  }
  return run(values);
}

// --- values

c10::IValue Replay::number(Expr e) const {
  ShapeEnv& env = tracer_.env();
  const Expr now = env.simplify(now_(e));
  if (now.is_bool()) return to_sym_bool(env, now);
  if (now.is_float()) return to_sym_float(env, now);
  return to_sym_int(env, now);
}

std::vector<c10::SymInt> Replay::sizes(const std::vector<Expr>& exprs) const {
  std::vector<c10::SymInt> result;
  for (Expr e : exprs) result.push_back(to_sym_int(tracer_.env(), now_(e)));
  return result;
}

c10::IValue Replay::value(const Argument& a, const Scope& scope) const {
  if (const ValueRef* ref = a.get<ValueRef>()) return scope.values[ref->id];
  return to_ivalue(a);
}

c10::IValue Replay::list(const ListArgument& items, const c10::Type& element,
                         const Scope& scope) const {
  Values values;
  for (const Argument& item : items.items)
    values.push_back(argument(item, element, scope));
  const auto fill = [&](auto list, const auto& convert) {
    for (const c10::IValue& v : values) list.push_back(convert(v));
    return c10::IValue(std::move(list));
  };
  switch (element.kind()) {
    case c10::TypeKind::TensorType:
      return fill(c10::List<at::Tensor>(),
                  [](const c10::IValue& v) { return v.toTensor(); });
    case c10::TypeKind::OptionalType:
      return fill(
          c10::List<std::optional<at::Tensor>>(), [](const c10::IValue& v) {
            return v.isNone() ? std::optional<at::Tensor>() : v.toTensor();
          });
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: {
      std::vector<c10::SymInt> ints;
      for (const c10::IValue& v : values) ints.push_back(v.toSymInt());
      return c10::IValue(c10::SymIntArrayRef(ints));
    }
    case c10::TypeKind::FloatType:
      return fill(c10::List<double>(),
                  [](const c10::IValue& v) { return v.toDouble(); });
    case c10::TypeKind::BoolType:
      return fill(c10::List<bool>(),
                  [](const c10::IValue& v) { return v.toBool(); });
    default:
      return fill(c10::impl::GenericList(c10::NumberType::get()),
                  [](const c10::IValue& v) { return v; });
  }
}

c10::IValue Replay::argument(const Argument& a, const c10::Type& formal,
                             const Scope& scope) const {
  const c10::Type& type = without_optional(formal);
  if (const ListArgument* items = a.get<ListArgument>())
    return list(*items, *type.containedTypes().at(0), scope);
  c10::IValue v = value(a, scope);
  const bool symbolic = v.isSymInt() || v.isSymFloat() || v.isSymBool();
  if (type.kind() == c10::TypeKind::TensorType && !v.isNone() &&
      !v.isTensor()) {
    if (symbolic) return symbolic_number_tensor(v);
    const c10::impl::ExcludeDispatchKeyGuard no_trace(kTraceKey);
    return number_tensor(v);
  }
  if (type.kind() == c10::TypeKind::FloatType && v.isInt())
    return static_cast<double>(v.toInt());
  return v;
}

// What ran again tells the symbols of what ran before.
void Replay::learn(const GraphValue& before, const c10::IValue& now) {
  ShapeEnv& env = tracer_.env();
  const auto bind = [&](Expr e, Expr again) {
    if (e.is(Op::kEq) && again.is(Op::kEq))  // a truth value: Eq(u0, 1)
      e = e.arg(0), again = again.arg(0);
    if (e.is_symbol()) now_.bind(e, again);
  };
  if (before.is_tensor()) {
    const std::vector<Expr>& sizes = before.tensor().sizes;
    for (size_t d = 0; d < sizes.size(); ++d)
      bind(sizes[d], to_expr(env, now.toTensor().sym_size(d)));
  } else if (now.isSymBool()) {
    bind(before.expr(), to_expr(env, now.toSymBool()));
  } else if (now.isSymFloat()) {
    bind(before.expr(), to_expr(env, now.toSymFloat()));
  } else if (now.isSymInt() || now.isInt()) {
    bind(before.expr(), to_expr(env, now.toSymInt()));
  }
}

void Replay::store(const Node& node, const Values& results, Scope& scope) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Node::Output& output = node.outputs[i];
    const auto keep = [&](ValueId id, const c10::IValue& v) {
      if (id == kNoOutput) return;
      learn(scope.graph.value(id), v);
      scope.values[id] = v;
    };
    if (output.is_list) {
      const auto list = results[i].toTensorVector();
      for (size_t k = 0; k < output.values.size(); ++k)
        keep(output.values[k], list[k]);
    } else if (!output.values.empty()) {
      keep(output.values[0], results[i]);
    }
  }
}

// --- nodes

Replay::Values Replay::run(const Values& inputs) {
  return run(program_.graph, inputs);
}

Replay::Values Replay::run(const Graph& graph, const Values& inputs) {
  Scope scope{graph, Values(graph.values.size())};
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const ValueRef* ref = graph.inputs[i].arg.get<ValueRef>())
      scope.values[ref->id] = inputs[i];
  for (const Node& node : graph.nodes) run(node, scope);
  Values outputs;
  for (const OutputSpec& output : graph.outputs)
    outputs.push_back(value(output.arg, scope));
  return outputs;
}

void Replay::run(const Node& node, Scope& scope) {
  const Graph& graph = scope.graph;
  const std::vector<Frame>& frames = graph.stacks[node.location];
  if (!frames.empty()) {
    const Frame& f = frames.back();
    tracer_.set_line(f.file.c_str(), f.line, f.function.c_str(),
                     f.code.c_str());
  }
  tracer_.set_modules(graph.module_stacks[node.modules]);
  if (node.kind == Node::Kind::kSymbolic) {
    const ValueId id = node.outputs[0].values[0];
    scope.values[id] = number(graph.value(id).expr());
  } else if (is_mode_block(node)) {
    run_block(node, scope);
  } else if (node.kind == Node::Kind::kHigherOrder) {
    run_control_flow(node, scope);
  } else if (node.target == "aten._assert_scalar.default") {
    run_assertion(node, scope);
  } else {
    run_operator(node, scope);
  }
  tracer_.exit_module();
}

void Replay::run_operator(const Node& node, Scope& scope) {
  const auto& formals = node.op->schema().arguments();
  c10::Stack stack;
  for (size_t i = 0; i < node.args.size(); ++i)
    stack.push_back(argument(node.args[i], *formals[i].real_type(), scope));
  if (node.target == "aten.sym_size.int")
    stack = {stack[0].toTensor().sym_size(stack[1].toInt())};
  else
    node.op->callBoxed(stack);
  store(node, stack, scope);
}

void Replay::run_assertion(const Node& node, Scope& scope) {
  const ValueRef* ref = node.args[0].get<ValueRef>();
  if (ref == nullptr) return;  // a constant: it held while tracing
  const Expr condition = now_(scope.graph.value(ref->id).expr());
  const SourceLocation where = tracer_.location();
  const std::string& message = *node.args[1].get<std::string>();
  if (!reads_data(condition))
    return tracer_.add_check({condition, where, message});
  TORCH_CHECK(tracer_.env().expect_true(condition, where, message),
              "Proviso: replay: ", message);
}

// Opened: the operators of the body are the program's own.
void Replay::run_block(const Node& node, Scope& scope) {
  const auto body = std::find_if(
      node.args.begin(), node.args.end(),
      [](const Argument& a) { return a.get<GraphArgument>() != nullptr; });
  const Graph& graph = *body->get<GraphArgument>()->graph;
  Values operands;
  for (auto a = body + 1; a != node.args.end(); ++a)
    operands.push_back(value(*a, scope));
  Values results;
  if (const bool* enabled = node.args[0].get<bool>()) {
    const at::AutoGradMode mode(*enabled);
    results = run(graph, operands);
  } else {
    const AutocastScope autocast(
        *node.args[0].get<std::string>(), *node.args[1].get<c10::ScalarType>(),
        *node.args[2].get<bool>(), *node.args[3].get<bool>());
    results = run(graph, operands);
  }
  store(node, results, scope);
}

// An input of a sub-graph that the operator makes: a row, a carried value.
c10::IValue Replay::operand(const GraphValue& value) {
  if (!value.is_tensor()) {
    const c10::SymInt n = tracer_.add_int_operand("arg");
    learn(value, n);
    return n;
  }
  const c10::IValue like = result(value);
  return wrapping_.wrap(tracer_.add_operand("arg", like.toTensor()));
}

// A value as it was, where nothing computes it again; sizes that nobody knows
// are new.
c10::IValue Replay::result(const GraphValue& value) {
  ShapeEnv& env = tracer_.env();
  const auto make_known = [&](Expr e) {
    for (Expr symbol : free_symbols(e)) {
      if (now_.knows(symbol)) continue;
      const Interval range =
          value.is_tensor() ? program_.env->bounds(symbol) : Interval();
      const Expr fresh = env.create_unbacked_int(range);
      if (value.is_tensor()) env.mark_size_like(fresh);
      now_.bind(symbol, fresh);
    }
  };
  if (!value.is_tensor()) {
    make_known(value.expr());
    return number(value.expr());
  }
  const TensorMeta& meta = value.tensor();
  for (Expr size : meta.sizes) make_known(size);
  return make_fake(sizes(meta.sizes), sizes(meta.strides), meta.dtype,
                   meta.device);
}

void Replay::run_control_flow(const Node& node, Scope& scope) {
  // The last list is what the sub-graphs read from around them; the operator
  // makes their other operands.
  Values outside;
  for (const Argument& item : node.args.back().get<ListArgument>()->items)
    outside.push_back(value(item, scope));
  plain(outside);  // what is still to be computed is so before the sub-graphs
  std::vector<SubGraph> subs;
  std::vector<std::string> names;
  for (const Argument& a : node.args) {
    const GraphArgument* body = a.get<GraphArgument>();
    if (body == nullptr) continue;
    names.push_back(body->name.substr(0, body->name.rfind('_')));
    tracer_.begin_sub_graph("a sub-graph of " + node.target);
    Values inputs;
    const size_t made = body->graph->inputs.size() - outside.size();
    for (size_t i = 0; i < made; ++i) {
      const ValueRef* ref = body->graph->inputs[i].arg.get<ValueRef>();
      inputs.push_back(operand(body->graph->value(ref->id)));
    }
    inputs.insert(inputs.end(), outside.begin(), outside.end());
    Values outputs = run(*body->graph, inputs);
    subs.push_back(tracer_.end_sub_graph(plain(outputs)));
  }
  std::vector<SubGraph*> all;
  for (SubGraph& sub : subs) all.push_back(&sub);
  Values captured;
  for (const at::Tensor& t : join_captures(tracer_, all))
    captured.emplace_back(t);
  std::vector<HigherOrderArgument> args;
  size_t next = 0;
  for (const Argument& a : node.args) {
    if (a.get<GraphArgument>()) {
      args.emplace_back(subs[next++]);
    } else if (const ListArgument* list = a.get<ListArgument>()) {
      Values items;
      for (const Argument& item : list->items)
        items.push_back(value(item, scope));
      args.emplace_back(&a == &node.args.back() ? captured : plain(items));
    } else {
      args.emplace_back(plain({value(a, scope)})[0]);
    }
  }
  Values results;
  for (const Node::Output& output : node.outputs)
    results.push_back(output.values.empty()
                          ? c10::IValue()
                          : result(scope.graph.value(output.values[0])));
  const std::string name = node.target.substr(node.target.rfind('.') + 1);
  record_higher_order(tracer_, name, names, args, results);
  for (c10::IValue& value : results) value = wrapping_.wrap(value);
  store(node, results, scope);
}

Replay::Values Replay::plain(const Values& values) const {
  Values result;
  for (const c10::IValue& v : values) result.push_back(wrapping_.unwrap(v));
  return result;
}

}  // namespace proviso::inline v0_2
