// tracer_adapter/pt2/fx_names.h - the names that torch.fx gives to nodes.
//
//   FxNames names;
//   names.create("max");        // "max_1": max is Python's
//   names.create("split");      // "split"
//   names.create("split");      // "split_1"
//   names.create("a.b");        // "a_b"
//
// torch's loader makes up names for nodes that have none in the file
// (sub-graphs, lists of results, the output), and refuses a graph in which one
// of them is the name of a value.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace proviso::inline v0_2::pt2 {

class FxNames {
 public:
  // A name that no node has, as like `candidate` as possible.
  std::string create(std::string candidate);

 private:
  std::set<std::string> used_;
  std::map<std::string, uint64_t> counts_;  // the last number behind a name
};

// "aten.split.Tensor" -> "split.tensor": a candidate for a node that calls it.
std::string fx_name_of(std::string_view called);

// An identifier that Python reads as it stands, and no keyword: of letters,
// digits and '_'.  Letters that Python replaces (NFKC makes "fi" of a ligature)
// are none, nor are those of alphabets that combine theirs.
bool is_python_name(std::string_view name);

// What torch calls values of a graph: a name in ASCII that its code can use as
// a variable.
bool is_value_name(std::string_view name);

// A part of a dotted name of a tensor.  torch writes parts that are no
// identifiers into text between double quotes: getattr(self.layers, "0").
bool is_attribute_part(std::string_view part);

// Names of attributes that every torch.nn.Module has, and those that the module
// of an exported program has besides.
bool is_module_attribute(std::string_view name);
bool is_program_attribute(std::string_view name);

}  // namespace proviso::inline v0_2::pt2
