// tracer_adapter/trace/sub_graph.h - the bodies of cond, map, while_loop and
// scan.
//
//   tracer.begin_sub_graph("the true branch of cond");
//   at::Tensor y = x.sin();                        // recorded in the sub-graph
//   SubGraph branch = tracer.end_sub_graph({y});
//   branch.captured;                               // {x}
//   record_higher_order(tracer, "cond", {pred, branch, other, operands}, outs);
//
// A sub-graph reads tensors of the program around it as inputs of its own; it
// writes to none.  Symbolic sizes are those of the program: finish() passes
// the ones that no input of the sub-graph has as further inputs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {

struct SubGraph {
  // Inputs: the operands that were added, then what was captured.
  std::shared_ptr<Graph> graph;
  size_t operand_count = 0;
  std::vector<at::Tensor> captured;  // tensors of the scope around
  std::vector<c10::IValue> outputs;  // as given, for their metadata
};

// Makes the sub-graphs of one operator capture the same tensors in the same
// order; returns them.
std::vector<at::Tensor> join_captures(Tracer& tracer,
                                      const std::vector<SubGraph*>& subs);

// An argument of a higher-order operator: a sub-graph, a list, or one value.
using HigherOrderArgument =
    std::variant<SubGraph, std::vector<c10::IValue>, c10::IValue>;

// Records torch.ops.higher_order.<name>.  `graph_names` ("true_graph") name the
// sub-graphs, in order.  `outputs` are fakes and symbolic numbers made by the
// caller.
void record_higher_order(Tracer& tracer, const std::string& name,
                         const std::vector<std::string>& graph_names,
                         const std::vector<HigherOrderArgument>& args,
                         const std::vector<c10::IValue>& outputs);

// What the tracer sets aside while a sub-graph is recorded.
struct SubGraphScope {
  std::string what;
  std::unique_ptr<SubGraphScope> outer;
  GraphRecording around;
  // --- of the sub-graph itself
  size_t operand_count = 0;
  std::vector<at::Tensor> captured;
  std::map<std::pair<uint64_t, ValueId>, ValueId> captures;
  std::unordered_set<const c10::StorageImpl*> foreign;  // not to be written
  size_t first_assert = 0;
  Nesting nesting;  // at its beginning
  Mode mode;        // that it runs in
};

}  // namespace proviso::inline v0_2
