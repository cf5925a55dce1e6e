// A stranger's program over the installed tracer.
#include <ATen/ATen.h>
#include <proviso/tracer_adapter/tracer.h>

#include <iostream>
#include <vector>

int main() {
  const proviso::ExportedProgram program = proviso::export_program(
      [](std::vector<at::Tensor> in) -> std::vector<at::Tensor> {
        return {at::cat({in[0], in[0]})};
      },
      {at::randn({3, 2})},
      {.dynamic_shapes = {{proviso::Dim::automatic(), proviso::Dim::fixed()}}});
  std::cout << program.to_string();
}
