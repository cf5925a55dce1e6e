// tracer_adapter/finish/finish.h - the end of a trace: what was recorded
// becomes a program.
//
//   recorded   view(x, [2*s0, 8])          x: f32[s0, 16], Eq(s1, s0)
//   program    sym_size_int = sym_size.int(x, 0)
//              mul = sym_size_int * 2
//              view = view(x, [mul, 8])
//
// A step each, in the order of finish_trace():
//
//   mode_blocks (trace/)   nodes of another mode become a block
//   graph_writer           the graph rewritten, node by node, by means of
//     symbol_uses            which symbols are read
//     lifted_symbols         which of them a sub-graph gets from outside
//     symbol_bindings        which value gives a symbol
//     expr_expander          an expression as nodes (legal_form: in operators
//                            that readers have)
//     deferred_asserts       runtime assertions, as early as may be
//     node_builder           nodes, in their order
//   names                  of inputs, nodes and sub-graphs
//   metadata               what is known at the end (input_sizes: of inputs)
//   ranges                 what is promised of symbols
//
// The order is a contract.  Blocks come first, for their bodies are sub-graphs
// as any.  Bindings read the metadata as it was recorded, so it is substituted
// later.  Messages of assertions quote names.  Guards come last but for
// freeze(): everything before may ask the ShapeEnv.
#pragma once

#include <memory>

#include "tracer_adapter/exported_program.h"
#include "tracer_adapter/trace/mode_stack.h"
#include "tracer_adapter/trace/module_stacks.h"
#include "tracer_adapter/trace/program_inputs.h"
#include "tracer_adapter/trace/source_stacks.h"
#include "tracer_adapter/trace/trace_asserts.h"

namespace proviso::inline v0_2 {

// What a Tracer has when the program has run.
struct RecordedTrace {
  std::shared_ptr<ShapeEnv> env;
  Graph& graph;  // with its inputs and outputs
  const ProgramInputs& inputs;
  const TraceAsserts& asserts;
  const ModeStack& modes;
  ModuleStacks& modules;
  const SourceStacks& stacks;
};

// Takes the graph.  The ShapeEnv is frozen: a size that the program has kept
// adds no guard any more.
ExportedProgram finish_trace(const RecordedTrace& trace);

}  // namespace proviso::inline v0_2
