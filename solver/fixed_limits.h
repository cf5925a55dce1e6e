// solver/fixed_limits.h - the fixed rows of solver/limits.def, as constants.
//
//   if (depth == fixed::bound_nesting) return;
//
// sym/fixed_limits.h says what is fixed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sym/fixed_limits.h"

namespace proviso::inline v0_2::internal::fixed {

#define PROVISO_FIXED_LIMIT(name, type, value, unit, why) \
  inline constexpr type name = value;
#include "solver/limits.def"

}  // namespace proviso::inline v0_2::internal::fixed
