// tracer_adapter/trace/entry.h - how the traces of C++ programs begin.
#pragma once

#include "tracer_adapter/export.h"
#include "tracer_adapter/trace/tracer.h"

namespace proviso::inline v0_2 {

// What a program of C++ owns and takes, given to a tracer: the fakes to call it
// with.
std::vector<at::Tensor> add_inputs(Tracer& tracer,
                                   const std::vector<OwnedTensor>& parameters,
                                   const std::vector<OwnedTensor>& buffers,
                                   const std::vector<at::Tensor>& examples,
                                   const ExportOptions& options);

// What the program gives for these fakes; its own code runs (ProgramCode).
std::vector<c10::IValue> run_program(const Program& program,
                                     std::vector<at::Tensor> fakes);

// Errors for malformed arguments of `who`.
void check_entry(const char* who, const Program& program,
                 const std::vector<at::Tensor>& examples,
                 const ExportOptions& options);

// What the i-th input is called.
std::string input_name(const ExportOptions& options, size_t i, size_t count);

}  // namespace proviso::inline v0_2
