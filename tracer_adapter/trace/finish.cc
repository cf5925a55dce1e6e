// The end of a trace: symbolic numbers become nodes, names are given, runtime
// assertions are placed, and what was learnt is written into the metadata.
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "sym/definition.h"
#include "sym/polynomial.h"
#include "sym/print.h"
#include "sym/simplify.h"
#include "tracer_adapter/trace/names.h"
#include "tracer_adapter/trace/op_info.h"
#include "tracer_adapter/trace/sub_graph.h"

namespace proviso::inline v0_2 {
namespace {

using ExprSet = std::unordered_set<Expr, ExprHash>;
using ExprOrder = std::set<Expr, ExprLess>;

c10::OperatorHandle find_op(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

Argument constant_argument(Expr e) {
  if (e.is(Op::kBoolean)) return {e.is_true()};
  if (e.is(Op::kRational)) return {e.rational().to_double()};
  std::optional<int64_t> value = e.maybe_int64();
  TORCH_CHECK(value.has_value(), "Proviso: the constant ", to_string(e),
              " does not fit in 64 bits");
  return {*value};
}

// What is known of it is checked before the program runs, not by the program.
bool is_input_size(Expr e) {
  return e.is_symbol() && !is_unbacked(e.symbol().kind);
}

// How an input's size may be written: 2*s0 - 1, or s0*s1 + s2.  Where it is a
// difference of several, s0 + s1 - s2, torch does not know that it is a size.
bool is_readable_size(Expr e) {
  const bool one = free_symbols(e).size() <= 1;
  const Polynomial p = to_polynomial(e);
  return std::all_of(p.terms().begin(), p.terms().end(), [&](const auto& term) {
    const auto& [symbols, factor] = term;
    const bool plain = std::all_of(symbols.begin(), symbols.end(),
                                   [](Expr part) { return part.is_symbol(); });
    return plain && (one ? symbols.size() <= 1 : factor > Int(0));
  });
}

// e is minus something: what.
std::optional<Expr> negated(Expr e) {
  if (e.is(Op::kInteger) && e.integer() < Int(0)) return simplify(-e);
  if (e.is(Op::kMul) && e.arg(0).is(Op::kInteger) &&
      e.arg(0).integer() < Int(0))
    return simplify(-e);
  return std::nullopt;
}

}  // namespace

// Rebuilds the tracer's graph, node by node.
class Finisher {
 public:
  // `owner` is null for the program, else the sub-graph.
  Finisher(Tracer& tracer, Graph& graph, const Graph* owner)
      : tracer_(tracer),
        env_(tracer.env()),
        graph_(graph),
        is_sub_graph_(owner != nullptr) {
    asserts_ = asserts_of(owner);
  }

  ExportedProgram run(const std::vector<c10::IValue>& outputs);

 private:
  // Sub-graphs: symbols that they cannot get themselves become operands of
  // the node and inputs of each.
  std::vector<RuntimeAssert> asserts_of(const Graph* owner) const;
  void wanted_by(const Graph& graph, ExprOrder& wanted) const;
  void wanted_by(const Argument& a, const ExprSet& inner,
                 ExprOrder& wanted) const;
  void wanted_by(Expr e, const ExprSet& inner, ExprOrder& wanted) const;
  void add_given(const GraphValue& value, ExprSet& given) const;
  void finish_sub_graphs(Node& node);
  void finish_as_sub_graph();
  void write_nodes();
  void name_sub_graphs(Node& node, std::map<std::string, int>& counts);
  void name_inputs_after(const std::vector<std::string>& operands);

  void add_inputs();
  void add_outputs(const std::vector<c10::IValue>& outputs);
  void collect_needed();
  void need(Expr e);
  void need(const Argument& a);

  void bind_inputs();
  void bind_value(ValueId id);
  void bind_tensor(ValueId id);
  void bind_size(ValueId id, size_t dim, Expr symbol);
  void bind_derived_dims();
  bool bind_linear(ValueId id, size_t dim);
  void bind(Expr symbol, ValueId id) { have_.emplace(symbol, id); }

  void place_asserts();
  bool place_assert(const RuntimeAssert& assertion);
  void refuse_unplaced() const;

  void rewrite_nodes();
  void rewrite(Argument& a);
  bool can_build(Expr e) const;
  Argument build(Expr e);
  Argument build_expr(Expr e);
  Argument build_chain(Expr e, std::string_view target);
  Argument build_sum(Expr e);
  Argument build_relation(Expr e);
  Argument build_division_rounded(Expr quotient, bool up);
  std::optional<Argument> build_round(Expr quotient);
  Argument build_round_float(Expr e);
  Argument build_choice(Expr e);
  Argument one_if(Argument condition, Expr meaning);
  Argument call(std::string_view target, std::vector<Argument> args,
                Expr meaning);
  ValueId size_node(ValueId tensor, size_t dim, Expr meaning);
  void add_node(Node node);
  void keep_module_call(Node marker);

