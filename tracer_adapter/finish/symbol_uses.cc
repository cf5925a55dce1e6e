#include "tracer_adapter/finish/symbol_uses.h"

#include <utility>

namespace proviso::inline v0_2 {
namespace {

class Reads {
 public:
  Reads(ShapeEnv& env, const LiftedSymbols& lifted)
      : env_(env), lifted_(lifted) {}

  void add(Expr e) {
    add_form(e);
    add_form(env_.simplify(e));
  }

  void add(const Argument& a) {
    if (const ExprArgument* e = a.get<ExprArgument>()) {
      add(e->expr);
    } else if (const ListArgument* list = a.get<ListArgument>()) {
      for (const Argument& item : list->items) add(item);
    } else if (const GraphArgument* sub = a.get<GraphArgument>()) {
      for (Expr symbol : lifted_.of(*sub->graph)) symbols_.insert(symbol);
    }
  }

  ExprSet take_symbols() { return std::move(symbols_); }

 private:
  void add_form(Expr e) {
    if (e.is_constant() || !seen_.insert(e).second) return;
    for (Expr symbol : free_symbols(e)) symbols_.insert(symbol);
  }

  ShapeEnv& env_;
  const LiftedSymbols& lifted_;
  ExprSet seen_;
  ExprSet symbols_;
};

}  // namespace

SymbolUses symbol_uses(const Graph& graph,
                       const std::vector<RuntimeAssert>& asserts, ShapeEnv& env,
                       const LiftedSymbols& lifted) {
  SymbolUses uses;
  Reads reads(env, lifted);
  for (const Node& node : graph.nodes)
    for (const Argument& a : node.args) reads.add(a);
  for (const OutputSpec& output : graph.outputs) reads.add(output.arg);
  for (const RuntimeAssert& a : asserts) {
    reads.add(a.condition);
    for (Expr symbol : free_symbols(a.condition)) uses.asserted.insert(symbol);
  }
  uses.needed = reads.take_symbols();
  return uses;
}

}  // namespace proviso::inline v0_2
