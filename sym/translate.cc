#include "sym/translate.h"

#include <unordered_map>
#include <vector>

#include "sym/not_null.h"
#include "sym/pool_stores.h"

namespace proviso::inline v0_2 {
using namespace internal;

Expr translate(Expr e, ExprPool& to) {
  if (&not_null(e, "translate").pool() == &to) return e;
  PoolUndo undo(to);
  std::unordered_map<Expr, Expr, ExprHash> there;
  std::vector<Expr> args;
  visit_arguments_first(
      e, [&](Expr x) { return there.contains(x); },
      [&](Expr x) {
        args.clear();
        for (Expr arg : x.args()) args.push_back(there.at(arg));
        there.emplace(x, is_leaf(x.op()) ? PoolStores::leaf_in(to, x)
                                         : to.make(x.op(), args));
      });
  undo.keep();
  return there.at(e);
}

}  // namespace proviso::inline v0_2
