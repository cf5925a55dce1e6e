// tracer_adapter/run/step.h - one node of a graph, ready to run.
//
//   Executable::Step step = plan_step(graph, node);
//   step.dead = {4};                  // what nothing after it reads
//   run_step(step, slots, stack);     // its arguments from the slots, its
//                                     // results into them
//
// An operator is called by its kernel, arithmetic by a function of numbers
// (ir/sym_functions.h; symbolic_functions.h where one is symbolic), and an
// operator that takes sub-graphs by control_flow.h.  Sizes and assertions,
// which are many, go without the dispatcher.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tracer_adapter/ir/sym_functions.h"
#include "tracer_adapter/ir/value_kind.h"
#include "tracer_adapter/run/arguments.h"
#include "tracer_adapter/run/control_flow.h"
#include "tracer_adapter/run/executable.h"

namespace proviso::inline v0_2 {

struct Executable::Step {
  enum class Kind { kOperator, kFunction, kSize, kAssert, kHigherOrder };
  Kind kind = Kind::kOperator;
  std::optional<c10::OperatorHandle> op;
  SymFunction function = nullptr;
  std::string target;
  std::vector<ArgumentPlan> args;
  std::vector<Node::Output> outputs;
  std::vector<ValueKind> kinds;  // by output that is no list
  // Given by who knows the other steps:
  std::vector<ValueId> reads;
  std::vector<ValueId> dead;  // not read after this step
  // kHigherOrder: its sub-graphs; `args` are the others, lists as kMixed.
  ControlFlow control = nullptr;
  std::vector<Executable> graphs;
};

// Throws where the graph calls what is not known.
Executable::Step plan_step(const Graph& graph, const Node& node);

enum class Keep { kAll, kWhatIsRead };  // of the values in the slots

// Throws where a result is not what the graph says it is.  `stack` is scratch.
void run_step(const Executable::Step& step, Slots& slots, c10::Stack& stack,
              Keep keep = Keep::kWhatIsRead);

}  // namespace proviso::inline v0_2
