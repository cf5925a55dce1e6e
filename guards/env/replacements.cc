#include "guards/env/replacements.h"

#include <algorithm>

#include "guards/conjuncts.h"
#include "solver/interrupt_scope.h"
#include "sym/canonical.h"

namespace proviso::inline v0_2::internal {

void Replacements::set(Expr symbol, Expr target) {
  const std::unordered_map<Expr, Expr, ExprHash> one{{symbol, target}};
  for (auto& [key, value] : all_) {
    value = canonical(substitute(value, one));
    map_[key] = value;
  }
  all_[symbol] = target;
  map_[symbol] = target;
  ++version_;
}

Expr Replacements::apply(Expr e) {
  const auto form = [&](bool is_touched) {
    return InterruptScope::until_interrupted(
        [&] { return simplified(is_touched ? substitute(e, map_) : e); });
  };
  if (all_.empty()) return form(false).value_or(e);
  ExprMemo::Entry& memo = memo_[e];
  if (memo.version == version_) return memo.value;
  const std::vector<Expr>& symbols = symbols_.in(e);
  const std::optional<Expr> value = form(std::any_of(
      symbols.begin(), symbols.end(), [&](Expr s) { return has(s); }));
  if (value && !InterruptScope::is_interrupted()) memo = {*value, version_};
  return value.value_or(e);
}

void Replacements::set_equal_data(Expr symbol, Expr target) {
  equal_data_.emplace(symbol, target);
}

Expr Replacements::apply_equal_data(Expr e) {
  // A target has only symbols older than its key, so this ends.
  while (true) {
    std::unordered_map<Expr, Expr, ExprHash> map;
    for (Expr s : symbols_.in(e)) {
      auto it = equal_data_.find(s);
      if (it != equal_data_.end()) map.emplace(s, it->second);
    }
    if (map.empty()) return e;
    e = apply(substitute(e, map));
  }
}

}  // namespace proviso::inline v0_2::internal
