// tracer_adapter/rerun/retrace.h - what the operators of a program need of its
// inputs, found anew from the graph alone.
//
//   Retrace needs = retrace(program);      // of a .pt2, say
//   needs.requirements;                    // Eq(s0, s1), model.py:12
//   Trial trial = try_sizes(program, point);
//   trial.kind;                            // kRefused: "add: The size of .."
//
// The graph runs on fake tensors whose every symbolic size is a symbol of its
// own: no guard, range or equation of the program is believed.  Nothing is
// computed, so a program that is not trusted may be given.
#pragma once

#include <string>
#include <vector>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2 {

// A condition over the program's symbols, and the places that need it.
struct NeededCondition {
  Expr condition;
  std::vector<SourceLocation> origins;
};

struct Retrace {
  // Together they suffice for the program to run as it was traced, sizes 0 and
  // 1 included.
  std::vector<NeededCondition> requirements;
  // What the program asserts of its inputs by itself when it runs.
  std::vector<Expr> asserted;
  // "node 3 (aten.view.default): ..." where the trace ended before the program
  // did; empty when it did not.  The requirements are then those so far.
  std::string problem;
};
Retrace retrace(const ExportedProgram& program);

// What the operators do with inputs of one size.
struct Trial {
  enum class Kind {
    kRuns,     // all of them take it, and give the sizes that the program says
    kRefused,  // one does not
    kOpen,     // it depends on data, or a size is not given
  };
  Kind kind = Kind::kOpen;
  std::string why;  // "add: The size of tensor a (2) must match ..."
};
// A value for every symbol of the inputs.
Trial try_sizes(const ExportedProgram& program, const Assignment& sizes);
// The same at the sizes of these inputs, which the program accepts.
Trial try_inputs(const ExportedProgram& program,
                 const std::vector<c10::IValue>& inputs);

}  // namespace proviso::inline v0_2