  void give_names();
  std::string base_name(const Node& node) const;
  void substitute_metadata();
  std::set<ValueId> program_inputs() const;
  void learn_input(Expr& size) const;
  Expr learnt_condition(Expr condition) const;
  void collect_tensors(ExportedProgram& program) const;
  void collect_ranges(ExportedProgram& program);
  template <typename Visit>
  void visit_values(const Graph& graph, const Visit& visit) const;
  void finish_messages();

  Tracer& tracer_;
  ShapeEnv& env_;
  Graph& graph_;
  const bool is_sub_graph_;
  std::vector<RuntimeAssert> asserts_;  // not placed yet, in order
  std::vector<Node> nodes_;             // rebuilt
  ExprSet read_;                        // what nodes read
  ExprSet needed_;                      // its symbols
  ExprSet asserted_;                    // those of the assertions
  ExprSet equalities_;                  // asserted
  std::unordered_map<Expr, ValueId, ExprHash> have_;
  // _assert_scalar nodes: the node whose name the message quotes.
  std::vector<std::pair<size_t, ValueId>> messages_;
  std::map<const Graph*, std::unique_ptr<Finisher>> subs_;
  uint32_t location_ = 0;
  uint32_t modules_ = 0;
  std::vector<ModuleCallEntry> module_calls_;
};

// --- which symbols are read

void Finisher::need(Expr e) {
  if (e.is_constant() || !read_.insert(e).second) return;
  for (Expr symbol : free_symbols(e)) needed_.insert(symbol);
}

void Finisher::need(const Argument& a) {
  if (const ExprArgument* e = a.get<ExprArgument>()) {
    need(e->expr);
    need(env_.simplify(e->expr));
  } else if (const ListArgument* list = a.get<ListArgument>()) {
    for (const Argument& item : list->items) need(item);
  } else if (const GraphArgument* sub = a.get<GraphArgument>()) {
    ExprOrder wanted;
    wanted_by(*sub->graph, wanted);
    needed_.insert(wanted.begin(), wanted.end());
  }
}

void Finisher::collect_needed() {
  for (const Node& node : graph_.nodes)
    for (const Argument& a : node.args) need(a);
  for (const OutputSpec& output : graph_.outputs) need(output.arg);
  for (const RuntimeAssert& a : asserts_) {
    need(a.condition);
    need(env_.simplify(a.condition));
    for (Expr symbol : free_symbols(a.condition)) asserted_.insert(symbol);
  }
}

// --- sub-graphs

std::vector<RuntimeAssert> Finisher::asserts_of(const Graph* owner) const {
  std::vector<RuntimeAssert> result;
  const auto& all = env_.runtime_asserts();
  const auto& owners = tracer_.assert_owners_;
  for (size_t i = 0; i < all.size(); ++i)
    if ((i < owners.size() ? owners[i] : nullptr) == owner)
      result.push_back(all[i]);
  if (owner == nullptr)
    result.insert(result.end(), tracer_.checks_.begin(), tracer_.checks_.end());
  return result;
}

// The symbols that a value gives: bare sizes and numbers.
void Finisher::add_given(const GraphValue& value, ExprSet& given) const {
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

void Finisher::wanted_by(Expr e, const ExprSet& own, ExprOrder& wanted) const {
  const auto missing = [&](Expr form) {
    std::vector<Expr> result;
    for (Expr symbol : free_symbols(form))
      if (!own.contains(symbol)) result.push_back(symbol);
    return result;
  };
  // Either form of the expression will do.
  std::vector<Expr> symbols = missing(env_.simplify(e));
  if (!symbols.empty() && missing(e).empty()) symbols.clear();
  wanted.insert(symbols.begin(), symbols.end());
}

void Finisher::wanted_by(const Argument& a, const ExprSet& own,
                         ExprOrder& wanted) const {
  if (const ExprArgument* e = a.get<ExprArgument>())
    return wanted_by(e->expr, own, wanted);
  if (const ListArgument* list = a.get<ListArgument>())
    for (const Argument& item : list->items) wanted_by(item, own, wanted);
  if (const GraphArgument* sub = a.get<GraphArgument>()) {
    ExprOrder inner;
    wanted_by(*sub->graph, inner);
    for (Expr symbol : inner)
      if (!own.contains(symbol)) wanted.insert(symbol);
  }
}

// In order: a node that makes a tensor of u0 rows does not say what u0 is.
void Finisher::wanted_by(const Graph& graph, ExprOrder& wanted) const {
  ExprSet own;
  for (const InputSpec& input : graph.inputs)
    if (const ValueRef* ref = input.arg.get<ValueRef>())
      add_given(graph.value(ref->id), own);
  for (const Node& node : graph.nodes) {
    for (const Argument& a : node.args) wanted_by(a, own, wanted);
    for_each_output(node, [&](ValueId id) { add_given(graph.value(id), own); });
  }
  for (const OutputSpec& output : graph.outputs)
    wanted_by(output.arg, own, wanted);
  for (const RuntimeAssert& a : asserts_of(&graph))
    wanted_by(a.condition, own, wanted);
}

void Finisher::finish_sub_graphs(Node& node) {
  ExprOrder wanted;
  for (const Argument& a : node.args)
    if (const GraphArgument* sub = a.get<GraphArgument>())
      wanted_by(*sub->graph, wanted);
  for (Expr symbol : wanted) {
    if (!can_build(symbol)) continue;  // made inside: the sub-graph will say
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
  for (const Argument& a : node.args)
    if (const GraphArgument* sub = a.get<GraphArgument>()) {
      auto finisher =
          std::make_unique<Finisher>(tracer_, *sub->graph, sub->graph.get());
      finisher->finish_as_sub_graph();
      subs_.emplace(sub->graph.get(), std::move(finisher));
    }
}

void Finisher::write_nodes() {
  bind_inputs();
  place_asserts();
  rewrite_nodes();
  for (OutputSpec& output : graph_.outputs) rewrite(output.arg);
  refuse_unplaced();
  graph_.nodes = std::move(nodes_);
  graph_.stacks = tracer_.stacks_;
  graph_.module_stacks = tracer_.module_stacks_;
}

void Finisher::finish_as_sub_graph() {
  collect_needed();
  write_nodes();
  substitute_metadata();
}

// true_graph_0, true_graph_1, ..; inputs are called as the operands are.
void Finisher::name_sub_graphs(Node& node, std::map<std::string, int>& counts) {
  std::vector<std::string> operands;
  const auto add = [&](const Argument& operand) {
    const ValueRef* ref = operand.get<ValueRef>();
    operands.push_back(ref ? graph_.value(ref->id).name : "arg");
  };
  for (const Argument& a : node.args) {
    if (const ListArgument* list = a.get<ListArgument>())
      for (const Argument& item : list->items) add(item);
    if (is_mode_block(node) && a.get<ValueRef>()) add(a);
  }
  for (Argument& a : node.args)
    if (auto* sub = std::get_if<GraphArgument>(&a.value)) {
      sub->name += "_" + std::to_string(counts[sub->name]++);
      Finisher& finisher = *subs_.at(sub->graph.get());
      finisher.name_inputs_after(operands);
      finisher.give_names();
      finisher.finish_messages();
    }
}

void Finisher::name_inputs_after(const std::vector<std::string>& operands) {
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    InputSpec& input = graph_.inputs[i];
    if (input.name.empty())
      input.name = i < operands.size() ? operands[i] : "arg";
  }
}

// --- where symbols come from

ValueId Finisher::size_node(ValueId tensor, size_t dim, Expr meaning) {
  static const c10::OperatorHandle op = find_op("aten::sym_size", "int");
  Node node;
  node.op = op;
  node.target = target_name(op);
  node.args = {{ValueRef{tensor}}, {static_cast<int64_t>(dim)}};
  const ValueId id = graph_.add_value(meaning);
  node.outputs = {{false, {id}}};
  return add_node(std::move(node)), id;
}

// A node of our own, which belongs to the recorded one that needs it.
void Finisher::add_node(Node node) {
  node.location = location_;
  node.modules = modules_;
  nodes_.push_back(std::move(node));
}

// The size of a dim that is a bare symbol.  The size as recorded counts: what
// was learnt of an unbacked symbol is asserted between the values themselves,
// so one must not stand for the other.  An input's size that is known as
// another one's, or as a constant, is read as that, save by the assertion that
// says so.
void Finisher::bind_tensor(ValueId id) {
  for (size_t d = 0; d < graph_.value(id).tensor().sizes.size(); ++d) {
    const Expr size = graph_.value(id).tensor().sizes[d];
    if (size.is_constant()) continue;
    const Expr learnt = env_.simplify(size);
    const bool known = learnt != size && is_input_size(size) &&
                       (learnt.is_constant() || is_input_size(learnt)) &&
                       !asserted_.contains(size);
    if (!known && size.is_symbol()) bind_size(id, d, size);
    if (is_input_size(learnt)) bind_size(id, d, learnt);
  }
}

void Finisher::bind_size(ValueId id, size_t dim, Expr symbol) {
  if (needed_.contains(symbol) && !have_.contains(symbol))
    bind(symbol, size_node(id, dim, symbol));
}

void Finisher::bind_value(ValueId id) {
  if (graph_.value(id).is_tensor()) return bind_tensor(id);
  const Expr e = graph_.value(id).expr();
  bind(e, id);
  // A truth value read from data: Eq(u0, 1).
  if (!e.is(Op::kEq) || !e.arg(0).is_int()) return;
  for (Expr symbol : free_symbols(e))
    if (needed_.contains(symbol) && !have_.contains(symbol) &&
        simplify(eq(symbol, 1)) == e) {
      const Argument number =
          call("torch.sym_ite", {{ValueRef{id}}, {int64_t{1}}, {int64_t{0}}},
               symbol);
      bind(symbol, number.get<ValueRef>()->id);
    }
}

// A dim of size a*s + b gives s when nothing else does: the guards have checked
// that the division is exact.
bool Finisher::bind_linear(ValueId id, size_t dim) {
  const Expr size = simplify(graph_.value(id).tensor().sizes[dim]);
  if (!size.is_int() || size.is_symbol()) return false;
  std::vector<Expr> unknown;
  for (Expr symbol : free_symbols(size))
    if (!have_.contains(symbol)) unknown.push_back(symbol);
  if (unknown.size() != 1 || !needed_.contains(unknown[0])) return false;
  const Polynomial p = to_polynomial(size);
  auto term = p.terms().find({unknown[0]});
  if (term == p.terms().end()) return false;
  ExprPool& pool = env_.pool();
  const Expr scaled = simplify(pool.integer(term->second) * unknown[0]);
  const Expr rest = simplify(size - scaled);
  const std::vector<Expr> left = free_symbols(rest);
  if (std::find(left.begin(), left.end(), unknown[0]) != left.end())
    return false;
  if (!can_build(rest)) return false;
  Argument value{ValueRef{size_node(id, dim, size)}};
  if (!(rest.maybe_int64() == 0))
    value = call("_operator.sub", {value, build(rest)}, scaled);
  if (!term->second.is_one())
    value = call("_operator.floordiv",
                 {value, constant_argument(pool.integer(term->second))},
                 unknown[0]);
  bind(unknown[0], value.get<ValueRef>()->id);
  return true;
}

void Finisher::bind_derived_dims() {
  bool progress = true;
  while (progress) {
    progress = false;
    for (const InputSpec& input : graph_.inputs) {
      const ValueRef* ref = input.arg.get<ValueRef>();
      if (ref == nullptr || !graph_.value(ref->id).is_tensor()) continue;
      const size_t rank = graph_.value(ref->id).tensor().sizes.size();
      for (size_t d = 0; d < rank; ++d) progress |= bind_linear(ref->id, d);
    }
  }
}

void Finisher::bind_inputs() {
  for (const InputSpec& input : graph_.inputs)
    if (const ValueRef* ref = input.arg.get<ValueRef>()) bind_value(ref->id);
  bind_derived_dims();
}

// --- symbolic arithmetic as nodes

Argument Finisher::call(std::string_view target, std::vector<Argument> args,
                        Expr meaning) {
  Node node;
  node.kind = Node::Kind::kSymbolic;
  node.target = target;
  node.args = std::move(args);
  const ValueId id = graph_.add_value(meaning);
  node.outputs = {{false, {id}}};
  add_node(std::move(node));
  return {ValueRef{id}};
}

bool Finisher::can_build(Expr e) const {
  if (e.is_constant() || have_.contains(e)) return true;
  if (e.is_symbol()) return false;
  for (Expr arg : e.args())
    if (!can_build(arg)) return false;
  return true;
}

Argument Finisher::build(Expr e) {
  if (e.is_constant()) return constant_argument(e);
  auto found = have_.find(e);
  if (found != have_.end()) return {ValueRef{found->second}};
  Argument result = build_expr(e);
  if (const ValueRef* ref = result.get<ValueRef>()) bind(e, ref->id);
  return result;
}

Argument Finisher::build_chain(Expr e, std::string_view target) {
  // s0 * 2 reads better than 2 * s0.
  std::vector<Expr> args(e.args().begin(), e.args().end());
  if (e.is(Op::kMul) && args[0].is_constant())
    std::rotate(args.begin(), args.begin() + 1, args.end());
  Argument result = build(args[0]);
  for (size_t i = 1; i < args.size(); ++i) {
    const std::span<const Expr> so_far(args.data(), i + 1);
    result = call(
        target, {result, build(args[i])},
        i + 1 == args.size() ? e : simplify(env_.pool().make(e.op(), so_far)));
  }
  return result;
}

// a - b reads better than a + -1*b.
Argument Finisher::build_sum(Expr e) {
  Argument result = build(e.arg(0));
  Expr so_far = e.arg(0);
  for (Expr term : e.args().subspan(1)) {
    so_far = so_far + term;
    if (std::optional<Expr> minus = negated(term))
      result = call("_operator.sub", {result, build(*minus)}, simplify(so_far));
    else
      result = call("_operator.add", {result, build(term)}, simplify(so_far));
  }
  return result;
}

// A constant on the left reads better on the right: 0 <= u0 is u0 >= 0.
Argument Finisher::build_relation(Expr e) {
  const bool ordered = e.is(Op::kLt) || e.is(Op::kLe);
  if (!ordered || !e.arg(0).is_constant())
    return call(info(e.op()).target, {build(e.arg(0)), build(e.arg(1))}, e);
  return call(e.is(Op::kLt) ? "_operator.gt" : "_operator.ge",
              {build(e.arg(1)), build(e.arg(0))}, e);
}

// floor(a/b) and ceil(a/b) of integers, exactly: a // b and -(-a // b).
Argument Finisher::build_division_rounded(Expr quotient, bool up) {
  const Expr a = quotient.arg(0), b = quotient.arg(1);
  if (!up) return build(simplify(floor_div(a, b)));
  return build(simplify(-floor_div(-a, b)));
}

// round(a/b) of integers, b a positive constant: to the nearest, ties to the
// even, in integers alone.
std::optional<Argument> Finisher::build_round(Expr quotient) {
  if (!quotient.is(Op::kIntTrueDiv)) return std::nullopt;
  const Expr a = quotient.arg(0), b = quotient.arg(1);
  if (!a.is_int() || !b.is(Op::kInteger) || b.integer() < Int(1))
    return std::nullopt;
  ExprPool& pool = env_.pool();
  const Expr doubled = a * 2 + b;
  const Expr half_up = simplify(floor_div(doubled, b * 2));
  const Expr rest = pool.make(Op::kPythonMod, {doubled, b * 2});
  const Expr is_tie = pool.integer(1) - min(pool.integer(1), rest);
  const Expr is_odd = pool.make(Op::kPythonMod, {half_up, pool.integer(2)});
  return build(simplify(half_up - is_tie * is_odd));
}

// round(x) of a float, by functions that all readers know (builtins.round is
// none of them): the floor, and one more where the rest is above a half, or is
// a half and the floor is odd.  The rest is exact wherever it is near a half.
Argument Finisher::build_round_float(Expr e) {
  ExprPool& pool = env_.pool();
  const Expr x = e.arg(0), floor = pool.make(Op::kFloorToInt, {x});
  const Expr zero = pool.integer(0);
  const Expr floor_real = pool.make(Op::kToFloat, {floor});
  const Expr rest = x - floor_real, half = pool.rational(Rational(1, 2));
  const Expr odd = pool.make(Op::kPythonMod, {floor, pool.integer(2)});
  const Argument left =
      call("_operator.sub", {build(x), build(floor_real)}, rest);
  const auto when = [&](const char* sign, Expr condition) {
    return one_if(call(sign, {left, {0.5}}, condition), condition);
  };
  const Argument above = when("_operator.gt", gt(rest, half));
  const Argument tie = when("_operator.eq", eq(rest, half));
  const Expr to_even = pool.make(Op::kWhere, {eq(rest, half), odd, zero});
  const Argument up = call("_operator.mul", {tie, build(odd)}, to_even);
  const Argument raised =
      call("_operator.add", {build(floor), above}, simplify(e - to_even));
  return call("_operator.add", {raised, up}, e);
}

// 1 where the condition holds, else 0.
Argument Finisher::one_if(Argument condition, Expr meaning) {
  ExprPool& pool = env_.pool();
  return call(
      "torch.sym_ite", {std::move(condition), {int64_t{1}}, {int64_t{0}}},
      pool.make(Op::kWhere, {meaning, pool.integer(1), pool.integer(0)}));
}

// torch.sym_ite takes two symbolic numbers or two constants: an integer of
// each kind is told by how far they are apart.
Argument Finisher::build_choice(Expr e) {
  const Expr condition = e.arg(0), yes = e.arg(1), no = e.arg(2);
  if (yes.is_constant() == no.is_constant() || !e.is_int())
    return call("torch.sym_ite", {build(condition), build(yes), build(no)}, e);
  const Expr step = simplify(yes - no);
  const Argument chosen = one_if(build(condition), condition);
  const Argument rise =
      call("_operator.mul", {chosen, build(step)}, simplify(e - no));
  return call("_operator.add", {rise, build(no)}, e);
}

Argument Finisher::build_expr(Expr e) {
  ExprPool& pool = env_.pool();
  switch (e.op()) {
    case Op::kAdd: return build_sum(e);
    case Op::kMul:
      if (e.arg(0).maybe_int64() == -1 && e.arity() > 1)
        return call("_operator.neg", {build(simplify(-e))}, e);
      return build_chain(e, "_operator.mul");
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe: return build_relation(e);
    case Op::kIdentity: return build(e.arg(0));
    case Op::kAbs: return build(max(e.arg(0), simplify(-e.arg(0))));
    case Op::kWhere: return build_choice(e);
    case Op::kBitXor:  // no reader's operator.xor, but in bits the same
      return call("_operator.sub",
                  {build(pool.make(Op::kBitOr, {e.arg(0), e.arg(1)})),
                   build(pool.make(Op::kBitAnd, {e.arg(0), e.arg(1)}))},
                  e);
    case Op::kFloorToInt:
    case Op::kCeilToInt:
      if (e.arg(0).is(Op::kIntTrueDiv) && e.arg(0).arg(0).is_int() &&
          e.arg(0).arg(1).is_int())
        return build_division_rounded(e.arg(0), e.is(Op::kCeilToInt));
      break;
    case Op::kRoundToInt:
      if (std::optional<Argument> exact = build_round(e.arg(0))) return *exact;
      return build_round_float(e);
    default: break;
  }
  if (e.is(Op::kRoundDecimal))
    return call("builtins.round", {build(e.arg(0)), build(e.arg(1))}, e);
  const std::string_view target = info(e.op()).target;
  if (target.empty()) {
    const Expr meaning = definition(e);
    TORCH_CHECK_NOT_IMPLEMENTED(meaning != e, "Proviso: ", to_string(e),
                                " has no form in an exported graph");
    return build(simplify(meaning));
  }
  if (info(e.op()).max_args == 1) return call(target, {build(e.arg(0))}, e);
  return build_chain(e, target);
}

// --- nodes

void Finisher::rewrite(Argument& a) {
  if (auto* list = std::get_if<ListArgument>(&a.value))
    for (Argument& item : list->items) rewrite(item);
  const ExprArgument* symbolic = a.get<ExprArgument>();
  if (symbolic == nullptr) return;
  // What was learnt later may speak of symbols that do not exist yet here.
  const Expr recorded = symbolic->expr, learnt = env_.simplify(recorded);
  const Expr form = can_build(learnt) ? learnt : recorded;
  TORCH_CHECK(can_build(form),
              "Proviso: no recorded operator "
              "defines a symbol of ",
              to_string(recorded));
  a = build(form);
}

void Finisher::rewrite_nodes() {
  std::vector<Node> recorded = std::move(graph_.nodes);
  nodes_.reserve(nodes_.size() + recorded.size());
  std::vector<ValueId> defined;
  for (Node& node : recorded) {
    location_ = node.location;
    modules_ = node.modules;
    if (node.kind == Node::Kind::kHigherOrder) finish_sub_graphs(node);
    for (Argument& a : node.args) rewrite(a);
    if (node.kind == Node::Kind::kModuleCall) {
      keep_module_call(std::move(node));
      continue;
    }
    defined.clear();
    for_each_output(node, [&](ValueId id) { defined.push_back(id); });
    nodes_.push_back(std::move(node));
    for (ValueId id : defined) bind_value(id);
    place_asserts();
  }
}

void Finisher::keep_module_call(Node marker) {
  const bool outputs = marker.target == "outputs";
  if (!outputs) module_calls_.push_back({marker.name, ModuleCallSignature{}});
  // Calls of modules nest: the last one of this name is still open.
  auto call = std::find_if(
      module_calls_.rbegin(), module_calls_.rend(),
      [&](const ModuleCallEntry& e) { return e.fqn == marker.name; });
  auto& kept = outputs ? call->signature->outputs : call->signature->inputs;
  kept = std::move(marker.args);
}

// --- runtime assertions

bool Finisher::place_assert(const RuntimeAssert& assertion) {
  static const c10::OperatorHandle op = find_op("aten::_assert_scalar", "");
  const Expr condition = simplify(assertion.condition);
  if (condition.is_true()) return true;
  if (!can_build(condition)) return false;
  const Argument built = build(condition);
  if (condition.is(Op::kEq)) equalities_.insert(condition);
  Node node;
  node.op = op;
  node.target = target_name(op);
  node.args = {
      built,
      {"Runtime assertion failed for expression " + to_string(condition)}};
  if (const ValueRef* ref = built.get<ValueRef>())
    messages_.emplace_back(nodes_.size(), ref->id);
  add_node(std::move(node));
  return true;
}

void Finisher::place_asserts() {
  std::erase_if(asserts_,
                [&](const RuntimeAssert& a) { return place_assert(a); });
}

void Finisher::refuse_unplaced() const {
  if (asserts_.empty()) return;
  TORCH_CHECK(false, "Proviso: the condition ",
              to_string(asserts_[0].condition),
              " must be checked when the program runs, but no recorded "
              "operator defines its symbols; return or use the tensor whose "
              "size it speaks of");
}

// Messages quote a node's name, known only now.
void Finisher::finish_messages() {
  for (const auto& [node, condition] : messages_) {
    auto& text = std::get<std::string>(graph_.nodes[node].args[1].value);
    text += " on node '" + graph_.value(condition).name + "'";
  }
}

// --- inputs, outputs, names, metadata

void Finisher::add_inputs() {
  std::vector<const Tracer::Owned*> owned;
  for (InputKind kind :
       {InputKind::kParameter, InputKind::kBuffer, InputKind::kConstantTensor})
    for (const Tracer::Owned& o : tracer_.owned_inputs_)
      if (o.spec.kind == kind) owned.push_back(&o);
  for (const Tracer::Owned* o : owned) graph_.inputs.push_back(o->spec);
  for (const InputSpec& spec : tracer_.user_inputs_)
    graph_.inputs.push_back(spec);
}

void Finisher::add_outputs(const std::vector<c10::IValue>& outputs) {
  for (const c10::IValue& value : outputs) {
    OutputSpec spec;
    spec.arg = tracer_.to_argument(value, IntMeaning::kNumber);
    graph_.outputs.push_back(std::move(spec));
  }
}

std::string Finisher::base_name(const Node& node) const {
  if (node.kind != Node::Kind::kOperator)
    return node.target.substr(node.target.rfind('.') + 1);
  const std::string& name = node.op->schema().name();
  const std::string base = name.substr(name.find("::") + 2);
  // Nodes that a trace adds by itself are called by their full name.
  if (base == "sym_size" || base == "_assert_scalar")
    return node.target.substr(node.target.find('.') + 1);
  return base;
}

void Finisher::give_names() {
  Names names;
  for (InputSpec& input : graph_.inputs) {
    input.name = names.fresh(input.name);
    if (const ValueRef* ref = input.arg.get<ValueRef>())
      graph_.values[ref->id].name = input.name;
  }
  std::map<std::string, int> sub_graphs;
  for (Node& node : graph_.nodes) {
    if (node.kind == Node::Kind::kHigherOrder)
      name_sub_graphs(node, sub_graphs);
    node.name = names.fresh(base_name(node));
    const bool single = node.has_single_value();
    for_each_output(node, [&](ValueId id) {
      graph_.values[id].name = single ? node.name : names.fresh("getitem");
    });
  }
}

// The values say what is known at the end of the program: readers know no other
// symbols than those that the inputs and the operators' results still have.
void Finisher::substitute_metadata() {
  const auto learn = [&](Expr& e) {
    if (!e.is_constant()) e = env_.simplify(e);
  };
  const std::set<ValueId> inputs = program_inputs();
  for (ValueId id = 0; id < static_cast<ValueId>(graph_.values.size()); ++id) {
    GraphValue& value = graph_.values[id];
    const bool is_input = inputs.contains(id);
    TensorMeta* tensor = std::get_if<TensorMeta>(&value.meta);
    if (tensor == nullptr) {
      Expr& e = std::get<Expr>(value.meta);
      if (is_input)
        learn_input(e);
      else
        e = e.is_bool() ? learnt_condition(e) : env_.simplify(e);
      continue;
    }
    for (Expr& e : tensor->sizes) is_input ? learn_input(e) : learn(e);
    for (Expr& e : tensor->strides) learn(e);
    learn(tensor->offset);
  }
}

// Of the program itself, not of a sub-graph.
std::set<ValueId> Finisher::program_inputs() const {
  std::set<ValueId> ids;
  if (is_sub_graph_) return ids;
  for (const InputSpec& input : graph_.inputs)
    if (const ValueRef* ref = input.arg.get<ValueRef>()) ids.insert(ref->id);
  return ids;
}

void Finisher::learn_input(Expr& size) const {
  if (size.is_constant()) return;
  const Expr learnt = env_.simplify(size);
  if (is_readable_size(learnt)) size = learnt;
}

// Symbols are replaced; the ranges that are known do not make it a constant,
// for a reader learns them from here.  An equality that is asserted is: some
// readers would replace symbols by it that stand in values before.
Expr Finisher::learnt_condition(Expr condition) const {
  if (equalities_.contains(condition)) return env_.pool().boolean(true);
  std::unordered_map<Expr, Expr, ExprHash> known;
  for (Expr symbol : free_symbols(condition))
    if (symbol.is_int()) known.emplace(symbol, env_.simplify(symbol));
  return simplify(substitute(condition, known));
}

void Finisher::collect_tensors(ExportedProgram& program) const {
  for (const InputSpec& input : graph_.inputs) {
    if (input.kind == InputKind::kUserInput) continue;
    for (const Tracer::Owned& o : tracer_.owned_inputs_) {
      if (o.spec.kind != input.kind || o.spec.target != input.target) continue;
      const bool state = input.kind != InputKind::kConstantTensor &&
                         input.persistent.value_or(true);
      auto& place = state ? program.state_dict : program.constants;
      place.emplace_back(input.target, o.tensor);
    }
  }
}

// Every expression of the values, also of those in sub-graphs.
template <typename Visit>
void Finisher::visit_values(const Graph& graph, const Visit& visit) const {
  for (const GraphValue& value : graph.values) {
    if (value.is_tensor())
      for (Expr e : value.tensor().sizes) visit(e);
    else
      visit(value.expr());
  }
  for (const Node& node : graph.nodes)
    for (const Argument& a : node.args)
      if (const GraphArgument* sub = a.get<GraphArgument>())
        visit_values(*sub->graph, visit);
}

// Symbols read from data, then the sizes of inputs in their order.
void Finisher::collect_ranges(ExportedProgram& program) {
  ExprSet seen;
  const auto add = [&](Expr e) {
    if (e.is_constant() || !e.is_int() || !seen.insert(e).second) return;
    program.range_constraints.push_back({e, env_.enforced_range(e)});
  };
  ExprSet visited;
  std::vector<Expr> unbacked;
  const auto visit = [&](Expr e) {
    if (e.is_constant() || !visited.insert(e).second) return;
    for (Expr symbol : free_symbols(e))
      if (is_unbacked(symbol.symbol().kind)) unbacked.push_back(symbol);
  };
  visit_values(graph_, visit);
  std::sort(unbacked.begin(), unbacked.end(), ExprLess());
  for (Expr symbol : unbacked) add(symbol);
  for (const InputDim& dim : env_.input_dims()) {
    Expr size = dim.expr;
    learn_input(size);
    add(size);
  }
}

ExportedProgram Finisher::run(const std::vector<c10::IValue>& outputs) {
  env_.check_constraints();
  add_outputs(outputs);  // may lift a constant
  add_inputs();
  outline_mode_blocks(graph_, tracer_.modes_[0], tracer_.trace_modes());
  collect_needed();
  ExportedProgram program;
  program.runtime_asserts = env_.runtime_asserts();
  write_nodes();
  give_names();
  finish_messages();
  substitute_metadata();
  collect_tensors(program);
  collect_ranges(program);
  program.env = tracer_.shared_env();
  program.set_guards(env_.minimal_guards());
  env_.freeze();  // a size kept by the program adds no guard any more
  program.graph = std::move(graph_);
  program.module_call_graph = std::move(module_calls_);
  return program;
}

ExportedProgram Tracer::finish(const std::vector<c10::IValue>& outputs) {
  require_open("finish");
  TORCH_CHECK(!scope_, "Proviso: ", scope_->what, " is still being recorded");
  // A program may leave autocast on, as it may in eager.
  check_nesting({.autocast = autocast_depth_}, "finish");
  struct Spent {
    bool& flag;
    ~Spent() { flag = true; }
  } spent{is_finished_};  // also where the constraints are violated
  Finisher finisher(*this, graph_, nullptr);
  return finisher.run(outputs);
}

}  // namespace proviso::inline v0_2
