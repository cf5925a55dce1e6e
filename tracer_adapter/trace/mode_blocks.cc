#include "tracer_adapter/trace/mode_blocks.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace proviso::inline v0_2 {
namespace {

using Symbols = std::set<Expr, ExprLess>;

void add_read(Expr e, Symbols& symbols) {
  for (Expr symbol : free_symbols(e))
    if (is_unbacked(symbol.symbol().kind)) symbols.insert(symbol);
}

void add_read(const Argument& a, Symbols& symbols) {
  if (const ExprArgument* e = a.get<ExprArgument>()) add_read(e->expr, symbols);
  if (const ListArgument* list = a.get<ListArgument>())
    for (const Argument& item : list->items) add_read(item, symbols);
  if (const GraphArgument* sub = a.get<GraphArgument>())
    for (const Node& node : sub->graph->nodes)
      for (const Argument& inner : node.args) add_read(inner, symbols);
}

void add_meta(const GraphValue& value, Symbols& symbols) {
  if (!value.is_tensor()) return add_read(value.expr(), symbols);
  for (Expr size : value.tensor().sizes) add_read(size, symbols);
}

// The value tells the symbol: it is the number, or has it as a size.
bool tells(const GraphValue& value, Expr symbol) {
  if (value.is_tensor()) {
    const std::vector<Expr>& sizes = value.tensor().sizes;
    return std::find(sizes.begin(), sizes.end(), symbol) != sizes.end();
  }
  Symbols symbols;
  add_read(value.expr(), symbols);
  return symbols.contains(symbol);
}

struct Run {
  size_t begin, end;  // nodes
};

// Which of the two modes is outlined: gradients first, autocast inside.
enum class Aspect { kGrad, kAutocast };

class Outliner {
 public:
  Outliner(Graph& graph, const Mode& around, const TraceModes& trace,
           Aspect aspect)
      : graph_(graph), around_(around), trace_(trace), aspect_(aspect) {}

  void outline();

 private:
  const Mode& mode(const Node& node) const { return trace_.modes[node.mode]; }
  bool same(const Mode& a, const Mode& b) const {
    return aspect_ == Aspect::kGrad ? a.grad == b.grad : a.same_autocast(b);
  }
  std::vector<Run> runs() const;
  void note_uses();
  Node block(const Run& run);
  std::vector<ValueId> results(const Run& run,
                               const std::vector<ValueId>& defined) const;
  Symbols symbols_after(const Run& run) const;
  void settings(const Mode& inside, Node& node) const;
  uint32_t modules(const Run& run) const;

  Graph& graph_;
  const Mode& around_;
  const TraceModes& trace_;
  const Aspect aspect_;
  std::vector<Node> nodes_;  // as recorded
  // By node; the number of nodes stands for the outputs.
  std::unordered_map<ValueId, size_t> last_use_, defined_at_;
};

std::vector<Run> Outliner::runs() const {
  std::vector<Run> result;
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Mode& here = mode(graph_.nodes[i]);
    if (same(here, around_)) continue;
    const bool goes_on = !result.empty() && result.back().end == i &&
                         same(mode(graph_.nodes[i - 1]), here);
    if (!goes_on) result.push_back({i, i});
    result.back().end = i + 1;
  }
  return result;
}

void Outliner::note_uses() {
  const auto use = [&](size_t at) {
    return [this, at](ValueId id) { last_use_[id] = at; };
  };
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const Argument& a : nodes_[i].args) for_each_reference(a, use(i));
    for_each_output(nodes_[i], [&](ValueId id) { defined_at_[id] = i; });
  }
  for (const OutputSpec& output : graph_.outputs)
    for_each_reference(output.arg, use(nodes_.size()));
}

// Symbols read from data that something after the run speaks of.
Symbols Outliner::symbols_after(const Run& run) const {
  Symbols result;
  for (size_t i = run.end; i < nodes_.size(); ++i) {
    for (const Argument& a : nodes_[i].args) add_read(a, result);
    for_each_output(nodes_[i],
                    [&](ValueId id) { add_meta(graph_.value(id), result); });
  }
  for (const OutputSpec& output : graph_.outputs) add_read(output.arg, result);
  for (const RuntimeAssert& a : trace_.asserts) add_read(a.condition, result);
  return result;
}

// The values that are read after the block, and values that tell the symbols
// that are.
std::vector<ValueId> Outliner::results(
    const Run& run, const std::vector<ValueId>& defined) const {
  std::vector<ValueId> result;
  for (ValueId id : defined) {
    auto use = last_use_.find(id);
    if (use != last_use_.end() && use->second >= run.end) result.push_back(id);
  }
  Symbols inside, before;
  for (ValueId id : defined) add_meta(graph_.value(id), inside);
  if (inside.empty()) return result;
  for (ValueId id = 0; id < static_cast<ValueId>(graph_.values.size()); ++id) {
    auto at = defined_at_.find(id);
    if (at == defined_at_.end() || at->second < run.begin)
      add_meta(graph_.value(id), before);
  }
  const auto give = [&](Expr symbol) {
    const auto told = [&](ValueId id) {
      return tells(graph_.value(id), symbol);
    };
    if (std::any_of(result.begin(), result.end(), told)) return;
    auto teller = std::find_if(defined.begin(), defined.end(), told);
    if (teller != defined.end()) result.push_back(*teller);
  };
  for (Expr symbol : symbols_after(run))
    if (inside.contains(symbol) && !before.contains(symbol)) give(symbol);
  return result;
}

