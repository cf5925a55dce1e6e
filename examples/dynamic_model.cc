// The tutorial's DynamicModel, every dimension automatic: what it takes to
// export a torch::nn::Module from C++, and all that comes out.
//
//   build/bin/example_dynamic_model [OUT.pt2 [CASES.pt]]
//
// Writes the program to OUT.pt2 and eager inputs and outputs at other sizes to
// CASES.pt, so that another process can check the one against the other.
#include <ATen/ATen.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>

#include "sym/print.h"
#include "tracer_adapter/export.h"

namespace {

using at::Tensor;
using proviso::ExportedProgram;
using proviso::ExportOptions;

struct DynamicModel : torch::nn::Module {
  DynamicModel() : l(register_module("l", torch::nn::Linear(5, 3))) {}

  std::tuple<Tensor, Tensor> forward(Tensor w, Tensor x, Tensor y, Tensor z) {
    Tensor x0 = PROVISO_LINE(x + y);          // [8, 4]
    Tensor x1 = PROVISO_LINE(l->forward(w));  // [6, 3]
    Tensor x2 = PROVISO_LINE(x0.flatten());   // [32]
    Tensor x3 = PROVISO_LINE(x2 + z);         // [32]
    return {x1, x3};
  }

  torch::nn::Linear l;
};

std::vector<Tensor> inputs_of(int64_t batch, int64_t columns, int64_t rows) {
  return {at::randn({batch, 5}), at::randn({columns}),
          at::randn({rows, columns}), at::randn({rows * columns})};
}

std::vector<Tensor> eager(DynamicModel& model, const std::vector<Tensor>& in) {
  auto [x1, x3] = model.forward(in[0], in[1], in[2], in[3]);
  return {x1, x3};
}

ExportedProgram trace(DynamicModel& model, const std::vector<Tensor>& in) {
  ExportOptions options;
  options.input_names = {"w", "x", "y", "z"};
  return proviso::export_module<4>(model, in, options);
}

// Median of several, the first (which loads what is loaded once) left out.
double tracing_microseconds(DynamicModel& model) {
  using Clock = std::chrono::steady_clock;
  const std::vector<Tensor> in = inputs_of(6, 4, 8);
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    auto start = Clock::now();
    trace(model, in);
    std::chrono::duration<double, std::micro> time = Clock::now() - start;
    times.push_back(time.count());
  }
  std::sort(times.begin() + 1, times.end());
  return times[1 + (times.size() - 1) / 2];
}

void print_symbols(const ExportedProgram& program) {
  for (const proviso::ShapeEvent& event : program.env->events())
    if (event.kind == "create_symbol")
      std::cout << "  symbol   " << event.text.substr(event.text.find(' ') + 1)
                << '\n';
}

void print_guards(const ExportedProgram& program) {
  for (const proviso::Guard& guard : program.guards()) {
    std::cout << "  guard    " << to_string(guard.condition);
    if (!guard.origins.empty())
      std::cout << "   " << guard.origins[0].to_string();
    std::cout << '\n';
  }
}

void print_results(const ExportedProgram& program) {
  std::cout << "  results ";
  for (const proviso::OutputSpec& output : program.output_specs())
    if (const auto* ref = output.arg.get<proviso::ValueRef>())
      std::cout << ' ' << program.graph.annotation(ref->id);
  std::cout << "\n  ranges   " << program.range_constraints_to_string() << '\n';
}

void print_head(const ExportedProgram& program, int lines) {
  std::istringstream text(program.to_string());
  std::string line;
  std::getline(text, line);  // ExportedProgram:
  while (lines > 0 && std::getline(text, line)) {
    if (line.find_first_not_of(' ') == std::string::npos) continue;
    if (line.size() > 114) line = line.substr(0, 111) + "...";
    std::cout << "  | " << line.substr(4) << '\n';
    --lines;
  }
}

bool equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!at::allclose(a[i], b[i])) return false;
  return true;
}

// Our interpreter against eager at other sizes; the pairs go to `path`.
bool check_other_sizes(DynamicModel& model, const ExportedProgram& program,
                       const std::string& path) {
  proviso::Module run = program.module();
  c10::impl::GenericList cases(c10::AnyType::get());
  bool all_equal = true;
  const std::vector<std::array<int64_t, 3>> sizes = {
      {6, 4, 8}, {2, 3, 5}, {17, 9, 2}, {64, 31, 33}};
  for (const auto& [batch, columns, rows] : sizes) {
    std::vector<Tensor> in = inputs_of(batch, columns, rows);
    std::vector<Tensor> out = eager(model, in);
    all_equal = all_equal && equal(run(in), out);
    cases.push_back(
        c10::ivalue::Tuple::create({c10::IValue(in), c10::IValue(out)}));
  }
  if (!path.empty()) {
    std::vector<char> bytes = torch::jit::pickle_save(c10::IValue(cases));
    std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
  }
  std::cout << "  module() " << (all_equal ? "equals" : "DIFFERS FROM")
            << " eager at " << sizes.size() << " sizes\n";
  return all_equal;
}

// x has 5 elements where y has 4 columns.
bool check_refused(const ExportedProgram& program) {
  std::vector<Tensor> in = inputs_of(6, 4, 8);
  in[1] = at::randn({5});
  try {
    program.module()(in);
  } catch (const std::exception& error) {
    std::string text = error.what();
    std::cout << "  refused  x[5]: " << text.substr(0, text.find('\n')) << '\n';
    return text.find("x.size()[0]") != std::string::npos;
  }
  std::cout << "  NOT REFUSED: x[5] with y[8, 4]\n";
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  at::manual_seed(0);
  at::NoGradGuard no_grad;
  DynamicModel model;
  try {
    ExportedProgram program = trace(model, inputs_of(6, 4, 8));
    print_symbols(program);
    print_guards(program);
    print_results(program);
    print_head(program, 8);
    bool good = check_other_sizes(model, program, argc > 2 ? argv[2] : "");
    good = check_refused(program) && good;
    if (argc > 1) program.save(argv[1]);
    std::cout << "  traced   " << tracing_microseconds(model) << " us\n";
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "example_dynamic_model: " << error.what() << '\n';
    return 3;
  }
}
