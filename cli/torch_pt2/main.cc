// proviso-pt2 show|check|run [--allow=OPERATOR...] FILE.pt2 ...: the half of the
// command that needs LibTorch.  `proviso show`, `check` and `run` become it.
#include <sys/resource.h>
#include <unistd.h>

#include <ATen/ops/zeros.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cli/torch_pt2/claims.h"
#include "cli/torch_pt2/contained.h"
#include "tracer_adapter/executable.h"
#include "tracer_adapter/pt2/program_reader.h"

namespace proviso::cli {
namespace {

enum ExitCode { kGood = 0, kDefects = 1, kUnknown = 2 };  // and kTrouble

using pt2::AllowedOperators;

int show(const std::string& path, const AllowedOperators& allowed) {
  const pt2::LoadedProgram loaded = pt2::load_program(path, allowed);
  std::cout << loaded.program.to_string();
  std::cout << "    Guards:\n";
  for (const std::string& guard : loaded.program.guards_code())
    std::cout << "        " << guard << "\n";
  std::cout << "    Written by: torch " << loaded.torch_version << "\n";
  return kGood;
}

Claims claims_of(const pt2::LoadedProgram& loaded, const Retrace& traced) {
  Claims claims{loaded.program.env->pool(), {}, loaded.ranges, loaded.stated,
                {}, loaded.equations, traced.asserted};
  for (const pt2::Claim& claim : loaded.claims)
    claims.guards.push_back({claim.text, claim.condition, claim.problem});
  for (const InputDim& dim : loaded.program.env->input_dims())
    if (dim.expr.is_symbol()) claims.example.emplace_back(dim.expr, dim.hint);
  return claims;
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
    std::cout << f.kind << std::string(10 - f.kind.size(), ' ') << f.text;
    if (!f.because.empty()) std::cout << "   (" << f.because << ")";
    std::cout << "\n";
    defects += f.is_defect();
  }
  const bool ended = traced.problem.empty();
  if (!ended) std::cout << "not traced to its end: " << traced.problem << "\n";
  std::cout << loaded.program.graph.nodes.size() << " nodes verified, "
            << claims.guards.size() << " guards, " << defects
            << (defects == 1 ? " defect" : " defects")
            << (ended ? "\n" : " found; the rest is not known\n");
  return defects > 0 ? kDefects : ended ? kGood : kUnknown;
}

std::vector<c10::IValue> read_inputs(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  TORCH_CHECK(!bytes.empty(), "run: cannot read '", path,
              "'; give a file that torch.save([x, y], path) wrote");
  const c10::IValue value = torch::jit::pickle_load(bytes);
  TORCH_CHECK(value.isList() || value.isTuple(), "run: '", path,
              "' holds no list; write it with torch.save([x, y], path)");
  if (value.isTuple()) return value.toTupleRef().elements().vec();
  return value.toListRef().vec();
}

void check_size(const InputSpec& input, const std::vector<int64_t>& sizes) {
  constexpr int64_t kMost = int64_t{1} << 28;  // elements
  int64_t count = 1;
  for (int64_t size : sizes)
    TORCH_CHECK(!__builtin_mul_overflow(count, size, &count) && count <= kMost,
                "run: the example of ", input.name, " has the sizes ",
                c10::IntArrayRef(sizes),
                ", too many to make up; give inputs: run FILE.pt2 INPUTS.pt");
}

// Floating point: uniform; integers: zero, a legal index of what is not empty.
std::vector<c10::IValue> example_inputs(const ExportedProgram& program) {
  std::vector<c10::IValue> inputs;
  const auto size = [&](Expr e) {
    const auto hint = program.env->hint(e);
    const Int* value = hint ? std::get_if<Int>(&*hint) : nullptr;
    return value ? value->to_int64().value_or(2) : 2;
  };
  for (const InputSpec& input : program.graph.inputs) {
    if (input.kind != InputKind::kUserInput) continue;
    const ValueRef* ref = input.arg.get<ValueRef>();
    if (ref == nullptr) {
      inputs.push_back(to_ivalue(input.arg));
      continue;
    }
    const GraphValue& value = program.graph.value(ref->id);
    if (!value.is_tensor()) {
      inputs.emplace_back(size(value.expr()));
      continue;
    }
    std::vector<int64_t> sizes;
    for (Expr e : value.tensor().sizes) sizes.push_back(size(e));
    check_size(input, sizes);
    const at::Tensor zeros = at::zeros(sizes, value.tensor().dtype);
    inputs.emplace_back(zeros.is_floating_point() ? zeros.uniform_() : zeros);
  }
  return inputs;
}

void describe(const c10::IValue& value) {
  if (!value.isTensor()) {
    std::cout << value << "\n";
    return;
  }
  const at::Tensor& t = value.toTensor();
  std::cout << short_name(t.scalar_type()) << t.sizes();
  if (t.is_floating_point() && t.numel() > 0)
    std::cout << "  mean " << t.mean().item<double>();
  std::cout << "\n";
}

// What is not understood cannot be checked before the program runs.
void require_understood(const pt2::LoadedProgram& loaded) {
  for (const pt2::Claim& claim : loaded.claims)
    TORCH_CHECK(claim.problem.empty(), "run: ", claim.problem,
                "; `proviso check` tells more of the file");
}

// The shape functions look at every call before a kernel does.
void check_calls(const std::string& path, const ExportedProgram& program,
                 const std::vector<c10::IValue>& inputs) {
  const Trial trial = try_inputs(program, inputs);
  TORCH_CHECK(trial.kind != Trial::Kind::kRefused, path, ": ", trial.why);
}

int run(const std::vector<std::string>& words,
        const AllowedOperators& allowed) {
  const pt2::LoadedProgram loaded = pt2::load_program(words[0], allowed);
  require_understood(loaded);
  const std::vector<c10::IValue> inputs =
      words.size() > 1 ? read_inputs(words[1]) : example_inputs(loaded.program);
  const Module module = loaded.program.module();
  module.check(inputs);
  check_calls(words[0], loaded.program, inputs);
  std::vector<c10::IValue> outputs = module.run(inputs);
  for (const c10::IValue& output : outputs) describe(output);
  if (words.size() < 3) return kGood;
  c10::impl::GenericList list(c10::AnyType::get());
  for (c10::IValue& output : outputs) list.push_back(std::move(output));
  const std::vector<char> bytes = torch::jit::pickle_save(list);
  std::ofstream file(words[2], std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  TORCH_CHECK(file.flush(), "run: cannot write '", words[2], "'");
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

int dispatch(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words[0];
  constexpr std::string_view kAllow = "--allow=";
  std::vector<std::string> rest, asked;
  for (size_t i = 1; i < words.size(); ++i) {
    if (asked.size() == i - 1 && words[i].starts_with(kAllow))
      asked.push_back(words[i].substr(kAllow.size()));
    else
      rest.push_back(words[i]);
  }
  const AllowedOperators allowed(asked);
  if (command == "run" && !rest.empty() && rest.size() <= 3)
    return contained(rest[0], [&] { return run(rest, allowed); });
  if (rest.size() == 1 && command == "show") return show(rest[0], allowed);
  if (rest.size() == 1 && command == "check")
    return contained(rest[0], [&] { return check(rest[0], allowed); });
  throw Error("give one file: show FILE.pt2, check FILE.pt2, or run FILE.pt2 "
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
