#include "guards/env/replacements.h"

#include <algorithm>

#include "guards/conjuncts.h"
#include "solver/interrupt_scope.h"
#include "sym/canonical.h"
#include "sym/within.h"

namespace proviso::inline v0_2::internal {
namespace {

// What `form` returns; e where another thread ends that.
template <typename Form>
Expr unless_interrupted(Expr e, Form form) {
  return try_within(Budget::kUnlimited, InterruptScope::interruption(), form)
      .value_or(e);
}

}  // namespace

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
  if (all_.empty()) return unless_interrupted(e, [e] { return simplified(e); });
  ExprMemo::Entry& memo = memo_[e];
  if (memo.version == version_) return memo.value;
  const std::vector<Expr>& symbols = symbols_.in(e);
  const bool is_touched = std::any_of(symbols.begin(), symbols.end(),
                                      [&](Expr s) { return has(s); });
  const Expr value = unless_interrupted(
      e, [&] { return simplified(is_touched ? substitute(e, map_) : e); });
  if (!InterruptScope::is_interrupted()) memo = {value, version_};
  return value;
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
