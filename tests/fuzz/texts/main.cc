// text_mutations N SEED FILE... - what the command reads, changed by tokens
// (see mutate.h), through the commands that read it.
//
//   build/bin/text_mutations 2000 1 tests/regress/*.txt s.shapelog c.context
//
// A FILE's ending says who reads it: .txt decide, .jsonl simplify --pairs and
// decide, .shapelog replay, .context prove, facts, bounds and simplify, .log
// explain, whose laws (explain_laws.h) are checked.  A
// command ends with one of its exit codes or an Error, within its limit of
// work, and what `facts` prints is read again to the same text.  A mutant that
// breaks this is left in the file that the last line names.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "cli/arguments.h"
#include "guards/context_text.h"
#include "sym/budget.h"
#include "sym/integer.h"
#include "tests/fuzz/explain_laws.h"
#include "tests/fuzz/texts/change_context.h"
#include "tests/fuzz/texts/mutate.h"

namespace proviso {
using namespace internal;
namespace {

// Of CPU, for the questions of a mutant, each asked up to 48 times for its
// median, with sanitizers.
constexpr int kSeconds = 60;

std::string mutant_path;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), mutant_path.c_str());
  std::_Exit(1);
}

void out_of_time(int) {
  static const char kText[] = "text_mutations: too slow: see the last mutant\n";
  (void)!write(2, kText, sizeof kText - 1);
  _exit(1);
}

void limit_time() {
  itimerval timer{};
  timer.it_value.tv_sec = kSeconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

using Run = int (*)(const cli::Arguments&);

// What main() does with a command; false where the input was refused.
bool run(const char* name, Run command, const cli::Arguments& arguments) {
  try {
    const int code = command(arguments);
    if (code < cli::kYesOrGood || code > cli::kTrouble)
      fail(std::string(name) + " exits with " + std::to_string(code));
    return code != cli::kTrouble;
  } catch (const Error&) {
  } catch (const OutOfBudget&) {
  } catch (const std::exception& error) {
    fail(std::string(name) + " ends with a foreign error, " + error.what());
  }
  return false;
}

cli::Arguments reading(const std::string& path) {
  cli::Arguments arguments;
  arguments.native = true;
  arguments.positional = {path};
  return arguments;
}

bool run_lines(const std::string& path) {
  return run("decide", cli::decide, reading(path));
}

bool run_json(const std::string& path) {
  cli::Arguments arguments = reading(path);
  arguments.pairs = true;
  const bool pairs = run("simplify --pairs", cli::simplify_pairs, arguments);
  return run_lines(path) || pairs;
}

bool run_session(const std::string& path) {
  return run("replay", cli::replay, reading(path));
}

// The text that a context is printed as is read to an equal one.
void check_text(const std::string& text) {
  try {
    ExprPool pool, other;
    const std::string once = save_context(load_context(pool, text));
    if (save_context(load_context(other, once)) != once)
      fail("a context's text is read to another context");
  } catch (const Error&) {
  } catch (const OutOfBudget&) {
  }
}

bool run_context(const std::string& path) {
  cli::Arguments arguments;
  arguments.context = path;
  const bool is_read = run("facts", cli::facts, arguments);
  if (!is_read) return false;
  arguments.positional = {"s0 // 8 <= s1 + u0"};
  run("prove", cli::prove, arguments);
  arguments.positional = {"Mod(s0 + u0, 8) - Min(s1, 3)"};
  run("bounds", cli::bounds, arguments);
  run("simplify", cli::simplify_command, arguments);
  std::ifstream file(path);
  check_text(std::string(std::istreambuf_iterator<char>(file), {}));
  return true;
}

bool run_errors(const std::string& path) {
  cli::Arguments arguments = reading(path);
  arguments.json = true;
  run("explain", cli::explain, arguments);
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (auto broken = fuzz::broken_law(text)) fail("broken law: " + *broken);
  return !read_errors(text).errors.empty();
}

struct Kind {
  const char* ending;
  bool (*run)(const std::string& path);
};
constexpr Kind kKinds[] = {{".txt", run_lines},
                           {".jsonl", run_json},
                           {".shapelog", run_session},
                           {".context", run_context},
                           {".log", run_errors}};

struct Seed {
  Kind kind;
  std::string text;
};

Seed read_seed(const std::string& path) {
  for (const Kind& kind : kKinds) {
    if (!path.ends_with(kind.ending)) continue;
    std::ifstream file(path);
    if (!file) break;
    return {kind, std::string(std::istreambuf_iterator<char>(file), {})};
  }
  std::fprintf(stderr,
               "text_mutations: cannot read %s; give files ending in .txt, "
               ".jsonl, .shapelog, .context or .log\n",
               path.c_str());
  std::exit(2);
}

struct Counts {
  long mutants = 0, read = 0;
};

void run_mutant(const Seed& seed, fuzz::Mutator& mutate, Counts& counts) {
  // A context mostly by what it says: few changes to its tokens are read.
  const bool by_meaning = std::string_view(seed.kind.ending) == ".context" &&
                          counts.mutants % 8 != 0;
  std::ofstream(mutant_path, std::ios::trunc)
      << (by_meaning ? fuzz::change_context(seed.text, mutate.random())
                     : mutate(seed.text));
  limit_time();
  ++counts.mutants;
  counts.read += seed.kind.run(mutant_path);
}

}  // namespace
}  // namespace proviso

int main(int argc, char** argv) {
  using namespace proviso;
  if (argc < 4) {
    std::fprintf(stderr, "usage: text_mutations N SEED FILE...\n");
    return 2;
  }
  const long count = std::atol(argv[1]);
  const auto number = static_cast<unsigned>(std::atol(argv[2]));
  std::vector<Seed> seeds;
  std::vector<std::string> texts;
  for (int i = 3; i < argc; ++i) {
    seeds.push_back(read_seed(argv[i]));
    texts.push_back(seeds.back().text);
  }
  std::signal(SIGPROF, out_of_time);
  // What the commands print goes nowhere.
  const int report = dup(1), nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, 1);
  std::cerr.setstate(std::ios::failbit);
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  std::vector<Counts> counts(seeds.size());
  fuzz::Mutator mutate(number, texts);
  for (long i = 0; i < count; ++i) {
    const size_t which = static_cast<size_t>(i) % seeds.size();
    mutant_path = (folder / ("proviso-mutant-" + std::to_string(getpid()) +
                             seeds[which].kind.ending))
                      .string();
    run_mutant(seeds[which], mutate, counts[which]);
    std::filesystem::remove(mutant_path);
  }
  for (size_t i = 0; i < seeds.size(); ++i)
    dprintf(report, "%s: %ld mutants, %ld read\n",
            argv[3 + static_cast<int>(i)], counts[i].mutants, counts[i].read);
}
