// The nodes recorded so far are searched, the latest first, for one that counts
// in the same value.  A tensor whose memory is written to anywhere in the trace
// is left out: its value may not be what it was.  What made a tensor without
// dimensions of known integers tells its number the same way.
#include "tracer_adapter/shape_functions/found_before.h"

#include "tracer_adapter/fake/sym_node.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2::shapes {

namespace {

// So many of the latest nodes are looked at.
constexpr size_t kMostNodes = 4096;

bool is_value(const Argument& a, ValueId id) {
  const ValueRef* ref = a.get<ValueRef>();
  return ref != nullptr && ref->id == id;
}

const TensorMeta& first_output(const Graph& graph, const Node& node) {
  return graph.value(node.outputs[0].values[0]).tensor();
}

// x[.., mask, ..] with no other index: the count is the size in its place.
Expr count_by_index(const Graph& graph, const Node& node, ValueId mask) {
  const ListArgument* indices = node.args[1].get<ListArgument>();
  size_t at = 0, given = 0;
  for (size_t i = 0; indices && i < indices->items.size(); ++i) {
    if (indices->items[i].is_none()) continue;
    ++given;
    if (is_value(indices->items[i], mask)) at = i + 1;
  }
  if (given != 1 || at == 0) return {};
  return first_output(graph, node).sizes[at - 1];
}

Expr count_in(const Graph& graph, const Node& node, ValueId mask) {
  const std::string& op = node.op->schema().name();
  if (op == "aten::index") return count_by_index(graph, node, mask);
  const bool by_mask = op == "aten::masked_select";
  if (by_mask) {
    const ValueRef* self = node.args[0].get<ValueRef>();
    if (self == nullptr || !is_value(node.args[1], mask) ||
        graph.value(self->id).tensor().sizes !=
            graph.value(mask).tensor().sizes)
      return {};
    return first_output(graph, node).sizes[0];
  }
  const bool counts = op == "aten::nonzero" || op == "aten::argwhere" ||
                      op == "aten::nonzero_numpy" ||
                      (op == "aten::where" && node.args.size() == 1);
  if (!counts || !is_value(node.args[0], mask)) return {};
  return first_output(graph, node).sizes[0];
}

Expr unique_in(const Graph& graph, const Node& node, ValueId of) {
  const std::string& op = node.op->schema().name();
  if (op != "aten::_unique2" && op != "aten::_unique") return {};
  return is_value(node.args[0], of) ? first_output(graph, node).sizes[0]
                                    : Expr();
}

Expr number_in(const Graph& graph, const Node& node, ValueId of) {
  const std::string& op = node.op->schema().name();
  if (op != "aten::_local_scalar_dense" && op != "aten::item") return {};
  if (!is_value(node.args[0], of) || node.outputs[0].values.empty()) return {};
  const GraphValue& value = graph.value(node.outputs[0].values[0]);
  return value.is_tensor() ? Expr() : value.expr();
}

// --- tensors of known numbers

// The integer that an argument is; none of a tensor, whose memory may have been
// written to.
Expr integer_of(ShapeEnv& env, const Graph& graph, const Argument& a) {
  if (const int64_t* number = a.get<int64_t>())
    return env.pool().integer(*number);
  Expr e;
  if (const ExprArgument* number = a.get<ExprArgument>()) e = number->expr;
  const ValueRef* ref = a.get<ValueRef>();
  if (ref && !graph.value(ref->id).is_tensor()) e = graph.value(ref->id).expr();
  return e && e.is_int() ? e : Expr();
}

// Whether rounding down and to zero are one.
bool is_natural_quotient(Context& context, Expr a, Expr b) {
  const auto at_least = [&](Expr e, int64_t least) {
    const Interval range = context.bounds_quick(e);
    return range.lower() && *range.lower() >= Int(least);
  };
  return at_least(a, 0) && at_least(b, 1);
}

// The integer in a tensor without dimensions that `node` made.
Expr integer_made(ShapeEnv& env, const Graph& graph, const Node& node) {
  const std::string& op = node.op->schema().name();
  if (node.args.size() < 2) return {};
  const Expr first = integer_of(env, graph, node.args[0]);
  if (!first || op == "aten::scalar_tensor") return first;
  const std::string* mode = nullptr;
  if (op == "aten::div" && node.args.size() > 2)
    mode = node.args[2].get<std::string>();
  const bool divides = op == "aten::floor_divide" ||
                       (mode && (*mode == "trunc" || *mode == "floor"));
  if (!divides) return {};
  const Expr second = integer_of(env, graph, node.args[1]);
  if (!second || !is_natural_quotient(env.context(), first, second)) return {};
  return floor_div(first, second);
}

Expr made_in(ShapeEnv& env, const Graph& graph, const Node& node, ValueId id) {
  if (node.outputs.size() != 1 ||
      node.outputs[0].values != std::vector<ValueId>{id})
    return {};
  const TensorMeta& meta = graph.value(id).tensor();
  if (!meta.sizes.empty() || meta.dtype != ScalarType::Long) return {};
  return integer_made(env, graph, node);
}

// What `look` finds in the latest node that has it.
template <typename Look>
Expr latest(RuleCall& call, const Tensor& t, const Look& look) {
  Tracer& tracer = call.tracer;
  // Inside a decomposition, and where a program is traced again, nothing is
  // recorded of a tensor.
  const FakeTensorImpl* impl = fake_impl(t);
  if (impl == nullptr || impl->value == kNoValue || !tracer.recording() ||
      tracer.written(t))
    return {};
  const ValueId id = tracer.value_of(t);
  const Graph& graph = tracer.graph();
  const size_t count = std::min(graph.nodes.size(), kMostNodes);
  for (size_t i = 1; i <= count; ++i) {
    const Node& node = graph.nodes[graph.nodes.size() - i];
    if (node.kind != Node::Kind::kOperator || node.outputs.empty()) continue;
    if (Expr found = look(graph, node, id)) return found;
  }
  return {};
}

SymInt size_of(RuleCall& call, Expr found, const SymInt& at_most) {
  return found ? to_sym_int(call.env(), found) : fresh_size(call, at_most);
}

}  // namespace

SymInt count_of_true(RuleCall& call, const Tensor& mask,
                     const SymInt& at_most) {
  return size_of(call, latest(call, mask, count_in), at_most);
}

SymInt count_of_unique(RuleCall& call, const Tensor& t, const SymInt& at_most) {
  return size_of(call, latest(call, t, unique_in), at_most);
}

IValue known_item(RuleCall& call, const Tensor& t) {
  const Expr found =
      latest(call, t, [&](const Graph& graph, const Node& node, ValueId id) {
        const Expr read = number_in(graph, node, id);
        return read ? read : made_in(call.env(), graph, node, id);
      });
  if (!found) return {};
  if (found.is_bool()) return to_sym_bool(call.env(), found);
  if (found.is_float()) return to_sym_float(call.env(), found);
  return to_sym_int(call.env(), found);
}

}  // namespace proviso::inline v0_2::shapes
