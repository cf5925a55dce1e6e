// guards/errors/dim_specs.h - what "Constraints violated" and its like ask of
// the dims of the inputs.
//
//   // - Not all values of W = L['x'].size()[3] in the specified range
//   //   2 <= W <= 512 satisfy the generated guard
//   //   Eq(Mod(L['x'].size()[3], 16), 0).
//   // Suggested fixes:
//   //   W = 16*_W
//   DimNeeds needs = dim_needs(e);
//   needs.conditions;  // {"Eq(Mod(W, 16), 0)"}
//   needs.specs;       // {"W = 16*_W"}
//   needs.names;       // W: x.shape[3]
#pragma once

#include <map>
#include <string>
#include <vector>

#include "guards/errors/error_text.h"

namespace proviso::inline v0_2::internal {

struct DimNeeds {
  // They use the text's own names; none follows from the others.
  std::vector<std::string> conditions;
  std::vector<std::string> specs;  // the suggested fixes
  std::map<std::string, std::string> names;
  // Each guard that was called violated holds in the range that was promised.
  bool always_held = false;
};

// Requires an error of kind kConstraint.
DimNeeds dim_needs(const TextError& e);

}  // namespace proviso::inline v0_2::internal
