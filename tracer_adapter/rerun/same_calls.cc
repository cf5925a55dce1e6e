// Both graphs are walked together.  Numbers are compared as expressions: those
// of the first graph are said in the symbols of the second, where the size is a
// constant.  What computes such numbers is therefore no call, and neither is
// what gives its argument back at that size:
//
//   sym_size = aten.sym_size.int(x, 0)        1
//   expand = aten.expand(p, [sym_size, -1])
//   add = aten.add(x, expand)                 add = aten.add(x, p)
//
// Nor is a copy, where neither graph writes to a tensor, and what is made
// empty:
//
//   zeros = aten.zeros([4, sym_size])
//   cat = aten.cat([zeros, x], -1)
//   mul = aten.mul(cat, 2)                    mul = aten.mul(x, 2)
//
// An output is no such copy: that an input is returned is to be seen.
#include "tracer_adapter/rerun/same_calls.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guards/conjuncts.h"
#include "guards/source_text.h"
#include "sym/canonical.h"
#include "tracer_adapter/finish/input_sizes.h"
#include "tracer_adapter/ir/owned_tensors.h"
#include "tracer_adapter/rerun/replay.h"

namespace proviso::inline v0_2 {
namespace {

// The value of an argument that is a number or a condition; null of others.
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

// Its results are numbers that the sizes of tensors tell.
bool is_arithmetic(const Node& node) {
  static const std::set<std::string_view> of_tensors = {
      "aten.sym_size.int", "aten.sym_stride.int", "aten.sym_numel.default",
      "aten.sym_storage_offset.default"};
  return node.kind == Node::Kind::kSymbolic || of_tensors.contains(node.target);
}

// The first program at the size that is a constant of the second.
class Comparison {
 public:
  Comparison(const ExportedProgram& first, const ExportedProgram& second)
      : first_(first), second_(second), now_(*second.env) {}

  bool holds();

 private:
  // Two graphs, and for each tensor of either the value of the second graph
  // that it is.
  struct Pair {
    Pair(const Graph& a, const Graph& b)
        : first(a), second(b), of_first(a.values.size(), kNoOutput) {
      for (size_t id = 0; id < b.values.size(); ++id)
        of_second.push_back(static_cast<ValueId>(id));
    }
    const Graph& first;
    const Graph& second;
    std::vector<ValueId> of_first, of_second;
    // What shares memory with a copy that is no call.
    std::set<ValueId> copies_of_first, copies_of_second;
  };

  bool bind_sizes();
  bool bind(const GraphValue& a, const GraphValue& b);
  bool has_same_inputs(Pair& pair);
  bool has_same_nodes(Pair& pair);
  bool has_same_outputs(const Pair& pair);
  bool is_same_owned(const InputSpec& a, const InputSpec& b) const;
  bool is_same_call(const Node& a, const Node& b, const Pair& pair);
  bool has_same_results(const Node& a, const Node& b, Pair& pair);
  bool is_same_graph(const Graph& a, const Graph& b);
  bool is_same(const Argument& a, const Argument& b, const Pair& pair);
  bool are_same(const std::vector<Argument>& a, const std::vector<Argument>& b,
                const Pair& pair);
  bool is_same(Expr a, Expr b);
  Expr now(Expr e, bool is_first) const;
  ValueId given_back(const Node& node, const Pair& pair, bool is_first);
  bool are_same_sizes(const TensorMeta& a, const TensorMeta& b,
                      bool is_first) const;
  bool lie_alike(const TensorMeta& a, const TensorMeta& b, bool is_first) const;
  bool is_of_nothing(const TensorMeta& meta, bool is_first) const;
  ValueId joined_with_nothing(const Node& node, const Graph& graph,
                              bool is_first);
  bool makes_nothing(const Node& node, const Graph& graph) const;
  bool masks_one_position(const Node& node, const Pair& pair);
  // In the second program's symbols; null where it has one that is not bound.
  Expr said(Expr e) const;

