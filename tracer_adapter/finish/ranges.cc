#include "tracer_adapter/finish/ranges.h"

#include <algorithm>

#include "tracer_adapter/finish/expr_set.h"
#include "tracer_adapter/finish/input_sizes.h"

namespace proviso::inline v0_2 {
namespace {

// Every expression of the values, also of those in sub-graphs.
template <typename Visit>
void visit_values(const Graph& graph, const Visit& visit) {
  for (const GraphValue& value : graph.values) {
    if (!value.is_tensor()) {
      visit(value.expr());
      continue;
    }
    const TensorMeta& meta = value.tensor();
    std::ranges::for_each(meta.sizes, visit);
    std::ranges::for_each(meta.strides, visit);
    // Torch reads no symbols of offsets, and warns of a range of theirs.
  }
  for (const Node& node : graph.nodes)
    for (const Argument& a : node.args)
      if (const GraphArgument* sub = a.get<GraphArgument>())
        visit_values(*sub->graph, visit);
}

ExprOrder symbols_of_data(const Graph& graph) {
  ExprOrder symbols;
  ExprSet visited;
  visit_values(graph, [&](Expr e) {
    if (e.is_constant() || !visited.insert(e).second) return;
    for (Expr symbol : free_symbols(e))
      if (is_unbacked(symbol.symbol().kind)) symbols.insert(symbol);
  });
  return symbols;
}

}  // namespace

std::vector<RangeConstraint> range_constraints(const Graph& graph,
                                               ShapeEnv& env) {
  std::vector<RangeConstraint> result;
  ExprSet seen;
  const auto add = [&](Expr e) {
    if (e.is_constant() || !e.is_int() || !seen.insert(e).second) return;
    result.push_back({e, env.enforced_range(e)});
  };
  for (Expr symbol : symbols_of_data(graph)) add(symbol);
  for (const InputDim& dim : env.input_dims()) add(learnt_size(env, dim.expr));
  return result;
}

}  // namespace proviso::inline v0_2
