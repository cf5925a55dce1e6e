// bindings/find_op.h - operators by the names that programs give.
#pragma once

#include <string_view>

#include "sym/op.h"

namespace proviso {

// The row of this name, which is no leaf's; nullptr when there is none.
inline const OpInfo* find_op(std::string_view name) {
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    if (row.name == name && !is_leaf(row.op)) return &row;
  }
  return nullptr;
}

}  // namespace proviso
