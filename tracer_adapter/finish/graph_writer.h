// tracer_adapter/finish/graph_writer.h - a recorded graph, written as a program
// has it: no argument is an expression any more, and what must hold is
// asserted.
//
//   recorded                        written
//   x: f32[s0]                      x: f32[s0]
//                                   sym_size_int = sym_size.int(x, 0)
//   n = item(y): u0                 n = item(y)
//                                   ge = n >= 2
//                                   _assert_scalar(ge, "..")
//                                   mul = sym_size_int * n
//   v = expand(x, [u0*s0])          v = expand(x, [mul])
//
// In order of the recorded nodes, for each:
//   sub-graphs    what they read becomes operands (LiftedSymbols); each is
//                 written by a GraphWriter of its own
//   arguments     expressions become values (ExprExpander)
//   the node      as it was recorded
//   its values    give symbols (SymbolBindings)
//   assertions    those that speak of known symbols alone (DeferredAsserts)
//
// Protocol: write(), which is all for the nodes; once all graphs have names,
// name_conditions().
#pragma once

#include <memory>
#include <vector>

#include "tracer_adapter/exported_program.h"
#include "tracer_adapter/finish/deferred_asserts.h"
#include "tracer_adapter/finish/expr_expander.h"
#include "tracer_adapter/finish/finish.h"
#include "tracer_adapter/finish/lifted_symbols.h"
#include "tracer_adapter/finish/metadata.h"
#include "tracer_adapter/finish/node_builder.h"
#include "tracer_adapter/finish/symbol_bindings.h"
#include "tracer_adapter/finish/symbol_uses.h"

namespace proviso::inline v0_2 {

class GraphWriter {
 public:
  // The trace and the graph outlive it.
  GraphWriter(const RecordedTrace& trace, Graph& graph, GraphRole role);

  void write();
  // In the messages of assertions, also those of sub-graphs.
  void name_conditions() const;

  // The equalities that nodes of this graph assert.
  const ExprSet& asserted() const { return asserts_.equalities(); }
  // What calls of modules get and give, where that was noted.
  std::vector<ModuleCallEntry> take_module_calls() {
    return std::move(module_calls_);
  }

 private:
  void write(Node& node);  // which is moved from
  void write_sub_graphs(Node& node);
  void expand(Argument& a);
  void keep_module_call(Node marker);

  const RecordedTrace& trace_;
  Graph& graph_;
  NodeBuilder builder_;
  ExprExpander expander_;
  DeferredAsserts asserts_;
  const LiftedSymbols lifted_;
  const SymbolUses uses_;
  SymbolBindings bindings_;
  std::vector<std::unique_ptr<GraphWriter>> sub_graphs_;
  std::vector<ModuleCallEntry> module_calls_;
  std::vector<ValueId> defined_;  // by the node that was written last
};

}  // namespace proviso::inline v0_2
