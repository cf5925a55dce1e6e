#include "tracer_adapter/finish/finish.h"

#include <utility>

#include "tracer_adapter/finish/graph_writer.h"
#include "tracer_adapter/finish/metadata.h"
#include "tracer_adapter/finish/names.h"
#include "tracer_adapter/finish/ranges.h"
#include "tracer_adapter/trace/mode_blocks.h"

namespace proviso::inline v0_2 {

ExportedProgram finish_trace(const RecordedTrace& trace) {
  ShapeEnv& env = *trace.env;
  Graph& graph = trace.graph;
  ExportedProgram program;
  program.env = trace.env;
  program.runtime_asserts = env.runtime_asserts();

  outline_mode_blocks(graph, trace.modes[0],
                      {trace.modes, env.runtime_asserts(), trace.modules});
  GraphWriter writer(trace, graph, GraphRole::kProgram);
  writer.write();
  give_names(graph);
  writer.name_conditions();
  substitute_metadata(graph, GraphRole::kProgram, writer.asserted(), env);

  trace.inputs.give_tensors(program);
  program.range_constraints = range_constraints(graph, env);
  program.set_guards(env.minimal_guards());
  env.freeze();
  program.module_call_graph = writer.take_module_calls();
  program.graph = std::move(graph);
  return program;
}

}  // namespace proviso::inline v0_2
