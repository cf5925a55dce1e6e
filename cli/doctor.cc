// `proviso doctor`: what this build is, and whether it answers as it should.
//
// The self-test is a table of questions with known answers, at least one a tier
// that is built in; each yes and no is asked again of the facts that it names,
// alone, and each point is evaluated.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "cli/arguments.h"
#include "cli/json.h"
#include "cli/python_command.h"
#include "cli/tally.h"
#include "cli/timer.h"
#include "solver/z3_backend.h"
#include "sym/parse.h"
#include "sym/print.h"

namespace proviso::cli {
namespace {
using namespace internal;

struct Probe {
  const char* facts;  // by ;
  const char* question;
  const char* verdict;
};

constexpr Probe kProbes[] = {
    {"", "Eq(n + n, 2*n)", "yes"},
    {"n >= 8", "n >= 2", "yes"},
    {"n >= 8", "n < 8", "no"},
    {"n >= 8", "n >= 9", "unknown"},
    {"Eq(Mod(n, 8), 0)", "Eq(Mod(n, 4), 0)", "yes"},
    {"Eq(Mod(n, 4), 0)", "Eq(Mod(n, 8), 0)", "unknown"},
    {"Eq(n, 3*m); m >= 2", "n >= 6", "yes"},
    {"n < m; m < k", "n + 2 <= k", "yes"},
    {"n + m + k > 1", "Eq(n + m + k, 0)", "no"},
    {"n >= 0; m >= 0", "Min(n, m - 1) <= m - 1", "yes"},
    {"n >= 0", "((n + 7)//8)*8 >= n", "yes"},
    {"n >= 1; m >= 1; Eq(Mod(n, 16), 0)", "Eq(Mod(n*m, 16), 0)", "yes"},
    {"n >= 1; m >= 1; Eq(n*m, 16)", "Eq((n*m)//4, 4)", "yes"},
    {"n >= 0; m >= 0; n*m >= 1", "n >= 1", "yes"},
    {"n > 5; n < 3", "n >= 0", "unknown"},
};

// What is wrong with the answer; empty where nothing is.
std::string problem_of(const Probe& probe, const SolverOptions& options) {
  ExprPool pool;
  Context context(pool, options);
  std::string_view facts = probe.facts;
  while (!facts.empty()) {
    const size_t end = std::min(facts.find(';'), facts.size());
    context.assume(parse(pool, trimmed(facts.substr(0, end))));
    facts.remove_prefix(std::min(end + 1, facts.size()));
  }
  const Expr question = parse(pool, probe.question);
  const Answer answer = context.ask(question);
  if (name_of(answer.verdict) != probe.verdict) {
    return std::string(name_of(answer.verdict)) + " in place of " +
           probe.verdict;
  }
  if (answer.verdict == Verdict::kUnknown) {
    const bool is_shown = !answer.counterexample ||
                          !evaluate(question, *answer.counterexample).is_true();
    return is_shown ? "" : "its counterexample is none";
  }
  Context alone(pool, options);
  for (FactId id : answer.facts) alone.assume(context.fact(id).condition);
  return alone.ask(question).verdict == answer.verdict
             ? ""
             : "the facts that it names do not imply it";
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "another compiler";
#endif
}

std::string build_kind() {
#ifdef NDEBUG
  return "release";
#else
  return "with assertions";
#endif
}

// Where the command would take Python and the package with the tracer from.
std::string python_package() {
  namespace fs = std::filesystem;
  const fs::path package = fs::path(command_folder()).parent_path() / "python";
  if (!fs::exists(package / "proviso/__init__.py")) return "none";
  bool has_tracer = false;
  for (const auto& entry : fs::directory_iterator(package / "proviso"))
    has_tracer =
        has_tracer || entry.path().filename().string().starts_with("_proviso.");
  return (package / "proviso").string() +
         (has_tracer ? ", with the tracer" : ", without the tracer");
}

}  // namespace

int doctor(const Arguments& arguments) {
  if (!arguments.positional.empty()) {
    throw Error("doctor: expected no words, got '" + arguments.positional[0] +
                "'");
  }
  const std::string z3 = Z3Backend::version();
  const char* const trace = std::getenv("PROVISO_TRACE");
  std::string tiers;
  for (size_t i = 0; i + 1 < kTierCount; ++i) {
    const Tier tier = static_cast<Tier>(i);
    if (tier == Tier::kZ3 && !Z3Backend::is_built()) continue;
    tiers += (tiers.empty() ? "" : " ") + std::string(name_of(tier));
  }
  const std::pair<const char*, std::string> rows[] = {
      {"version", PROVISO_VERSION},
      {"compiler", compiler() + ", " + build_kind()},
      {"z3", z3.empty() ? "not built in: native tiers alone" : z3},
      {"tiers", tiers},
      {"python", python_package()},
      {"trace", trace != nullptr && *trace != '\0' ? trace : "off"},
  };
  for (const auto& [name, value] : rows) {
    std::string left = name;
    left.resize(10, ' ');
    std::cout << left << value << '\n';
  }
  Timer timer;
  int failed = 0, asked = 0;
  for (const Probe& probe : kProbes) {
    for (const bool use_z3 : {false, true}) {
      if (use_z3 && !Z3Backend::is_built()) continue;
      SolverOptions options;
      options.use_z3 = use_z3;
      ++asked;
      const std::string problem = problem_of(probe, options);
      if (problem.empty()) continue;
      ++failed;
      std::cout << "WRONG     " << probe.facts << " |- " << probe.question
                << (use_z3 ? ": " : " (native): ") << problem << '\n';
    }
  }
  const std::string seconds = format_us(timer.us() / 1e6);
  std::cout << "self-test " << asked - failed << " of " << asked
            << " answers are right, " << seconds << " s\n";
  if (arguments.json) {
    JsonObject object;
    for (const auto& [name, value] : rows) object.add(name, json_text(value));
    object.add("asked", std::to_string(asked))
        .add("failed", std::to_string(failed))
        .add("seconds", seconds);
    std::cout << object.text() << '\n';
  }
  return failed == 0 ? kYesOrGood : kNoOrWrong;
}

}  // namespace proviso::cli
