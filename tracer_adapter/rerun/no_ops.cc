#include "tracer_adapter/rerun/no_ops.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <string_view>

namespace proviso::inline v0_2 {

Expr number_of(const Graph& graph, const Argument& a, ExprPool& pool) {
  if (const ValueRef* ref = a.get<ValueRef>()) {
    const GraphValue& value = graph.value(ref->id);
    return value.is_tensor() ? Expr() : value.expr();
  }
  if (const int64_t* n = a.get<int64_t>()) return pool.integer(*n);
  if (const bool* truth = a.get<bool>()) return pool.boolean(*truth);
  if (const ExprArgument* e = a.get<ExprArgument>()) return e->expr;
  return Expr();
}

bool is_copy(const Node& node) {
  static const std::set<std::string_view> copies = {
      "aten.cat.default", "aten.clone.default", "aten.pad.default",
      "aten.constant_pad_nd.default", "aten.repeat.default"};
  return copies.contains(node.target);
}

bool is_one_of(const std::set<ValueId>& values, const Argument& a) {
  const ValueRef* ref = a.get<ValueRef>();
  return ref != nullptr && values.contains(ref->id);
}

void add_views(const Node& node, std::set<ValueId>& of) {
  if (of.empty() || !node.op) return;
  const auto& returns = node.op->schema().returns();
  const bool is_view = std::ranges::any_of(returns, [](const c10::Argument& r) {
    return r.alias_info() != nullptr;
  });
  if (!is_view || std::ranges::none_of(node.args, [&](const Argument& a) {
        return is_one_of(of, a);
      }))
    return;
  for (const Node::Output& output : node.outputs)
    of.insert(output.values.begin(), output.values.end());
}

bool writes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    return (node.kind == Node::Kind::kOperator &&
            node.op->schema().is_mutable()) ||
           std::ranges::any_of(node.args, [](const Argument& a) {
             const GraphArgument* sub = a.get<GraphArgument>();
             return sub != nullptr && writes(*sub->graph);
           });
  });
}

bool SizedGraph::has_same_sizes(const TensorMeta& a,
                                const TensorMeta& b) const {
  return std::equal(a.sizes.begin(), a.sizes.end(), b.sizes.begin(),
                    b.sizes.end(), [&](Expr x, Expr y) {
                      x = said_(x);
                      return x && x == said_(y);
                    });
}

// Of the same sizes: whether the strides that count are the same.
bool SizedGraph::lies_alike(const TensorMeta& a, const TensorMeta& b) const {
  for (size_t d = 0; d < a.sizes.size(); ++d) {
    if (said_(a.sizes[d]).maybe_int64() == 1) continue;
    const Expr stride = said_(a.strides[d]);
    if (!stride || stride != said_(b.strides[d])) return false;
  }
  return true;
}

bool SizedGraph::is_empty(const TensorMeta& meta) const {
  return std::ranges::any_of(meta.sizes, [&](Expr size) {
    const Expr here = said_(size);
    return here && here.maybe_int64() == 0;
  });
}

// One side of a pad may take away what the other adds.
bool SizedGraph::pads_nothing(const Node& node) const {
  const ListArgument* pads = node.args[1].get<ListArgument>();
  return pads != nullptr &&
         std::ranges::all_of(pads->items, [&](const auto& a) {
           const Expr pad = number_of(graph_, a, pool_);
           const Expr here = pad ? said_(pad) : Expr();
           return here && here.maybe_int64() == 0;
         });
}

// The one tensor of a concatenation that is as large as all.
ValueId SizedGraph::joined_with_nothing(const Node& node) const {
  ValueId whole = kNoOutput;
  for (const Argument& item : node.args[0].get<ListArgument>()->items) {
    const ValueId id = item.get<ValueRef>()->id;
    if (is_empty(graph_.value(id).tensor())) continue;
    if (whole != kNoOutput) return kNoOutput;
    whole = id;
  }
  return whole;
}

ValueId SizedGraph::given_back(const Node& node, bool with_copies) const {
  static const std::set<std::string_view> views = {
      "aten.alias.default", "aten.expand.default", "aten.reshape.default",
      "aten.slice.Tensor", "aten.view.default"};
  const bool copies = is_copy(node);
  if (copies ? !with_copies : !views.contains(node.target)) return kNoOutput;
  if (node.target.find("pad") != std::string::npos && !pads_nothing(node))
    return kNoOutput;
  const ValueId id = node.target == "aten.cat.default"
                         ? joined_with_nothing(node)
                         : node.args[0].get<ValueRef>()->id;
  if (id == kNoOutput) return kNoOutput;
  const TensorMeta& before = graph_.value(id).tensor();
  const TensorMeta& after = graph_.value(node.outputs[0].values[0]).tensor();
  return has_same_sizes(before, after) && before.dtype == after.dtype &&
                 (!copies || lies_alike(before, after))
             ? id
             : kNoOutput;
}

bool SizedGraph::makes_nothing(const Node& node) const {
  const auto is_number = [&](const Argument& a) {
    const ValueRef* ref = a.get<ValueRef>();
    return ref == nullptr || !graph_.value(ref->id).is_tensor();
  };
  const auto is_of_numbers = [&](const Argument& a) {
    const ListArgument* list = a.get<ListArgument>();
    return list == nullptr ? is_number(a)
                           : std::ranges::all_of(list->items, is_number);
  };
  if (node.kind != Node::Kind::kOperator ||
      node.op->hasTag(at::Tag::nondeterministic_seeded) ||
      node.outputs.size() != 1 || node.outputs[0].is_list)
    return false;
  if (!node.target.starts_with("aten.new_") &&
      !std::ranges::all_of(node.args, is_of_numbers))
    return false;
  const GraphValue& result = graph_.value(node.outputs[0].values[0]);
  return result.is_tensor() && is_empty(result.tensor());
}

}  // namespace proviso::inline v0_2
