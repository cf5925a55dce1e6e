#include "tracer_adapter/pt2/named_numbers.h"

#include <algorithm>
#include <map>
#include <optional>

#include "sym/canonical.h"

namespace proviso::inline v0_2::pt2 {
namespace {

// Whether torch.export.load reads a call of it in a tensor's size.
bool is_known(Expr call) {
  switch (call.op()) {
    case Op::kBitAnd:
    case Op::kBitOr:
    case Op::kBitXor: return false;
    case Op::kPow:
    case Op::kPowByNatural:
      return call.arg(0).is_constant() || call.arg(1).is_constant();
    default: return !is_opaque(call.op());
  }
}

bool is_readable(Expr e) {
  bool readable = true;
  std::unordered_map<Expr, bool, ExprHash> seen;
  visit_arguments_first(
      e, [&](Expr x) { return !readable || seen.contains(x); },
      [&](Expr x) {
        seen.emplace(x, true);
        readable = readable && is_known(x);
      });
  return readable;
}

template <typename Visit>
void for_each_sub_graph(const Node& node, const Visit& visit) {
  for (const Argument& a : node.args)
    if (const GraphArgument* sub = a.get<GraphArgument>()) visit(*sub->graph);
}

}  // namespace

NamedNumbers::NamedNumbers(const ExportedProgram& program) : program_(program) {
  note_names(program.graph);
  name_values(program.graph);
  name_roots();
}

void NamedNumbers::note_names(const Graph& graph) {
  const auto note = [&](Expr e) {
    for (Expr symbol : free_symbols(e))
      if (names_.insert(symbol.symbol().name).second &&
          symbol.symbol().kind == SymbolKind::kUnbackedFloat)
        ranges_.push_back({symbol, Interval()});
  };
  for (const GraphValue& value : graph.values) {
    if (value.is_tensor())
      for (Expr size : value.tensor().sizes) note(size);
    else
      note(value.expr());
  }
  for (const Node& node : graph.nodes)
    for_each_sub_graph(node, [&](const Graph& sub) { note_names(sub); });
}

Expr NamedNumbers::written(Expr e) const {
  if (!symbols_.empty() && !is_readable(e)) e = substitute(e, symbols_);
  return derived_.empty() ? e : canonical(substitute(e, derived_));
}

bool NamedNumbers::is_from_data(Expr written) const {
  return !symbols_.empty() &&
         std::ranges::any_of(free_symbols(written), [](Expr symbol) {
           return is_unbacked(symbol.symbol().kind);
         });
}

// What a Dim promises of the remainders of its sizes: the program's own
// questions may not narrow it.  Dim("n").multiple_of(4) is 4*s1.
std::optional<RootDim> NamedNumbers::root_of(const InputDim& dim) const {
  if (dim.constraint.root) return dim.constraint.root;
  if (dim.constraint.policy != DimPolicy::kNamed) return std::nullopt;
  Context promised(program_.env->pool());
  const std::vector<Expr> alone{dim.expr};
  for (const Guard& guard : program_.guards())
    if (free_symbols(guard.condition) == alone)
      promised.assume(guard.condition);
  if (promised.facts().empty()) return std::nullopt;
  const Strided sizes = promised.strided(dim.expr);
  if (sizes.stride() < Int(2)) return std::nullopt;
  return RootDim{dim.source, sizes.stride(), sizes.offset()};
}

// Dims of one root are multiples of one symbol.
void NamedNumbers::name_roots() {
  ShapeEnv& env = *program_.env;
  ExprPool& pool = env.pool();
  std::map<std::string, size_t> known;  // the root's place in ranges_
  for (const InputDim& dim : env.input_dims()) {
    if (!dim.expr.is_symbol() || derived_.contains(dim.expr)) continue;
    const std::optional<RootDim> root = root_of(dim);
    if (!root) continue;
    const Interval sizes = intersect(env.enforced_range(dim.expr),
                                     Interval::at_least(root->offset));
    const Interval range = floor_div(sizes - Interval::point(root->offset),
                                     Interval::point(root->factor));
    if (!range.lower() || *range.lower() < Int(0)) continue;
    const auto [at, is_new] = known.emplace(root->name, ranges_.size());
    if (is_new)
      ranges_.push_back({fresh_symbol('s', SymbolKind::kBackedSize), range});
    RangeConstraint& of_root = ranges_[at->second];
    of_root.range = intersect(of_root.range, range);
    derived_.emplace(dim.expr, pool.integer(root->factor) * of_root.expr +
                                   pool.integer(root->offset));
  }
}

void NamedNumbers::name_values(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    for_each_sub_graph(node, [&](const Graph& sub) { name_values(sub); });
    for_each_output(node, [&](ValueId id) {
      const GraphValue& value = graph.value(id);
      if (!value.is_tensor() && value.expr().is_int()) name_value(value.expr());
    });
  }
}

// One that the program's values do not have; a file saved twice has it again.
Expr NamedNumbers::fresh_symbol(char prefix, SymbolKind kind) {
  ExprPool& pool = program_.env->pool();
  for (size_t i = 0;; ++i) {
    const std::string name = prefix + std::to_string(i);
    const std::optional<Expr> known = pool.find_symbol(name);
    if (known && known->symbol().kind != kind) continue;
    if (names_.insert(name).second) return pool.symbol(name, kind);
  }
}

void NamedNumbers::name_value(Expr e) {
  if (is_readable(written(e))) return;
  const Expr symbol = fresh_symbol('u', SymbolKind::kUnbackedInt);
  symbols_.emplace(e, symbol);
  ranges_.push_back({symbol, program_.env->bounds(e)});
}

}  // namespace proviso::inline v0_2::pt2