  const ExportedProgram& first_;
  const ExportedProgram& second_;
  Translation now_;
  bool writes_ = false;  // to a tensor, which its copy does not see
};

Expr Comparison::said(Expr e) const {
  const std::vector<Expr>& symbols = free_symbols(e);
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](Expr s) { return now_.knows(s); })
             ? canonical(now_(e))
             : Expr();
}

bool Comparison::is_same(Expr a, Expr b) {
  const Expr now = said(a);
  if (!now || now.type() != b.type()) return false;
  if (now == canonical(b)) return true;
  return b.is_int() && second_.env->statically_known_true(eq(now, b));
}

// The value of the first is that of the second: a symbol that is read from data
// becomes known.
bool Comparison::bind(const GraphValue& a, const GraphValue& b) {
  if (a.is_tensor() != b.is_tensor()) return false;
  const auto take = [&](Expr x, Expr y) {
    if (x.is_symbol() && !now_.knows(x)) {
      if (x.type() != y.type()) return false;
      now_.bind(x, y);
      return true;
    }
    return is_same(x, y);
  };
  if (!a.is_tensor()) return take(a.expr(), b.expr());
  const TensorMeta& x = a.tensor();
  const TensorMeta& y = b.tensor();
  return x.dtype == y.dtype && x.device == y.device &&
         x.requires_grad == y.requires_grad &&
         std::equal(x.sizes.begin(), x.sizes.end(), y.sizes.begin(),
                    y.sizes.end(), take);
}

// The size of each dimension of the inputs.
bool Comparison::bind_sizes() {
  std::map<std::string, Expr> there;
  for (const InputDim& dim : second_.env->input_dims())
    there.emplace(dim.source, learnt_size(*second_.env, dim.expr));
  const std::vector<InputDim>& here = first_.env->input_dims();
  if (here.size() != there.size()) return false;
  for (const InputDim& dim : here) {
    const auto other = there.find(dim.source);
    if (other == there.end()) return false;
    for (Expr size : {dim.expr, learnt_size(*first_.env, dim.expr)})
      if (size.is_symbol() && !now_.knows(size)) now_.bind(size, other->second);
  }
  return std::all_of(here.begin(), here.end(), [&](const InputDim& dim) {
    return is_same(dim.expr, there.at(dim.source));
  });
}

bool Comparison::is_same_owned(const InputSpec& a, const InputSpec& b) const {
  if (a.kind == InputKind::kUserInput) return true;
  if (a.kind != InputKind::kConstantTensor) return a.target == b.target;
  const at::Tensor x = OwnedTensors(first_).of(a);
  const at::Tensor y = OwnedTensors(second_).of(b);
  return x.is_same(y) ||
         (x.scalar_type() == y.scalar_type() && x.layout() == at::kStrided &&
          y.layout() == at::kStrided && at::equal(x, y));
}

// Numbers among the inputs of a sub-graph have no place: one that is a constant
// in the second program is none there.
std::vector<const InputSpec*> tensors_and_constants(const Graph& graph) {
  std::vector<const InputSpec*> result;
  for (const InputSpec& input : graph.inputs) {
    const ValueRef* ref = input.arg.get<ValueRef>();
    if (ref == nullptr || graph.value(ref->id).is_tensor())
      result.push_back(&input);
  }
  return result;
}

bool Comparison::has_same_inputs(Pair& pair) {
  const auto a = tensors_and_constants(pair.first);
  const auto b = tensors_and_constants(pair.second);
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i]->kind != b[i]->kind || !is_same_owned(*a[i], *b[i])) return false;
    const ValueRef* x = a[i]->arg.get<ValueRef>();
    const ValueRef* y = b[i]->arg.get<ValueRef>();
    if (x != nullptr && y != nullptr) {
      if (!bind(pair.first.value(x->id), pair.second.value(y->id)))
        return false;
      pair.of_first[x->id] = y->id;
    } else if (!is_same(a[i]->arg, b[i]->arg, pair)) {
      return false;
    }
  }
  return true;
}

