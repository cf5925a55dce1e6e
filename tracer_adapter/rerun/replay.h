// tracer_adapter/rerun/replay.h - a recorded program, run again in another
// trace.
//
//   Replay replay(tracer, program);
//   std::vector<at::Tensor> inputs = replay.add_inputs(examples);
//   std::vector<c10::IValue> outputs = replay.run(values);
//
// Sizes are asked anew: the guards of the program are guards of the new trace,
// symbols read from data are read again.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracer_adapter/exported_program.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {

// Expressions of one ShapeEnv as those of another.
class Translation {
 public:
  explicit Translation(ShapeEnv& to) : to_(to) {}

  // The symbol is this expression now; the first that is said counts.
  void bind(Expr symbol, Expr now) { symbols_.emplace(symbol, now); }
  bool knows(Expr symbol) const { return symbols_.contains(symbol); }
  // Throws an error naming a symbol that is not bound.
  Expr operator()(Expr e) const;

 private:
  Expr of_parts(Expr e) const;

  ShapeEnv& to_;
  std::unordered_map<Expr, Expr, ExprHash> symbols_;
  mutable std::unordered_map<Expr, Expr, ExprHash> made_;
};

// Tensors of the sizes of the program's examples, without their contents; one a
// user input that is a tensor.  To be made before the tracer is.
std::vector<at::Tensor> blank_examples(const ExportedProgram& program);

// The tensors of a replay may be wrapped ones, of which the tracer knows what
// is inside.
struct Wrapping {
  using Change = std::function<c10::IValue(const c10::IValue&)>;
  Change wrap = [](const c10::IValue& value) { return value; };
  Change unwrap = wrap;
};

class Replay {
 public:
  Replay(Tracer& tracer, const ExportedProgram& program, Wrapping wrapping = {})
      : tracer_(tracer),
        program_(program),
        wrapping_(std::move(wrapping)),
        now_(tracer.env()) {}

  // Tells the tracer the inputs and what they must satisfy; gives a value for
  // each of the graph's.
  std::vector<c10::IValue> add_inputs(const std::vector<at::Tensor>& examples);
  // Each value of `inputs`, as it is or in a wrapper, is an input of the graph.
  std::vector<c10::IValue> run(const std::vector<c10::IValue>& inputs);
  // Called by a program that is being traced, with values of its own, which
  // satisfy what the inputs must.
  std::vector<c10::IValue> call(const std::vector<c10::IValue>& values);

 private:
  using Values = std::vector<c10::IValue>;
  struct Scope {
    const Graph& graph;
    Values values;  // by ValueId
  };

  c10::IValue add_user_input(const InputSpec& input, const Graph& graph,
                             const at::Tensor* example);
  void tell_guards();

  Values run(const Graph& graph, const Values& inputs);
  void run(const Node& node, Scope& scope);
  void run_operator(const Node& node, Scope& scope);
  void run_assertion(const Node& node, Scope& scope);
  void run_block(const Node& node, Scope& scope);
  void run_control_flow(const Node& node, Scope& scope);
  c10::IValue operand(const GraphValue& value);
  c10::IValue result(const GraphValue& value);
  void store(const Node& node, const Values& results, Scope& scope);
  void learn(const GraphValue& before, const c10::IValue& now);
  c10::IValue number(Expr e) const;
  c10::IValue argument(const Argument& a, const c10::Type& formal,
                       const Scope& scope) const;
  c10::IValue list(const ListArgument& items, const c10::Type& element,
                   const Scope& scope) const;
  c10::IValue value(const Argument& a, const Scope& scope) const;
  std::vector<c10::SymInt> sizes(const std::vector<Expr>& exprs) const;
  Values plain(const Values& values) const;

  Tracer& tracer_;
  const ExportedProgram& program_;
  Wrapping wrapping_;
  Translation now_;
};

}  // namespace proviso::inline v0_2
