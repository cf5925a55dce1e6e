#include "sym/cost.h"

#include <algorithm>

#include "sym/budget.h"
#include "sym/costs.h"
#include "sym/find_node.h"

namespace proviso::inline v0_2 {
namespace {

constexpr uint64_t kDivisionCost = 4;

bool is_minus_one(Expr e) {
  return e.is(Op::kInteger) && e.integer() == Int(-1);
}

// -x, as a factor -1 says it.
bool is_negation(Expr e) {
  return e.is(Op::kMul) && e.arity() > 1 && is_minus_one(e.arg(0)) &&
         !e.arg(1).is(Op::kInteger) && !e.arg(1).is(Op::kRational);
}

// A node on its own, what it is made of apart.
uint64_t node_cost(Expr e) {
  if (is_integer_division(e.op())) return kDivisionCost;
  if (e.is(Op::kAdd)) {
    uint64_t total = std::max<uint64_t>(e.arity(), 1) - 1;
    // A later term's sign is the operation.
    for (size_t i = 1; i < e.arity(); ++i) total -= is_negation(e.arg(i));
    return total;
  }
  // -x: the factor -1 is the sign, an operation of one argument.
  if (e.is(Op::kMul)) return e.arity() - 1 - (is_negation(e) ? 1 : 0);
  const bool joins_many =
      e.is(Op::kMin) || e.is(Op::kMax) || e.is(Op::kAnd) || e.is(Op::kOr);
  return joins_many ? std::max<uint64_t>(e.arity(), 2) - 1 : 1;
}

}  // namespace

uint64_t internal::Costs::operator()(Expr e) {
  if (is_leaf(e.op())) return 1;
  if (auto at = known_.find(e.id()); at != known_.end()) return at->second;
  visit_arguments_first(
      e, [&](Expr x) { return is_leaf(x.op()) || known_.contains(x.id()); },
      [&](Expr x) {
        Budget::charge(1 + x.arity() / 4);
        uint64_t total = node_cost(x);
        for (Expr arg : x.args()) {
          total += is_leaf(arg.op()) ? 1 : known_.at(arg.id());
        }
        known_.emplace(x.id(), std::min(total, kMaxCost));
      });
  return known_.at(e.id());
}

uint64_t cost(Expr e) {
  if (is_leaf(e.op())) return 1;
  uint64_t total = 0;
  int nodes = internal::kFewNodes;
  const bool is_small = internal::visit_few(e, nodes, [&](Expr x) {
    total += node_cost(x);
    for (Expr arg : x.args()) total += is_leaf(arg.op());
  });
  return is_small ? std::min(total, kMaxCost) : internal::Costs()(e);
}

}  // namespace proviso::inline v0_2