// Its elements follow each other, whatever the strides of dimensions of 1 are.
bool lies_in_order(const TensorMeta& meta, ExprPool& pool) {
  Expr expected = pool.integer(1);
  for (size_t d = meta.sizes.size(); d-- > 0;) {
    if (meta.sizes[d].maybe_int64() == 1) continue;
    if (canonical(meta.strides[d]) != expected) return false;
    expected = canonical(expected * meta.sizes[d]);
  }
  return true;
}

bool is_copy_call(const Node& node) {
  static const std::set<std::string_view> copies = {
      "aten.cat.default", "aten.clone.default", "aten.pad.default",
      "aten.constant_pad_nd.default", "aten.repeat.default"};
  return copies.contains(node.target);
}

// Adds the results that are views of such, or may be.
void add_views(const Node& node, std::set<ValueId>& of) {
  if (of.empty() || !node.op) return;
  const auto& returns = node.op->schema().returns();
  const bool is_view = std::ranges::any_of(returns, [](const c10::Argument& r) {
    return r.alias_info() != nullptr;
  });
  const bool is_of = std::ranges::any_of(node.args, [&](const Argument& a) {
    const ValueRef* ref = a.get<ValueRef>();
    return ref != nullptr && of.contains(ref->id);
  });
  if (!is_view || !is_of) return;
  for (const Node::Output& output : node.outputs)
    of.insert(output.values.begin(), output.values.end());
}

Expr Comparison::now(Expr e, bool is_first) const {
  return is_first ? said(e) : canonical(e);
}

bool Comparison::are_same_sizes(const TensorMeta& a, const TensorMeta& b,
                                bool is_first) const {
  return std::equal(a.sizes.begin(), a.sizes.end(), b.sizes.begin(),
                    b.sizes.end(), [&](Expr x, Expr y) {
                      x = now(x, is_first);
                      return x && x == now(y, is_first);
                    });
}

// Of the same sizes: whether the strides that count are the same.
bool Comparison::lie_alike(const TensorMeta& a, const TensorMeta& b,
                           bool is_first) const {
  for (size_t d = 0; d < a.sizes.size(); ++d) {
    if (now(a.sizes[d], is_first).maybe_int64() == 1) continue;
    const Expr x = now(a.strides[d], is_first);
    if (!x || x != now(b.strides[d], is_first)) return false;
  }
  return true;
}

bool Comparison::is_of_nothing(const TensorMeta& meta, bool is_first) const {
  return std::ranges::any_of(meta.sizes, [&](Expr size) {
    const Expr here = now(size, is_first);
    return here && here.maybe_int64() == 0;
  });
}

// The one tensor of a concatenation that is as large as all.
ValueId Comparison::joined_with_nothing(const Node& node, const Graph& graph,
                                        bool is_first) {
  ValueId whole = kNoOutput;
  for (const Argument& item : node.args[0].get<ListArgument>()->items) {
    const ValueId id = item.get<ValueRef>()->id;
    if (is_of_nothing(graph.value(id).tensor(), is_first)) continue;
    if (whole != kNoOutput) return kNoOutput;
    whole = id;
  }
  return whole;
}

