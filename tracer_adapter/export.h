// tracer_adapter/export.h - a program in C++ becomes an ExportedProgram.
//
//   ExportedProgram ep = proviso::export_program(
//       [&](std::vector<at::Tensor> in) -> std::vector<at::Tensor> {
//         return {at::relu(in[0] + in[1])};
//       },
//       {x, y}, {.dynamic_shapes = {{Dim::automatic(), Dim::fixed()}, {}}});
//
// The program runs once, on tensors without values: every operator on any
// tensor of its thread is recorded, not executed.  Other threads go on as
// before.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "guards/shape_env.h"
#include "tracer_adapter/exported_program.h"

namespace proviso::inline v0_2 {

class Tracer;

// Specs of one dimension.
struct Dim {
  static DimConstraint automatic() { return {}; }
  static DimConstraint dynamic() {
    return {.policy = DimPolicy::kDynamic, .name = {}, .min = {}, .max = {}};
  }
  static DimConstraint fixed() {
    return {.policy = DimPolicy::kStatic, .name = {}, .min = {}, .max = {}};
  }
  static DimConstraint unbacked(std::optional<Int> min = {},
                                std::optional<Int> max = {}) {
    return {.policy = DimPolicy::kUnbacked,
            .name = {},
            .min = std::move(min),
            .max = std::move(max)};
  }
  static DimConstraint named(std::string name, std::optional<Int> min = {},
                             std::optional<Int> max = {}) {
    return {.policy = DimPolicy::kNamed,
            .name = std::move(name),
            .min = std::move(min),
            .max = std::move(max)};
  }
};
using TensorDims = std::vector<DimConstraint>;  // one a dimension

struct ExportOptions {
  // One a tensor; empty (or missing at the end) means every dim automatic.  An
  // entry must have as many dims as its tensor, or none for all automatic.
  std::vector<TensorDims> dynamic_shapes;
  std::vector<std::string> input_names;  // default x0, x1, ... (one input: x)
  ShapeEnvOptions shape_env;
};

// A tensor the program owns.
struct OwnedTensor {
  std::string name;  // linear.weight
  at::Tensor tensor;
};

using Program = std::function<std::vector<at::Tensor>(std::vector<at::Tensor>)>;
ExportedProgram export_program(const Program& program,
                               std::vector<at::Tensor> examples,
                               const ExportOptions& options = {});
ExportedProgram export_program(const Program& program,
                               const std::vector<OwnedTensor>& parameters,
                               const std::vector<OwnedTensor>& buffers,
                               std::vector<at::Tensor> examples,
                               const ExportOptions& options = {});

namespace internal {
template <typename Dict>
std::vector<OwnedTensor> owned(const Dict& dict) {
  std::vector<OwnedTensor> result;
  for (const auto& item : dict) result.push_back({item.key(), item.value()});
  return result;
}
template <typename M, size_t... I>
auto call_forward(M& module, std::vector<at::Tensor>& in,
                  std::index_sequence<I...>) {
  return module.forward(in[I]...);
}
inline std::vector<at::Tensor> as_vector(at::Tensor t) {
  return {std::move(t)};
}
inline std::vector<at::Tensor> as_vector(std::vector<at::Tensor> t) {
  return t;
}
template <typename... T>
std::vector<at::Tensor> as_vector(std::tuple<T...> t) {
  return std::apply([](auto... x) { return std::vector<at::Tensor>{x...}; }, t);
}
}  // namespace internal

// A torch::nn::Module with `forward(Tensor x Inputs)`:
//   export_module<2>(*model, {x, y});
template <size_t Inputs = 1, typename M>
ExportedProgram export_module(M& module, std::vector<at::Tensor> examples,
                              const ExportOptions& options = {}) {
  Program program = [&](std::vector<at::Tensor> in) {
    return internal::as_vector(
        internal::call_forward(module, in, std::make_index_sequence<Inputs>()));
  };
  return export_program(program, internal::owned(module.named_parameters()),
                        internal::owned(module.named_buffers()),
                        std::move(examples), options);
}

// --- in a program
// While it lives, what is recorded is of the mode that was on when it was made.
// Around a call of a torch::autograd::Function, whose forward runs without
// gradients, it makes the program differentiate that forward as any operators:
// the Function's own backward is no part of a program.  Nothing outside a
// trace.
class HeldMode {
 public:
  HeldMode();
  ~HeldMode();
  HeldMode(const HeldMode&) = delete;
  HeldMode& operator=(const HeldMode&) = delete;

 private:
  Tracer* tracer_;
  size_t depth_ = 0;  // of held modes around it
};

// Names the line of the operators after it, where debug information does not,
// and evaluates it:
//
//   y = PROVISO_LINE(x + 1);
#define PROVISO_LINE(...)                                            \
  (::proviso::mark_line(__FILE__, __LINE__, __func__, #__VA_ARGS__), \
   __VA_ARGS__)
void mark_line(const char* file, int line, const char* function,
               const char* code);

}  // namespace proviso::inline v0_2
