// sym/cost.h - what an expression costs its reader and the program that runs
// it.
//
//   cost(parse("s0 - 1"))        // 3: two leaves and a subtraction
//   cost(parse("Mod(s0, 8)"))    // 6: a division or remainder costs 4
//
// Each node costs 1, a division or remainder 4, however it is spelled.  What
// takes any number of arguments counts as a tree of binary operations; a
// subtraction is one operation, as it is printed.
#pragma once

#include <cstdint>

#include "sym/api.h"
#include "sym/expr.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// Shared parts count each time they are used; past kMaxCost it is kMaxCost.
inline constexpr uint64_t kMaxCost = uint64_t{1} << 32;
[[nodiscard]] uint64_t cost(Expr e);

}  // namespace proviso::inline v0_2
PROVISO_API_END
