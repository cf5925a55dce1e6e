// proviso-pt2 show|check|run [--allow=OPERATOR...] [--loop-steps=N] FILE.pt2
// ...: the half of the command that needs LibTorch.  `proviso show`, `check`
// and `run` become it.
#include <ATen/core/grad_mode.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <iostream>
#include <sstream>

#include "cli/torch_pt2/claims.h"
#include "cli/torch_pt2/contained.h"
#include "cli/torch_pt2/value_file.h"
#include "tracer_adapter/ir/printable.h"
#include "tracer_adapter/pt2/program_reader.h"
#include "tracer_adapter/run/checked_calls.h"
#include "tracer_adapter/run/control_flow.h"
#include "tracer_adapter/run/example_inputs.h"

namespace proviso::cli {
namespace {

enum ExitCode { kGood = 0, kDefects = 1, kUnknown = 2 };  // and kTrouble

using pt2::AllowedOperators;

struct Options {
  AllowedOperators allowed;
  uint64_t loop_steps = 100'000;  // of while_loops that a file runs
};

int show(const std::string& path, const AllowedOperators& allowed) {
  const pt2::LoadedProgram loaded = pt2::load_program(path, allowed);
  std::cout << printable(loaded.program.to_string());
  std::cout << "    Guards:\n";
  for (const std::string& guard : loaded.program.guards_code())
    std::cout << "        " << escaped(guard) << "\n";
  std::cout << "    Written by: torch " << escaped(loaded.torch_version)
            << "\n";
  return kGood;
}

int check(const std::string& path, const AllowedOperators& allowed) {
  const pt2::LoadedProgram loaded = pt2::load_program(path, allowed);
  const Retrace traced = retrace(loaded.program);
  const Claims claims = claims_of(loaded, traced);
  int defects = 0;
  for (const Finding& f :
       judge(claims, traced.requirements, [&](const Assignment& sizes) {
         return try_sizes(loaded.program, sizes);
       })) {
    std::cout << f.kind << std::string(10 - f.kind.size(), ' ')
              << printable(f.text);
    if (!f.because.empty()) std::cout << "   (" << printable(f.because) << ")";
    std::cout << "\n";
    defects += f.is_defect();
  }
  const bool ended = traced.problem.empty();
  if (!ended)
    std::cout << "not traced to its end: " << printable(traced.problem) << "\n";
  std::cout << loaded.program.graph.nodes.size() << " nodes verified, "
            << claims.guards.size() << " guards, " << defects
            << (defects == 1 ? " defect" : " defects")
            << (ended ? "\n" : " found; the rest is not known\n");
  return defects > 0 ? kDefects : ended ? kGood : kUnknown;
}

std::vector<std::string> input_names(const ExportedProgram& program) {
  std::vector<std::string> names;
  for (const InputSpec& input : program.graph.inputs)
    if (input.kind == InputKind::kUserInput) names.push_back(input.name);
  return names;
}

void describe(const c10::IValue& value) {
  if (!value.isTensor()) {
    std::ostringstream text;
    text << value;
    std::cout << printable(text.str()) << "\n";
    return;
  }
  const at::Tensor& t = value.toTensor();
  std::cout << short_name(t.scalar_type()) << t.sizes();
  if (t.is_floating_point() && t.numel() > 0) {
    // float8 has no mean
    const at::Tensor wide = t.element_size() > 1 ? t : t.to(at::kFloat);
    std::cout << "  mean " << wide.mean().item<double>();
  }
  std::cout << "\n";
}

// The shape functions look at every call before a kernel does.
void check_calls(const std::string& path, const ExportedProgram& program,
                 const std::vector<c10::IValue>& inputs) {
  const Trial trial = try_inputs(program, inputs);
  TORCH_CHECK(trial.kind != Trial::Kind::kRefused, path, ": ", trial.why);
}

int run(const std::vector<std::string>& words, const Options& options) {
  const LoopSteps steps(options.loop_steps);
  const pt2::LoadedProgram loaded =
      pt2::load_program(words[0], options.allowed);
  const std::vector<c10::IValue> inputs =
      words.size() > 1 ? read_values(words[1], input_names(loaded.program))
                       : example_inputs(loaded.program);
  const Module module = loaded.program.module();
  module.check(inputs);
  check_calls(words[0], loaded.program, inputs);
  const CheckedCalls checked(options.allowed);  // what hung on data until now
  const at::NoGradGuard no_grad;  // of what the graph's blocks did without
  const std::vector<c10::IValue> outputs = module.run(inputs);
  for (const c10::IValue& output : outputs) describe(output);
  if (words.size() == 3) write_values(words[2], outputs);
  return kGood;
}

// A file that asks for more memory than there is gets an error, and leaves the
// machine to others.
void limit_memory() {
  const rlim_t all = static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  const rlimit limit{all / 4 * 3, all / 4 * 3};
  setrlimit(RLIMIT_DATA, &limit);
}

uint64_t read_count(const std::string& text) {
  uint64_t count = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error("--loop-steps: expected a number of steps, got '" + text + "'");
  return count;
}

// Those that stand before the file.
std::pair<Options, std::vector<std::string>> read_options(
    const std::vector<std::string>& words) {
  constexpr std::string_view kAllow = "--allow=", kSteps = "--loop-steps=";
  Options options;
  std::vector<std::string> asked;
  size_t next = std::min<size_t>(1, words.size());
  for (; next < words.size() && words[next].starts_with("--"); ++next) {
    const std::string& word = words[next];
    if (word.starts_with(kAllow))
      asked.push_back(word.substr(kAllow.size()));
    else if (word.starts_with(kSteps))
      options.loop_steps = read_count(word.substr(kSteps.size()));
    else
      throw Error("no option " + word +
                  "; there are --allow=OPERATOR and "
                  "--loop-steps=N");
  }
  options.allowed = AllowedOperators(asked);
  return {options, {words.begin() + static_cast<long>(next), words.end()}};
}

int dispatch(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words[0];
  const auto [options, rest] = read_options(words);
  if (command == "run" && !rest.empty() && rest.size() <= 3)
    return contained(rest[0], [&] { return run(rest, options); });
  if (rest.size() == 1 && command == "show")
    return show(rest[0], options.allowed);
  if (rest.size() == 1 && command == "check")
    return contained(rest[0], [&] { return check(rest[0], options.allowed); });
  throw Error(
      "give one file: show FILE.pt2, check FILE.pt2, or run FILE.pt2 "
      "[INPUTS.pt [OUTPUTS.pt]]");
}

}  // namespace
}  // namespace proviso::cli

int main(int argc, char** argv) {
  using namespace proviso::cli;
  limit_memory();
  const std::vector<std::string> words{argv + 1, argv + argc};
  return reported([&] { return dispatch(words); });
}
