// tracer_adapter/ir/owned_tensors.h - the tensors of a program by name, each
// found in one step.
//
//   const OwnedTensors owned(program);
//   for (const InputSpec& input : program.graph.inputs)
//     if (input.kind != InputKind::kUserInput) use(owned.of(input));
#pragma once

#include <string_view>
#include <unordered_map>

#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2 {

class OwnedTensors {
 public:
  // Of the program's tensors as they are now; it must outlive this.
  explicit OwnedTensors(const ExportedProgram& program);

  // Of an input that is a parameter, buffer or constant.  Throws where the
  // program has no tensor of that name.
  const at::Tensor& of(const InputSpec& input) const;

  bool in_state(std::string_view name) const { return state_.contains(name); }
  bool in_constants(std::string_view name) const {
    return constants_.contains(name);
  }

 private:
  using ByName = std::unordered_map<std::string_view, const at::Tensor*>;
  static ByName by_name(const NamedTensors& tensors);

  const ByName state_, constants_;
};

}  // namespace proviso::inline v0_2
