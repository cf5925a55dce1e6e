#include "tracer_adapter/finish/graph_writer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "sym/excerpt.h"
#include "sym/print.h"

namespace proviso::inline v0_2 {

GraphWriter::GraphWriter(const RecordedTrace& trace, Graph& graph,
                         GraphRole role)
    : trace_(trace),
      graph_(graph),
      builder_(graph),
      expander_(trace.env->pool(), builder_),
      asserts_(trace.asserts.of(role == GraphRole::kProgram ? nullptr : &graph),
               builder_, expander_),
      lifted_(*trace.env, trace.asserts),
      uses_(symbol_uses(graph, asserts_.pending(), *trace.env, lifted_)),
      bindings_(*trace.env, uses_, builder_, expander_) {}

void GraphWriter::write() {
  bindings_.bind_inputs();
  asserts_.place();
  std::vector<Node> recorded = std::exchange(graph_.nodes, {});
  builder_.reserve(recorded.size());
  for (Node& node : recorded) write(node);
  for (OutputSpec& output : graph_.outputs) expand(output.arg);
  asserts_.require_placed();
  graph_.nodes = builder_.take();
  graph_.stacks = trace_.stacks.all();
  graph_.module_stacks = trace_.modules.all();
}

void GraphWriter::write(Node& node) {
  builder_.move_to(node);
  if (node.kind == Node::Kind::kHigherOrder) write_sub_graphs(node);
  for (Argument& a : node.args) expand(a);
  if (node.kind == Node::Kind::kModuleCall)
    return keep_module_call(std::move(node));
  defined_.clear();
  for_each_output(node, [&](ValueId id) { defined_.push_back(id); });
  builder_.append(std::move(node));
  for (ValueId id : defined_) bindings_.bind(id);
  asserts_.place();
}

void GraphWriter::write_sub_graphs(Node& node) {
  lifted_.lift(node, expander_);
  for (const Argument& a : node.args)
    if (const GraphArgument* sub = a.get<GraphArgument>()) {
      auto writer = std::make_unique<GraphWriter>(trace_, *sub->graph,
                                                  GraphRole::kSubGraph);
      writer->write();
      substitute_metadata(*sub->graph, GraphRole::kSubGraph, writer->asserted(),
                          *trace_.env);
      sub_graphs_.push_back(std::move(writer));
    }
}

void GraphWriter::expand(Argument& a) {
  if (auto* list = std::get_if<ListArgument>(&a.value))
    for (Argument& item : list->items) expand(item);
  const ExprArgument* symbolic = a.get<ExprArgument>();
  if (symbolic == nullptr) return;
  // What was learnt later may speak of symbols that do not exist yet here.
  const Expr recorded = symbolic->expr;
  const Expr learnt = trace_.env->simplify(recorded);
  const Expr form = expander_.can_expand(learnt) ? learnt : recorded;
  TORCH_CHECK(expander_.can_expand(form),
              "Proviso: no recorded operator "
              "defines a symbol of ",
              to_string(recorded, internal::kMessageLength));
  a = expander_.expand(form);
}

void GraphWriter::keep_module_call(Node marker) {
  const bool outputs = marker.target == "outputs";
  if (!outputs) module_calls_.push_back({marker.name, ModuleCallSignature{}});
  // Calls of modules nest: the last one of this name is still open.
  auto call = std::find_if(
      module_calls_.rbegin(), module_calls_.rend(),
      [&](const ModuleCallEntry& e) { return e.fqn == marker.name; });
  auto& kept = outputs ? call->signature->outputs : call->signature->inputs;
  kept = std::move(marker.args);
}

void GraphWriter::name_conditions() const {
  for (const auto& sub_graph : sub_graphs_) sub_graph->name_conditions();
  asserts_.name_conditions(graph_);
}

}  // namespace proviso::inline v0_2