// A block stands in the innermost module that all of its nodes are of.
uint32_t Outliner::modules(const Run& run) const {
  ModuleStacks& stacks = trace_.modules;
  ModuleStacks::Stack shared = stacks[nodes_[run.begin].modules];
  for (size_t i = run.begin; i < run.end; ++i) {
    const ModuleStacks::Stack& stack = stacks[nodes_[i].modules];
    const auto [end, _] =
        std::mismatch(shared.begin(), shared.end(), stack.begin(), stack.end());
    shared.erase(end, shared.end());
  }
  return stacks.number_of(shared);
}

void Outliner::settings(const Mode& inside, Node& node) const {
  if (aspect_ == Aspect::kGrad) {
    node.target = "torch.ops.higher_order.wrap_with_set_grad_enabled";
    node.args = {{inside.grad}};
    return;
  }
  node.target = "torch.ops.higher_order.wrap_with_autocast";
  node.args = {{std::string("cpu")},
               {inside.autocast_dtype},
               {inside.autocast},
               {inside.autocast_cache}};
}

void rename(Argument& a, const std::unordered_map<ValueId, ValueId>& names) {
  if (auto* ref = std::get_if<ValueRef>(&a.value)) ref->id = names.at(ref->id);
  if (auto* list = std::get_if<ListArgument>(&a.value))
    for (Argument& item : list->items) rename(item, names);
}

// What gives nothing has no place in a file: a block whose results nobody reads
// (it adds to a buffer) gives the last one that it makes, or what it writes to.
Node Outliner::block(const Run& run) {
  auto body = std::make_shared<Graph>();
  std::vector<Argument> operands;
  std::vector<ValueId> defined;
  std::unordered_map<ValueId, ValueId> names;  // here -> in the body
  const auto name = [&](ValueId id) {
    return names.emplace(id, body->add_value(graph_.value(id).meta))
        .first->second;
  };
  for (size_t i = run.begin; i < run.end; ++i) {
    Node& node = nodes_[i];
    for (Argument& a : node.args) {
      for_each_reference(a, [&](ValueId id) {
        if (names.contains(id)) return;
        InputSpec input;
        input.arg = {ValueRef{name(id)}};
        body->inputs.push_back(std::move(input));
        operands.push_back({ValueRef{id}});
      });
    }
    for_each_output(node, [&](ValueId id) {
      name(id);
      defined.push_back(id);
    });
  }
  Node result;
  result.kind = Node::Kind::kHigherOrder;
  const Mode inside = mode(nodes_[run.begin]);
  settings(inside, result);
  result.location = nodes_[run.begin].location;
  result.modules = modules(run);
  const auto give = [&](ValueId outside, ValueId inside) {
    result.outputs.push_back({false, {outside}});
    body->outputs.push_back({OutputKind::kUserOutput,
                             {ValueRef{inside}},
                             /*target=*/{}});
  };
  for (ValueId id : results(run, defined)) give(id, names.at(id));
  if (result.outputs.empty()) {
    if (!defined.empty()) {
      give(defined.back(), names.at(defined.back()));
    } else if (!operands.empty()) {
      const ValueId written = operands[0].get<ValueRef>()->id;
      give(graph_.add_value(graph_.value(written).meta), names.at(written));
    }
  }
  for (size_t i = run.begin; i < run.end; ++i) {
    Node& node = nodes_[i];
    for (Argument& a : node.args) rename(a, names);
    for (Node::Output& output : node.outputs)
      for (ValueId& id : output.values)
        if (id != kNoOutput) id = names.at(id);
    body->nodes.push_back(std::move(node));
  }
  if (aspect_ == Aspect::kGrad) {
    Mode around = around_;
    around.grad = inside.grad;
    Outliner(*body, around, trace_, Aspect::kAutocast).outline();
  }
  result.args.push_back({GraphArgument{"submod", std::move(body)}});
  result.args.insert(result.args.end(), operands.begin(), operands.end());
  return result;
}

void Outliner::outline() {
  const std::vector<Run> blocks = runs();
  if (blocks.empty()) return;
  // The mode of the graph itself, for the nodes that stand for blocks; where it
  // has no number, it is of a block's body, and nobody asks.
  const uint32_t outside = trace_.modes.number_of(around_).value_or(0);
  nodes_ = std::move(graph_.nodes);
  note_uses();
  graph_.nodes.clear();
  size_t next = 0;
  const auto keep_until = [&](size_t end) {
    for (; next < end; ++next) graph_.nodes.push_back(std::move(nodes_[next]));
  };
  for (const Run& run : blocks) {
    // Moved nodes no longer say what they read: ask before.
    keep_until(run.begin);
    Node node = block(run);
    node.mode = outside;
    graph_.nodes.push_back(std::move(node));
    next = run.end;
  }
  keep_until(nodes_.size());
}

}  // namespace

void outline_mode_blocks(Graph& graph, const Mode& around,
                         const TraceModes& trace) {
  Outliner(graph, around, trace, Aspect::kGrad).outline();
  Outliner(graph, around, trace, Aspect::kAutocast).outline();
}

}  // namespace proviso::inline v0_2
