#include "guards/conjuncts.h"

#include <algorithm>
#include <unordered_set>

#include "solver/interrupt_scope.h"
#include "sym/canonical.h"
#include "sym/evaluate.h"
#include "sym/find_node.h"

namespace proviso::inline v0_2::internal {

Expr simplified(Expr e) {
  uint64_t units = Budget::kUnlimited;
  return InterruptScope::within(units, [&] { return canonical(e); })
      .value_or(e);
}

Expr negate(Expr condition) { return simplified(logical_not(condition)); }

std::vector<Expr> conjuncts(Expr condition) {
  std::vector<Expr> parts, stack{condition};
  std::unordered_set<Expr, ExprHash> seen;  // what is shared is one part
  while (!stack.empty()) {
    const Expr e = stack.back();
    stack.pop_back();
    if (!seen.insert(e).second) continue;
    std::vector<Expr> within;
    if (e.is(Op::kAnd)) {
      within = operands(e, Op::kAnd);
    } else if (e.is(Op::kNot) && e.arg(0).is(Op::kOr)) {
      within = operands(e.arg(0), Op::kOr);
      for (Expr& part : within) part = negate(part);
    } else {
      parts.push_back(e);
    }
    stack.insert(stack.end(), within.rbegin(), within.rend());
  }
  return parts;
}

bool leaves_out(Expr condition, Expr symbol, const Int& value) {
  if (free_symbols(condition) != std::vector<Expr>{symbol}) return false;
  Assignment point;
  point.set(symbol, value);
  return evaluate(condition, point).is_false();
}

void add_once(std::vector<Expr>& all, Expr e) {
  if (std::find(all.begin(), all.end(), e) == all.end()) all.push_back(e);
}

Expr conjunction(ExprPool& pool, const std::vector<Expr>& parts) {
  if (parts.empty()) return pool.boolean(true);
  return parts.size() == 1 ? parts[0] : pool.make(Op::kAnd, parts);
}

Expr canonical_conjunction(ExprPool& pool, const std::vector<Expr>& parts) {
  return canonical(conjunction(pool, parts));
}

}  // namespace proviso::inline v0_2::internal
