// model_mutations COUNT SEED [--keep=DIR] [--only] FILE.pt2...
//
// Structural changes to real programs, read, shown, checked and run: whatever
// the file holds, it is refused with an Error that names it, or it works.  No
// crash, no std:: exception, no assertion of PyTorch, no hang.
//
// Mutants run in processes of their own, so that one that ends its process is a
// finding and not the end.  --keep writes accepted mutants and findings to DIR;
// --only runs the one mutant of that seed, here.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "cli/torch_pt2/claims.h"
#include "tests/fuzz/contained.h"
#include "tests/fuzz/models/mutate.h"
#include "tracer_adapter/pt2/program_reader.h"
#include "tracer_adapter/run/checked_calls.h"
#include "tracer_adapter/run/control_flow.h"
#include "tracer_adapter/run/example_inputs.h"
#include "tracer_adapter/trace/error_text.h"

#if defined(__SANITIZE_ADDRESS__)
// PyTorch leaks by design; too large an allocation is an error, as elsewhere.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:detect_odr_violation=0:allocator_may_return_null=1:"
         "malloc_context_size=4:max_allocation_size_mb=1024:"
         "hard_rss_limit_mb=4000";
}
extern "C" const char* __ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1";
}
#endif

namespace proviso::fuzz {
namespace {

enum Stage { kMake, kLoad, kShow, kCheck, kRun, kStages };
constexpr const char* kStageNames[] = {"make", "load", "show", "check", "run"};

struct Counts : Progress {
  std::atomic<uint64_t> passed[kStages], refused[kStages];
};

struct Options {
  uint64_t count = 0, seed = 0;
  bool only = false;
  std::string keep;
};

// What no user may see.
const char* forbidden(const std::string& text) {
  for (const char* part :
       {"INTERNAL ASSERT", "_M_", "std::", "bad_variant", "bad variant",
        "bad optional", "Exception raised from", "frame #0", "basic_string",
        "vector::", "stoi", "invalid argument to", "json.exception"})
    if (text.find(part) != std::string::npos) return part;
  return nullptr;
}

class Trials {
 public:
  Trials(const Mutator& mutator, const std::vector<Model>& models,
         const Options& options, Counts& progress)
      : mutator_(mutator),
        models_(models),
        options_(options),
        progress_(progress) {}

  void one(uint64_t seed);

 private:
  // False when it was refused.
  template <typename Work>
  bool stage(Stage stage, const Work& work);
  void check(const pt2::LoadedProgram& loaded);
  void run(const ExportedProgram& program);
  void keep(const std::string& name, const Json& documents) const;
  void finding(const std::string& what) { report_finding(progress_, what); }

  const Mutator& mutator_;
  const std::vector<Model>& models_;
  const Options& options_;
  Counts& progress_;
};

template <typename Work>
bool Trials::stage(Stage stage, const Work& work) {
  progress_.stage = kStageNames[stage];
  try {
    work();
    ++progress_.passed[stage];
    return true;
  } catch (const std::exception& error) {
    const std::string text = error_text(error);
    if (options_.only)
      std::printf("%s: %s\n", kStageNames[stage], text.c_str());
    if (const char* part = forbidden(text))
      finding("it says '" + std::string(part) + "': " + text);
    if (stage == kLoad && !text.starts_with("mutant.pt2: "))
      finding("the file is not named: " + text);
    if (text.size() > 4000) finding("a long error: " + text);
    ++progress_.refused[stage];
    return false;
  }
}

void Trials::check(const pt2::LoadedProgram& loaded) {
  const Retrace traced = retrace(loaded.program);
  if (const char* part = forbidden(traced.problem))
    finding("it says '" + std::string(part) + "': " + traced.problem);
  const cli::Claims claims = cli::claims_of(loaded, traced);
  for (const cli::Finding& f :
       judge(claims, traced.requirements, [&](const Assignment& sizes) {
         return try_sizes(loaded.program, sizes);
       }))
    if (const char* part = forbidden(f.text + f.because))
      finding("it says '" + std::string(part) + "': " + f.text + f.because);
}

void Trials::run(const ExportedProgram& program) {
  const LoopSteps steps(2000);
  const std::vector<c10::IValue> inputs = example_inputs(program, 1'000'000);
  const Module module = program.module();
  module.check(inputs);
  const Trial trial = try_inputs(program, inputs);
  TORCH_CHECK(trial.kind != Trial::Kind::kRefused, trial.why);
  const CheckedCalls checked;
  module.run(inputs);
}

void Trials::keep(const std::string& name, const Json& documents) const {
  if (options_.keep.empty()) return;
  std::ofstream(options_.keep + "/" + name + ".json")
      << documents.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Trials::one(uint64_t seed) {
  progress_.seed = seed;
  size_t model = 0;
  Json documents;
  std::string bytes;
  if (!stage(kMake, [&] {
        documents = mutator_.mutant(seed, &model);
        bytes = write_model(models_[model], documents);
      }))
    return;
  std::optional<pt2::LoadedProgram> loaded;
  const uint64_t before = progress_.findings;
  const std::string name = std::to_string(seed) + "." + std::to_string(model);
  if (options_.only) keep(name, documents);
  if (stage(kLoad, [&] {
        loaded = pt2::read_program(pt2::ZipReader(bytes, "mutant.pt2"));
      })) {
    keep(name, documents);
    stage(kShow, [&] {
      loaded->program.to_string();
      loaded->program.guards_code();
    });
    stage(kCheck, [&] { check(*loaded); });
    stage(kRun, [&] { run(loaded->program); });
  }
  if (progress_.findings != before) keep("finding_" + name, documents);
}

int main(const Options& options, const std::vector<std::string>& files) {
  std::vector<Model> models;
  for (const std::string& file : files) models.push_back(read_model(file));
  const Mutator mutator(models);
  auto& progress = shared<Counts>();
  Trials trials(mutator, models, options, progress);
  const auto start = std::chrono::steady_clock::now();
  if (options.only)
    trials.one(options.seed);
  else
    run_contained(progress, options.seed, options.count,
                  [&](uint64_t seed) { trials.one(seed); });
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  for (int s = kLoad; s < kStages; ++s)
    std::printf("%-6s %8lu passed %8lu refused\n", kStageNames[s],
                progress.passed[s].load(), progress.refused[s].load());
  std::printf(
      "%lu mutants of %zu files from seed %lu in %.1f s, %.0f a second, "
      "%lu findings\n",
      options.only ? 1 : options.count, models.size(), options.seed,
      took.count(), static_cast<double>(options.count) / took.count(),
      progress.findings.load());
  return progress.findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace proviso::fuzz

int main(int argc, char** argv) {
  proviso::fuzz::Options options;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (i == 1)
      options.count = std::stoull(word);
    else if (i == 2)
      options.seed = std::stoull(word);
    else if (word.starts_with("--keep="))
      options.keep = word.substr(7);
    else if (word == "--only")
      options.only = true;
    else
      files.push_back(word);
  }
  if (files.empty()) {
    std::fprintf(stderr,
                 "usage: model_mutations COUNT SEED [--keep=DIR] "
                 "[--only] FILE.pt2...\n");
    return 2;
  }
  return proviso::fuzz::main(options, files);
}
