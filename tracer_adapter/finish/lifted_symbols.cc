#include "tracer_adapter/finish/lifted_symbols.h"

#include <utility>

#include "tracer_adapter/finish/input_sizes.h"

namespace proviso::inline v0_2 {
namespace {

std::vector<Expr> symbols_without(Expr e, const ExprSet& given) {
  std::vector<Expr> result;
  for (Expr symbol : free_symbols(e))
    if (!given.contains(symbol)) result.push_back(symbol);
  return result;
}

}  // namespace

// The symbols that a value gives: bare sizes and numbers.
void LiftedSymbols::add_given(const GraphValue& value, ExprSet& given) const {
  if (!value.is_tensor()) {
    for (Expr symbol : free_symbols(value.expr())) given.insert(symbol);
    return;
  }
  for (Expr size : value.tensor().sizes) {
    if (size.is_symbol()) given.insert(size);
    const Expr learnt = env_.simplify(size);
    if (is_input_size(learnt)) given.insert(learnt);
  }
}

// Either form of the expression will do.
void LiftedSymbols::add_missing(Expr e, const ExprSet& given,
                                ExprOrder& missing) const {
  std::vector<Expr> symbols = symbols_without(env_.simplify(e), given);
  if (!symbols.empty() && symbols_without(e, given).empty()) symbols.clear();
  missing.insert(symbols.begin(), symbols.end());
}

void LiftedSymbols::add_missing(const Argument& a, const ExprSet& given,
                                ExprOrder& missing) const {
  if (const ExprArgument* e = a.get<ExprArgument>())
    return add_missing(e->expr, given, missing);
  if (const ListArgument* list = a.get<ListArgument>())
    for (const Argument& item : list->items) add_missing(item, given, missing);
  if (const GraphArgument* sub = a.get<GraphArgument>())
    for (Expr symbol : of(*sub->graph))
      if (!given.contains(symbol)) missing.insert(symbol);
}

ExprOrder LiftedSymbols::of(const Graph& graph) const {
  ExprOrder missing;
  ExprSet given;
  for (const InputSpec& input : graph.inputs)
    if (const ValueRef* ref = input.arg.get<ValueRef>())
      add_given(graph.value(ref->id), given);
  for (const Node& node : graph.nodes) {
    for (const Argument& a : node.args) add_missing(a, given, missing);
    for_each_output(node,
                    [&](ValueId id) { add_given(graph.value(id), given); });
  }
  for (const OutputSpec& output : graph.outputs)
    add_missing(output.arg, given, missing);
  for (const RuntimeAssert& a : asserts_.of(&graph))
    add_missing(a.condition, given, missing);
  return missing;
}

void LiftedSymbols::lift(Node& node, const ExprExpander& expander) const {
  ExprOrder wanted;
  for (const Argument& a : node.args)
    if (const GraphArgument* sub = a.get<GraphArgument>())
      wanted.merge(of(*sub->graph));
  for (Expr symbol : wanted) {
    if (!expander.can_expand(symbol)) continue;
    // The operands from outside are the last list, or the last arguments.
    auto* list = std::get_if<ListArgument>(&node.args.back().value);
    auto& operands = is_mode_block(node) ? node.args : list->items;
    operands.push_back({ExprArgument{symbol}});
    for (const Argument& a : node.args)
      if (const GraphArgument* sub = a.get<GraphArgument>()) {
        InputSpec spec;
        spec.arg = {ValueRef{sub->graph->add_value(symbol)}};
        sub->graph->inputs.push_back(std::move(spec));
      }
  }
}

}  // namespace proviso::inline v0_2
