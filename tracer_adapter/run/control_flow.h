// tracer_adapter/run/control_flow.h - how the operators that take sub-graphs
// run.
//
//   find_control_flow("torch.ops.higher_order.cond")({graphs, pred, {{x}}});
//
//   const LoopSteps steps(1000);  // of a file that nobody vouches for
//   module.run(inputs);           // an error where a loop has no end by then
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "tracer_adapter/run/executable.h"

namespace proviso::inline v0_2 {

struct ControlFlowCall {
  const std::vector<Executable>& graphs;
  c10::IValue predicate;  // of cond
  // Operands, in order; of the mode blocks the mode and the operands.
  std::vector<std::vector<c10::IValue>> lists;
};
using ControlFlow = std::vector<c10::IValue> (*)(const ControlFlowCall&);

// Null for an operator that is not known.
ControlFlow find_control_flow(const std::string& target);

// What the while_loops of this thread may take together while this lives.  A
// loop that runs outside of one has kDefault for itself and those inside it.
class LoopSteps {
 public:
  static constexpr uint64_t kDefault = 10'000'000;

  explicit LoopSteps(uint64_t most = kDefault);
  ~LoopSteps();
  LoopSteps(const LoopSteps&) = delete;
  LoopSteps& operator=(const LoopSteps&) = delete;

  static LoopSteps* current();
  void take();  // one; throws where none is left

 private:
  const uint64_t most_;
  uint64_t left_;
  LoopSteps* const outer_;
};

}  // namespace proviso::inline v0_2
