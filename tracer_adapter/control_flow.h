// tracer_adapter/control_flow.h - how the operators that take sub-graphs run.
//
//   find_control_flow("torch.ops.higher_order.cond")({graphs, pred, {{x}}});
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "tracer_adapter/executable.h"

namespace proviso {

struct ControlFlowCall {
  const std::vector<Executable>& graphs;
  c10::IValue predicate;                         // of cond
  // Operands, in order; of the mode blocks the mode and the operands.
  std::vector<std::vector<c10::IValue>> lists;
};
using ControlFlow = std::vector<c10::IValue> (*)(const ControlFlowCall&);

// Null for an operator that is not known.
ControlFlow find_control_flow(const std::string& target);

}  // namespace proviso
