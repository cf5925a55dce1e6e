// bombs LAYER [--quick] [--cut | --interrupt SEED] [--slow FACTOR] [--verbose]
//       [FAMILY | --random SEED COUNT | --numbers SEED COUNT]
//
//   build/bin/bombs solver              every size, doubled
//   build/bin/bombs guards --quick      the largest size of 10 KB alone
//   build/bin/bombs solver --cut        each call ended somewhere (measure.h)
//   build/bin/bombs solver --interrupt 7    each interrupted somewhere
//   build/bin/bombs texts               what the largest are, as JSON lines
//   build/bin/bombs solver cubes        families whose names have the word
//   build/bin/bombs solver --random 1000 500   problems of random_bombs.h
//
// Every public call of a layer on every family of bombs (bombs.h), a family a
// process: what takes more than 100 ms of CPU, 64 MiB or 64 KiB of stack, or
// the work units of that time, is printed, and the exit status is 1.  Work is
// the law; FACTOR is how much slower than 50 ns a unit this machine may be.
#include <fcntl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/bombs/calls.h"
#include "tests/bombs/random_bombs.h"

namespace proviso::testing {
namespace {

constexpr size_t kLongest = 10'000;  // bytes of a text
constexpr int kSmallest = 6, kLargest = 192;
constexpr int kFewLevels = 256, kLevels = 4096;
constexpr int kSeconds = 300;  // of CPU, for one family

constexpr Layer kLayers[] = {
    {"sym", use_sym},
    {"solver", use_solver},
    {"z3", use_z3},
    {"guards", use_guards},
    {"guards_first", use_guards_first},
    {"guards_z3", use_guards_z3},
    {"programs", use_programs},
    {"errors", use_errors},
    {"cli", use_cli},
#ifdef PROVISO_WITH_C
    {"c", use_c},
#endif
};

struct Options {
  const Layer* layer = nullptr;
  std::string family;
  bool is_quick = false, is_verbose = false;
  Meter::End end = Meter::End::kItsOwn;
  uint32_t draw = 7;
  double slow = 1;
  Problem (*random)(uint32_t seed) = random_bomb;
  uint32_t first_seed = 0, seeds = 0;
};

void out_of_time(int) {
  char line[400];
  const int length =
      std::snprintf(line, sizeof line, "%s takes for ever\n", Meter::doing());
  (void)!write(fileno(Meter::report), line, static_cast<size_t>(length));
  _exit(3);
}

Limits limits_of(const Options& options) {
  Limits limits;
  if (std::string_view(options.layer->name).ends_with("z3")) {
    limits.units *= 10;
    limits.milliseconds *= 10;
  }
  limits.milliseconds *= options.slow;
  return limits;
}

// The largest n whose text is short enough.
int largest_of(const Family& family) {
  int n = kSmallest;
  while (2 * n <= kLargest && family.make(2 * n).length() <= kLongest) n *= 2;
  return n;
}

// Runs `work` in a process of its own: what it does to memory is its own.
// Whether nothing exceeded.
bool run_apart(const char* name, const std::function<void(Meter&)>& work,
               const Limits& limits, const Options& options) {
  std::fflush(Meter::report);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGPROF, out_of_time);
    itimerval timer{};
    timer.it_value.tv_sec = kSeconds;
    setitimer(ITIMER_PROF, &timer, nullptr);
    Meter meter(limits, options.is_verbose, options.end, options.draw);
    work(meter);
    if (options.end == Meter::End::kInterrupt) {
      std::fprintf(Meter::report, "%-40s %zu interrupts, %lluk units after\n",
                   name, meter.interrupted(),
                   static_cast<unsigned long long>(meter.most_after() / 1000));
    }
    std::fflush(Meter::report);
    _exit(meter.found() == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    std::fprintf(Meter::report, "%s ends with signal %d\n", name,
                 WTERMSIG(status));
  }
  return status == 0;
}

bool run_family(const Family& family, const Options& options) {
  const bool is_deep = static_cast<bool>(family.make(1).build);
  Limits limits = limits_of(options);
  if (is_deep) {  // as much as a text of 40 KB
    limits.units *= 4;
    limits.milliseconds *= 4;
    limits.bytes *= 4;
  }
  const int smallest = is_deep ? kFewLevels : kSmallest;
  const int largest = is_deep ? kLevels : largest_of(family);
  const auto work = [&](Meter& meter) {
    for (int n = options.is_quick ? largest : smallest; n <= largest; n *= 2) {
      const Problem problem = family.make(n);
      meter.run(family.name, n, problem.length(),
                [&] { options.layer->use(problem, meter); });
    }
  };
  return run_apart(family.name, work, limits, options);
}

bool run_seed(uint32_t seed, const Options& options) {
  const std::string name = "random " + std::to_string(seed);
  const Problem problem = options.random(seed);
  const auto work = [&](Meter& meter) {
    meter.run(name, 0, problem.length(),
              [&] { options.layer->use(problem, meter); });
  };
  return run_apart(name.c_str(), work, limits_of(options), options);
}

int run(const Options& options) {
  int bad = 0;
  for (uint32_t i = 0; i < options.seeds; ++i)
    bad += !run_seed(options.first_seed + i, options);
  if (options.seeds == 0) {
    std::vector<Family> families = bombs();
    families.insert(families.end(), deep_bombs().begin(), deep_bombs().end());
    if (options.layer->use == use_errors)
      families.insert(families.end(), log_bombs().begin(), log_bombs().end());
    for (const Family& family : families) {
      if (std::string(family.name).find(options.family) != std::string::npos)
        bad += !run_family(family, options);
    }
  }
  std::fprintf(Meter::report, "%s: %d %s exceed\n", options.layer->name, bad,
               options.seeds == 0 ? "families" : "random problems");
  return bad == 0 ? 0 : 1;
}

// For tests in other languages: a JSON object a line; no text has a character
// that JSON would escape.
int print_texts() {
  for (const Family& family : bombs()) {
    const Problem problem = family.make(largest_of(family));
    std::string facts;
    for (const std::string& fact : problem.facts)
      facts += (facts.empty() ? "\"" : ", \"") + fact + "\"";
    std::printf("{\"name\": \"%s\", \"facts\": [%s], \"question\": \"%s\"}\n",
                family.name, facts.c_str(), problem.question.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace proviso::testing

int main(int argc, char** argv) {
  using namespace proviso::testing;
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      options.is_quick = true;
    } else if (word == "--cut") {
      options.end = Meter::End::kBudget;
    } else if (word == "--interrupt" && i + 1 < argc) {
      options.end = Meter::End::kInterrupt;
      options.draw = static_cast<uint32_t>(std::atoi(argv[++i]));
    } else if (word == "--verbose") {
      options.is_verbose = true;
    } else if (word == "--slow" && i + 1 < argc) {
      options.slow = std::atof(argv[++i]);
    } else if ((word == "--random" || word == "--numbers") && i + 2 < argc) {
      options.random = word == "--random" ? random_bomb : random_numbers;
      options.first_seed = static_cast<uint32_t>(std::atoi(argv[++i]));
      options.seeds = static_cast<uint32_t>(std::atoi(argv[++i]));
    } else if (i == 1) {
      for (const Layer& layer : kLayers)
        if (word == layer.name) options.layer = &layer;
    } else {
      options.family = word;
    }
  }
  if (argc == 2 && std::string_view(argv[1]) == "texts") return print_texts();
  if (options.layer == nullptr) {
    std::fprintf(stderr,
                 "usage: bombs LAYER [--quick] [--cut | --interrupt SEED] "
                 "[--slow FACTOR] "
                 "[--verbose] [FAMILY | --random SEED COUNT | --numbers SEED "
                 "COUNT]\nlayers:");
    for (const Layer& layer : kLayers) std::fprintf(stderr, " %s", layer.name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  // What the commands print goes nowhere.
  Meter::report = fdopen(dup(1), "w");
  dup2(open("/dev/null", O_WRONLY), 1);
  return run(options);
}