// The argument whose elements the result has, at the same places: of a view
// that has its argument's sizes, a copy that has its strides, too, of what is
// asked to be contiguous and is that at the size, and where nothing is added to
// a tensor.  kNoOutput of other calls.
ValueId Comparison::given_back(const Node& node, const Pair& pair,
                               bool is_first) {
  static const std::set<std::string_view> views = {
      "aten.alias.default", "aten.expand.default", "aten.reshape.default",
      "aten.slice.Tensor", "aten.view.default"};
  const Graph& graph = is_first ? pair.first : pair.second;
  if (node.target == "aten.contiguous.default") {
    const auto* format = node.args[1].get<c10::MemoryFormat>();
    const ValueId id = node.args[0].get<ValueRef>()->id;
    const ValueId there = is_first ? pair.of_first[id] : id;
    const bool is_in_order =
        format != nullptr && *format == c10::MemoryFormat::Contiguous &&
        there != kNoOutput &&
        lies_in_order(pair.second.value(there).tensor(), second_.env->pool());
    return is_in_order ? id : kNoOutput;
  }
  const bool is_copy = is_copy_call(node) && !writes_;
  if (!is_copy && !views.contains(node.target)) return kNoOutput;
  const ValueId result = node.outputs[0].values[0];
  const ValueId id = node.target == "aten.cat.default"
                         ? joined_with_nothing(node, graph, is_first)
                         : node.args[0].get<ValueRef>()->id;
  if (id == kNoOutput) return kNoOutput;
  const TensorMeta& before = graph.value(id).tensor();
  const TensorMeta& after = graph.value(result).tensor();
  if (!are_same_sizes(before, after, is_first) || before.dtype != after.dtype ||
      (is_copy && !lie_alike(before, after, is_first)))
    return kNoOutput;
  if (node.target.find("pad") == std::string::npos) return id;
  // One side of a pad may take away what the other adds.
  const ListArgument* pads = node.args[1].get<ListArgument>();
  const bool is_none =
      pads != nullptr && std::ranges::all_of(pads->items, [&](const auto& pad) {
        const Expr n =
            number_of(graph, pad, (is_first ? first_ : second_).env->pool());
        const Expr here = n ? now(n, is_first) : Expr();
        return here && here.maybe_int64() == 0;
      });
  return is_none ? id : kNoOutput;
}

// Of numbers alone, or as a tensor's type is, and empty.
bool Comparison::makes_nothing(const Node& node, const Graph& graph) const {
  const auto is_number = [&](const Argument& a) {
    const ValueRef* ref = a.get<ValueRef>();
    return ref == nullptr || !graph.value(ref->id).is_tensor();
  };
  const bool is_of_numbers = std::ranges::all_of(node.args, [&](const auto& a) {
    const ListArgument* list = a.template get<ListArgument>();
    return list == nullptr ? is_number(a)
                           : std::ranges::all_of(list->items, is_number);
  });
  const bool is_new = is_of_numbers || node.target.starts_with("aten.new_");
  if (!is_new || writes_ || node.kind != Node::Kind::kOperator ||
      node.op->hasTag(at::Tag::nondeterministic_seeded) ||
      node.outputs.size() != 1 || node.outputs[0].is_list)
    return false;
  const GraphValue& result = graph.value(node.outputs[0].values[0]);
  return result.is_tensor() && is_of_nothing(result.tensor(), true);
}

bool Comparison::has_same_nodes(Pair& pair) {
  const std::vector<Node>& a = pair.first.nodes;
  const std::vector<Node>& b = pair.second.nodes;
  const auto back = [&](const std::vector<Node>& nodes, size_t i,
                        bool is_first) {
    return i < nodes.size() ? given_back(nodes[i], pair, is_first) : kNoOutput;
  };
  for (size_t i = 0, j = 0;;) {
    if (i < a.size() && is_arithmetic(a[i])) {
      ++i;
    } else if (j < b.size() && is_arithmetic(b[j])) {
      ++j;
    } else if (i < a.size() && j < b.size() && is_same_call(a[i], b[j], pair)) {
      add_views(a[i], pair.copies_of_first);
      add_views(b[j], pair.copies_of_second);
      if (!has_same_results(a[i++], b[j++], pair)) return false;
    } else if (const ValueId x = back(a, i, true); x != kNoOutput) {
      const ValueId result = a[i].outputs[0].values[0];
      pair.of_first[result] = pair.of_first[x];
      add_views(a[i], pair.copies_of_first);
      if (is_copy_call(a[i++])) pair.copies_of_first.insert(result);
    } else if (const ValueId y = back(b, j, false); y != kNoOutput) {
      const ValueId result = b[j].outputs[0].values[0];
      pair.of_second[result] = pair.of_second[y];
      add_views(b[j], pair.copies_of_second);
      if (is_copy_call(b[j++])) pair.copies_of_second.insert(result);
    } else if (i < a.size() && makes_nothing(a[i], pair.first)) {
      ++i;
    } else {
      return i == a.size() && j == b.size();
    }
  }
}

