// tracer_adapter/run/int64_at.h - the size or stride that an expression is at a
// point.
//
//   int64_at(2*s0, {s0 = 4})               // 8
//   int64_at(PowByNatural(2, 70), {})      // none: no tensor has such a size
//
// None, too, where the expression is undefined there or no integer.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "sym/evaluate.h"

namespace proviso::inline v0_2::internal {

inline std::optional<int64_t> int64_at(Expr e, const Assignment& point) {
  const Evaluation at = evaluate(e, point);
  const Int* value = at.value ? std::get_if<Int>(&*at.value) : nullptr;
  return value != nullptr ? value->to_int64() : std::nullopt;
}

}  // namespace proviso::inline v0_2::internal
