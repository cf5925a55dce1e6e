// sym/costs.h - the costs of many expressions that share parts.
//
//   Costs costs;
//   costs(a) < costs(b)    // each node of both is looked at once
#pragma once

#include <cstdint>
#include <unordered_map>

#include "sym/cost.h"

namespace proviso::inline v0_2::internal {

class Costs {
 public:
  uint64_t operator()(Expr e);

 private:
  std::unordered_map<uint32_t, uint64_t> known_;  // by node
};

}  // namespace proviso::inline v0_2::internal
