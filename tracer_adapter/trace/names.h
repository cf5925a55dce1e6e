// tracer_adapter/trace/names.h - the names of a graph, made as torch.fx makes
// them.
//
//   Names names;
//   names.fresh("add");   // add
//   names.fresh("add");   // add_1
//   names.fresh("sum");   // sum_1: a Python builtin's name is never given
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace proviso::inline v0_2 {

class Names {
 public:
  std::string fresh(std::string wish);

 private:
  std::unordered_set<std::string> used_;
  // The last suffix given to a base name.
  std::unordered_map<std::string, int> counts_;
};

}  // namespace proviso::inline v0_2
