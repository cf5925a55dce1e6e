#include "tracer_adapter/pt2/file_hints.h"

#include <algorithm>
#include <unordered_set>

namespace proviso::inline v0_2::pt2 {
namespace {

using Sizes = std::unordered_set<Expr, ExprHash>;

bool has_example(Expr symbol) { return !is_unbacked(symbol.symbol().kind); }

class Chooser {
 public:
  explicit Chooser(const ExportedProgram& program) : program_(program) {
    Sizes seen;
    note_sizes(program.graph, seen);
    std::unordered_set<Expr, ExprHash> symbols;
    for (Expr e : sizes_)
      for (Expr s : free_symbols(e))
        if (symbols.insert(s).second) symbols_.push_back(s);
  }

  Assignment choose() {
    for (Expr s : program_.env->pool().symbols())
      if (has_example(s))
        if (auto value = program_.env->hint(s)) best_.set(s, *value);
    small_ = count_small(best_);
    for (int factor : {1, 2, 3}) {
      for (int more : {0, 1, 2, 3, 5, 8, 12})
        try_point(
            [&](Expr, const Int& v) { return v * Int(factor) + Int(more); });
    }
    for (Expr one : symbols_) {
      for (int more : {1, 2, 3, 4, 5, 8, 12, 16})
        try_point(
            [&](Expr s, const Int& v) { return s == one ? v + Int(more) : v; });
    }
    return best_;
  }

 private:
  // Points are looked at while there are sizes to evaluate for.
  static constexpr size_t kMostEvaluations = 20'000;

  void note_sizes(const Graph& graph, Sizes& seen) {
    for (const GraphValue& value : graph.values) {
      if (!value.is_tensor()) continue;
      for (Expr e : value.tensor().sizes) {
        const std::vector<Expr> symbols = free_symbols(e);
        if (!symbols.empty() && std::ranges::all_of(symbols, has_example) &&
            seen.insert(e).second)
          sizes_.push_back(e);
      }
    }
    for (const Node& node : graph.nodes)
      for (const Argument& a : node.args)
        if (const GraphArgument* sub = a.get<GraphArgument>())
          note_sizes(*sub->graph, seen);
  }

  // How many sizes are 0 or 1; all of them where one is undefined.
  size_t count_small(const Assignment& point) {
    evaluations_ += sizes_.size();
    size_t small = 0;
    for (Expr e : sizes_) {
      const Evaluation size = evaluate(e, point);
      const Int* value =
          size.defined() ? std::get_if<Int>(&*size.value) : nullptr;
      if (!value || value->sign() < 0) return sizes_.size();
      small += *value < Int(2);
    }
    return small;
  }

  bool is_taken(const Assignment& point) {
    for (const RangeConstraint& c : program_.range_constraints) {
      if (!std::ranges::all_of(free_symbols(c.expr), has_example)) continue;
      const Evaluation value = evaluate(c.expr, point);
      if (!value.defined()) return false;
      const Int* size = std::get_if<Int>(&*value.value);
      if (size && !c.range.contains(*size)) return false;
    }
    return std::ranges::all_of(program_.guards(), [&](const Guard& guard) {
      return evaluate(guard.condition, point).is_true();
    });
  }

  template <typename Move>
  void try_point(const Move& moved) {
    if (small_ == 0 || evaluations_ > kMostEvaluations) return;
    Assignment point = best_;
    for (Expr s : symbols_)
      if (const Value* value = best_.find(s))
        if (const Int* v = std::get_if<Int>(value)) point.set(s, moved(s, *v));
    const size_t small = count_small(point);
    if (small >= small_ || !is_taken(point)) return;
    best_ = std::move(point);
    small_ = small;
  }

  const ExportedProgram& program_;
  std::vector<Expr> sizes_;    // of tensors, that have an example
  std::vector<Expr> symbols_;  // in them
  Assignment best_;
  size_t small_ = 0;  // sizes that are 0 or 1 there
  size_t evaluations_ = 0;
};

}  // namespace

Assignment file_hints(const ExportedProgram& program) {
  return Chooser(program).choose();
}

}  // namespace proviso::inline v0_2::pt2
