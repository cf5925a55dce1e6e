// tracer_adapter/trace/program_inputs.h - what a program takes: the tensors
// that it owns, then what its user gives.
//
//   ProgramInputs inputs;
//   inputs.own(InputKind::kParameter, "linear.weight", w, {}, id);
//   inputs.add(inputs.user_input("x", ""));       // guards call it L['x']
//   const std::string name = inputs.constant_name(t);
//   inputs.own(InputKind::kConstantTensor, name, t, {}, id2);
//   inputs.specs();          // p_linear_weight, c_lifted_tensor_0, x
//
// Protocol: values (ids) are the caller's.  A real tensor that a program reads
// is asked for by alias_of() first: `w.data` is the parameter w.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2 {

class ProgramInputs {
 public:
  // --- what the program owns
  // Names a parameter or buffer; throws where another has the name.
  void claim_target(const std::string& target);
  // The tensor is kept alive.  Throws where no program can read it.
  void own(InputKind kind, const std::string& target, const at::Tensor& tensor,
           std::optional<bool> persistent, ValueId id);
  // An owned tensor of t's memory, sizes, strides and dtype; null when there is
  // none.
  const at::Tensor* alias_of(const at::Tensor& t) const;
  // What t is called once it becomes a constant; else lifted_tensor_0, ...
  void name_constant(const std::string& name, const at::Tensor& t);
  std::string constant_name(const at::Tensor& t);

  // --- what its user gives
  // Guards call the input by its source, by default L['name']; throws where
  // another has it.
  InputSpec user_input(const std::string& name, const std::string& source);
  void add(InputSpec spec);

  // --- at the end
  // Parameters, buffers, constants, then the user's.
  std::vector<InputSpec> specs() const;
  // Into the state_dict and the constants, in the order of specs().
  void give_tensors(ExportedProgram& program) const;

 private:
  struct Owned {
    InputSpec spec;
    at::Tensor tensor;
  };
  std::vector<const Owned*> owned_in_order() const;

  std::vector<Owned> owned_;
  std::multimap<const void*, size_t> places_;  // in owned_, by their memory
  std::vector<InputSpec> user_inputs_;
  std::unordered_set<std::string> targets_, sources_;  // given so far
  std::unordered_map<const c10::TensorImpl*, std::string> constant_names_;
  int lifted_ = 0;
};

// Throws where no program can own the tensor: it is undefined or traced, it is
// more than strided memory (plain_tensor.h), or that is missing.
void check_owned(InputKind kind, const std::string& name, const at::Tensor& t);

}  // namespace proviso::inline v0_2
