// A stranger's program over the installed tracer.
#include <ATen/ATen.h>
#include <proviso/tracer_adapter/export.h>
#include <proviso/tracer_adapter/pt2/program_reader.h>
#include <proviso/tracer_adapter/run/checked_calls.h>

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
  try {
    (void)proviso::pt2::load_program("nothing.pt2");
    return 1;
  } catch (const proviso::Error& e) {
    std::cout << e.what() << '\n';
  }
}
