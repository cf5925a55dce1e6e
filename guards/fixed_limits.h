// guards/fixed_limits.h - the rows of guards/limits.def, as constants.
//
//   if (parts.size() > fixed::weakest_checks) return;
//
// sym/fixed_limits.h says what is fixed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "solver/fixed_limits.h"

namespace proviso::inline v0_2::internal::fixed {

#define PROVISO_FIXED_LIMIT(name, type, value, unit, why) \
  inline constexpr type name = value;
#include "guards/limits.def"

}  // namespace proviso::inline v0_2::internal::fixed
