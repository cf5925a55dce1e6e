#include "sym/width.h"

#include <algorithm>

#include "sym/budget.h"
#include "sym/find_node.h"

namespace proviso::inline v0_2::internal {

std::optional<Int> width(Expr e, const Facts& facts) {
  std::optional<Int> widest = Int(0);
  auto take = [&](Expr part) {
    Budget::spend(4);
    const auto low = facts.lower(part), high = facts.upper(part);
    if (low && high) {
      widest = std::max({*widest, abs(*low), abs(*high)});
    } else {
      widest.reset();
    }
  };
  find_node(e, [&](Expr x) {
    if (x.is_int()) take(x);
    const bool is_joined = x.is_int() && (x.is(Op::kAdd) || x.is(Op::kMul));
    for (size_t n = 2; is_joined && n < x.arity() && widest; ++n) {
      take(x.pool().make(x.op(), x.args().first(n)));
    }
    return !widest.has_value();
  });
  return widest;
}

namespace {

void take_numbers(Expr e, Int& largest) {
  if (!e.is(Op::kAdd) && !e.is(Op::kMul)) return;
  for (Expr arg : e.args()) {
    if (!arg.is(Op::kInteger)) continue;
    Int size = abs(arg.integer());
    if (size > largest) largest = std::move(size);
  }
}

}  // namespace

Int largest_number(Expr e) { return LargestNumbers()(e); }

Int LargestNumbers::operator()(Expr e) {
  Int largest = 0;
  int nodes = kFewNodes;
  if (visit_few(e, nodes, [&](Expr x) { take_numbers(x, largest); }))
    return largest;
  visit_arguments_first(
      e, [&](Expr x) { return is_leaf(x.op()) || known_.contains(x.id()); },
      [&](Expr x) {
        Budget::charge(1 + x.arity() / 4);
        Int of_node = 0;
        take_numbers(x, of_node);
        for (Expr arg : x.args()) {
          if (is_leaf(arg.op())) continue;
          const Int& below = known_.at(arg.id());
          if (below > of_node) of_node = below;
        }
        known_.emplace(x.id(), std::move(of_node));
      });
  return known_.at(e.id());
}

bool widens(const std::optional<Int>& form, const std::optional<Int>& than) {
  static const Int kInt32 = *pow(Int(2), 31), kInt64 = *pow(Int(2), 63);
  if (!than || *than >= kInt64) return false;
  return !form || *form >= (*than >= kInt32 ? kInt64 : kInt32);
}

}  // namespace proviso::inline v0_2::internal
