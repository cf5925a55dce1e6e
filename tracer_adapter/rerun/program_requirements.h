// tracer_adapter/rerun/program_requirements.h - what a program of C++ requires
// of the sizes of its inputs.
//
//   ProgramRequirements r = module_requirements<2>(*model, {x, y});
//   r.conditions[0].text;  // "x0.size(1) >= 2": the least set
//   r.proved;              // no more is asked, whatever the sizes
//   r.for_torch.conditions;
//
// One trace with the example's sizes answers every question; requirements()
// (guards/requirements.h) says plainly what the answers need.  A second trace,
// whose sizes are unbacked and which knows nothing but that, is the proof.
#pragma once

#include "guards/requirements.h"
#include "guards/torch_form.h"
#include "tracer_adapter/export.h"

namespace proviso::inline v0_2 {

// A question about data, answered as the example does.
struct DataQuestion {
  std::string text;  // "u0 > 20", or an integer: "u0//2"
  Int answer;        // 1 or 0 of a condition
};

struct ProgramRequirements : Requirements {
  // Sizes of the example, for which all conditions hold.
  Assignment witness;
  std::vector<DataQuestion> of_data;
  // Whether the trace without example sizes asked nothing else; else what.
  bool proved = false;
  std::string why_not;
  TorchForm for_torch;
  // Traced with the example; its ShapeEnv owns every Expr here.
  ExportedProgram program;
};

// Of `program` at the examples, as export_program() takes them.  The policies
// in options.dynamic_shapes do not matter but for kStatic, nor does its
// specialize_zero_one: sizes that may vary are first automatic, then unbacked;
// ranges are kept.  Throws what export_program() throws, DataDependentError
// only where the example does not tell the answer.
ProgramRequirements program_requirements(
    const Program& program, const std::vector<OwnedTensor>& parameters,
    const std::vector<OwnedTensor>& buffers,
    const std::vector<at::Tensor>& examples, const ExportOptions& options = {});
ProgramRequirements program_requirements(
    const Program& program, const std::vector<at::Tensor>& examples,
    const ExportOptions& options = {});

// Of a torch::nn::Module with `forward(Tensor x Inputs)`.
template <size_t Inputs = 1, typename M>
ProgramRequirements module_requirements(M& module,
                                        const std::vector<at::Tensor>& examples,
                                        const ExportOptions& options = {}) {
  const Program program = [&](std::vector<at::Tensor> in) {
    return internal::as_vector(
        internal::call_forward(module, in, std::make_index_sequence<Inputs>()));
  };
  return program_requirements(
      program, internal::owned(module.named_parameters()),
      internal::owned(module.named_buffers()), examples, options);
}

}  // namespace proviso::inline v0_2
