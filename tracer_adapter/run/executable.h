// tracer_adapter/run/executable.h - a graph made ready to run on real tensors.
//
//   Executable run(graph);
//   std::vector<c10::IValue> outputs = run.run(inputs);  // one a graph input
//
// Nothing is checked but runtime assertions.  Nodes that give the same every
// time run once (see constants.h); their results never leave the program.
// Calls share nothing else, and may be made from several threads.  Gradients
// are recorded as eager would: where the caller has them on, and no block of
// the program turns them off.
//
// While a Tracer lives, fakes may be given in place of tensors and symbolic
// numbers in place of numbers: the program is then traced anew.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <memory>
#include <vector>

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

class Executable {
 public:
  explicit Executable(const Graph& graph);
  Executable(Executable&&) noexcept;
  ~Executable();

  // Called before each node, with its place in the graph.
  using StepHook = std::function<void(size_t node)>;

  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs,
                               const StepHook& before = {}) const;

  struct Step;  // see step.h

 private:
  // Results of the constant nodes, computed when first asked for.
  struct Constants;

  void find_uses(const Graph& graph);
  const Constants* constants() const;
  void compute_constants() const;

  std::vector<ValueId> inputs_;  // kNoOutput: a constant
  std::vector<Step> steps_;
  std::vector<Argument> outputs_;
  size_t value_count_ = 0;
  std::unique_ptr<Constants> constants_;  // null when there are none
};

}  // namespace proviso::inline v0_2
