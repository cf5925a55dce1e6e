#include "guards/conjuncts.h"

#include "sym/simplify.h"

namespace proviso {

namespace {

void open(Expr e, std::vector<Expr>& parts) {
  if (e.is(Op::kAnd)) {
    for (Expr a : e.args()) open(a, parts);
  } else if (e.is(Op::kNot) && e.arg(0).is(Op::kOr)) {
    for (Expr a : e.arg(0).args()) open(simplify(logical_not(a)), parts);
  } else {
    parts.push_back(e);
  }
}

}  // namespace

std::vector<Expr> conjuncts(Expr condition) {
  std::vector<Expr> parts;
  open(condition, parts);
  return parts;
}

Expr conjunction(ExprPool& pool, const std::vector<Expr>& parts) {
  if (parts.empty()) return pool.boolean(true);
  return parts.size() == 1 ? parts[0] : pool.make(Op::kAnd, parts);
}

}  // namespace proviso
