// sym/fixed_limits.h - the rows of sym/limits.def, as constants.
//
//   if (p.terms().size() > fixed::product_terms) return {};
//
// A limit is fixed where no context can set it: a canonical or a cheapest form
// follows from the expression alone and is remembered in its pool, and a depth
// keeps calls within a small stack.  All that can be set are rows of
// solver/limits.def too (solver/limits.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "sym/api.h"

namespace proviso::inline v0_2::internal::fixed {

#define PROVISO_FIXED_LIMIT(name, type, value, unit, why) \
  inline constexpr type name = value;
#include "sym/limits.def"

}  // namespace proviso::inline v0_2::internal::fixed
