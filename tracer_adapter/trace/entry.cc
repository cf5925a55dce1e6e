// export_program(): a trace of a C++ program from its examples to its end.
#include "tracer_adapter/trace/entry.h"

#include <utility>

#include "tracer_adapter/fake/asked_layout.h"
#include "tracer_adapter/trace/torch_state.h"

namespace proviso::inline v0_2 {

ExportedProgram export_program(const Program& program,
                               std::vector<at::Tensor> examples,
                               const ExportOptions& options) {
  return export_program(program, {}, {}, std::move(examples), options);
}

std::string input_name(const ExportOptions& options, size_t i, size_t count) {
  if (i < options.input_names.size()) return options.input_names[i];
  return count == 1 ? "x" : "x" + std::to_string(i);
}

void check_entry(const char* who, const Program& program,
                 const std::vector<at::Tensor>& examples,
                 const ExportOptions& options) {
  TORCH_CHECK_VALUE(program, "Proviso: ", who,
                    ": there is no program; give a function");
  TORCH_CHECK_VALUE(options.dynamic_shapes.size() <= examples.size(),
                    "Proviso: ", who, ": dynamic_shapes has ",
                    options.dynamic_shapes.size(), " entries for ",
                    examples.size(), " example inputs; give one a tensor");
  TORCH_CHECK_VALUE(options.input_names.size() <= examples.size(),
                    "Proviso: ", who, ": input_names has ",
                    options.input_names.size(), " entries for ",
                    examples.size(), " example inputs; give one a tensor");
}

std::vector<at::Tensor> add_inputs(Tracer& tracer,
                                   const std::vector<OwnedTensor>& parameters,
                                   const std::vector<OwnedTensor>& buffers,
                                   const std::vector<at::Tensor>& examples,
                                   const ExportOptions& options) {
  for (const OwnedTensor& p : parameters)
    tracer.add_parameter(p.name, p.tensor);
  for (const OwnedTensor& b : buffers) tracer.add_buffer(b.name, b.tensor);
  std::vector<at::Tensor> fakes;
  for (size_t i = 0; i < examples.size(); ++i)
    fakes.push_back(tracer.add_input(
        input_name(options, i, examples.size()), examples[i],
        i < options.dynamic_shapes.size() ? options.dynamic_shapes[i]
                                          : TensorDims{}));
  return fakes;
}

std::vector<c10::IValue> run_program(const Program& program,
                                     std::vector<at::Tensor> fakes) {
  const ProgramCode runs;
  std::vector<c10::IValue> outputs;
  for (at::Tensor& t : program(std::move(fakes))) outputs.emplace_back(t);
  return outputs;
}

ExportedProgram export_program(const Program& program,
                               const std::vector<OwnedTensor>& parameters,
                               const std::vector<OwnedTensor>& buffers,
                               std::vector<at::Tensor> examples,
                               const ExportOptions& options) {
  check_entry("export_program", program, examples, options);
  const TorchState state;
  Tracer tracer(options.shape_env);
  std::vector<at::Tensor> fakes =
      add_inputs(tracer, parameters, buffers, examples, options);
  return tracer.finish(run_program(program, std::move(fakes)));
}

}  // namespace proviso::inline v0_2
