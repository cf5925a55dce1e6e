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
#include <numeric>
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
#include "tracer_adapter/rerun/no_ops.h"
#include "tracer_adapter/rerun/replay.h"

namespace proviso::inline v0_2 {
namespace {

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
  struct Side {
    const Graph& graph;
    SizedGraph at;
    // For each tensor, the value of the second graph that it is.
    std::vector<ValueId> same;
    std::set<ValueId> copies;  // what shares memory with a copy left out
  };
  struct Pair {
    Side first, second;
  };

  Pair pair_of(const Graph& a, const Graph& b) const;
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
  ValueId given_back(const Node& node, const Side& side, const Pair& pair);
  bool leaves_out(const Node& node, Side& side, const Pair& pair);
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

Comparison::Pair Comparison::pair_of(const Graph& a, const Graph& b) const {
  std::vector<ValueId> itself(b.values.size());
  std::iota(itself.begin(), itself.end(), ValueId{0});
  return {{a,
           {a, first_.env->pool(), [this](Expr e) { return said(e); }},
           std::vector<ValueId>(a.values.size(), kNoOutput),
           {}},
          {b,
           {b, second_.env->pool(), [](Expr e) { return canonical(e); }},
           std::move(itself),
           {}}};
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
  const auto a = tensors_and_constants(pair.first.graph);
  const auto b = tensors_and_constants(pair.second.graph);
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i]->kind != b[i]->kind || !is_same_owned(*a[i], *b[i])) return false;
    const ValueRef* x = a[i]->arg.get<ValueRef>();
    const ValueRef* y = b[i]->arg.get<ValueRef>();
    if (x != nullptr && y != nullptr) {
      if (!bind(pair.first.graph.value(x->id), pair.second.graph.value(y->id)))
        return false;
      pair.first.same[x->id] = y->id;
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

// What is asked to be contiguous is given back where it is that at the size.
ValueId Comparison::given_back(const Node& node, const Side& side,
                               const Pair& pair) {
  if (node.target != "aten.contiguous.default")
    return side.at.given_back(node, !writes_);
  const auto* format = node.args[1].get<c10::MemoryFormat>();
  const ValueId id = node.args[0].get<ValueRef>()->id;
  const ValueId there = side.same[id];
  const bool is_in_order =
      format != nullptr && *format == c10::MemoryFormat::Contiguous &&
      there != kNoOutput &&
      lies_in_order(pair.second.graph.value(there).tensor(),
                    second_.env->pool());
  return is_in_order ? id : kNoOutput;
}

// Whether the node is no call: its result, if it is used, is then its argument.
bool Comparison::leaves_out(const Node& node, Side& side, const Pair& pair) {
  const ValueId given = given_back(node, side, pair);
  if (given == kNoOutput) return false;
  const ValueId result = node.outputs[0].values[0];
  side.same[result] = side.same[given];
  add_views(node, side.copies);
  if (is_copy(node)) side.copies.insert(result);
  return true;
}

bool Comparison::has_same_nodes(Pair& pair) {
  const std::vector<Node>& a = pair.first.graph.nodes;
  const std::vector<Node>& b = pair.second.graph.nodes;
  for (size_t i = 0, j = 0;;) {
    if (i < a.size() && is_arithmetic(a[i])) {
      ++i;
    } else if (j < b.size() && is_arithmetic(b[j])) {
      ++j;
    } else if (i < a.size() && j < b.size() && is_same_call(a[i], b[j], pair)) {
      add_views(a[i], pair.first.copies);
      add_views(b[j], pair.second.copies);
      if (!has_same_results(a[i++], b[j++], pair)) return false;
    } else if (i < a.size() && leaves_out(a[i], pair.first, pair)) {
      ++i;
    } else if (j < b.size() && leaves_out(b[j], pair.second, pair)) {
      ++j;
    } else if (i < a.size() && !writes_ && pair.first.at.makes_nothing(a[i])) {
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
        pair.first.graph.value(node.args[i].get<ValueRef>()->id).tensor().sizes;
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
  std::vector<Argument> args = arguments(a, pair.first.graph);
  constexpr size_t kIsCausal = 5;
  if (masks_one_position(a, pair)) args[kIsCausal] = b.args[kIsCausal];
  return are_same(args, arguments(b, pair.second.graph), pair);
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
      if (!bind(pair.first.graph.value(x.values[k]),
                pair.second.graph.value(y.values[k])))
        return false;
      pair.first.same[x.values[k]] = y.values[k];
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
  const Expr x = number_of(pair.first.graph, a, first_.env->pool());
  const Expr y = number_of(pair.second.graph, b, second_.env->pool());
  if (x && y) return is_same(x, y);
  const auto* p = a.get<ValueRef>();
  const auto* q = b.get<ValueRef>();
  if (p != nullptr || q != nullptr)
    return p != nullptr && q != nullptr && !x && !y &&
           pair.first.same[p->id] != kNoOutput &&
           pair.second.same[pair.first.same[p->id]] == pair.second.same[q->id];
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
  return pair.first.graph.to_string(a) == pair.second.graph.to_string(b);
}

bool Comparison::is_same_graph(const Graph& a, const Graph& b) {
  Pair pair = pair_of(a, b);
  return has_same_inputs(pair) && has_same_nodes(pair) &&
         has_same_outputs(pair);
}

bool Comparison::has_same_outputs(const Pair& pair) {
  const std::vector<OutputSpec>& a = pair.first.graph.outputs;
  const std::vector<OutputSpec>& b = pair.second.graph.outputs;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const OutputSpec& x, const OutputSpec& y) {
                      return x.kind == y.kind && x.target == y.target &&
                             is_same(x.arg, y.arg, pair) &&
                             !is_one_of(pair.first.copies, x.arg) &&
                             !is_one_of(pair.second.copies, y.arg);
                    });
}

bool keeps_calls_of_modules(const ExportedProgram& program) {
  return std::ranges::any_of(
      program.module_call_graph,
      [](const ModuleCallEntry& entry) { return entry.signature.has_value(); });
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
