// tracer_adapter/exported_program.h - what an export gives: the graph, what its
// inputs are, the tensors it owns, and what must hold for its inputs.
//
//   ExportedProgram ep = export_program(f, {x, y});
//   std::cout << ep.to_string();
//   ep.guards();               // Eq(s1, s2)   model.cc:12
//   auto run = ep.module();    // checks inputs and guards, then runs
//   run({x2, y2});
//   ep.save("model.pt2");      // torch.export.load reads it
//
// A value type; copies share tensors and symbols.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guards/shape_env.h"
#include "tracer_adapter/ir/graph.h"
#include "tracer_adapter/ir/graph_signature.h"

namespace proviso::inline v0_2 {

class Module;

// A symbol or input expression and the range that it must lie in.
struct RangeConstraint {
  Expr expr;
  Interval range;
};

// How the flat inputs and outputs nest; opaque to the C++ side (torch.export's
// treespec JSON and Python names).  Empty means: a tuple of tensors.
struct TreeSpecs {
  std::string in_spec;
  std::string out_spec;
  std::vector<std::string> argument_names;
};

// How a call of a module took and gave its values, where that was to be kept.
struct ModuleCallSignature {
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::string in_spec;  // as in TreeSpecs
  std::string out_spec;
};
// A module of the traced program, by its name; later calls are name@1, ...
struct ModuleCallEntry {
  std::string fqn;
  std::optional<ModuleCallSignature> signature;
};

// In the order of the graph's inputs.
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

class ExportedProgram {
 public:
  // --- contents
  std::shared_ptr<ShapeEnv> env;  // owns every Expr below
  Graph graph;
  NamedTensors state_dict;
  // Lifted constants and non-persistent buffers.
  NamedTensors constants;
  std::vector<RangeConstraint> range_constraints;
  std::vector<RuntimeAssert> runtime_asserts;
  TreeSpecs specs;
  // The modules of the program, without itself.
  std::vector<ModuleCallEntry> module_call_graph;
  // torch.save((args, kwargs)) of the examples, for save(); may be empty.
  std::string sample_inputs;
  // What was traced, for printing: "model" of "model.cc".
  std::string name;
  // The form that torch's verifier checks: TRAINING, or ATEN when functional.
  std::string dialect = "TRAINING";

  // --- views
  const std::vector<InputSpec>& input_specs() const { return graph.inputs; }
  const std::vector<OutputSpec>& output_specs() const { return graph.outputs; }
  // The guards on inputs, implied ones dropped, in order of recording.
  const std::vector<Guard>& guards() const { return guards_; }
  // {"L['x'].size()[0] == L['y'].size()[1]", ...}
  std::vector<std::string> guards_code() const;
  // All that is checked of sizes and integers, as guards_code() writes it:
  // constants, equal sizes, ends of ranges, then the guards.
  std::vector<std::string> conditions_code() const;
  ExportGraphSignature graph_signature() const;
  // The tensors themselves: to train them is to change the program's.
  NamedTensors named_parameters() const;
  NamedTensors named_buffers() const;  // also those that are not persistent
  std::vector<at::Tensor> parameters() const;
  std::vector<at::Tensor> buffers() const;
  // The tensor of an input that is a parameter, buffer or constant.
  const at::Tensor& tensor_of(const InputSpec& input) const;

  // --- text
  std::string to_string() const;
  std::string signature_to_string() const;  // # inputs .. # outputs ..
  std::string signature_repr() const;       // ExportGraphSignature(input_specs=
  std::string range_constraints_to_string() const;  // {s0: VR[0, int_oo]}

  // --- use
  Module module() const;
  // Writes a .pt2 archive.  Throws an error naming the path.
  void save(const std::string& path) const;

  // Throws ValueError where the program is not of the form: "training" (all is
  // allowed), "functional" (nothing is written in place) or "core" (functional,
  // and core ATen operators alone).  Without a form: what `dialect` promises.
  void verify(const std::string& form = "") const;

  void set_guards(std::vector<Guard> guards) { guards_ = std::move(guards); }

 private:
  NamedTensors owned(InputKind kind) const;

  std::vector<Guard> guards_;
};

// Runs an exported program on real tensors.  Thread-safe: calls share nothing.
class Module {
 public:
  explicit Module(ExportedProgram program);

  // Checks count, rank, dtype, device and the guards; throws an error naming
  // the input dimension and the condition ("Guard failed: x.size()[0] ==
  // y.size()[1]: x.size()[0] is 5 and y.size()[1] is 4").
  std::vector<at::Tensor> operator()(std::vector<at::Tensor> inputs) const;
  // The same for inputs and outputs that are not all tensors.
  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs) const;
  // Without the checks.
  std::vector<c10::IValue> run_unchecked(std::vector<c10::IValue> inputs) const;
  void check(const std::vector<c10::IValue>& inputs) const;

  const ExportedProgram& program() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace proviso::inline v0_2
