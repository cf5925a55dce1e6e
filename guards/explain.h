// guards/explain.h - why a program has a guard.
//
//   std::cout << explain(env, env.minimal_guards()[0]);
//   // Mod(s0, 2) == 0, that is x.size()[0] % 2 == 0
//   //   needed at model.py:9 in `y = x.view(-1, 2, 4)`
//   //         and model.py:11 in `z = y.flatten()`
//   //   holds for the example: x.size()[0] = 6
//   //   fails for instance for: x.size()[0] = 3
#pragma once

#include <string>

#include "guards/shape_env.h"
#include "sym/api.h"

PROVISO_API_BEGIN
namespace proviso::inline v0_2 {

// The guard in both spellings, every place that needs it, the example's sizes,
// and sizes that keep all other promises and break this one.
[[nodiscard]] std::string explain(ShapeEnv& env, const Guard& guard);

}  // namespace proviso::inline v0_2
PROVISO_API_END
