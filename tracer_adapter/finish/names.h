// tracer_adapter/finish/names.h - the names of a graph, made as torch.fx makes
// them.
//
//   Names names;
//   names.fresh("add");   // add
//   names.fresh("add");   // add_1
//   names.fresh("sum");   // sum_1: a Python builtin's name is never given
//
//   give_names(graph);    // of inputs (x, p_weight), nodes (add, getitem) and
//                         // sub-graphs (true_graph_0), whose inputs are called
//                         // as the operands are
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "tracer_adapter/ir/graph.h"

namespace proviso::inline v0_2 {

class Names {
 public:
  std::string fresh(std::string wish);

 private:
  std::unordered_set<std::string> used_;
  // The last suffix given to a base name.
  std::unordered_map<std::string, int> counts_;
};

// Of all values and nodes, also in sub-graphs.
void give_names(Graph& graph);

}  // namespace proviso::inline v0_2