// Among one position, a causal mask hides nothing.
bool Comparison::masks_one_position(const Node& node, const Pair& pair) {
  if (node.target != "aten.scaled_dot_product_attention.default") return false;
  constexpr size_t kQuery = 0, kKey = 1, kMask = 3;
  if (!node.args[kMask].is_none()) return false;
  return std::ranges::all_of(std::array{kQuery, kKey}, [&](size_t i) {
    const auto& sizes =
        pair.first.value(node.args[i].get<ValueRef>()->id).tensor().sizes;
    const Expr positions = said(sizes[sizes.size() - 2]);
    return positions && positions.maybe_int64() == 1;
  });
}

// A block reads sizes by symbols that its values have outside, too: one that is
// a constant in the second program is no operand there.
std::vector<Argument> arguments(const Node& node, const Graph& graph) {
  std::vector<Argument> result = node.args;
  if (is_mode_block(node))
    std::erase_if(result, [&](const Argument& a) {
      const ValueRef* ref = a.get<ValueRef>();
      return ref != nullptr && !graph.value(ref->id).is_tensor();
    });
  return result;
}

bool Comparison::is_same_call(const Node& a, const Node& b, const Pair& pair) {
  if (a.kind != b.kind || a.target != b.target) return false;
  if (a.outputs.size() != b.outputs.size()) return false;
  std::vector<Argument> args = arguments(a, pair.first);
  constexpr size_t kIsCausal = 5;
  if (masks_one_position(a, pair)) args[kIsCausal] = b.args[kIsCausal];
  return are_same(args, arguments(b, pair.second), pair);
}

bool Comparison::has_same_results(const Node& a, const Node& b, Pair& pair) {
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const Node::Output& x = a.outputs[i];
    const Node::Output& y = b.outputs[i];
    if (x.is_list != y.is_list || x.values.size() != y.values.size())
      return false;
    for (size_t k = 0; k < x.values.size(); ++k) {
      if ((x.values[k] == kNoOutput) != (y.values[k] == kNoOutput))
        return false;
      if (x.values[k] == kNoOutput) continue;
      if (!bind(pair.first.value(x.values[k]), pair.second.value(y.values[k])))
        return false;
      pair.of_first[x.values[k]] = y.values[k];
    }
  }
  return true;
}

bool Comparison::are_same(const std::vector<Argument>& a,
                          const std::vector<Argument>& b, const Pair& pair) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const Argument& x, const Argument& y) {
                      return is_same(x, y, pair);
                    });
}

bool Comparison::is_same(const Argument& a, const Argument& b,
                         const Pair& pair) {
  const Expr x = number_of(pair.first, a, first_.env->pool());
  const Expr y = number_of(pair.second, b, second_.env->pool());
  if (x && y) return is_same(x, y);
  const auto* p = a.get<ValueRef>();
  const auto* q = b.get<ValueRef>();
  if (p != nullptr || q != nullptr)
    return p != nullptr && q != nullptr && !x && !y &&
           pair.of_first[p->id] != kNoOutput &&
           pair.of_second[pair.of_first[p->id]] == pair.of_second[q->id];
  const auto* list = a.get<ListArgument>();
  const auto* other_list = b.get<ListArgument>();
  if (list != nullptr && other_list != nullptr)
    return are_same(list->items, other_list->items, pair);
  const auto* graph = a.get<GraphArgument>();
  const auto* other_graph = b.get<GraphArgument>();
  if (graph != nullptr && other_graph != nullptr)
    return is_same_graph(*graph->graph, *other_graph->graph);
  if (a.value.index() != b.value.index() || list != nullptr || graph != nullptr)
    return false;
  if (const double* d = a.get<double>()) {
    const double e = *b.get<double>();
    return std::bit_cast<uint64_t>(*d) == std::bit_cast<uint64_t>(e);
  }
  return pair.first.to_string(a) == pair.second.to_string(b);
}

