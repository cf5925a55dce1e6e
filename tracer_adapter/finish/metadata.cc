#include "tracer_adapter/finish/metadata.h"

#include <cstdint>
#include <set>
#include <variant>

#include "sym/canonical.h"
#include "sym/find_node.h"
#include "sym/within.h"
#include "tracer_adapter/finish/input_sizes.h"

namespace proviso::inline v0_2 {
namespace {

std::set<ValueId> values_of_inputs(const Graph& graph) {
  std::set<ValueId> ids;
  for (const InputSpec& input : graph.inputs)
    if (const ValueRef* ref = input.arg.get<ValueRef>()) ids.insert(ref->id);
  return ids;
}

// Symbols are replaced; the ranges that are known do not make it a constant,
// for a reader learns them from here.  An equality that is asserted is: some
// readers would replace symbols by it that stand in values before.
Expr learnt_condition(Expr condition, const ExprSet& asserted, ShapeEnv& env) {
  if (asserted.contains(condition)) return env.pool().boolean(true);
  std::unordered_map<Expr, Expr, ExprHash> known;
  for (Expr symbol : free_symbols(condition))
    if (symbol.is_int()) known.emplace(symbol, env.simplify(symbol));
  return canonical(substitute(condition, known));
}

Expr learnt(Expr e, ShapeEnv& env) {
  return e.is_constant() ? e : env.simplify(e);
}

bool is_extremum(Expr e) { return e.is(Op::kMin) || e.is(Op::kMax); }

// Work of settling the sizes of one graph (sym/budget.h).
constexpr uint64_t kSettledUnits = 3'000'000;

// Min(2, s0), the length of x[:2], is 2 where the program has come to promise
// that s0 >= 2.  Past the units, sizes are as they were learnt.
Expr settled(Expr e, ShapeEnv& env, uint64_t& units) {
  if (e.args().empty() || !internal::find_node(e, is_extremum)) return e;
  const auto canonical = [&] {
    Context promised(env.pool());
    for (Expr symbol : free_symbols(e))
      if (symbol.is_int()) promised.declare(symbol, env.enforced_range(symbol));
    return promised.canonical(e);
  };
  return internal::within(units, canonical).value_or(e);
}

void substitute_tensor(TensorMeta& tensor, bool is_input, ShapeEnv& env,
                       uint64_t& units) {
  const auto meaning = [&](Expr e) {
    return settled(learnt(e, env), env, units);
  };
  for (Expr& e : tensor.sizes) e = is_input ? learnt_size(env, e) : meaning(e);
  for (Expr& e : tensor.strides) e = meaning(e);
  tensor.offset = meaning(tensor.offset);
}

}  // namespace

void substitute_metadata(Graph& graph, GraphRole role, const ExprSet& asserted,
                         ShapeEnv& env) {
  std::set<ValueId> inputs;
  if (role == GraphRole::kProgram) inputs = values_of_inputs(graph);
  uint64_t units = kSettledUnits;
  for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
    const bool is_input = inputs.contains(id);
    auto& meta = graph.values[id].meta;
    if (auto* tensor = std::get_if<TensorMeta>(&meta)) {
      substitute_tensor(*tensor, is_input, env, units);
      continue;
    }
    Expr& e = std::get<Expr>(meta);
    if (is_input)
      e = learnt_size(env, e);
    else
      e = e.is_bool() ? learnt_condition(e, asserted, env) : env.simplify(e);
  }
}

}  // namespace proviso::inline v0_2
