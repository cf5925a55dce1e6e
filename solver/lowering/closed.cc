#include "solver/lowering/closed.h"

#include <algorithm>

#include "sym/find_node.h"

namespace proviso::inline v0_2::internal {

std::optional<Evaluation> value_without_symbols(Expr e) {
  const auto is_symbol = [](Expr x) { return x.is_symbol(); };
  if (std::any_of(e.args().begin(), e.args().end(), is_symbol) ||
      find_node(e, is_symbol)) {
    return std::nullopt;
  }
  Evaluation value = evaluate(e, {});
  if (value.gave_up) return std::nullopt;
  return value;
}

}  // namespace proviso::inline v0_2::internal