bool Comparison::is_same_graph(const Graph& a, const Graph& b) {
  Pair pair(a, b);
  return has_same_inputs(pair) && has_same_nodes(pair) &&
         has_same_outputs(pair);
}

bool is_one_of(const std::set<ValueId>& values, const Argument& a) {
  const ValueRef* ref = a.get<ValueRef>();
  return ref != nullptr && values.contains(ref->id);
}

bool Comparison::has_same_outputs(const Pair& pair) {
  const std::vector<OutputSpec>& a = pair.first.outputs;
  const std::vector<OutputSpec>& b = pair.second.outputs;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const OutputSpec& x, const OutputSpec& y) {
                      return x.kind == y.kind && x.target == y.target &&
                             is_same(x.arg, y.arg, pair) &&
                             !is_one_of(pair.copies_of_first, x.arg) &&
                             !is_one_of(pair.copies_of_second, y.arg);
                    });
}

bool keeps_calls_of_modules(const ExportedProgram& program) {
  return std::ranges::any_of(
      program.module_call_graph,
      [](const ModuleCallEntry& entry) { return entry.signature.has_value(); });
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

bool Comparison::holds() {
  if (keeps_calls_of_modules(first_)) return false;
  writes_ = writes(first_.graph) || writes(second_.graph);
  return bind_sizes() && is_same_graph(first_.graph, second_.graph);
}

// Whether the inputs that `program` takes, and this size, satisfy what `other`
// requires.
bool implies(const ExportedProgram& program, Expr symbol, int size,
             const ExportedProgram& other) {
  ShapeEnv& env = *program.env;
  Context context(env.pool(), env.options().solver);
  context.assume(eq(symbol, size));
  for (const RangeConstraint& c : program.range_constraints) {
    if (c.expr == symbol) continue;
    if (c.range.lower())
      context.assume(ge(c.expr, env.pool().integer(*c.range.lower())));
    if (c.range.upper())
      context.assume(le(c.expr, env.pool().integer(*c.range.upper())));
  }
  for (const Guard& guard : program.guards())
    if (!internal::leaves_out(guard.condition, symbol, Int(size)))
      context.assume(guard.condition);
  SourceValues values;
  for (const InputDim& dim : env.input_dims()) values.add(dim.source, dim.expr);
  return std::ranges::all_of(
      other.conditions_code(), [&](const std::string& text) {
        const Expr condition = parse_over(env.pool(), text, values);
        return context.ask(condition).verdict == Verdict::kYes;
      });
}

}  // namespace

std::vector<SizeToTry> sizes_to_try(const ExportedProgram& program) {
  ShapeEnv& env = *program.env;
  std::vector<SizeToTry> result;
  for (const auto& [symbol, size] : env.left_out_by_branches()) {
    SizeToTry one{symbol, size, {}};
    bool is_free = true;
    for (const InputDim& dim : env.input_dims()) {
      const Expr now = learnt_size(env, dim.expr);
      if (now == symbol) {
        is_free &= dim.constraint.min.value_or(Int(0)) <= Int(size);
        one.sources.push_back(dim.source);
      } else {
        const std::vector<Expr> all = free_symbols(now);
        is_free &= std::ranges::find(all, symbol) == all.end();
      }
    }
    if (is_free) result.push_back(std::move(one));
  }
  return result;
}

bool admit(ExportedProgram& program, Expr symbol, int size,
           const ExportedProgram& other) {
  if (!Comparison(program, other).holds() ||
      !implies(program, symbol, size, other))
    return false;
  ShapeEnv& env = *program.env;
  env.admit(symbol, size);
  for (RangeConstraint& c : program.range_constraints)
    c.range = env.enforced_range(c.expr);
  program.set_guards(env.minimal_guards());
  return true;
}

}  // namespace proviso::inline v0_2
