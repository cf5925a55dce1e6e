#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/arguments.h"
#include "guards/context_text.h"
#include "sym/budget.h"
#include "sym/parse.h"
#include "tests/bombs/calls.h"

namespace proviso::testing {
namespace {

std::string all_facts(const Problem& problem) {
  std::string text;
  for (const std::string& fact : problem.facts)
    text += (text.empty() ? "" : "; ") + fact;
  return text;
}

// A file that is gone with it.
struct File {
  std::string path;
  File(const char* ending, const std::string& text)
      : path((std::filesystem::temp_directory_path() /
              ("proviso-bomb-" + std::to_string(getpid()) + ending))
                 .string()) {
    std::ofstream(path) << text;
  }
  ~File() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

std::string context_text(const Problem& problem) {
  ExprPool pool;
  Context context(pool, {.use_z3 = false});
  try {
    for (const std::string& fact : problem.facts)
      context.assume(parse(pool, fact));
    parse(pool, problem.question);
  } catch (const Error&) {
  }
  return save_context(context);
}

void run(Meter& meter, const char* name, int (*command)(const cli::Arguments&),
         const cli::Arguments& arguments) {
  meter.call(name, [&] {
    try {
      command(arguments);
    } catch (const OutOfBudget&) {  // which main() says in words
    }
  });
}

}  // namespace

void use_cli(const Problem& problem, Meter& meter) {
  if (problem.build) return;
  cli::Arguments one;
  one.native = true;
  one.assumptions = problem.facts;
  one.positional = {problem.question};
  run(meter, "prove", cli::prove, one);
  run(meter, "simplify", cli::simplify_command, one);
  one.json = true;
  run(meter, "prove --json", cli::prove, one);
  one.positional = {"Where(" + problem.question + ", 1, 0)"};
  run(meter, "bounds", cli::bounds, one);

  const std::string text = context_text(problem);
  if (text.size() <= 12'000) {
    const File file(".context", text);
    cli::Arguments saved;
    saved.context = file.path;
    run(meter, "facts", cli::facts, saved);
    saved.positional = {problem.question};
    run(meter, "prove --context", cli::prove, saved);
  }

  cli::Arguments read;
  read.native = true;
  const File line(".txt", "B1|bomb||" + all_facts(problem) + "|" +
                              problem.question + "|open|-\n");
  read.positional = {line.path};
  run(meter, "decide", cli::decide, read);

  std::string session;
  for (const std::string& fact : problem.facts)
    session += "assume " + fact + "\n";
  const File log(".shapelog",
                 session + "ask guard " + problem.question + " ; truth open\n");
  read.positional = {log.path};
  run(meter, "replay", cli::replay, read);

  const File error(
      ".log",
      "GuardOnDataDependentSymNode: Could not guard on data-dependent "
      "expression " +
          problem.question + " (unhinted: " + problem.question + ").\n");
  cli::Arguments explained;
  explained.positional = {error.path};
  run(meter, "explain", cli::explain, explained);
}

}  // namespace proviso::testing
